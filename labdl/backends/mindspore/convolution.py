"""MindSpore implementations of convolutions, on its fastest CPU kernels.

The primitives of mindspore.ops.operations beat the functions of mindspore.ops around them, and most kernels of
mindspore.mint do not exist on CPU. They support float32 only: float64 is computed by matrix products of the windows.
"""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportOptionalMemberAccess=false

from functools import lru_cache
from math import prod

import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import as_tensor, float32
from labdl.backends.mindspore.kernel_operands import either_format, hashable, in_common_dtype, positions
from labdl.spec import crop_pairs, pad_pairs, per_axis, transposed_sizes, window_sizes

_expand, _slice = P.ExpandDims(), P.Slice()


def pad_spatial(x, pairs, value=0.0):
    """Pad the last axes. The gradient of ops.pad is wrong from a compiled function's second run on."""
    if not any(map(max, pairs)):
        return x
    y = _pad(pairs)(x)
    return y + _border(x.shape[2:], pairs, value, x.dtype) if value else y


@lru_cache(None)
def _pad(pairs):
    return P.Pad(((0, 0), (0, 0), *pairs))


@lru_cache(64)
def _border(sizes, pairs, value, kind):
    return as_tensor(np.pad(np.zeros((1, 1, *sizes)), ((0, 0), (0, 0), *pairs), constant_values=value), kind)


def _check(x, kernel, bias, rank: int, into: int, out: int, groups: int) -> None:
    """MindSpore would raise later, from another call."""
    if kernel.ndim != rank + 2 or x.shape[1] != into or (out % groups or into % groups):
        raise ValueError(f"{x.shape[1]} channels in {groups} group(s) do not fit a kernel of {kernel.shape}")
    if bias is not None and bias.shape != (out,):
        raise ValueError(f"a convolution to {out} channels wants a bias ({out},), received {bias.shape}")


def _shift(y, bias):
    return y if bias is None else _bias_add(y.ndim)(y, bias)


@lru_cache(None)
def _bias_add(ndim: int):
    return P.BiasAdd("NCDHW") if ndim == 5 else P.BiasAdd()


# -- convolution


@lru_cache(None)
def _plan(sizes, window, stride, padding, dilation):
    """Stride, padding, dilation and the sizes of the result, each for all axes; a ValueError if they do not fit."""
    rank = len(sizes)
    stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
    counts = window_sizes(sizes, window, stride, padding, dilation)
    return stride, pad_pairs(padding, sizes, window, stride, dilation), dilation, counts


@lru_cache(None)
def _kernel(rank, channels, window, pairs, stride, dilation, groups):
    pads = tuple(n for pair in pairs for n in pair)
    return {2: P.Conv2D, 3: P.Conv3D}[rank](channels, window, 1, "pad", pads, stride, dilation, groups)


def _native(x) -> bool:
    return x.dtype is float32


def _conv(rank):
    @in_common_dtype
    @either_format(rank)
    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
        channels, each, *window = kernel.shape
        _check(x, kernel, bias, rank, each * groups, channels, groups)
        window = tuple(window)
        plan = _plan(x.shape[2:], window, hashable(stride), hashable(padding), hashable(dilation))
        if not x.size or not kernel.size:
            return _shift(ops.zeros((x.shape[0], channels, *plan[-1]), x.dtype), bias)
        return _shift(_convolve(x, kernel, window, *plan, groups), bias)

    return call


def _convolve(x, kernel, window, stride, pairs, dilation, counts, groups):
    rank, channels = len(window), kernel.shape[0]
    if not _native(x) or (rank == 3 and dilation[0] > 1):  # which the kernel rejects
        return _by_products(x, kernel, window, stride, pairs, dilation, counts, groups)
    if rank > 1:
        return _kernel(rank, channels, window, pairs, stride, dilation, groups)(x, kernel)
    run = _kernel(2, channels, (1, *window), ((0, 0), *pairs), (1, *stride), (1, *dilation), groups)
    return run(_expand(x, 2), _expand(kernel, 2)).squeeze(2)


@lru_cache(64)
def _places(counts, window, sizes, stride, dilation):
    return Tensor(positions(counts, window, sizes, stride, dilation))


def windows(x, window, stride, dilation, counts):
    """The windows of padded x as columns: (N, C, elements, windows)."""
    sizes = x.shape[2:]
    return ops.gather(x.reshape(*x.shape[:2], prod(sizes)), _places(counts, window, sizes, stride, dilation), 2)


