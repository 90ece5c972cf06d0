"""Reductions and cumulative operators: sums, extremes, statistics (Python Array API standard)."""

import builtins
import math

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import concat
from labdl.ops.math.arithmetic import divide, exp, log, subtract
from labdl.ops.math.comparison import isclose, isfinite, isnan, logical_not, not_equal, where
from labdl.ops.operator import NUMBERS, NUMBERS_AND_BOOL, REALS, REALS_AND_BOOL, Choice, case, floats, operator, values
from labdl.spec import normal_axes

_AXES = (
    case(floats(2, 3)),
    case(floats(2, 3, 4), axis=1),
    case(floats(2, 3, 4), axis=(-1, 0)),
    case(floats(2, 3), axis=-1, keepdims=True),
)
_ONE_AXIS = (case(floats(2, 3)), case(floats(2, 3, 4), axis=1), case(floats(2, 3), axis=-1, keepdims=True))
_SUMS = (*_AXES, case(floats(2, 3), axis=0, dtype="float64"), case(values(2, 3), axis=0, dtype="int16"))
_TRUTHS = (
    case(values(2, 3, dtype="bool")),
    case(values(2, 3, dtype="bool"), axis=1),
    case(values(2, 3, 2, dtype="bool"), axis=(0, -1), keepdims=True),
    case(values(2, 3, high=1), axis=-1),
)
_RUNNING = (case(floats(2, 3), axis=1), case(floats(2, 3, 4), axis=-2), case(floats(4)))
_RUNNING_SUMS = (
    *_RUNNING,
    case(floats(2, 3), axis=0, include_initial=True),
    case(floats(4), dtype="float64"),
    case(values(4), dtype="int16"),
)
_WIDE = {"float16": "float32", "bfloat16": "float32"}


def _cast(x, dtype):
    """Cast to the dtype of a sum; half precision is rounded at the end."""
    return x if dtype is None else x.astype(_WIDE.get(dtype, dtype))


# -- sums and extremes


@operator(rules.total, *_SUMS, takes=NUMBERS_AND_BOOL, precision="float32")
def sum(x, axis=None, keepdims=False, *, dtype=None):
    """Sum over the axes; all of them when ``axis`` is left out.

    Integers and booleans give int64. ``dtype``: the elements are converted to it first.
    """
    return np.sum(_cast(x, dtype), axis=axis, keepdims=keepdims)


@operator(rules.total, *_SUMS, takes=NUMBERS_AND_BOOL, precision="float32", checked=True)
def prod(x, axis=None, keepdims=False, *, dtype=None):
    """Product over the axes; all of them when ``axis`` is left out.

    Integers and booleans give int64. ``dtype``: the elements are converted to it first.
    """
    return np.prod(_cast(x, dtype), axis=axis, keepdims=keepdims)


@operator(rules.extreme, *_AXES, takes=REALS_AND_BOOL, checked=True)
def max(x, axis=None, keepdims=False):
    """Largest element over the axes, NaN where there is one."""
    return np.max(x, axis=axis, keepdims=keepdims)


@operator(rules.extreme, *_AXES, takes=REALS_AND_BOOL, checked=True)
def min(x, axis=None, keepdims=False):
    """Smallest element over the axes, NaN where there is one."""
    return np.min(x, axis=axis, keepdims=keepdims)


@operator(rules.index_reduction, *_ONE_AXIS, takes=REALS_AND_BOOL, differentiable=False, checked=True)
def argmax(x, axis=None, keepdims=False):
    """Position of the (first) largest element along an axis, or in the flattened tensor; of the first NaN if any."""
    return np.argmax(x, axis=axis, keepdims=keepdims)


@operator(rules.index_reduction, *_ONE_AXIS, takes=REALS_AND_BOOL, differentiable=False, checked=True)
def argmin(x, axis=None, keepdims=False):
    """Position of the (first) smallest element along an axis, or in the flattened tensor; of the first NaN if any."""
    return np.argmin(x, axis=axis, keepdims=keepdims)


@operator(rules.boolean_reduction, *_TRUTHS, takes=NUMBERS_AND_BOOL, differentiable=False, checked=True)
def any(x, axis=None, keepdims=False):
    """Whether any element over the axes is true, or not 0."""
    return np.any(x, axis=axis, keepdims=keepdims)


