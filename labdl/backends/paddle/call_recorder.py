"""Paddle's own calls, logged while they are made.

Paddle offers no hook, so for the time of a recording its kernels in ``paddle._C_ops`` and the methods of tensors are replaced
by ones that log. What the backend's modules took from there when they were imported is out of reach: the recording uses a
second copy of them, imported with the replacements in place.
"""

import contextlib
import functools
import importlib
import sys
import types

import paddle
from paddle import _C_ops

from labdl.backends.paddle.facts import FACTS
from labdl.backends.protocol.call_recorder import SourceWords
from labdl.call_logging import CallLog

_PACKAGE = "labdl.backends.paddle"
_METHODS = (
    "clone",
    "contiguous",
    "detach",
    "copy_",
    "__getitem__",
    "__setitem__",
    "_getitem_dygraph",
    "_setitem_dygraph",
)
_READS = ("numpy", "item", "tolist", "__bool__", "__float__", "__int__", "__index__")


_log = CallLog()


def log_as_one_call(function, elsewhere: str | None = None):
    """A function that its calls alone would not replace, such as one with a gradient of its own.

    A program in this process calls it; ``elsewhere`` is what others call instead.
    """
    return _log.log_calls(function, lambda *_: function if _log.live else elsewhere, live=elsewhere is None)


@functools.cache
def _kernels() -> dict:
    found = {n: f for n, f in vars(_C_ops).items() if callable(f) and not n.startswith("__")}
    return {n: _log.log_calls(f, f"_C_ops.{n}", writes=n.endswith("_")) for n, f in found.items()}


@contextlib.contextmanager
def _replace_members(owner, members: dict):
    former = {name: getattr(owner, name) for name in members}
    for name, member in members.items():
        setattr(owner, name, member)
    try:
        yield
    finally:
        for name, member in former.items():
            setattr(owner, name, member)


@functools.cache
def _copy_of_operators():
    """The backend's operators once more, made of kernels that log."""
    former = {
        name: sys.modules[name] for name in list(sys.modules) if name.startswith(f"{_PACKAGE}.") and name != __name__
    }
    package = sys.modules[_PACKAGE]
    attributes = dict(vars(package))
    for name in former:
        del sys.modules[name]
        vars(package).pop(name.rpartition(".")[2], None)  # or ``from package import module`` would find the former one
    try:
        with _replace_members(_C_ops, _kernels()):
            return importlib.import_module(f"{_PACKAGE}.operators")
    finally:
        for name in [name for name in sys.modules if name.startswith(f"{_PACKAGE}.") and name != __name__]:
            del sys.modules[name]
        sys.modules.update(former)
        vars(package).update(attributes)


@contextlib.contextmanager
def recorder(live: bool = False):
    """Gives ``record(function, tape)``: it runs the function and logs Paddle's calls (see `graph.lowering.tape.Tape`).

    ``live`` logs calls of what has a gradient of its own as they are.
    """
    tensor = paddle.Tensor
    writing = ("copy_", "__setitem__", "_setitem_dygraph")
    methods = {n: _log.log_calls(getattr(tensor, n), f".{n}", writes=n in writing) for n in _METHODS}
    methods |= {n: _log.log_reads(getattr(tensor, n)) for n in _READS}

    def record(function, tape):
        copy = types.SimpleNamespace(**{**vars(tape.backend), "operators": _copy_of_operators()})
        # kernels differ where a gradient will be asked for
        with tape.override_kernels(copy), paddle.set_grad_enabled(tape.training):
            return _log.record(tape, function, live)

    with _replace_members(_C_ops, _kernels()), _replace_members(tensor, methods):
        yield record


def literal(value) -> str | None:
    """Source text of what only Paddle has."""
    if isinstance(value, paddle.dtype):
        return f"paddle.{str(value).rpartition('.')[2]}"
    if isinstance(value, paddle.base.core.Place | paddle.CPUPlace):
        return "paddle.framework._current_expected_place()"
    return None


SOURCE: SourceWords = {
    "title": FACTS.title,
    "imports": ("import numpy as np", "import paddle", "from paddle import _C_ops"),
    "making": {
        "_parameter": (
            "def _parameter(array):",
            "    start = paddle.nn.initializer.Assign(array)",
            "    return paddle.create_parameter(array.shape, array.dtype.name, default_initializer=start)",
        ),
    },
    "base": "paddle.nn.Layer",
    "method": "forward",
    "mode": "",
    "training": "self.training",
    "size": "{x}.shape[{axis}]",
    "parameter": "self.{name} = _parameter({array})",
    "buffer": 'self.register_buffer("{name}", paddle.to_tensor({array}))',
    "kept": 'self.register_buffer("{name}", paddle.to_tensor({array}), persistable=False)',
    "constant": "paddle.to_tensor({array})",
    "numbers": 'paddle.to_tensor({values}, "{dtype}")',
    "held": 'self.register_buffer("{name}", {value}, persistable=False)',
    "taken": tuple(dir(paddle.nn.Layer())),
}
