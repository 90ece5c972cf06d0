"""Mixed precision: which operators compute in half precision, and which never do, while parameters stay float32.

The lists are those of torch.autocast (docs of torch.amp, "CUDA Ops that can autocast to float16" and "to float32"): products
of matrices are fast and safe in half precision; what adds up many numbers, or has a steep slope, is not. An operator in neither
list computes in the dtype of its tensors, different ones meeting as they always do. Where a backend has no kernel for half
precision on a device, its operators compute through float32 and round the result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labdl.ops.operator import Operator

PRECISIONS = ("float16", "bfloat16")
NARROW = frozenset([
    "matmul", "vecdot", "tensordot", "einsum", "outer", "linear", "bilinear", "maxout", "scaled_dot_product_attention",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "depthwise_conv1d",
    "depthwise_conv2d", "separable_conv1d", "separable_conv2d", "lstm", "lstm_cell", "gru", "gru_cell", "rnn", "rnn_cell",
    "prelu",
])  # fmt: skip
WIDE = frozenset([
    "acos", "asin", "acosh", "atanh", "cosh", "sinh", "tan", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
    "logaddexp", "pow", "reciprocal", "rsqrt", "sum", "mean", "var", "std", "prod", "nansum", "nanmean", "logsumexp",
    "logcumsumexp", "cumulative_sum", "cumulative_prod", "softmax", "softmin", "log_softmax", "gumbel_softmax", "sparsemax",
    "softplus", "logsigmoid", "grid_sample", "stft", "istft", "cov", "corrcoef", "segment_sum", "segment_mean", "segment_prod",
])  # fmt: skip
WIDE_CATEGORIES = frozenset([
    "loss", "classification_loss", "detection_loss", "sequence_loss", "similarity_loss", "normalisation", "norms", "similarity",
    "special", "linalg", "fourier", "boxes",
])  # fmt: skip

enabled = False  # until somebody asks for it, nothing of this is in the way


class _Scope(threading.local):
    """What this thread computes heavy operators in, None for the dtype of their tensors."""

    dtype: str | None = None


_scope = _Scope()


class computing:  # noqa: N801  # used as a function
    """While it lasts, this thread's operators compute in mixed precision: "float16" or "bfloat16"; None as everywhere."""

    def __init__(self, dtype: str | None):
        self.dtype = dtype

    def __enter__(self) -> None:
        if self.dtype is not None and not enabled:
            enable()
        self.former, _scope.dtype = _scope.dtype, self.dtype

    def __exit__(self, *_) -> None:
        _scope.dtype = self.former


def takes_part(entry: Operator) -> str | None:
    """In what an operator computes: "narrow", "wide", or None for the dtype of its tensors."""
    if entry.name in NARROW:
        return "narrow"
    return "wide" if entry.name in WIDE or entry.category in WIDE_CATEGORIES else None


def following(entry: Operator, compute: Callable, backend) -> Callable:
    """``compute``, which implements the operator, with its tensors in the dtype that the scope asks for."""
    part = takes_part(entry)
    if part is None:
        return compute
    from labdl.ops.array import astype  # made with the registry, which stands on this file

    kinds = backend.tensor_types()
    changing = [backend.dtype(name) for name in (("float32",) if part == "narrow" else PRECISIONS)]

    def moved(value: Any, target: str) -> Any:
        if isinstance(value, kinds):
            return astype(value, target) if any(value.dtype == kind for kind in changing) else value
        return type(value)(moved(v, target) for v in value) if type(value) in (list, tuple) else value

    def run(*args, **kwargs):
        dtype = _scope.dtype
        if dtype is None:
            return compute(*args, **kwargs)
        target = dtype if part == "narrow" else "float32"
        args = [moved(v, target) for v in args]
        kwargs = {name: moved(v, target) for name, v in kwargs.items()}
        with computing(dtype if part == "narrow" else None):  # what a wide one is composed of is wide as well
            return compute(*args, **kwargs)

    return run


def enable() -> None:
    """From now on implementations look at the scope; those in use are searched for again."""
    global enabled
    from labdl.ops.operator import OPERATORS

    enabled = True
    for entry in OPERATORS.values():
        if takes_part(entry) is not None:
            entry.implementations.clear()
