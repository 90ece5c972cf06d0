"""Mixed precision: operators compute in half precision or in float32 while parameters stay float32.

The classes (``precision=`` of `labdl.ops.operator`) are those of torch.autocast (docs of torch.amp, "CUDA Ops that can
autocast to float16" and "to float32"): products of matrices are fast and safe in half precision; long sums and steep
functions are not. An operator in neither class computes in the dtype of its tensors, promoted as usual. Where a backend
has no half-precision kernel on a device, its operators compute through float32 and round the result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from labdl.ops.operator.definition import OPERATORS, Operator

PRECISIONS = ("float16", "bfloat16")

enabled = False  # implementations check the scope only after the first use


class _Scope(threading.local):
    """The dtype of half-precision operators in this thread, None outside of `autocast`."""

    dtype: str | None = None


_scope = _Scope()


class autocast:  # noqa: N801  # used as a function
    """Context in which this thread's operators compute in mixed precision: "float16" or "bfloat16"; None switches it off."""

    def __init__(self, dtype: str | None):
        self.dtype = dtype

    def __enter__(self) -> None:
        if self.dtype is not None and not enabled:
            enable()
        self.previous, _scope.dtype = _scope.dtype, self.dtype

    def __exit__(self, *_) -> None:
        _scope.dtype = self.previous


def cast_inputs(entry: Operator, compute: Callable, backend) -> Callable:
    """``compute``, which implements the operator, with its tensors cast by the scope and the operator's class."""
    if entry.precision is None:
        return compute
    half, astype = entry.precision == "half", OPERATORS["astype"].function
    kinds = backend.tensor_types()
    sources = [backend.dtype(name) for name in (("float32",) if half else PRECISIONS)]

    def cast(value: Any, target: str) -> Any:
        if isinstance(value, kinds):
            return astype(value, target) if any(value.dtype == dtype for dtype in sources) else value
        return type(value)(cast(v, target) for v in value) if type(value) in (list, tuple) else value

    def run(*args, **kwargs):
        dtype = _scope.dtype
        if dtype is None:
            return compute(*args, **kwargs)
        target = dtype if half else "float32"
        args = [cast(v, target) for v in args]
        kwargs = {name: cast(v, target) for name, v in kwargs.items()}
        with autocast(dtype if half else None):  # the parts of a float32 composite are float32 as well
            return compute(*args, **kwargs)

    return run


def enable() -> None:
    """Make implementations check the scope, also those resolved before."""
    global enabled
    enabled = True
    for entry in OPERATORS.values():
        if entry.precision is not None:
            entry.remove_implementations()
