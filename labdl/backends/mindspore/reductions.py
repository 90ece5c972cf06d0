"""MindSpore implementations of reductions and cumulative operators."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportAttributeAccessIssue=false, reportOptionalMemberAccess=false, reportOptionalOperand=false

import builtins
import math
from functools import lru_cache

import mindspore
import numpy as np
from mindspore import Tensor, mint, nn, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.arithmetic import _conjugate, _imag, _quotient, _real
from labdl.backends.mindspore.arithmetic import _product as _times
from labdl.backends.mindspore.dtypes import (
    ALL_NUMBERS,
    ALL_REALS,
    FRACTIONS,
    FRACTIONS_AND_COMPLEX,
    HALF,
    HALVES,
    INTO_FRACTIONS,
    as_tensor,
    is_complex,
    is_floating,
    through,
)
from labdl.backends.mindspore.tensors import dtype as native_dtype
from labdl.spec import COMPLEX, INTEGERS, normal_axes

_WIDE = ("int64", "float32", "float64", *COMPLEX)
_COUNTED = {n: ("int64", None) for n in ("bool", *INTEGERS) if n != "int64"} | HALVES  # sums of integers are int64
_ANY_TRUTH = {n: ("bool", None) for n in ALL_NUMBERS} | {"bfloat16": ("float32", None)}
_MEANS = INTO_FRACTIONS | HALVES
_reduce_any, _reduce_all, _gather_along = P.ReduceAny(), P.ReduceAll(), P.GatherD()


def _over(kernel, own, wider, empty=None):
    """A reduction over any axes; of an empty tensor it is ``empty``."""
    function = through(kernel, own, wider)

    def call(x, axis=None, keepdims=False, *, dtype=None, **options):
        """MindSpore returns uninitialized memory for empty tensors."""
        if dtype is not None:
            kind = native_dtype(dtype)
            result = call(x.astype(kind), axis, keepdims, **options)
            return result if result.dtype is kind else result.astype(kind)
        shape = x.shape
        axes = normal_axes(axis, len(shape))
        if not axes:  # MindSpore interprets () as all axes
            return function(x.reshape(*shape, 1), (len(shape),), False, **options)
        if 0 not in shape:
            return function(x, axes, keepdims, **options)
        left = tuple(1 if a in axes else n for a, n in enumerate(shape) if keepdims or a not in axes)
        if empty is None and 0 not in left:
            raise ValueError(f"an empty axis has no largest or smallest element, received {shape}")
        kind = function(ops.ones((1,) * len(shape), x.dtype), axes, keepdims).dtype
        return as_tensor(np.full(left, empty or 0), kind)

    return call


def _largest_or_smallest(kernel):
    def call(x, axes, keepdims):
        """MindSpore ignores NaN, and returns uninitialized memory for empty tensors."""
        found = kernel(x, axes, keepdims)
        if not is_floating(x):
            return found
        missing = P.ReduceAny(keepdims)(ops.not_equal(x, x), axes)
        return ops.where(missing, as_tensor(math.nan, x.dtype), found)

    return _over(call, ALL_REALS, {"bool": ("uint8", "bool"), **HALF})


def _average(x, axes, keepdims):
    if is_complex(x):  # the kernel has no gradient
        return P.Complex()(*(ops.mean(part(x), axes, keepdims) for part in (P.Real(), P.Imag())))
    return ops.mean(x, axes, keepdims)


def _sum(x, axes, keepdims):
    """The kernel adds integers as float64: a product with ones is exact, and faster."""
    if x.dtype is not mindspore.int64:
        return mint.sum(x, axes, keepdims)
    shape = x.shape
    kept = [a for a in range(x.ndim) if a not in axes]
    if kept != list(range(len(kept))):
        x = _transpose(x, (*kept, *axes))
    count = math.prod(shape[a] for a in axes)
    left = tuple(1 if a in axes else n for a, n in enumerate(shape) if keepdims or a not in axes)
    return _matmul(x.reshape(-1, count), ops.ones((count, 1), mindspore.int64)).reshape(left)


_transpose, _matmul = P.Transpose(), P.MatMul()
sum, mean = _over(_sum, _WIDE, _COUNTED, 0), _over(_average, FRACTIONS_AND_COMPLEX[1:], _MEANS, math.nan)
max, min = map(_largest_or_smallest, (ops.amax, ops.amin))


def _one_by_one(kernel):
    def call(x, axes, keepdims):
        for a in sorted(axes, reverse=True):
            x = kernel(x, a, keepdims)
        return x

    return call


class _ComplexProduct(nn.Cell):
    """The kernel has no gradient of complex numbers: for each, the product of the others."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis

    def construct(self, x):
        return mint.prod(x, self.axis, True)

    def bprop(self, x, result, gradient):
        others = _times(_products_before(x, self.axis), _products_behind(x, self.axis))
        return (_times(gradient, _conjugate(others)),)


