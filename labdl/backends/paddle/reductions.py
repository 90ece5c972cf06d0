"""PaddlePaddle implementations of reductions and cumulative operators."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import builtins
import functools
import math

import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import isnan, sqrt, where
from labdl.backends.paddle.dtypes import (
    BOOL,
    FLOAT32,
    FRACTIONS,
    HALVES,
    INT64,
    INTEGERS,
    LONG,
    WIDER,
    cast,
    full_tensor,
    in_wider_dtype,
    is_fraction,
)
from labdl.backends.paddle.tensors import dtype as native_dtype


def _axes(axis):
    return [] if axis is None else [axis] if isinstance(axis, int) else list(axis)


def _refuse_empty(x, axis, name):
    if 0 in x.shape and builtins.any(x.shape[a] == 0 for a in (range(x.ndim) if axis is None else _axes(axis))):
        raise ValueError(f"{name} wants at least one element on each axis, received {tuple(x.shape)}")


def _summing(kernel):
    """Sums and products: integers as int64, half precision rounded at the end."""

    def call(x, axis=None, keepdims=False, *, dtype=None):
        kind = x.dtype
        if dtype is not None:
            kind = native_dtype(dtype)
            x = x if x.dtype == kind else cast(x, kind)
        if axis == ():  # Paddle interprets () as all axes
            return cast(x, INT64) if dtype is None and (kind == BOOL or kind in INTEGERS) else _copy(x)
        if kind is FLOAT32:
            return kernel(x, _axes(axis), keepdims)
        long = LONG.get(kind, kind)
        x = x if long == kind else cast(x, long)
        result = kernel(x, _axes(axis), keepdims)
        return cast(result, kind) if kind in HALVES or (dtype is not None and long != kind) else result

    return call


def _copy(x):
    return kernels.assign(x)


def _product(x, axes, keepdims):
    """Paddle's gradient of a product is NaN where a factor is 0; that of cumulative products is right."""
    if x.stop_gradient:
        return kernels.prod(x, axes, keepdims, not axes)
    axes = [a % x.ndim for a in axes] or list(range(x.ndim))
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    rest = [n for a, n in enumerate(x.shape) if a not in axes]
    if not x.ndim or 0 in x.shape:
        return kernels.prod(x, axes, keepdims, not axes)
    order = [a for a in range(x.ndim) if a not in axes] + axes
    x = kernels.reshape(kernels.transpose(x, order), [*rest, -1])
    last = kernels.slice(kernels.cumprod(x, len(rest), False, False), [len(rest)], [-1], [x.shape[-1]], [1], [])
    return kernels.reshape(last, kept if keepdims else rest)


sum = _summing(lambda x, axes, keepdims: paddle.sum(x, axes, None, keepdims))
prod = _summing(_product)


def _by_axes(kernel, table, returned=True):
    general = in_wider_dtype(kernel, table, returned)

    def call(x, axis=None, keepdims=False):
        if axis == ():
            return kernels.reshape(general(kernels.unsqueeze(x, [0]), [0], False), x.shape)
        return (kernel if x.dtype is FLOAT32 else general)(x, _axes(axis), keepdims)

    return call


mean = _by_axes(kernels.mean, FRACTIONS)


def _truth(kernel):
    # a compiled program takes the result for one of the tensor's own kind
    return _by_axes(lambda x, *rest: kernel(x if x.dtype == BOOL else cast(x, BOOL), *rest), {}, False)


any, all = _truth(paddle.any), _truth(paddle.all)


def _extreme(kernel):
    # amax and amin divide the gradient among equal elements, max and min give each of them all of it
    function = _by_axes(kernel, WIDER)

    def call(x, axis=None, keepdims=False):
        if 0 in x.shape:
            _refuse_empty(x, axis, "a largest or smallest element")
        return function(x, axis, keepdims)

    return call


max, min = _extreme(paddle.amax), _extreme(paddle.amin)


def _position(kernel, worst):
    @functools.partial(in_wider_dtype, returned=False)
    def locate(x, axis, keepdims):
        if is_fraction(x.dtype):  # Paddle ignores NaN: use the position of the first one
            lost = isnan(x)
            some = paddle.any(lost, [axis], True)
            x = where(some, cast(lost, x.dtype) if worst > 0 else -cast(lost, x.dtype), x)
        return kernel(x, axis, keepdims)

    def call(x, axis=None, keepdims=False):
        if 0 in x.shape:
            _refuse_empty(x, axis, "a position")
        if axis is not None:
            return locate(x, axis, keepdims)
        result = locate(kernels.reshape(x, [-1]), 0, False)
        return kernels.reshape(result, [1] * x.ndim) if keepdims else result

    return call


argmax, argmin = _position(paddle.argmax, 1), _position(paddle.argmin, -1)


def _spread(function):
    wide = in_wider_dtype(function, FRACTIONS)

    def call(x, axis=None, keepdims=False, correction=0):
        return wide(x, axis, keepdims, correction)

    return call


