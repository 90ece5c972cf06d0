"""Clauses 6.2.1.1 and A.1: tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl import dispatch, ops, standard
from labdl.conformance.row import array, close, equal, holds, raises, row
from labdl.ops import StringTensor

_TYPES = ("float32", "float64", "double", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64")


@row("6.2.1.1 a)", "Scalars, vectors, matrices and tensors of more axes", "initialize with 0 to 4 axes")
def kinds():
    for axes in range(5):
        shape = (2,) * axes
        tensor = standard.initialize(np.arange(2**axes, dtype="float32").reshape(shape).tolist())
        equal(tensor, np.arange(2**axes).reshape(shape))
        holds(dispatch.spec_of(tensor).shape == shape, f"the tensor has {axes} axes")


@row("6.2.1.1 b)", "A tensor is made from given content", "initialize from lists, numbers, arrays and tensors")
def content():
    for data in ([[1.5, 2.5]], np.array([[1.5, 2.5]]), standard.initialize([[1.5, 2.5]])):
        close(standard.initialize(data), [[1.5, 2.5]])
    equal(standard.initialize(3), 3)


@row("6.2.1.1 c)", "Random tensors: rand, randint, randn", "range, mean and variance of 20,000 numbers each")
def random():
    rand, whole, normal = array(ops.rand(20000)), array(ops.randint(2, 6, (20000,))), array(ops.randn(20000))
    holds(rand.min() >= 0 and rand.max() < 1, "rand gives numbers from 0 to 1")
    equal(np.unique(whole), [2, 3, 4, 5])
    close([rand.mean(), whole.mean(), normal.mean(), normal.var()], [0.5, 3.5, 0.0, 1.0], rtol=0, atol=0.05)


@row("6.2.1.1 d)", "An element by its indices", "index with a tuple of integers")
def element():
    equal(standard.index(standard.initialize([[1, 2], [3, 4]]), (1, 0)), 3)


@row("6.2.1.1 e)", "A slice is a tensor again", "index with slices and integers")
def slices():
    data = np.arange(24).reshape(2, 3, 4)
    part = standard.index(standard.initialize(data), (slice(None), 1, slice(0, None, 2)))
    equal(part, data[:, 1, ::2])
    holds(dispatch.owner(part) is dispatch.get(), "a slice is a tensor of the framework")


@row("6.2.1.1 f)", "Change of shape with the elements in order", "reshape there and back")
def shapes():
    data = np.arange(24).reshape(2, 3, 4)
    equal(standard.reshape(standard.reshape(standard.initialize(data), (4, 6)), (2, 3, 4)), data)


@row("6.2.1.1 g)", "Arithmetic of one tensor and of two", "negative, sqrt, square, + - * / by name and by operator")
def arithmetic():
    a, b = np.array([1.0, 4.0, 9.0], "float32"), np.array([2.0, 0.5, -1.0], "float32")
    x: Any = standard.initialize(a)
    y: Any = standard.initialize(b)
    for result, expected in (
        (ops.negative(x), -a),
        (ops.sqrt(x), np.sqrt(a)),
        (ops.square(x), a * a),
        (ops.add(x, y), a + b),
        (ops.subtract(x, y), a - b),
        (ops.multiply(x, y), a * b),
        (ops.divide(x, y), a / b),
        (x + y, a + b),
        (x - y, a - b),
        (x * y, a * b),
        (x / y, a / b),
    ):
        close(result, expected)


@row(
    "A.1.2.1, table A.1",
    "A tensor from nested lists, in each of the types",
    "all types, texts, no type; lists of unequal lengths",
    interface="initialize",
)
def initialize():
    for kind in _TYPES:
        tensor = standard.initialize([[0, 1], [1, 2]], kind)
        dtype = kind.replace("double", "float64")
        holds(dispatch.spec_of(tensor).dtype == dtype, f"type={kind!r} gives {dispatch.spec_of(tensor).dtype}")
        equal(tensor, np.array([[0, 1], [1, 2]]).astype(dtype))
    words = standard.initialize([["cat", "dog"]], "string")
    holds(isinstance(words, StringTensor) and words.shape == (1, 2), "texts make a tensor of texts")
    holds(dispatch.spec_of(standard.initialize([1.0])).dtype == "float32", "numbers with fractions are float32")
    with raises(ValueError):
        standard.initialize([[1, 2], [3]])
    with raises(TypeError, "float31"):
        standard.initialize([1], "float31")


@row(
    "A.1.2.2, table A.2",
    "Part of a tensor by its indices",
    "elements, slices, positions, masks, no index; a wrong index",
    interface="index",
)
def index():
    data = np.arange(12).reshape(3, 4)
    tensor = standard.initialize(data)
    for at in ((1, 2), 2, (slice(1, 3), slice(None)), (..., -1)):
        equal(standard.index(tensor, at), data[at])
    equal(standard.index(tensor, standard.initialize([2, 0])), data[[2, 0]])
    equal(standard.index(tensor, standard.initialize(data > 6)), data[data > 6])
    equal(standard.index(tensor), data)
    with raises(IndexError):
        standard.index(tensor, (0, 0, 0))


@row(
    "A.1.2.3, table A.3",
    "Axes in another order",
    "two orders against NumPy; an order that is none",
    interface="permute",
)
def permute():
    data = np.arange(24).reshape(2, 3, 4)
    for dims in ([2, 0, 1], (0, 2, 1)):
        equal(standard.permute(standard.initialize(data), dims), data.transpose(dims))
    with raises(ValueError):
        standard.permute(standard.initialize(data), [0, 0, 1])


@row(
    "A.1.2.4, table A.4",
    "Another shape of the same volume",
    "lists, -1, one axis; a shape of another volume",
    interface="reshape",
)
def reshape():
    data = np.arange(24).reshape(2, 3, 4)
    for shape in ([6, 4], (2, -1), 24):
        equal(standard.reshape(standard.initialize(data), shape), data.reshape(shape))
    with raises(ValueError):
        standard.reshape(standard.initialize(data), [5, 5])