_products_before, _products_behind = P.CumProd(exclusive=True), P.CumProd(exclusive=True, reverse=True)
_complex_product = lru_cache(None)(_ComplexProduct)


def _product(x, axis, keepdims):
    if not is_complex(x):
        return mint.prod(x, axis, keepdims)
    result = _complex_product(axis)(x)
    return result if keepdims else ops.squeeze(result, axis)


prod = _over(_one_by_one(_product), _WIDE, _COUNTED, 1)


def _truths(kernel, empty):
    def call(x, axes, keepdims):
        return kernel(keepdims)(ops.not_equal(x, 0) if x.dtype is not mindspore.bool_ else x, axes)

    return _over(call, ("bool", *ALL_NUMBERS), {"bfloat16": ("float32", None)}, empty)


any, all = _truths(P.ReduceAny, False), _truths(P.ReduceAll, True)


def _position(kernel):
    def find(x, axis):
        found = kernel(x, axis)
        if not is_floating(x):
            return found
        missing = ops.not_equal(x, x)
        first = P.Argmax(axis)(missing.astype(mindspore.int32)).astype(found.dtype)
        return ops.where(_reduce_any(missing, (axis,)), first, found)

    find = through(find, ALL_REALS, {"bool": ("uint8", None), "bfloat16": ("float32", None)})

    def call(x, axis=None, keepdims=False):
        """MindSpore ignores NaN, which is the result if present."""
        shape = x.shape
        if 0 in shape and (axis is None or shape[axis] == 0):
            raise ValueError(f"an empty axis has no largest or smallest element, received {shape}")
        flat = x.reshape(-1) if axis is None else x
        if 0 in shape:
            left = [
                1 if a == axis % len(shape) else n for a, n in enumerate(shape) if keepdims or a != axis % len(shape)
            ]
            return ops.zeros(tuple(left), mindspore.int64)
        result = find(flat, (axis or 0) % flat.ndim).astype(mindspore.int64)
        if keepdims:
            return result.reshape((1,) * len(shape)) if axis is None else ops.expand_dims(result, axis)
        return result

    return call


argmax = _position(lambda x, axis: P.Argmax(axis)(x))
argmin = _position(lambda x, axis: P.ArgMinWithValue(axis)(x)[0])


def _squares(x, axes, keepdims, correction=0):
    apart = x - ops.mean(x, axes, True)
    count = math.prod(x.shape[a] for a in axes) - correction
    return mint.sum(apart * apart, axes, keepdims) / as_tensor(builtins.max(count, 0), x.dtype)


_var = _over(_squares, FRACTIONS[1:], _MEANS, math.nan)


def _deviation(x, axes, keepdims, correction=0):
    """The slope of equal elements is 0, and not that of the square root."""
    spread = _squares(x, axes, keepdims, correction)
    even = ops.equal(spread, 0)
    return ops.where(even, spread, ops.sqrt(ops.where(even, ops.ones_like(spread), spread)))


_std = _over(_deviation, FRACTIONS[1:], _MEANS, math.nan)


def var(x, axis=None, keepdims=False, correction=0):
    return _var(x, axis, keepdims, correction=correction)


def std(x, axis=None, keepdims=False, correction=0):
    return _std(x, axis, keepdims, correction=correction)


def _running(kernel, own, wider, start):
    function = through(kernel, own, wider)

    def call(x, axis=None, *, dtype=None, include_initial=False):
        """MindSpore refuses empty tensors."""
        axis = normal_axes(axis or 0, x.ndim)[0]
        if dtype is not None:
            kind = native_dtype(dtype)
            result = call(x.astype(kind), axis, include_initial=include_initial)
            return result if result.dtype is kind else result.astype(kind)
        shape = x.shape
        result = function(x, axis) if 0 not in shape else x.astype(function(ops.ones(1, x.dtype), 0).dtype)
        if include_initial:
            first = as_tensor(np.full([1 if a == axis else n for a, n in enumerate(shape)], start), result.dtype)
            result = ops.cat((first, result), axis)
        return result

    return call


