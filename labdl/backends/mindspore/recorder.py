"""MindSpore's own calls, noted while they are made.

All that computes in MindSpore is a primitive, a method of tensors or an overloaded function. For the time of a recording
their calls are replaced by ones that note.
"""

import contextlib
import functools

import mindspore
from mindspore import Tensor
from mindspore.ops import functional_overload
from mindspore.ops.auto_generate import pyboost_inner_prim
from mindspore.ops.primitive import Primitive

_READS = ("asnumpy", "item", "tolist", "__bool__", "__float__", "__int__", "__index__", "numpy")
_WRITES = ("__setitem__", "copy_", "set_data", "assign_value")
_SEEDS = ("seed", "seed0", "seed1", "seed2")  # drawn anew for each call; 0 lets MindSpore draw
_QUIET = frozenset(dir(object)) | {"dtype", "shape", "size", "ndim", "has_init", "param_info", "slice_info"}


class _Tape:
    """The tape in use, and whether a call within a noted call is under way."""

    now = None
    inside = False


def _made(prim) -> str:
    """Source text of a primitive."""
    home = "mindspore.ops" if hasattr(mindspore.ops, type(prim).__name__) else type(prim).__module__
    attributes = {k: 0 if k.lower() in _SEEDS else v for k, v in prim.init_attrs.items()}
    settings = ", ".join(f"{k}={_setting(v)}" for k, v in attributes.items())
    return f"{home}.{type(prim).__name__}({settings})"


def _setting(value) -> str:
    return literal(value) or repr(value)


def _noting(target: str, function, writes: bool = False):
    @functools.wraps(function)
    def run(*args, **kwargs):
        if _Tape.now is None or _Tape.inside:
            return function(*args, **kwargs)
        result = _alone(function, args, kwargs)
        _Tape.now.call(target, args, kwargs, result, writes)
        return result

    return run


def _alone(function, args, kwargs):
    """A call of which the calls inside are not noted."""
    _Tape.inside = True
    try:
        return function(*args, **kwargs)
    finally:
        _Tape.inside = False


def _noting_primitive(function):
    @functools.wraps(function)
    def run(prim, *args, **kwargs):
        if _Tape.now is None or _Tape.inside:
            return function(prim, *args, **kwargs)
        result = _alone(function, (prim, *args), kwargs)
        writes = prim.name.startswith(("Assign", "Scatter")) and isinstance(args[0], mindspore.Parameter)
        _Tape.now.call(_made(prim), args, kwargs, result, writes)
        return result

    return run


@functools.cache
def _primitives() -> dict[type, dict]:
    found, open_ = {}, [Primitive]
    while open_:
        kind = open_.pop()
        open_ += [k for k in kind.__subclasses__() if k not in found]
        found[kind] = {"__call__": _noting_primitive(vars(kind)["__call__"])} if "__call__" in vars(kind) else {}
    return {kind: members for kind, members in found.items() if members}


def _reading(function):
    @functools.wraps(function)
    def run(value, *args, **kwargs):
        if _Tape.now is not None and not _Tape.inside:
            _Tape.now.read(value)
        return function(value, *args, **kwargs)

    return run


@functools.cache
def _methods() -> dict:
    found = {}
    for name in dir(Tensor):
        member = getattr(Tensor, name)
        if name in _READS:
            found[name] = _reading(member)
        elif callable(member) and name not in _QUIET and not isinstance(member, type):
            found[name] = _noting(f".{name}", member, name in _WRITES or (name[-1] == "_" != name[-2]))
    return found


@functools.cache
def _overloaded() -> dict:
    instances = [n for n in vars(functional_overload) if n.endswith("_instance")]
    return {n: _noting(f"mindspore.ops.functional_overload.{n}", getattr(functional_overload, n)) for n in instances}


@functools.cache
def _inner() -> dict[type, dict]:
    """The kernels under MindSpore's newer functions, each the one instance of a class."""
    home = "mindspore.ops.auto_generate.pyboost_inner_prim"
    found = {n: type(v) for n, v in vars(pyboost_inner_prim).items() if n.endswith("_impl")}
    return {kind: {"__call__": _noting_kernel(f"{home}.{n}", kind.__call__)} for n, kind in found.items()}


def _noting_kernel(target: str, function):
    @functools.wraps(function)
    def run(kernel, *args):
        if _Tape.now is None or _Tape.inside:
            return function(kernel, *args)
        result = _alone(function, (kernel, *args), {})
        _Tape.now.call(target, args, {}, result)
        return result

    return run


@functools.cache
def _changes() -> list[tuple]:
    """Whose member of which name gives way to what, and what stood there itself (None: it was inherited)."""
    owners = [(Tensor, _methods()), (functional_overload, _overloaded()), *_primitives().items(), *_inner().items()]
    return [(o, n, member, vars(o).get(n)) for o, members in owners for n, member in members.items()]


@contextlib.contextmanager
def recorder():
    """Gives ``record(function, tape)``: it runs the function and notes MindSpore's calls (see `labdl.graph.flat.Tape`)."""

    def record(function, tape):
        _Tape.now = tape
        try:
            return function()
        finally:
            _Tape.now = None

    try:
        for owner, name, member, _ in _changes():
            setattr(owner, name, member)
        yield record
    finally:
        for owner, name, _, former in _changes():
            delattr(owner, name) if former is None else setattr(owner, name, former)


def literal(value) -> str | None:
    """Source text of what only MindSpore has."""
    if isinstance(value, mindspore.common.dtype.Type):
        return f"mindspore.{str(value).lower()}"
    return None


SOURCE = {
    "title": "MindSpore",
    "imports": ("import mindspore", "import numpy as np"),
    "making": (),
    "base": "mindspore.nn.Cell",
    "method": "construct",
    "mode": "",
    "training": "self.training",
    "size": "{x}.shape[{axis}]",
    "parameter": 'self.{name} = mindspore.Parameter(mindspore.Tensor({array}), name="{name}")',
    "buffer": 'self.{name} = mindspore.Parameter(mindspore.Tensor({array}), name="{name}", requires_grad=False)',
    "kept": "self.{name} = mindspore.Tensor({array})",
    "constant": "mindspore.Tensor({array})",
    "numbers": 'mindspore.Tensor(np.array({values}, "{dtype}"))',
    "taken": tuple(dir(mindspore.nn.Cell())),
}
