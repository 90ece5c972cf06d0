"""Reductions over axes: sums, extremes, statistics (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.math import exp, log
from labdl.ops.operator import bools, case, floats, operator

_AXES = (
    case(floats(2, 3)),
    case(floats(2, 3, 4), axis=1),
    case(floats(2, 3, 4), axis=(-1, 0)),
    case(floats(2, 3), axis=-1, keepdims=True),
)
_ONE_AXIS = (case(floats(2, 3)), case(floats(2, 3, 4), axis=1), case(floats(2, 3), axis=-1, keepdims=True))


@operator(rules.reduction, *_AXES)
def sum(x, axis=None, keepdims=False):
    """Sum over the axes; all of them when ``axis`` is left out."""
    return np.sum(x, axis=axis, keepdims=keepdims)


@operator(rules.reduction, *_AXES)
def mean(x, axis=None, keepdims=False):
    """Mean over the axes; all of them when ``axis`` is left out."""
    return np.mean(x, axis=axis, keepdims=keepdims)


@operator(rules.reduction, *_ONE_AXIS)
def prod(x, axis=None, keepdims=False):
    """Product over one axis, or over all."""
    return np.prod(x, axis=axis, keepdims=keepdims)


@operator(rules.reduction, *_AXES)
def max(x, axis=None, keepdims=False):
    """Largest element over the axes."""
    return np.max(x, axis=axis, keepdims=keepdims)


@operator(rules.reduction, *_AXES)
def min(x, axis=None, keepdims=False):
    """Smallest element over the axes."""
    return np.min(x, axis=axis, keepdims=keepdims)


@operator(rules.reduction, *_AXES, case(floats(2, 5), axis=1, correction=1))
def var(x, axis=None, keepdims=False, correction=0):
    """Variance over the axes: squared deviations divided by the count less ``correction``."""
    return np.var(x, axis=axis, keepdims=keepdims, ddof=correction)


@operator(rules.reduction, *_AXES)
def std(x, axis=None, keepdims=False, correction=0):
    """Standard deviation over the axes, the square root of `var`."""
    return np.std(x, axis=axis, keepdims=keepdims, ddof=correction)


@operator(rules.index_reduction, *_ONE_AXIS, differentiable=False)
def argmax(x, axis=None, keepdims=False):
    """Position of the (first) largest element along an axis, or in the flattened tensor."""
    return np.argmax(x, axis=axis, keepdims=keepdims).astype("int64")


@operator(rules.index_reduction, *_ONE_AXIS, differentiable=False)
def argmin(x, axis=None, keepdims=False):
    """Position of the (first) smallest element along an axis, or in the flattened tensor."""
    return np.argmin(x, axis=axis, keepdims=keepdims).astype("int64")


@operator(rules.boolean_reduction, case(bools(2, 3)), case(bools(2, 3), axis=1), differentiable=False)
def any(x, axis=None, keepdims=False):
    """Whether any element over the axes is true."""
    return np.any(x, axis=axis, keepdims=keepdims)


@operator(rules.boolean_reduction, case(bools(2, 3)), case(bools(2, 3), axis=1), differentiable=False)
def all(x, axis=None, keepdims=False):
    """Whether all elements over the axes are true."""
    return np.all(x, axis=axis, keepdims=keepdims)


@operator(rules.elementwise, case(floats(2, 3), axis=1), case(floats(2, 3, 4), axis=0))
def cumulative_sum(x, axis):
    """Running sum along an axis."""
    return np.cumsum(x, axis=axis)


@operator(None, *_AXES)
def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x))) over the axes, without overflow."""
    top = max(x, axis=axis, keepdims=True)
    result = log(sum(exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdims else sum(result, axis=axis)
