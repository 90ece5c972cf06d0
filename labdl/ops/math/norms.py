"""Norms of vectors and matrices, and distances (Python Array API standard; cdist as in PyTorch)."""

import math

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import costs, rules
from labdl.ops.array.shape import astype, expand_dims, take
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import equal, not_equal, pow, sqrt, square, subtract, where
from labdl.ops.math.linalg import svdvals
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import min as smallest
from labdl.ops.math.reduction import sum
from labdl.ops.neural.linear import tensor_like
from labdl.ops.operator import NUMBERS, REALS, Choice, Number, case, floats, operator
from labdl.spec import COMPLEX, normal_axes


def _working(x):
    """The dtype that a norm computes in: at least float32, so that squares of half precision do not overflow."""
    dtype = spec_of(x).dtype
    return x if dtype in ("float32", "float64", *COMPLEX) else astype(x, "float32")


def _cast_norm(result, x):
    """Cast a norm to its result dtype."""
    dtype = rules.real_of(rules.float_of(spec_of(x).dtype))
    return result if spec_of(result).dtype == dtype else astype(result, dtype)


def _root(total, function):
    """A root whose gradient at 0 is 0, not infinite."""
    nothing = equal(total, 0)
    return where(nothing, 0.0, function(where(nothing, 1.0, total)))


@operator(
    rules.vector_norm,
    case(floats(2, 3)),
    case(floats(2, 3), axis=-1, keepdims=True),
    case(floats(2, 3, 2), axis=(0, 2), ord=3),
    case(floats(2, 3), axis=0, ord=1),
    case(floats(2, 3), axis=1, ord=math.inf),
    case(floats(2, 3), ord=-math.inf),
    takes=NUMBERS,
    composite=True,
    precision="float32",
    options={"ord": Number()},
)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The length of vectors that lie along one axis, several, or with None all: (sum of ``abs(x) ** ord``) ** (1 / ord).

    ``ord`` inf and -inf give the largest and the smallest absolute value, 0 the number of elements that are not 0. The
    gradient at a vector of zeros is 0. Integers give float32.
    """
    normal_axes(axis, spec_of(x).ndim)
    values, options = _working(x), {"axis": axis, "keepdims": keepdims}
    if ord == 2:
        parts = absolute(values) if spec_of(values).dtype in COMPLEX else values
        result = _root(sum(square(parts), **options), sqrt)
    elif ord in (math.inf, -math.inf):
        result = (largest if ord > 0 else smallest)(absolute(values), **options)
    elif ord == 0:
        result = sum(astype(not_equal(values, 0), "float32"), **options)
    elif ord == 1:
        result = sum(absolute(values), **options)
    else:
        result = _root(sum(pow(absolute(values), float(ord)), **options), lambda total: pow(total, 1 / ord))
    return _cast_norm(result, x)


@operator(
    rules.matrix_norm,
    case(floats(3, 4)),
    case(floats(2, 2, 3), keepdims=True),
    case(floats(3, 2), ord="nuc"),
    case(floats(3, 2), ord=1),
    case(floats(3, 2), ord=-math.inf),
    case(floats(3, 2), ord=2),
    case(floats(2, 3, 2), ord=-2, keepdims=True),
    takes=NUMBERS,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
    options={"ord": Choice(*rules.MATRIX_NORMS)},
)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The size of matrices: "fro" the root of the sum of squares, "nuc" the sum of the singular values.

    1 and -1 the largest and the smallest sum of absolute values of a column, inf and -inf of a row, 2 and -2 the largest
    and the smallest singular value.
    """
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        result = (sum if ord == "nuc" else largest if ord == 2 else smallest)(values, axis=-1)
        return expand_dims(expand_dims(result, -1), -1) if keepdims else result
    across, along = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = sum(absolute(_working(x)), axis=across, keepdims=True)
    result = (largest if ord in (1, math.inf) else smallest)(sums, axis=(across, along), keepdims=keepdims)
    return _cast_norm(result, x)


@operator(
    rules.cdist,
    case(floats(3, 2), floats(4, 2)),
    case(floats(2, 3, 2), floats(3, 2), p=1.0),
    case(floats(2, 3), floats(2, 3), p=math.inf),
    takes=REALS,
    composite=True,
    precision="float32",
)
def cdist(x, y, p=2.0):
    """The distance of each point of ``x`` (rows) from each of ``y``: the `vector_norm` of order ``p`` of their difference.

    All differences are materialized. The gradient at a distance of 0 is 0. Semantics: torch.cdist.
    """
    rules.cdist(spec_of(x), spec_of(y))  # rejects shapes that the difference alone would broadcast
    return vector_norm(subtract(expand_dims(x, -2), expand_dims(y, -3)), axis=-1, ord=p)


@operator(
    rules.pdist,
    case(floats(4, 3)),
    case(floats(3, 2), 1.0),
    case(floats(3, 2), p=math.inf),
    takes=REALS,
    composite=True,
    cost=costs.pairs,
    precision="float32",
)
def pdist(x, p=2.0):
    """The distances of each pair of points (rows), in the order of the rows of the upper triangle of `cdist`.

    ``p`` as there. Semantics: torch.nn.functional.pdist, scipy.spatial.distance.pdist.
    """
    rules.pdist(spec_of(x))
    first, second = np.triu_indices(spec_of(x).shape[0], 1)  # type: ignore[arg-type]
    return vector_norm(subtract(_rows(x, first), _rows(x, second)), axis=-1, ord=p)


def _rows(x, places):
    return take(x, tensor_like(x, places, "int64"), axis=0)
