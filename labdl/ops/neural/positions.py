"""Positions: of tokens among padding, as sines and cosines, and relative to each other."""

import functools
import math

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.indexing import getitem
from labdl.ops.array.shape import astype, concat, expand_dims, ones_like, pad, reshape, take
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, maximum, minimum, multiply, negative, subtract
from labdl.ops.math.comparison import greater
from labdl.ops.math.reduction import cumulative_sum
from labdl.ops.math.trigonometry import cos, sin
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import Choice, bools, case, floats, ints, operator
from labdl.spec import REALS


def step_positions(x):
    """The positions 0, 1, ... along axis -2 of x, also of an unknown number of steps: (steps,)."""
    steps = spec_of(x).shape[-2]
    if steps is not None:
        return tensor_like(x, np.arange(steps), "int64")
    one = getitem(x, (*(0,) * (len(x.shape) - 2), slice(None), 0))
    return subtract(cumulative_sum(ones_like(one, dtype="int64"), axis=0), 1)


@operator(None, case(bools(2, 5)), case(ints(2, 4, high=2), start=2), differentiable=False, checked=True)
def positions_from_mask(mask, *, start=0):
    """The position of each token among those of its sequence that are not padding, from ``start`` on.

    ``mask`` (..., steps) is true, or not 0, for tokens; padding gets ``start - 1``. ``start=0`` are the positions of OPT,
    ``start=2`` those of RoBERTa, whose padding index is 1.
    """
    token = astype(astype(mask, "bool"), "int64")
    return add(multiply(cumulative_sum(token, axis=-1), token), start - 1)


@operator(
    rules.sinusoidal_embedding,
    case(floats(3), 4),
    case(floats(2, 3), 5, base=100.0),
    case(floats(2, 3), 6, layout="halves"),
    case(floats(4), 6, layout="halves", endpoint=True),
    case(floats(2, 1), 2, endpoint=True),
    takes=REALS,
    composite=True,
    options={"layout": Choice("interleaved", "halves")},
)
def sinusoidal_embedding(positions, features, *, base=10000.0, layout="interleaved", endpoint=False):
    """Sines and cosines of positions (...): (..., features) (Vaswani et al., 2017). Positions may be fractions.

    Pair i has the angle position * base ** (-2i / features). ``layout="interleaved"`` puts its sine and cosine at 2i and
    2i + 1, ``"halves"`` all sines before all cosines (tensor2tensor, fairseq). With ``endpoint`` the last pair's rate is
    1 / base exactly, as Whisper has it: base ** (-i / (features / 2 - 1)).
    """
    spec = spec_of(positions)
    wide = "float64" if spec.dtype == "float64" else "float32"
    pairs = (features + 1) // 2
    spread = max(pairs - 1, 1) if endpoint else features / 2
    rates = float(base) ** (-np.arange(pairs) / spread)
    angles = multiply(expand_dims(astype(positions, wide), -1), tensor_like(positions, rates, wide))
    waves = concat([sin(angles), cos(angles)], axis=-1)
    if layout == "interleaved":
        places = np.arange(features)
        order = tensor_like(positions, places // 2 + places % 2 * pairs, "int64")
        waves = take(waves, order, axis=spec.ndim)
    return astype(waves, rules.sinusoidal_embedding(spec, features).dtype)


@functools.lru_cache(8)
def _buckets_of_distances(each: int, exact: int, max_distance: int) -> np.ndarray:
    """The bucket of each distance from 0 to ``max_distance``, in float32 as in public implementations."""
    distances = np.arange(max_distance + 1)
    with np.errstate(divide="ignore"):
        logarithms = np.log(distances.astype("float32") / np.float32(exact))
    steps = logarithms / np.float32(math.log(max_distance / exact)) * np.float32(each - exact)
    far = exact + np.maximum(steps, 0).astype("int64")
    return np.where(distances < exact, distances, np.minimum(far, each - 1))


@operator(
    rules.relative_position_buckets,
    case(ints(3, 4, low=-200, high=200)),
    case(ints(5, low=-40, high=40), buckets=8, max_distance=20, bidirectional=False),
    differentiable=False,
    composite=True,
)
def relative_position_buckets(distances, *, buckets=32, max_distance=128, bidirectional=True):
    """The bucket, from 0 to buckets - 1, of each relative position: that of the key minus that of the query (T5).

    Half of the buckets hold one distance each, the others grow logarithmically up to ``max_distance``; all beyond are in
    the last. ``bidirectional`` gives keys after the query the upper half of the buckets, else they count as distance 0
    (Raffel et al., 2020).
    """
    each, exact = rules.check_buckets(buckets, max_distance, bidirectional)
    distances = astype(distances, "int64")
    table = tensor_like(distances, _buckets_of_distances(each, exact, max_distance), "int64")
    if not bidirectional:
        return take(table, minimum(maximum(negative(distances), 0), max_distance))
    later = multiply(astype(greater(distances, 0), "int64"), each)
    return add(take(table, minimum(absolute(distances), max_distance)), later)


@operator(
    rules.relative_shift,
    case(floats(2, 3, 4)),
    case(floats(2, 3, 5), 3),
    case(floats(2, 2, 1, 2)),
    composite=True,
    cost=0,
)
def relative_shift(scores, keys=None):
    """Scores (..., queries, distances) by distance as scores (..., queries, keys) by key (Dai et al., 2019).

    Element (i, j) of the result is at the distance j + queries - 1 - i, and 0 where that is beyond the last. Distances run
    from the farthest key before the last query to the farthest after it; ``keys`` is their number by default, as in
    Transformer-XL. With 2 * queries - 1 distances and ``keys=queries`` all keys before and after are reached (Conformer);
    XLNet has one distance more at the start, which nothing uses.
    """
    *lead, queries, distances = sizes_of(scores)
    keys = distances if keys is None else keys
    if not queries:
        return getitem(scores, (..., slice(0, keys)))
    # in rows that are one element longer than the result's, each row starts one element earlier than the one before
    width = distances + queries
    open_lead = tuple(-1 if n is None else n for n in lead)
    padded = pad(scores, ((0, 0),) * (len(lead) + 1) + ((0, queries),))
    flat = reshape(padded, (*open_lead, queries * width))
    flat = getitem(flat, (..., slice(queries - 1, queries - 1 + queries * (width - 1))))
    return getitem(reshape(flat, (*open_lead, queries, width - 1)), (..., slice(0, keys)))
