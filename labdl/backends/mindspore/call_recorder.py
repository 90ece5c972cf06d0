"""MindSpore's own calls, logged at run time.

MindSpore computes in primitives, methods of tensors and overloaded functions. During a recording their calls are
replaced by logging ones.
"""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportAttributeAccessIssue=false

import contextlib
import functools

import mindspore
from mindspore import Tensor
from mindspore.ops import functional_overload
from mindspore.ops.auto_generate import pyboost_inner_prim
from mindspore.ops.primitive import Primitive

from labdl.backends.mindspore.facts import FACTS
from labdl.backends.mindspore.threads import computing
from labdl.backends.protocol.call_recorder import SourceWords
from labdl.call_logging import CallLog

_READS = ("asnumpy", "item", "tolist", "__bool__", "__float__", "__int__", "__index__", "numpy")
_WRITES = ("__setitem__", "copy_", "set_data", "assign_value")
_SEEDS = ("seed", "seed0", "seed1", "seed2")  # set anew for each call; 0 lets MindSpore choose
_PROXY = "ProxyOp"  # a local class that makes a tensor of a number: its result is a constant
_QUIET = frozenset(dir(object)) | {"dtype", "shape", "size", "ndim", "has_init", "param_info", "slice_info"}


_log = CallLog()


def recording() -> bool:
    """True while calls are logged, for a program that mindspore.jit may compile."""
    return _log.tape is not None


def reads_values() -> bool:
    """True where Python may read a tensor's values: at no cost, which is on the CPU, and not for a program."""
    return _log.tape is None and on_host(None)


def on_host(_) -> bool:
    """True where the values of tensors are read without a transfer."""
    return mindspore.get_context("device_target") == "CPU"


def draws_random_numbers(function):
    """Mark a function that samples random numbers: a program in this process calls it, to share one random state.

    Exported programs use the function of that name in `SOURCE`.
    """
    return _log.log_calls(function, lambda *_: function if _log.live else f"_{function.__name__}")


def _source_of(prim) -> str:
    """Source text of a primitive."""
    home = "mindspore.ops" if hasattr(mindspore.ops, type(prim).__name__) else type(prim).__module__
    attributes = {k: 0 if k.lower() in _SEEDS else v for k, v in prim.init_attrs.items()}
    if attributes.get("name") == prim.name:  # of primitives whose constructors take none
        del attributes["name"]
    settings = ", ".join(f"{k}={_setting(v)}" for k, v in attributes.items())
    return f"{home}.{type(prim).__name__}({settings})"


def _setting(value) -> str:
    return literal(value) or repr(value)


def _changes_a_parameter(prim, *args) -> bool:
    return prim.name.startswith(("Assign", "Scatter")) and isinstance(args[0], mindspore.Parameter)


def _target(prim, *_) -> str:
    return _source_of(prim)


@functools.cache
def _primitives() -> dict[type, dict]:
    found, open_ = {}, [Primitive]
    while open_:
        kind = open_.pop()
        open_ += [k for k in kind.__subclasses__() if k not in found]
        call = vars(kind).get("__call__") if kind.__name__ != _PROXY else None
        logged = call and _log.log_calls(call, _target, bound=True, writes=_changes_a_parameter)
        found[kind] = {"__call__": logged} if logged else {}
    return {kind: members for kind, members in found.items() if members}


@functools.cache
def _methods() -> dict:
    found = {}
    for name in dir(Tensor):
        member = getattr(Tensor, name)
        if name in _READS:
            found[name] = _log.log_reads(member)
        elif callable(member) and name not in _QUIET and not isinstance(member, type):
            # indexing a parameter calls a method that no compiler supports
            spelled = ".__getitem__" if name == "_getitem_origin" else f".{name}"
            found[name] = _log.log_calls(member, spelled, writes=name in _WRITES or (name[-1] == "_" != name[-2]))
    return found


@functools.cache
def _overloads() -> dict:
    instances = [n for n in vars(functional_overload) if n.endswith("_instance")]
    home = "mindspore.ops.functional_overload"
    return {n: _log.log_calls(getattr(functional_overload, n), f"{home}.{n}") for n in instances}


