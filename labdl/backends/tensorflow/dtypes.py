"""Promotion and broadcasting of operands, and dtypes for which TensorFlow has kernels."""

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from labdl.spec import promote

NUMBERS = (bool, int, float, complex)
INTEGERS = (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8)
SMALL = (tf.int8, tf.int16, tf.uint8)
HALVES = (tf.float16, tf.bfloat16)
COMPLEX = (tf.complex64, tf.complex128)
BITS = {tf.float16: tf.int16, tf.bfloat16: tf.int16, tf.float32: tf.int32, tf.float64: tf.int64}

_Eager, _FLOAT = tf.__internal__.EagerTensor, tf.float32  # fast path without a look-up


def number(value, kind):
    """A Python number as a scalar tensor."""
    return tf.constant(np.asarray(value).astype(kind.as_numpy_dtype))


def promote_operands(*values) -> list[Any]:
    """Tensors of one dtype, as LabDL promotes: TensorFlow does not, and gives the first operand's dtype to numbers."""
    tensors: list[Any] = [
        v.item() if isinstance(v, np.generic) else v if isinstance(v, NUMBERS) else tf.convert_to_tensor(v)
        for v in values
    ]
    first = tensors[0]
    if isinstance(first, tf.Tensor) and not [
        v for v in tensors if isinstance(v, NUMBERS) or v.dtype is not first.dtype
    ]:
        return tensors
    common = tf.as_dtype(promote(*(v if isinstance(v, NUMBERS) else v.dtype.name for v in tensors)))
    return [number(v, common) if isinstance(v, NUMBERS) else tf.cast(v, common) for v in tensors]


def together(*tensors) -> list[Any]:
    """Tensors broadcast to one shape."""
    shape = functools.reduce(tf.broadcast_static_shape, (t.shape for t in tensors))
    if shape.is_fully_defined():
        return [t if t.shape == shape else tf.broadcast_to(t, shape) for t in tensors]
    sizes = functools.reduce(tf.broadcast_dynamic_shape, map(tf.shape, tensors))
    return [tf.ensure_shape(tf.broadcast_to(t, sizes), shape) for t in tensors]


def sizes(x) -> list[Any]:
    """The shape with numbers where they are known and scalar tensors where not."""
    known = x.shape.as_list()
    if None not in known:
        return known
    shape = tf.shape(x)
    return [shape[i] if n is None else n for i, n in enumerate(known)]


def through(wide, function, *kinds, back=True):
    """For each dtype without a kernel, the function computed in ``wide``; ``back``: the result is converted."""

    def call(*tensors, **options):
        result = function(*(tf.cast(t, wide) for t in tensors), **options)
        return tf.cast(result, tensors[0].dtype) if back else result

    return dict.fromkeys(kinds, call)


def pair(function, others=None):
    """For functions of two tensors; ``others``: the functions of dtypes for which that one has no kernel."""

    @functools.wraps(function)
    def call(x, y):
        usual = x.__class__ is _Eager and x.dtype is _FLOAT
        if usual and (y.__class__ is float or (y.__class__ is _Eager and y.dtype is _FLOAT)):
            return function(x, y)
        x, y = promote_operands(x, y)
        return ((others and others.get(x.dtype)) or function)(x, y)

    return call


def one(function, others=None):
    """For functions of one tensor; ``others``: the functions of dtypes for which that one has no kernel."""

    @functools.wraps(function)
    def call(x):
        if x.__class__ is _Eager and x.dtype is _FLOAT:
            return function(x)
        return ((others and others.get(x.dtype)) or function)(x)

    return call


def floating(function, others=None):
    """For functions of one tensor with a floating-point result: integers and bool are converted first."""
    return one(function, through(tf.float32, function, tf.bool, *INTEGERS, back=False) | (others or {}))


def two(op):
    """A raw operation of ``x`` and ``y``: half the overhead of the public function, which opens a name scope."""
    return lambda x, y: op(x=x, y=y)


def of(op):
    """A raw operation of ``x``."""
    return lambda x: op(x=x)