@operator(rules.boolean_reduction, *_TRUTHS, takes=NUMBERS_AND_BOOL, differentiable=False, checked=True)
def all(x, axis=None, keepdims=False):
    """Whether all elements over the axes are true, or not 0."""
    return np.all(x, axis=axis, keepdims=keepdims)


@operator(None, *_TRUTHS, takes=NUMBERS_AND_BOOL, differentiable=False)
def count_nonzero(x, axis=None, keepdims=False):
    """How many elements over the axes are true, or not 0."""
    return sum(not_equal(x, 0), axis=axis, keepdims=keepdims)


@operator(
    None,
    case(floats(3, 4), floats(3, 4)),
    case(floats(3, 1), floats(4), rtol=0, atol=9.0),
    takes=NUMBERS,
    differentiable=False,
    checked=True,
)
def allclose(x, y, /, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are equal up to ``atol + rtol * |y|``, one boolean; see `isclose`."""
    return all(isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


@operator(None, *_AXES, precision="float32")
def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x))) over the axes, without overflow."""
    top = max(x, axis=axis, keepdims=True)
    top = where(isfinite(top), top, 0.0)  # inf - inf would be NaN
    result = log(sum(exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdims else sum(result, axis=axis)


# -- statistics


@operator(rules.average, *_AXES, takes=NUMBERS_AND_BOOL, precision="float32")
def mean(x, axis=None, keepdims=False):
    """Mean over the axes; all of them when ``axis`` is left out. Integers and booleans give float32."""
    return np.mean(x, axis=axis, keepdims=keepdims)


@operator(rules.spread, *_AXES, case(floats(2, 5), axis=1, correction=1), takes=REALS_AND_BOOL, precision="float32")
def var(x, axis=None, keepdims=False, correction=0):
    """Variance over the axes: squared deviations divided by the count less ``correction``."""
    return np.var(x, axis=axis, keepdims=keepdims, ddof=correction)


@operator(rules.spread, *_AXES, case(floats(2, 5), axis=1, correction=1.5), takes=REALS_AND_BOOL, precision="float32")
def std(x, axis=None, keepdims=False, correction=0):
    """Standard deviation over the axes, the square root of `var`."""
    return np.std(x, axis=axis, keepdims=keepdims, ddof=correction)


@operator(
    rules.quantile,
    case(floats(3, 4), 0.3),
    case(floats(2, 3, 4), 0.75, axis=1),
    case(floats(2, 5), (0.0, 0.4, 1.0), axis=-1),
    case(floats(2, 4), [0.1, 0.5], axis=0, keepdims=True),
    case(floats(2, 6), 0.33, axis=1, method="lower"),
    case(floats(2, 6), 0.33, axis=1, method="higher"),
    case(floats(2, 6), 0.33, axis=1, method="midpoint"),
    case(floats(2, 6), 0.33, axis=1, method="nearest"),
    takes=REALS,
    without_onnx="no interpolation between ranks",
    options={"method": Choice(*rules.QUANTILE_METHODS)},
)
def quantile(x, q, axis=None, keepdims=False, *, method="linear"):
    """The ``q``-quantile (0 to 1) along one axis or over all.

    Several ``q`` in a list or tuple give a new first axis.
    ``method``: "linear" interpolation between the two nearest, "lower", "higher", "midpoint" or "nearest" (halves to the
    even position).
    NaN where there is one. Semantics: torch.quantile.
    """
    ordered = np.sort(x.reshape(-1) if axis is None else np.moveaxis(x, axis, -1), axis=-1)
    results = []
    for share in q if isinstance(q, list | tuple) else [q]:
        position = share * (ordered.shape[-1] - 1)
        low, high = math.floor(position), math.ceil(position)
        weight = {
            "linear": position - low,
            "lower": 0,
            "higher": high - low,
            "midpoint": (high - low) / 2,
            "nearest": builtins.round(position) - low,
        }[method]
        below, above = ordered[..., low], ordered[..., high]
        mixed = below if weight == 0 else above if weight == 1 else (1 - weight) * below + weight * above
        result = np.where(np.isnan(ordered[..., -1]), np.nan, mixed)
        kept = [1] * x.ndim if axis is None else np.expand_dims(result, axis).shape
        results.append(result.reshape(kept) if keepdims else result)
    return np.stack(results) if isinstance(q, list | tuple) else results[0]


@operator(None, *_ONE_AXIS, takes=REALS, without_onnx="no interpolation between ranks")
def median(x, axis=None, keepdims=False):
    """The middle element along one axis or over all; of an even number the mean of the two (torch takes the lower)."""
    return quantile(x, 0.5, axis=axis, keepdims=keepdims)


@operator(None, *_AXES, takes=NUMBERS, precision="float32")
def nansum(x, axis=None, keepdims=False):
    """Sum of the elements that are not NaN over the axes."""
    return sum(where(isnan(x), 0, x), axis=axis, keepdims=keepdims)


@operator(None, *_AXES, takes=NUMBERS, precision="float32")
def nanmean(x, axis=None, keepdims=False):
    """Mean of the elements that are not NaN over the axes; NaN where there are none."""
    counts = sum(logical_not(isnan(x)), axis=axis, keepdims=keepdims)
    return divide(nansum(x, axis=axis, keepdims=keepdims), counts)


# -- running


@operator(rules.cumulative_total, *_RUNNING_SUMS, takes=NUMBERS_AND_BOOL, precision="float32", checked=True)
def cumulative_sum(x, axis=None, *, dtype=None, include_initial=False):
    """Running sum along an axis, which may be left out for tensors of one axis.

    Integers and booleans give int64. ``dtype``: the elements are converted to it first. ``include_initial=True`` puts a 0
    in front, so that the axis grows by one.
    """
    axis = axis or 0
    x = _cast(x, dtype)
    return np.cumsum(np.concatenate([np.zeros_like(_first(x, axis)), x], axis) if include_initial else x, axis)


@operator(
    rules.cumulative_total,
    *_RUNNING_SUMS,
    takes=NUMBERS_AND_BOOL,
    precision="float32",
    without_onnx="running sums only",
    checked=True,
)
def cumulative_prod(x, axis=None, *, dtype=None, include_initial=False):
    """Running product along an axis, which may be left out for tensors of one axis.

    Integers and booleans give int64. ``dtype``: the elements are converted to it first. ``include_initial=True`` puts a 1
    in front, so that the axis grows by one.
    """
    axis = axis or 0
    x = _cast(x, dtype)
    return np.cumprod(np.concatenate([np.ones_like(_first(x, axis)), x], axis) if include_initial else x, axis)


def _first(x, axis):
    """A slice of size 1 along the axis, also of an empty ``x``."""
    return np.empty([1 if a == axis % x.ndim else n for a, n in enumerate(x.shape)], x.dtype)


@operator(rules.cumulative, *_RUNNING, takes=REALS, without_onnx="running sums only", checked=True)
def cumulative_max(x, axis=None):
    """The largest element so far along an axis; NaN from the first NaN on. Semantics: the values of torch.cummax."""
    return np.maximum.accumulate(x, axis or 0)


@operator(rules.cumulative, *_RUNNING, takes=REALS, without_onnx="running sums only", checked=True)
def cumulative_min(x, axis=None):
    """The smallest element so far along an axis; NaN from the first NaN on. Semantics: the values of torch.cummin."""
    return np.minimum.accumulate(x, axis or 0)


@operator(rules.cumulative, *_RUNNING, precision="float32", without_onnx="running sums only")
def logcumsumexp(x, axis=None):
    """Logarithm of the running sum of exponentials along an axis, without overflow. Semantics: torch.logcumsumexp."""
    return np.logaddexp.accumulate(x, axis or 0)


_TIMES = 64  # that differences are taken


@operator(
    None,
    case(floats(2, 5)),
    case(floats(4, 3), axis=0, n=2),
    case(floats(2, 3), prepend=floats(2, 1)),
    case(floats(2, 3, 2), axis=1, prepend=floats(2, 2, 2), append=floats(2, 1, 2)),
    takes=NUMBERS,
)
def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbors along an axis, taken ``n`` times; ``prepend`` and ``append`` are joined to it first."""
    if not 0 <= n <= _TIMES:
        raise ValueError(f"diff is taken 0 or more times, at most {_TIMES}, received n={n}")
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    whole = (slice(None),) * normal_axes(axis, len(x.shape))[0]
    for _ in range(n):
        x = subtract(x[(*whole, slice(1, None))], x[(*whole, slice(None, -1))])
    return x