def _by_products(x, kernel, window, stride, pairs, dilation, counts, groups):
    columns = windows(pad_spatial(x, pairs), window, stride, dilation, counts)
    n, channels = x.shape[0], kernel.shape[0]
    columns = columns.reshape(n, groups, -1, columns.shape[-1])
    y = ops.matmul(kernel.reshape(1, groups, channels // groups, -1), columns)
    return y.reshape(n, channels, *counts)


conv1d, conv2d, conv3d = map(_conv, (1, 2, 3))


# -- transposed convolution


@lru_cache(None)
def _transposed_plan(sizes, window, stride, padding, dilation, output_padding):
    """Stride, dilation, the sizes without crops, the crops, and the sizes of the result."""
    rank = len(sizes)
    stride, dilation = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
    full = transposed_sizes(sizes, window, stride, 0, dilation)
    crops = crop_pairs(padding, window, stride, dilation, output_padding)
    return stride, dilation, full, crops, transposed_sizes(sizes, window, stride, padding, dilation, output_padding)


@lru_cache(None)
def _gradient(channels, window, stride, dilation, groups, pairs):
    """The kernel of conv2d's gradient; ``channels`` are those it reads."""
    pads = tuple(n for pair in pairs for n in pair)
    return P.Conv2DBackpropInput(channels, window, "pad", pads, None, 1, stride, dilation, groups)


@lru_cache(None)
def _transposed3d(into, out, window, stride, dilation, groups):
    return P.Conv3DTranspose(into, out, window, stride=stride, dilation=dilation, group=groups)


def _conv_transpose(rank):
    @in_common_dtype
    @either_format(rank)
    def call(x, kernel, bias=None, *, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
        into, each, *window = kernel.shape
        _check(x, kernel, bias, rank, into, each * groups, groups)
        options = map(hashable, (stride, padding, dilation, output_padding))
        stride, dilation, full, crops, sizes = _transposed_plan(x.shape[2:], tuple(window), *options)
        if not x.size or not kernel.size:
            return _shift(ops.zeros((x.shape[0], each * groups, *sizes), x.dtype), bias)
        if _native(x) and rank < 3:
            return _shift(_by_gradient(x, kernel, stride, dilation, groups, full, crops, sizes), bias)
        if _native(x) and dilation[0] == 1:
            y = _transposed3d(into, each * groups, tuple(window), stride, dilation, groups)(x, kernel)
        else:
            y = _by_stuffing(x, kernel, stride, dilation, groups, full)
        return _shift(_crop(y, crops, sizes), bias)

    return call


def _by_gradient(x, kernel, stride, dilation, groups, full, crops, sizes):
    channels, flat = kernel.shape[1] * groups, len(full) == 1
    whole = min(map(min, crops)) < 0  # the kernel crops, but does not pad
    pairs, wanted = (((0, 0),) * len(full), full) if whole else (crops, sizes)
    if flat:
        x, kernel, stride, dilation = _expand(x, 2), _expand(kernel, 2), (1, *stride), (1, *dilation)
        pairs, wanted = ((0, 0), *pairs), (1, *wanted)
    run = _gradient(kernel.shape[0], kernel.shape[2:], stride, dilation, groups, pairs)
    y = run(x, kernel, (x.shape[0], channels, *wanted))
    y = y.squeeze(2) if flat else y
    return _crop(y, crops, sizes) if whole else y


def _by_stuffing(x, kernel, stride, dilation, groups, full):
    """Zeros between the elements of x, then a convolution with the flipped kernel."""
    into, each, *window = kernel.shape
    window, rank = tuple(window), len(full)
    for axis, step in enumerate(stride, 2):
        if step > 1:
            x = _insert_zeros(x, axis, step)
    flipped = ops.flip(kernel, tuple(range(2, rank + 2))).reshape(groups, into // groups, each, *window)
    flipped = ops.swapaxes(flipped, 1, 2).reshape(groups * each, into // groups, *window)
    reach = tuple((d * (k - 1),) * 2 for d, k in zip(dilation, window, strict=True))
    return _by_products(x, flipped, window, (1,) * rank, reach, dilation, full, groups)


def _insert_zeros(x, axis: int, step: int):
    shape = x.shape
    wide = ops.stack([x, *[ops.zeros_like(x)] * (step - 1)], axis + 1)
    wide = wide.reshape(*shape[:axis], shape[axis] * step, *shape[axis + 1 :])
    size = (*shape[:axis], (shape[axis] - 1) * step + 1, *shape[axis + 1 :])
    return _slice(wide, (0,) * len(shape), size)


def _crop(y, crops, sizes):
    """The elements inside the crops; negative crops append zeros."""
    y = pad_spatial(y, tuple((max(0, -before), max(0, -after)) for before, after in crops))
    start = (0, 0, *(max(0, before) for before, _ in crops))
    return y if y.shape[2:] == tuple(sizes) else _slice(y, start, (*y.shape[:2], *sizes))


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_conv_transpose, (1, 2, 3))
