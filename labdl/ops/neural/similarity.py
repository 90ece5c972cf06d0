"""Lengths, distances and angles of vectors (PyTorch's semantics)."""

import math

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import broadcast_to
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, divide, maximum, multiply, pow, rsqrt, sqrt, square, subtract
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum as total
from labdl.ops.operator import case, floats, operator
from labdl.ops.precision.float32 import _narrow, _wide
from labdl.spec import broadcast


def _length(x, p, axis, epsilon: float):
    """The Lp norm along an axis that is kept, at least ``epsilon``; its gradient is finite where x is zero."""
    if p == 2:
        return sqrt(maximum(total(square(x), axis=axis, keepdims=True), epsilon**2))
    if p == 1:
        return maximum(total(absolute(x), axis=axis, keepdims=True), epsilon)
    if p == math.inf:
        return maximum(largest(absolute(x), axis=axis, keepdims=True), epsilon)
    return pow(maximum(total(pow(absolute(x), p), axis=axis, keepdims=True), epsilon**p), 1 / p)


@operator(
    rules.normalize,
    case(floats(2, 3)),
    case(floats(2, 3, 4), 1.0, axis=-1),
    case(floats(2, 3), 3.0, axis=0),
    case(floats(2, 3), math.inf),
    composite=True,
    precision="float32",
)
def normalize(x, p=2.0, axis=1, epsilon=1e-12):
    """x divided by its Lp norm along an axis, at least ``epsilon``; p above 0 or infinity.

    Semantics: torch.nn.functional.normalize.
    """
    return divide(x, _length(x, p, axis, epsilon))


@operator(
    rules.similarity,
    case(floats(2, 3), floats(2, 3)),
    case(floats(2, 3, 4), floats(3, 4), axis=-1),
    composite=True,
    precision="float32",
)
def cosine_similarity(x, y, *, axis=1, epsilon=1e-8):
    """Cosine of the angle between x and y along an axis of their common shape; lengths are at least ``epsilon``.

    Semantics: torch.nn.functional.cosine_similarity.
    """
    shapes = [spec_of(t).shape for t in (x, y)]
    common = broadcast(*shapes)
    axis = axis % len(common) - len(common)
    x, y = (
        t if len(s) >= -axis and s[axis] == common[axis] else _spread(t, s, axis, common[axis])
        for t, s in zip((x, y), shapes, strict=True)
    )
    products = total(multiply(x, y), axis=axis)
    for t in (x, y):
        products = multiply(products, rsqrt(maximum(total(square(t), axis=axis), epsilon**2)))
    return products


def _spread(x, shape, axis, size):
    """Broadcast the axis to the size of the other tensor."""
    shape = (*(1,) * (-axis - len(shape)), *shape)
    return broadcast_to(x, (*shape[:axis], size, *shape[len(shape) + axis + 1 :]))


@operator(
    rules.distance,
    case(floats(2, 3), floats(2, 3)),
    case(floats(2, 3), floats(3), p=1.0, keepdims=True),
    case(floats(4, 3), floats(4, 3), p=3.0),
    composite=True,
    precision="float32",
)
def pairwise_distance(x, y, *, p=2.0, epsilon=1e-6, keepdims=False):
    """The Lp norm of x - y + ``epsilon`` along the last axis; p above 0 or infinity.

    Semantics: torch.nn.functional.pairwise_distance.
    """
    # in half precision the square of the epsilon would be 0, with an infinite slope
    result = _length(add(subtract(_wide(x), _wide(y)), epsilon), p, -1, 0.0)
    return _narrow(result if keepdims else total(result, axis=-1), x, y)
