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


def multi_dot(result, tensors):
    """In the given order, as an upper bound."""
    rows, total = (tensors[0].shape[0] or 1) if len(tensors[0].shape) > 1 else 1, 0
    for x in tensors[1:]:
        total += 2 * rows * size(x)
    return total


def lu(result, x):
    """Of a square matrix two thirds of a product."""
    return 2 * size(x) * min(n or 1 for n in x.shape[-2:]) // 3


def matrix_exp(result, x):
    """Seven products, a solution, and about as many squarings."""
    return 2 * 15 * size(x) * (x.shape[-1] or 1)


def cholesky_solve(result, y, factor, **_):
    return 2 * size(result) * (factor.shape[-1] or 1)


def pairs(result, x, *_, **__):
    """For each pair of points three operations for each of their coordinates."""
    return 3 * size(result) * (x.shape[-1] or 1)


def conv(result, x, kernel, *_, **__):
    return 2 * size(result) * math.prod(kernel.shape[1:])


def deform_conv(result, x, offset, kernel, *_, **__):
    """The convolution, and for each element that it reads four products with two factors each."""
    places = size(offset) // 2 * (kernel.shape[1] or 1)
    return conv(result, x, kernel) + 12 * places


def mfcc(result, x, sample_rate=None, n_mfcc=40, n_fft=400, *_, **__):
    return mel_spectrogram(result, x, sample_rate, n_fft)


def mel_spectrogram(result, x, sample_rate=None, n_fft=400, *_, **__):
    """Of each frame a fast transform, 2.5 operations times the logarithm of its size for each element, and the filters."""
    frames = size(result) // (result.shape[-2] or 1)
    return int(frames * 2.5 * n_fft * math.log2(max(n_fft, 2))) + size(result) * n_fft


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