@functools.cache
def _inner() -> dict[type, dict]:
    """The kernels of MindSpore's newer functions, each the only instance of a class."""
    home = "mindspore.ops.auto_generate.pyboost_inner_prim"
    found = {n: type(v) for n, v in vars(pyboost_inner_prim).items() if n.endswith("_impl")}
    return {kind: {"__call__": _log.log_calls(kind.__call__, f"{home}.{n}", bound=True)} for n, kind in found.items()}


@functools.cache
def _changes() -> list[tuple]:
    """Patches: owner, name, replacement, and the original (None if it was inherited)."""
    owners = [
        (mindspore.nn.Cell, _cells()),
        (Tensor, _methods()),
        (functional_overload, _overloads()),
        *_primitives().items(),
        *_inner().items(),
    ]
    return [(o, n, member, vars(o).get(n)) for o, members in owners for n, member in members.items()]


@functools.cache
def _cells() -> dict:
    call = mindspore.nn.Cell.__call__
    logged = _log.log_calls(call, lambda cell, *_: cell, bound=True, live=True)

    @functools.wraps(call)
    def run(cell, *args, **kwargs):
        return (logged if hasattr(type(cell), "bprop") else call)(cell, *args, **kwargs)

    return {"__call__": run}


@contextlib.contextmanager
def recorder(live: bool = False):
    """Gives ``record(function, tape)``: it runs the function and logs MindSpore's calls (see `graph.lowering.tape.Tape`).

    ``live`` logs calls of cells with their own gradients and of random functions unchanged.
    """

    def record(function, tape):
        return _log.record(tape, function, live)

    with computing:
        try:
            for owner, name, member, _ in _changes():
                setattr(owner, name, member)
            yield record
        finally:
            for owner, name, _, former in _changes():
                delattr(owner, name) if former is None else setattr(owner, name, former)


def literal(value) -> str | None:
    """Source text of values that only MindSpore has."""
    if isinstance(value, mindspore.common.dtype.Type):
        return f"mindspore.{str(value).lower()}"
    return None


_DRAWS = {
    "_random_uniform": (
        "def _random_uniform(shape, low, high, kind):",
        "    drawn = mindspore.ops.rand(*shape, dtype=mindspore.float32).reshape(shape)",  # () makes one axis
        "    return (drawn * (high - low) + low).astype(getattr(mindspore, kind))",
    ),
    "_random_normal": (
        "def _random_normal(shape, mean, std, kind):",
        "    drawn = mindspore.ops.randn(*shape, dtype=mindspore.float32).reshape(shape)",
        "    return (drawn * std + mean).astype(getattr(mindspore, kind))",
    ),
    "_random_integers": (
        "def _random_integers(shape, low, high, kind):",
        "    return mindspore.ops.randint(low, high, shape or (1,)).reshape(shape).astype(getattr(mindspore, kind))",
    ),
    "_random_permutation": (
        "def _random_permutation(n):",
        "    return mindspore.ops.argsort(mindspore.ops.rand(n, dtype=mindspore.float32)).astype(mindspore.int64)",
    ),
    "_dropout_mask": (
        "def _dropout_mask(shape, rate):",
        "    kept = mindspore.ops.rand(*shape, dtype=mindspore.float32).reshape(shape) >= rate",
        "    return kept.astype(mindspore.float32) / (1 - rate)",
    ),
}

SOURCE: SourceWords = {
    "title": FACTS.title,
    "imports": ("import mindspore", "import numpy as np"),
    "functions": _DRAWS,
    "base": "mindspore.nn.Cell",
    "method": "construct",
    "mode": "",
    "training": "self.training",
    "size": "{x}.shape[{axis}]",
    "parameter": 'self.{name} = mindspore.Parameter(mindspore.Tensor({array}), name="{name}")',
    "buffer": 'self.{name} = mindspore.Parameter(mindspore.Tensor({array}), name="{name}", requires_grad=False)',
    "unsaved": "self.{name} = mindspore.Tensor({array})",
    "constant": "mindspore.Tensor({array})",
    "numbers": 'mindspore.Tensor(np.array({values}, "{dtype}"))',
    "unrolled": 8,  # mindspore.jit takes 0.1 s and more for each step that is written out
    "existing": "self.{name} = {value}",
    "reserved": tuple(dir(mindspore.nn.Cell())),
}
