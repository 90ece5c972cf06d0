"""Reductions of rows by segment, in any order (TensorFlow's unsorted_segment_* functions, scatter of graphs)."""

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.indexing import scatter, scatter_nd
from labdl.ops.array.shape import astype, expand_dims, full_like, ones_like, reshape
from labdl.ops.math.arithmetic import divide, maximum
from labdl.ops.operator import NUMBERS, REALS, case, floats, ints, operator
from labdl.spec import FLOATS

_SAMPLES = (
    case(floats(4, 3), ints(4, high=3), 3),
    case(floats(6), ints(6, high=4), 5),
    case(floats(3, 2, 2), ints(3, high=2), 2),
)
_FILLED = (
    case(floats(5, 3), ints(5, high=1), 1),
    case(floats(8), ints(8, high=2), 2),
)  # no infinities from empty segments


@operator(rules.segment_rows, *_SAMPLES, takes=NUMBERS, composite=True, precision="float32")
def segment_sum(x, segment_ids, segments):
    """The sum of the rows of each segment; 0 for one without rows."""
    rows = rules.segment_rows(spec_of(x), spec_of(segment_ids), segments)
    return scatter_nd(expand_dims(segment_ids, 1), x, rows.shape)


@operator(rules.segment_means, *_SAMPLES, takes=NUMBERS, composite=True, precision="float32")
def segment_mean(x, segment_ids, segments):
    """The mean of the rows of each segment; 0 for one without rows. Integers give float32."""
    total = segment_sum(x, segment_ids, segments)
    rows = maximum(segment_sum(ones_like(segment_ids, dtype="int64"), segment_ids, segments), 1)
    rows = astype(rows, rules.float_of(spec_of(x).dtype))
    return divide(total, reshape(rows, (segments, *(1,) * (spec_of(x).ndim - 1))))


@operator(rules.segment_rows, *_FILLED, takes=REALS, composite=True)
def segment_max(x, segment_ids, segments):
    """The largest rows of each segment, element by element; -inf, or the least integer, for one without rows."""
    return _reduce_rows(x, segment_ids, segments, "max", _least(spec_of(x).dtype))


@operator(rules.segment_rows, *_FILLED, takes=REALS, composite=True)
def segment_min(x, segment_ids, segments):
    """The smallest rows of each segment, element by element; inf, or the largest integer, for one without rows."""
    return _reduce_rows(x, segment_ids, segments, "min", _largest(spec_of(x).dtype))


@operator(rules.segment_rows, *_SAMPLES, takes=NUMBERS, composite=True, precision="float32")
def segment_prod(x, segment_ids, segments):
    """The product of the rows of each segment; 1 for one without rows."""
    return _reduce_rows(x, segment_ids, segments, "multiply", 1)


def _reduce_rows(x, segment_ids, segments, reduce, start):
    """One row per segment, reduced from ``start``; shape and dtype as of `segment_sum`."""
    rows = full_like(segment_sum(x, segment_ids, segments), start)
    return scatter(rows, reshape(segment_ids, (-1, *(1,) * (spec_of(x).ndim - 1))), x, 0, reduce=reduce)


def _least(dtype):
    return -np.inf if dtype in FLOATS else int(np.iinfo(dtype).min)


def _largest(dtype):
    return np.inf if dtype in FLOATS else int(np.iinfo(dtype).max)
