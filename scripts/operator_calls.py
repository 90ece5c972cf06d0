"""The calls of a framework that each operator makes, recorded while it computes its first sample."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ModelError
from labdl.graph.lowering.tape import Tape
from labdl.ops.operator import OPERATORS, Operator, Sample

HOMES = {"_C_ops": "paddle._C_ops", "tf": "tf"}
MODULES = {"torch": "torch", "tensorflow": "tf", "paddle": "paddle", "mindspore": "mindspore"}
SHOWN = 4  # calls of an operator in the table
# calls that arrange axes, types and constants for the others; shown where an operator makes no others
AROUND = frozenset(
    (
        *(
            "as_tensor",
            "astype",
            "broadcast_to",
            "broadcastto",
            "cast",
            "concatv2",
            "const",
            "contiguous",
            "copy",
            "detach",
        ),
        *("empty", "expand", "expand_as", "expanddims", "fill", "flatten", "full", "full_like", "fulllike", "getitem"),
        *(
            "identity",
            "long",
            "movedim",
            "moveaxis",
            "new_full",
            "new_ones",
            "new_zeros",
            "oneslike",
            "pack",
            "permute",
        ),
        *("reshape", "shape", "slice", "split", "squeeze", "stack", "stridedslice", "t", "tensor", "tile", "to"),
        *("transpose", "unbind", "unpack", "unsqueeze", "view", "zeros", "zeros_like", "zeroslike"),
    )
)


def recorded_calls(backend) -> dict[str, list[str]]:
    """Dotted names of the framework's functions by operator, in the order of their first call."""
    with dispatch.own_random_numbers(), backend.recorder() as record:
        return {name: _calls(backend, entry, record) for name, entry in OPERATORS.items()}


def _calls(backend, entry: Operator, record: Callable) -> list[str]:
    """The calls for the first sample that needs any: without training, dropout returns its argument."""
    for args, kwargs in entry.samples:
        names = _calls_of(backend, entry, record, args, kwargs)
        if names:
            return names
    return []


def _calls_of(backend, entry: Operator, record: Callable, args, kwargs) -> list[str]:
    rng, tensors = np.random.default_rng(0), []

    def draw(sample: Sample):
        tensors.append(backend.tensor(np.asarray(sample.draw(rng))))
        return tensors[-1]

    args, kwargs = _map_samples(tuple(args), draw), _map_samples(kwargs, draw)

    def run():
        return getattr(ops, entry.name)(*args, **kwargs)

    run()  # the first call fills caches
    tape = Tape(backend, tensors, {}, False)
    try:
        record(run, tape)
    except ModelError:  # a function that the framework has compiled
        return [f"{MODULES[backend.name]}.function"]
    names = list(dict.fromkeys(_dotted(str(call.target), backend.name) for call in tape.calls))
    names = [name for name in names if "." in name] or names  # without functions that exported source brings along
    return [name for name in names if name.rpartition(".")[2].strip("_").lower() not in AROUND] or names


def _map_samples(value, function: Callable):
    if isinstance(value, Sample):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)(_map_samples(v, function) for v in value)
    if isinstance(value, dict):
        return {key: _map_samples(v, function) for key, v in value.items()}
    return value


def _dotted(target: str, backend: str) -> str:
    """The name of a recorded target, without the settings of an object: `labdl.graph.lowering.program.Call`."""
    word = re.sub(r"\(.*", "", target).removeprefix("attribute ")
    if target.startswith((".", "attribute ")):
        return f"{MODULES[backend]}.Tensor.{word.removeprefix('.')}"
    root, _, rest = word.partition(".")
    return f"{HOMES.get(root, root)}.{rest}" if rest else word