cumulative_sum = _running(lambda x, axis: P.CumSum()(x, axis), _WIDE, _COUNTED, 0)


class _CumulativeProduct(nn.Cell):
    """With a gradient that divides by no zero: behind the first one only that element has a slope."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis

    def construct(self, x):
        return _products(x, self.axis)

    def bprop(self, x, result, gradient):
        zero, one = ops.equal(x, 0), as_tensor(1, x.dtype)
        first = ops.logical_and(zero, ops.equal(_sums(zero.astype(mindspore.float32), self.axis), 1))
        others = _products(ops.where(first, one, x), self.axis)  # behind the first zero: without it
        ahead = _sums_of_rest(gradient * result, self.axis) / ops.where(zero, one, x)
        at_zero = _sums_of_rest(gradient * others, self.axis)
        return (ops.where(first, at_zero, ops.where(zero, ops.zeros_like(x), ahead)),)


class _ComplexCumulativeProduct(nn.Cell):
    """The kernel's gradient of complex numbers is wrong."""

    def __init__(self, axis):
        super().__init__()
        self.axis = axis

    def construct(self, x):
        return _products(x, self.axis)

    def bprop(self, x, result, gradient):
        zero, one = ops.equal(ops.abs(_real(x)) + ops.abs(_imag(x)), 0), ops.ones_like(x)
        first = ops.logical_and(zero, ops.equal(_sums(zero.astype(mindspore.float32), self.axis), 1))
        others = _products(ops.where(first, one, x), self.axis)
        rest = _sums_of_rest(_times(gradient, _conjugate(result)), self.axis)
        ahead = _quotient(rest, _conjugate(ops.where(zero, one, x)))
        at_zero = _sums_of_rest(_times(gradient, _conjugate(others)), self.axis)
        return (ops.where(first, at_zero, ops.where(zero, ops.zeros_like(x), ahead)),)


_products, _sums, _sums_of_rest = P.CumProd(), P.CumSum(), P.CumSum(reverse=True)
_cumulative_product = lru_cache(None)(_CumulativeProduct)
_complex_cumulative_product = lru_cache(None)(_ComplexCumulativeProduct)


def _product_so_far(x, axis):
    if is_complex(x):
        return _complex_cumulative_product(axis)(x)
    return _cumulative_product(axis)(x) if is_floating(x) else _products(x, axis)


cumulative_prod = _running(_product_so_far, _WIDE, _COUNTED, 1)


def _log_of_running_sum(x, axis):
    """The kernel computes differences of infinities, and forgets NaN: finite numbers only, and the rest by the largest kind."""
    infinite, unknown, least = (as_tensor(v, x.dtype) for v in (math.inf, math.nan, _least(x.dtype)))
    finite, missing = ops.isfinite(x), ops.not_equal(x, x)
    kinds = ops.where(missing, _KINDS[3], ops.where(finite, _KINDS[1], ops.where(ops.less(x, 0), _KINDS[0], _KINDS[2])))
    kind = ops.cummax(ops.stop_gradient(kinds), axis)[0]
    found = ops.logcumsumexp(ops.where(finite, x, least), axis)
    beyond = ops.where(ops.equal(kind, _KINDS[3]), unknown, ops.where(ops.equal(kind, _KINDS[2]), infinite, -infinite))
    return ops.where(ops.equal(kind, _KINDS[1]), found, beyond)


_KINDS = [Tensor(n, mindspore.float32) for n in range(4)]  # minus infinity, finite, infinity, NaN


def _least(kind) -> float:
    return float(np.finfo(mindspore.dtype_to_nptype(kind)).min)


logcumsumexp = _running(_log_of_running_sum, FRACTIONS, HALF, 0)


def _running_extreme(kernel):
    def call(x, axis):
        """MindSpore's has no gradient: gathers the elements at its positions."""
        places = kernel(ops.stop_gradient(x), axis)[1]
        return _gather_along(x, axis, places.astype(mindspore.int64))

    return _running(call, ALL_REALS, HALF, 0)


cumulative_max, cumulative_min = map(_running_extreme, (ops.cummax, ops.cummin))