def _variance(x, axis, keepdims, correction):
    center = mean(x, axis, True)
    squares = paddle.square(kernels.subtract(x, center))
    if not correction:
        return mean(squares, axis, keepdims)
    count = math.prod(x.shape) // (math.prod(center.shape) or 1)
    total = sum(squares, axis, keepdims)
    free = count - correction
    return kernels.divide(total, full_tensor([], free if free > 0 else 0.0, x.dtype))


def _deviation(*args):
    """The gradient is 0 where all elements are equal: that of the square root is infinite."""
    variance = _variance(*args)
    if variance.stop_gradient:
        return sqrt(variance)
    none = kernels.less_equal(variance, full_tensor([], 0.0, variance.dtype))
    root = sqrt(where(none, full_tensor([], 1.0, variance.dtype), variance))
    return where(none, variance.detach(), root)


var, std = _spread(_variance), _spread(_deviation)


def _log_of_sum(x, axes, keepdims):
    result = paddle.logsumexp(x, axes or None, keepdims)
    top = paddle.amax(x.detach(), axes, keepdims)
    return where(paddle.isfinite(top), result, top)


_logsumexp = _by_axes(_log_of_sum, FRACTIONS)


def logsumexp(x, axis=None, keepdims=False):
    """Paddle returns the least finite number, or NaN, for the logarithm of 0."""
    return NotImplemented if 0 in x.shape else _logsumexp(x, axis, keepdims)


@functools.partial(in_wider_dtype, table=FRACTIONS)
def _quantile(x, q, axis, keepdims, method):
    whole = x.ndim
    if axis is None:
        x, axis = kernels.reshape(x, [-1]), 0
    axis %= x.ndim or 1
    x = x if x.ndim else kernels.reshape(x, [1])
    ordered = kernels.argsort(x, axis, False, True)[0]
    size = x.shape[axis]
    lost = isnan(_at(ordered, axis, size - 1))
    results = []
    for share in q if isinstance(q, list | tuple) else [q]:
        place = share * (size - 1)
        low, high = math.floor(place), math.ceil(place)
        weight = {
            "linear": place - low,
            "lower": 0,
            "higher": high - low,
            "midpoint": (high - low) / 2,
            "nearest": round(place) - low,
        }[method]
        mixed = _at(ordered, axis, high if weight == 1 else low)
        if 0 < weight < 1:
            mixed = kernels.add(
                kernels.scale(mixed, 1 - weight, 0.0, True), kernels.scale(_at(ordered, axis, high), weight, 0.0, True)
            )
        result = where(lost, full_tensor([], math.nan, x.dtype), mixed)
        if not keepdims:
            result = kernels.squeeze(result, [axis])
        elif result.ndim != whole:
            result = kernels.reshape(result, [1] * whole)
        results.append(result)
    return kernels.stack(results, 0) if isinstance(q, list | tuple) else results[0]


def _at(x, axis, place):
    """The slice at one position of an axis, which is kept."""
    return kernels.slice(x, [axis], [place], [place + 1], [1], [])


def quantile(x, q, axis=None, keepdims=False, *, method="linear"):
    _refuse_empty(x, axis, "a quantile")
    if axis is None and keepdims and x.ndim > 1:
        return kernels.reshape(
            _quantile(x, q, None, False, method), [*([len(q)] if isinstance(q, list | tuple) else []), *[1] * x.ndim]
        )
    return _quantile(x, q, axis, keepdims, method)


def _running(kernel, start):
    def call(x, axis=None, *, dtype=None, include_initial=False):
        kind = x.dtype if dtype is None else native_dtype(dtype)
        long = LONG.get(kind, kind)
        x = x if x.dtype == long else cast(cast(x, kind), long)
        axis = (axis or 0) % x.ndim
        if include_initial:
            first = full_tensor([1 if a == axis else n for a, n in enumerate(x.shape)], start, long)
            x = kernels.concat([first, x], axis)
        result = kernel(x, axis)
        return cast(result, kind) if kind in HALVES or (dtype is not None and long != kind) else result

    return call


cumulative_sum = _running(lambda x, axis: kernels.cumsum(x, axis, False, False, False), 0)
cumulative_prod = _running(lambda x, axis: kernels.cumprod(x, axis, False, False), 1)


def _extreme_so_far(kernel):
    wide = in_wider_dtype(lambda x, axis: kernel(x, axis, INT64)[0])

    def call(x, axis=None):
        return wide(x, axis or 0)

    return call


cumulative_max, cumulative_min = map(_extreme_so_far, (kernels.cummax, kernels.cummin))


@in_wider_dtype
def _log_sums(x, axis):
    result = kernels.logcumsumexp(x, axis, False, False, False)
    top = kernels.cummax(x, axis, INT64)[0]
    return where(paddle.isfinite(top), result, top)


def logcumsumexp(x, axis=None):
    """Paddle returns the least finite number for the logarithm of 0, and ignores NaN."""
    return _log_sums(x, axis or 0)
