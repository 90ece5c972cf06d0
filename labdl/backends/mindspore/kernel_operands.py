"""Operands of kernels that take a tensor and weights: one dtype for all, axes in the order of the kernels."""

from functools import lru_cache

import mindspore
import numpy as np
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import float32, promote_operands, to_narrow_dtype

__all__ = ()  # no operators

_transpose = P.Transpose()
_HALVES, _PRECISE = (mindspore.float16, mindspore.bfloat16), (float32, mindspore.float64)


def in_common_dtype(function):
    """Promote x, kernel and bias to one dtype; half precision is computed in float32."""

    def call(x, kernel, bias=None, **options):
        if x.dtype is float32 and kernel.dtype is float32 and (bias is None or bias.dtype is float32):
            return function(x, kernel, bias, **options)
        tensors = promote_operands(*(t for t in (x, kernel, bias) if t is not None))
        kind = tensors[0].dtype
        if kind in _HALVES:
            return to_narrow_dtype(function(*(t.astype(float32) for t in tensors), **options), float32, kind)
        if kind not in _PRECISE:
            raise TypeError(f"weights of {kernel.dtype} do not fit a tensor of {x.dtype}")
        return function(*tensors, **options)

    return call


@lru_cache(None)
def orders(ndim: int, axis: int):
    """Orders of axes that bring the channels to axis 1, where the CPU kernels want them, and back."""
    rest = [a for a in range(ndim) if a != axis % ndim]
    forth = (rest[0], axis % ndim, *rest[1:])
    return forth, tuple(map(forth.index, range(ndim)))


def either_format(rank: int):
    """Run a channels-first function of ``rank`` spatial axes on either format."""

    def wrap(function):
        def call(x, *args, data_format="channels_first", **options):
            if x.ndim != rank + 2:
                raise ValueError(f"{rank + 2} axes expected, received {x.shape}")
            if data_format == "channels_first":
                return function(x, *args, **options)
            forth, back = orders(rank + 2, -1)
            return _transpose(function(_transpose(x, forth), *args, **options), back)

        return call

    return wrap


def hashable(value):
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value


def positions(counts, window, sizes, stride, dilation) -> np.ndarray:
    """For each element of a window and each window, its position in the flattened spatial axes: (elements, windows)."""
    flat = np.zeros((1, 1), "int64")
    for m, k, n, s, d in zip(counts, window, sizes, stride, dilation, strict=True):
        at = np.arange(k)[:, None] * d + np.arange(m) * s
        flat = (flat[:, None, :, None] * n + at[None, :, None, :]).reshape(len(flat) * k, -1)
    return flat
