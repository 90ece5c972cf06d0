"""Order statistics of the elements that are not NaN."""

import math

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import astype, reshape, squeeze, stack, take_along_axis, zeros_like
from labdl.ops.array.sorting import sort
from labdl.ops.math.arithmetic import ceil, floor, maximum, multiply, round
from labdl.ops.math.comparison import equal, isnan, less, logical_not, where
from labdl.ops.math.reduction import _ONE_AXIS, sum
from labdl.ops.operator import REALS, Choice, case, floats, operator
from labdl.spec import normal_axes


@operator(
    rules.quantile,
    case(floats(3, 4), 0.3),
    case(floats(2, 3, 4), 0.75, axis=1),
    case(floats(2, 5), (0.0, 0.4, 1.0), axis=-1),
    case(floats(2, 4), [0.1, 0.5], axis=0, keepdims=True),
    *(case(floats(2, 6), 0.33, axis=1, method=each) for each in ("lower", "higher", "midpoint", "nearest")),
    takes=REALS,
    composite=True,
    checked=True,
    options={"method": Choice(*rules.QUANTILE_METHODS)},
)
def nanquantile(x, q, axis=None, keepdims=False, *, method="linear"):
    """The `quantile` of the elements that are not NaN; NaN where there are none. Semantics: torch.nanquantile."""
    whole = [1] * len(x.shape)
    x = x if axis is not None else reshape(x, (-1,))
    at = normal_axes(axis, len(x.shape))[0]
    ordered = sort(astype(x, rules.float_of(spec_of(x).dtype)), at)
    last = sum(logical_not(isnan(ordered)), axis=at, keepdims=True) - 1
    results = []
    for share in q if isinstance(q, list | tuple) else [q]:
        mixed = _between_ranks(ordered, at, multiply(astype(last, "float64"), float(share)), method)
        mixed = where(less(last, 0), math.nan, mixed)
        mixed = mixed if keepdims else squeeze(mixed, at)
        results.append(reshape(mixed, whole) if keepdims and axis is None else mixed)
    return stack(results) if isinstance(q, list | tuple) else results[0]


def _between_ranks(ordered, axis, position, method):
    """The elements of a sorted tensor at positions along an axis, those between two by the method of `quantile`."""
    low = floor(position)
    weight = {
        "linear": lambda: position - low,
        "lower": lambda: zeros_like(position),
        "higher": lambda: ceil(position) - low,
        "midpoint": lambda: (ceil(position) - low) * 0.5,
        "nearest": lambda: round(position) - low,
    }[method]()
    first, second = (
        take_along_axis(ordered, maximum(astype(end, "int64"), 0), axis=axis) for end in (low, ceil(position))
    )
    weight = astype(weight, spec_of(ordered).dtype)
    mixed = first * (1 - weight) + second * weight
    return where(equal(weight, 0), first, where(equal(weight, 1), second, mixed))


@operator(None, *_ONE_AXIS, takes=REALS)
def nanmedian(x, axis=None, keepdims=False):
    """The `median` of the elements that are not NaN; NaN where there are none. Semantics: numpy.nanmedian."""
    return nanquantile(x, 0.5, axis=axis, keepdims=keepdims)
