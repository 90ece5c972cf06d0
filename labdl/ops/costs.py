"""Floating-point operations of operators, from the Specs of the result and the arguments.

A multiplication with the addition after it counts as two. Unknown sizes count as 1: a batch of unknown size is one sample.
"""

import math


def size(value) -> int:
    """The number of elements of a Spec, an array, or several of them."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    return math.prod(1 if n is None else n for n in getattr(value, "shape", ()))


def linear(result, x, kernel, *_, **__):
    return 2 * size(result) * kernel.shape[0]


def matmul(result, x, y):
    return 2 * size(result) * (x.shape[-1] or 1)


def conv(result, x, kernel, *_, **__):
    return 2 * size(result) * math.prod(kernel.shape[1:])


def conv_transpose(result, x, kernel, *_, **__):
    return 2 * size(x) * math.prod(kernel.shape[1:])


def attention(result, query, key, value, *_, **__):
    return 2 * size(result) // value.shape[-1] * (query.shape[-1] + value.shape[-1]) * (key.shape[-2] or 1)


def recurrence(result, x, kernel, recurrent_kernel, *_, **__):
    steps = size(result[0]) // recurrent_kernel.shape[0]
    return 2 * steps * (size(kernel) + size(recurrent_kernel))


def separable(result, x, depthwise_kernel, pointwise_kernel, *_, **__):
    """The intermediate channels have the spatial size of the result."""
    space = size(result) // pointwise_kernel.shape[0]
    return 2 * space * size(depthwise_kernel) + 2 * space * size(pointwise_kernel)


def bilinear(result, x, y, kernel, *_, **__):
    return 2 * size(result) * math.prod(kernel.shape[1:])


def einsum(result, equation, *operands):
    """Every combination of the letters' values is one multiplication (of however many factors) and an addition."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    sizes = {
        letter: n
        for term, operand in zip(terms, operands, strict=True)
        for letter, n in zip(reversed(term.replace("...", "")), reversed(operand.shape), strict=False)
    }
    return max(len(operands), 1) * math.prod(n or 1 for n in sizes.values())
