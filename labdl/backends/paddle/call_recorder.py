"""Paddle's own calls, logged at run time.

Paddle has no hook, so during a recording its kernels in ``paddle._C_ops`` and the methods of tensors are replaced by logging
ones. References that the backend's modules took at import cannot be replaced: the recording uses a second copy of the
modules, imported with the replacements.
"""

import contextlib
import functools
import importlib
import inspect
import sys
import types
from typing import Any

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
    """Mark a function that is recorded as a whole, such as one with its own gradient.

    A program in this process calls it; ``elsewhere`` is called by exported programs.
    """
    return _log.log_calls(function, lambda *_: function if _log.live else elsewhere, live=elsewhere is None)


def reads_values(x) -> bool:
    """True where Python may read a tensor's values: at no cost, which is on the CPU, and not for a program."""
    return _log.tape is None and paddle.in_dynamic_mode() and on_host(x)


def has_python_gradients() -> bool:
    """True unless a program is made: the gradient of a program is that of its kernels."""
    return _log.tape is None and paddle.in_dynamic_mode()


def refuse_negative(positions, operator: str) -> None:
    """Raise IndexError for a negative position, which kernels count from the end, where values can be read."""
    if reads_values(positions) and 0 not in positions.shape:
        least: Any = paddle.amin(positions, [], False).item()
        if least < 0:
            raise IndexError(f"{operator} wants positions of 0 or more, received {least}")


def on_host(x) -> bool:
    """True for a tensor in the memory of the CPU, whose values are read without a transfer."""
    return x.place.is_cpu_place()


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
    """A second copy of the backend's operators, with logging kernels."""
    former = {
        name: sys.modules[name] for name in list(sys.modules) if name.startswith(f"{_PACKAGE}.") and name != __name__
    }
    package = sys.modules[_PACKAGE]
    attributes = dict(vars(package))
    for name in former:
        del sys.modules[name]
        vars(package).pop(
            name.rpartition(".")[2], None
        )  # otherwise ``from package import module`` would return the former one
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

    ``live`` logs calls of functions with their own gradients unchanged.
    """
    tensor = paddle.Tensor
    writing = ("copy_", "__setitem__", "_setitem_dygraph")
    methods = {n: _log.log_calls(getattr(tensor, n), f".{n}", writes=n in writing) for n in _METHODS}
    methods |= {n: _log.log_reads(getattr(tensor, n)) for n in _READS}

    def record(function, tape):
        copy = types.SimpleNamespace(**{**vars(tape.backend), "operators": _copy_of_operators()})
        # kernels differ if a gradient is needed
        with tape.override_kernels(copy), paddle.set_grad_enabled(tape.training):
            return _log.record(tape, function, live)

    with _replace_members(_C_ops, _kernels()), _replace_members(tensor, methods):
        yield record


def literal(value) -> str | None:
    """Source text of values that only Paddle has."""
    if isinstance(value, paddle.dtype):
        return f"paddle.{str(value).rpartition('.')[2]}"
    if isinstance(value, paddle.base.core.Place | paddle.CPUPlace):
        return "paddle.framework._current_expected_place()"
    return None


def _fill(layer, **arrays):
    """The layer, with its parameters."""
    variables = layer.state_dict()
    for name, array in arrays.items():
        variables[name].set_value(array)
    return layer


SOURCE: SourceWords = {
    "title": FACTS.title,
    "imports": (
        "import numpy as np",
        "import paddle",
        "",
        "# The kernels that the model runs, for the same numbers. Their names are not public: other versions of Paddle may",
        "# need other ones.",
        "from paddle import _C_ops",
    ),
    "functions": {
        "_parameter": (
            "def _parameter(array):",
            "    start = paddle.nn.initializer.Assign(array)",
            "    return paddle.create_parameter(array.shape, array.dtype.name, default_initializer=start)",
        ),
        "_fill": tuple(inspect.getsource(_fill).splitlines()),
    },
    "fill": _fill,
    "base": "paddle.nn.Layer",
    "method": "forward",
    "mode": "",
    "training": "self.training",
    "size": "{x}.shape[{axis}]",
    "parameter": "self.{name} = _parameter({array})",
    "buffer": 'self.register_buffer("{name}", paddle.to_tensor({array}))',
    "unsaved": 'self.register_buffer("{name}", paddle.to_tensor({array}), persistable=False)',
    "constant": "paddle.to_tensor({array})",
    "numbers": 'paddle.to_tensor({values}, "{dtype}")',
    "unrolled": 16,
    "loops_without_gradient": (
        "paddle.jit.to_static has no gradient of a loop whose length is not known or above 16 (ops.while_loop, ops.scan)"
    ),
    "existing": 'self.register_buffer("{name}", {value}, persistable=False)',
    "reserved": tuple(dir(paddle.nn.Layer())),
}
