"""Normalization by statistics of the batch, the channels or a neighborhood."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import pad, permute_dims, reshape
from labdl.ops.math.arithmetic import add, divide, multiply, pow, rsqrt, sqrt, square
from labdl.ops.math.reduction import mean
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import Axis, Number, case, floats, operator


@operator(
    rules.batch_norm,
    case(floats(6, 3), floats(3), floats(3), floats(3), floats(3, low=0.5)),
    case(floats(4, 3, 5), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True),
    case(floats(4, 5, 2, 3), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True, axis=-1),
    case(floats(4, 3, 5, 2), floats(3), floats(3), floats(3), floats(3, low=0.5), training=False),
    precision="float32",
    without_onnx="statistics that change in training",
)
def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """Batch normalization over all axes but ``axis`` (Ioffe & Szegedy, 2015).

    In training it uses the statistics of the batch, and updates ``mean`` and ``variance`` (variables of the backend) in
    place with ``momentum``, the variance with the unbiased estimate. Semantics: torch.nn.functional.batch_norm.
    """
    axes = tuple(a for a in range(x.ndim) if a != axis % x.ndim)
    wide = tuple(-1 if a == axis % x.ndim else 1 for a in range(x.ndim))
    m, v = mean, variance
    if training:
        m, v = np.mean(x, axis=axes), np.var(x, axis=axes)
        count = x.size // x.shape[axis]
        mean += momentum * (m - mean)
        variance += momentum * (v * count / max(count - 1, 1) - variance)
    factor = scale / np.sqrt(v + epsilon)
    return x * factor.reshape(wide) + (offset - m * factor).reshape(wide)


@operator(
    rules.layer_norm,
    case(floats(2, 3, 4), floats(4), floats(4)),
    case(floats(2, 3, 4), floats(3, 4), floats(3, 4)),
    composite=True,
    precision="float32",
)
def layer_norm(x, scale, offset, epsilon=1e-5):
    """Normalization over the last axes, as many as ``scale`` has (Ba et al., 2016)."""
    return add(multiply(_standard(x, tuple(range(-len(scale.shape), 0)), epsilon), scale), offset)


@operator(rules.rms_norm, case(floats(2, 3, 4), floats(4)), composite=True, precision="float32")
def rms_norm(x, scale, epsilon=1e-6):
    """x divided by its root mean square over the last axis, times scale (Zhang & Sennrich, 2019)."""
    return multiply(multiply(x, rsqrt(add(mean(square(x), axis=-1, keepdims=True), epsilon))), scale)


def _standard(x, axes, epsilon):
    """Standardize over the axes."""
    centered = x - mean(x, axis=axes, keepdims=True)
    return multiply(centered, rsqrt(add(mean(square(centered), axis=axes, keepdims=True), epsilon)))


def _scale_and_shift(x, scale, offset, axis: int):
    """Multiply by scale and add offset, both per channel."""
    wide = (-1, *(1,) * (len(x.shape) - axis % len(x.shape) - 1))
    x = x if scale is None else multiply(x, reshape(scale, wide))
    return x if offset is None else add(x, reshape(offset, wide))


@operator(
    rules.group_norm,
    case(floats(2, 6, 3), 3, floats(6), floats(6)),
    case(floats(2, 2, 3, 4), 2, floats(4), axis=-1),
    case(floats(3, 4), 2),
    composite=True,
    precision="float32",
)
def group_norm(x, groups, scale=None, offset=None, *, epsilon=1e-5, axis=1):
    """Normalization of each sample over all axes but the first, in ``groups`` groups of channels (Wu & He, 2018).

    ``axis`` holds the channels; scale and offset have one element for each. Semantics: torch.nn.functional.group_norm.
    """
    shape = sizes_of(x)
    axis = axis % len(shape)
    if axis != 1:
        forth = (0, axis, *(a for a in range(1, len(shape)) if a != axis))
        moved = group_norm(permute_dims(x, forth), groups, scale, offset, epsilon=epsilon)
        return permute_dims(moved, tuple(map(forth.index, range(len(shape)))))
    rest = -1 if None in shape[1:] else math.prod(shape[1:]) // groups
    sizes = tuple(-1 if n is None else n for n in shape)
    grouped = reshape(x, (sizes[0], groups, rest))
    return _scale_and_shift(reshape(_standard(grouped, -1, epsilon), sizes), scale, offset, 1)


@operator(
    rules.instance_norm,
    case(floats(2, 3, 5), floats(3), floats(3)),
    case(floats(3, 4, 3, 2), floats(2), axis=-1),
    case(floats(2, 3, 2, 2, 2)),
    composite=True,
    precision="float32",
)
def instance_norm(x, scale=None, offset=None, *, epsilon=1e-5, axis=1):
    """Normalization of each channel of each sample over the spatial axes (Ulyanov et al., 2016).

    ``axis`` holds the channels; scale and offset have one element for each. Semantics: torch.nn.functional.instance_norm.
    """
    axes = tuple(a for a in range(1, len(x.shape)) if a != axis % len(x.shape))
    return _scale_and_shift(_standard(x, axes, epsilon), scale, offset, axis)


@operator(
    rules.local_response_norm,
    case(floats(2, 6, 3), 3),
    case(floats(2, 3, 5), 4, alpha=0.5, beta=0.5, k=2.0, axis=-1),
    composite=True,
    precision="float32",
    options={"k": Number()},
)
def local_response_norm(x, size, *, alpha=1e-4, beta=0.75, k=1.0, axis=1):
    """x / (k + alpha * mean of the squares of ``size`` neighboring channels) ** beta (Krizhevsky et al., 2012).

    Channels beyond the first and the last count as zeros. Semantics: torch.nn.functional.local_response_norm.
    """
    shape = sizes_of(x)
    axis = axis % len(shape)
    border = ((0, 0),) * axis + ((size // 2, (size - 1) // 2),) + ((0, 0),) * (len(shape) - axis - 1)
    squares = pad(square(x), border)
    each = (slice(None),) * axis
    sums = squares[(*each, slice(0, shape[axis]))]
    for at in range(1, size):
        sums = add(sums, squares[(*each, slice(at, at + shape[axis]))])
    return multiply(x, pow(add(multiply(sums, alpha / size), k), -beta))


@operator(
    rules.weight_norm,
    case(floats(4, 3), floats(4, 1)),
    case(floats(2, 3, 4), floats(1, 1, 4), 2),
    case(floats(2, 3), floats(1, 1), None),
    options={"axis": Axis((99,), none=True)},
    composite=True,
)
def weight_norm(direction, gain, axis=0):
    """A weight as gain * direction / its Euclidean norm (Salimans & Kingma, 2016).

    ``axis`` keeps norms of its own: ``gain`` has its size there, and 1 on the other axes; None takes one norm of all.
    Semantics: torch.nn.utils.parametrizations.weight_norm, where ``axis`` is dim.
    """
    count = len(direction.shape)
    others = tuple(a for a in range(count) if axis is None or a != axis % count)
    return multiply(direction, divide(gain, sqrt(total(square(direction), axis=others, keepdims=True))))
