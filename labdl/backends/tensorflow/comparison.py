"""TensorFlow implementations of comparison, logic, bits, choice and complex numbers, element by element."""

import tensorflow as tf
from tensorflow import raw_ops as _raw

from labdl.backends.tensorflow.dtypes import COMPLEX, INTEGERS, of, one, pair, promote_operands, through, two

equal, not_equal = pair(two(_raw.Equal)), pair(two(_raw.NotEqual))


def _ordering(op):
    return pair(two(op), through(tf.int32, two(op), tf.bool, back=False))


less, less_equal, greater, greater_equal = map(_ordering, (_raw.Less, _raw.LessEqual, _raw.Greater, _raw.GreaterEqual))
logical_and, logical_or, logical_xor = map(pair, (two(_raw.LogicalAnd), two(_raw.LogicalOr), tf.math.logical_xor))
bitwise_and = pair(two(_raw.BitwiseAnd), {tf.bool: tf.logical_and})
bitwise_or = pair(two(_raw.BitwiseOr), {tf.bool: tf.logical_or})
bitwise_xor = pair(two(_raw.BitwiseXor), {tf.bool: tf.math.logical_xor})
bitwise_invert = one(of(_raw.Invert), {tf.bool: tf.logical_not})
bitwise_right_shift = pair(two(_raw.RightShift))


@pair
def bitwise_left_shift(x, y):
    """TensorFlow shifts by one less than the number of bits at most."""
    return tf.where(y < x.dtype.size * 8, _raw.LeftShift(x=x, y=y), tf.zeros((), x.dtype))


def _test(op, joined, of_integers):
    def of_complex(x):
        return joined(op(x=tf.math.real(x)), op(x=tf.math.imag(x)))

    def constant(x):
        return tf.fill(tf.shape(x), of_integers)

    return one(of(op), dict.fromkeys(COMPLEX, of_complex) | dict.fromkeys(INTEGERS, constant))


isfinite = _test(_raw.IsFinite, tf.logical_and, True)
isinf, isnan = _test(_raw.IsInf, tf.logical_or, False), _test(_raw.IsNan, tf.logical_or, False)


def where(condition, x, y):
    x, y = promote_operands(x, y)
    return _raw.SelectV2(condition=condition, t=x, e=y)


# -- complex numbers

complex = pair(tf.complex)
real, imag, conj = tf.math.real, tf.math.imag, tf.math.conj
