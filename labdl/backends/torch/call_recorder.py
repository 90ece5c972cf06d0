"""PyTorch's own calls, logged at run time."""

import contextlib
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from labdl.backends.protocol.call_recorder import SourceWords
from labdl.backends.torch.facts import FACTS

_READS = {".item", ".tolist", ".numpy", ".__bool__", ".__float__", ".__int__", ".__index__"}


class _Recorder(TorchFunctionMode):
    def __init__(self, tape):
        super().__init__()
        self.tape = tape

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        target = _target(func)
        if target in _READS:
            self.tape.read(args[0])
        inplace = target.endswith("_") and not target.endswith("__")
        writes = inplace or target in (".__setitem__", ".__iadd__", ".__imul__") or kwargs.get("out") is not None
        self.tape.call(target, args, _non_default(func, kwargs), result, writes)
        return result


@functools.lru_cache(4096)  # looking for a name takes as long as the call
def _target(func) -> str:
    """As in `labdl.graph.lowering.program.Call`."""
    name = resolve_name(func) or f"{func.__module__}.{func.__name__}"
    if not name.startswith("torch.Tensor."):
        return name.replace("torch._C._VariableFunctions.", "torch.")
    method = name.removeprefix("torch.Tensor.")
    if method.endswith(".__get__"):
        return f"attribute {method.removesuffix('.__get__')}"
    return f".{method}"


def _non_default(func, kwargs):
    """Remove default arguments."""
    if not kwargs:
        return kwargs
    defaults = _defaults(func)
    return {k: v for k, v in kwargs.items() if k not in defaults or defaults[k] is not v}


@functools.lru_cache(4096)  # the signature of a built-in function is parsed from its text
def _defaults(func) -> Mapping[str, Any]:
    try:
        return {name: parameter.default for name, parameter in inspect.signature(func).parameters.items()}
    except (TypeError, ValueError):
        return {}


@contextlib.contextmanager
def recorder(live: bool = False):
    """Gives ``record(function, tape)``: it runs the function and logs PyTorch's calls (see `graph.lowering.tape.Tape`)."""

    def record(function, tape):
        with (
            torch.set_grad_enabled(tape.training),
            _Recorder(tape),
        ):  # kernels differ if a gradient is needed
            return function()

    yield record


def literal(value) -> str | None:
    """Source text of values that only PyTorch has."""
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
        return str(value)
    if isinstance(value, torch.device):
        return repr(str(value))
    return None


def _fill(layer, **arrays):
    """The layer, with its parameters."""
    layer.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()}, strict=False)
    return layer


SOURCE: SourceWords = {
    "title": FACTS.title,
    "imports": ("import numpy as np", "import torch"),
    "functions": {
        "_fill": tuple(inspect.getsource(_fill).splitlines()),
    },
    "fill": _fill,
    "base": "torch.nn.Module",
    "method": "forward",
    "mode": "",
    "training": "self.training",
    "size": "{x}.shape[{axis}]",
    "parameter": "self.{name} = torch.nn.Parameter(torch.from_numpy({array}))",
    "buffer": 'self.register_buffer("{name}", torch.from_numpy({array}))',
    "unsaved": 'self.register_buffer("{name}", torch.from_numpy({array}), persistent=False)',
    "constant": "torch.from_numpy({array})",
    "numbers": "torch.tensor({values}, dtype=torch.{dtype})",
    "reserved": tuple(dir(torch.nn.Module())),
}
