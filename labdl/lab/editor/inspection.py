"""Inspection of a model: statistics of its parameters, and the activations of one sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.data.npz import Entry
from labdl.errors import FileFormatError, ModelError
from labdl.graph import GraphModule
from labdl.graph.graph import PARAMETER
from labdl.lab.editor.array_stats import figures
from labdl.nn.parameter import Parameter
from labdl.runs.array_preview import picture
from labdl.saving.parameters import ParameterFile

SAMPLED = 1_000_000  # values read of one parameter, and
ALTOGETHER = 8_000_000  # of all parameters in one answer: some tenths of a second
SHOWN = 60  # parameters in one answer; further ones are only counted
PICTURES = 1_000_000  # bytes of all images in one answer
_BLOCK = 1024  # values read together
_PACKED = 1 << 30  # bytes: a compressed array must be decompressed from its beginning, which takes too long above this


def of_layer(names: Iterable[str], layer: str) -> list[str]:
    """The names of a layer's parameters, and of those of the layers in it."""
    return [name for name in names if name == layer or name.startswith(f"{layer}/")]


def weights(path: str | Path | None, layers: Sequence[str]) -> dict[str, Any]:
    """Statistics of the parameters of some layers in a parameter file; of large ones, from a sample of their values.

    Empty without a file. Raises FileFormatError for a broken parameter file.
    """
    if path is None or not Path(path).is_file():
        return _answer([], 0, source="file")
    with ParameterFile(path) as file:
        chosen = list(dict.fromkeys(name for layer in layers for name in of_layer(file, layer)))
        limit = _each(len(chosen))
        found = [
            {"name": name, **figures(_values(file, name, limit), shape=entry.shape, dtype=entry.dtype.name)}
            for name in chosen[:SHOWN]
            for entry in [file.entries[name]]
        ]
        return _answer(found, len(chosen), source="file", file=file.name, saved=file.modified_time)


def weights_of(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Statistics of the parameters of a built model, by displayed name."""
    limit, found = _each(len(parameters)), []
    for name, parameter in list(parameters.items())[:SHOWN]:
        array = parameter.to_standard(dispatch.owner(parameter.value).to_numpy(parameter.value))
        found.append({"name": name, **figures(_parts(array, limit), shape=array.shape, dtype=parameter.dtype)})
    return _answer(found, len(parameters), source="model")


def _answer(found: list[dict[str, Any]], count: int, **origin: Any) -> dict[str, Any]:
    return {"file": None, "saved": None, "parameters": found, "left_out": count - len(found), **origin}


def _each(count: int) -> int:
    return min(SAMPLED, max(_BLOCK, ALTOGETHER // max(1, min(count, SHOWN))))


def _blocks(size: int, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges to read: everything, or blocks spread evenly."""
    if size <= limit:
        yield 0, size
        return
    count = limit // _BLOCK
    for at in range(count):
        start = at * (size - _BLOCK) // max(1, count - 1)
        yield start, start + _BLOCK


def _parts(array: np.ndarray, limit: int) -> Iterator[np.ndarray]:
    flat = array.reshape(-1)
    return (flat[start:stop] for start, stop in _blocks(flat.size, limit))


def _values(file: ParameterFile, name: str, limit: int) -> Iterator[np.ndarray]:
    """A parameter's values, or a sample of them without reading the others."""
    entry: Entry = file.entries[name]
    size = entry.nbytes // entry.dtype.itemsize
    if size <= limit:
        yield file[name]  # also verifies the checksum
        return
    if not entry.start and entry.nbytes > _PACKED:
        raise FileFormatError(
            f"{name} in {file.name} is compressed, and with {entry.nbytes:,} bytes too large to inspect: "
            "save the parameters with labdl.save_parameters"
        )
    yield from file.pieces(name, _blocks(size, limit))


def activations(model: GraphModule, inputs: Sequence[np.ndarray]) -> dict[str, dict[str, dict[str, Any]]]:
    """Statistics and images of the outputs of each node for these inputs, by node id and port.

    The model computes in evaluation mode on its own backend. Raises ModelError for inputs that do not fit it.
    """
    from labdl.infer.predict import (
        Predictor,  # imported here: the server, which computes nothing, imports this module too
    )

    graph = model.graph
    ends = [end for end in model._slots if end[0] and not end[1].endswith(PARAMETER)]
    fetches = [f"{graph.nodes[node].name}:{port}" for node, port in ends]
    names = [graph.nodes[node].name for node in graph.inputs()]
    if len(inputs) != len(names):
        raise ModelError(f"the graph {graph.name!r} has {len(names)} input(s), received {len(inputs)}")

    def compute(*values):
        return tuple(model.run(fetches, dict(zip(names, values, strict=True))))

    arrays = Predictor(model, compiled=False, function=compute).arrays(inputs)
    budget = PICTURES // max(1, sum(array.ndim > 2 for array in arrays))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for (node, port), array in zip(ends, arrays, strict=True):
        layer = graph.nodes[graph.nodes[node].shares or node]
        last = layer.params.get("data_format") == "channels_last"
        answer = figures(_parts(array, SAMPLED), shape=array.shape, dtype=array.dtype.name)
        answer["picture"] = picture(array[0], budget, channels_last=last) if array.ndim > 2 and len(array) else None
        found.setdefault(node, {})[port] = answer
    return found
