"""MindSpore implementations of reductions and cumulative operators."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportAttributeAccessIssue=false, reportOptionalMemberAccess=false, reportOptionalOperand=false

import builtins
import math

import mindspore
import numpy as np
from mindspore import mint, ops
from mindspore.ops import operations as P

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


sum, mean = _over(mint.sum, _WIDE, _COUNTED, 0), _over(_average, FRACTIONS_AND_COMPLEX[1:], _MEANS, math.nan)
max, min = map(_largest_or_smallest, (ops.amax, ops.amin))


def _one_by_one(kernel):
    def call(x, axes, keepdims):
        for a in sorted(axes, reverse=True):
            x = kernel(x, a, keepdims)
        return x

    return call


prod = _over(_one_by_one(mint.prod), _WIDE, _COUNTED, 1)


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
_std = _over(lambda *args, **options: ops.sqrt(_squares(*args, **options)), FRACTIONS[1:], _MEANS, math.nan)


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
cumulative_prod = _running(lambda x, axis: P.CumProd()(x, axis), _WIDE, _COUNTED, 1)
logcumsumexp = _running(ops.logcumsumexp, FRACTIONS, HALF, 0)


def _running_extreme(kernel):
    def call(x, axis):
        """MindSpore's has no gradient: gathers the elements at its positions."""
        places = kernel(ops.stop_gradient(x), axis)[1]
        return _gather_along(x, axis, places.astype(mindspore.int64))

    return _running(call, ALL_REALS, HALF, 0)


cumulative_max, cumulative_min = map(_running_extreme, (ops.cummax, ops.cummin))
