"""TensorFlow implementations of Fourier transforms."""

import tensorflow as tf
from tensorflow import raw_ops as _raw

from labdl.backends.tensorflow.dtypes import COMPLEX, sizes


def _along_last(function):
    """For transforms of the last axis."""

    def call(x, n=None, axis=-1, norm="backward"):
        """TensorFlow supports the last axis only, no other size, and scales the inverse."""
        rank = x.shape.rank
        axis %= rank
        if axis == rank - 1:
            return function(x, n, norm)
        order = [a for a in range(rank) if a != axis] + [axis]
        return tf.transpose(function(tf.transpose(x, order), n, norm), [order.index(a) for a in range(rank)])

    return call


def _complex(x):
    kind = x.dtype
    return x if kind in COMPLEX else tf.cast(x, tf.complex128 if kind is tf.float64 else tf.complex64)


def _fit_length(x, n):
    """The last axis truncated to ``n`` elements, or padded with zeros."""
    size = x.shape[-1]
    if n is None or n == size:
        return x
    x = x[..., :n]
    missing = n - sizes(x)[-1]
    return tf.pad(x, [(0, 0)] * (x.shape.rank - 1) + [(0, missing)])


def _rescale(result, count, norm, inverse):
    """Scale by ``norm``; TensorFlow has already scaled an inverse by the number of elements."""
    if norm == ("forward" if inverse else "backward"):
        power = 1.0 if inverse else 0.0
    else:
        power = {"ortho": 0.5 if inverse else -0.5}.get(norm, 0.0 if inverse else -1.0)
    if not power:
        return result
    kind = result.dtype.real_dtype
    factor = tf.constant(count**power, kind) if isinstance(count, int) else tf.pow(tf.cast(count, kind), power)
    return result * tf.cast(factor, result.dtype)


def _transform(op, inverse):
    def call(x, n, norm):
        x = _fit_length(_complex(x), n)
        return _rescale(op(input=x), sizes(x)[-1], norm, inverse)

    return _along_last(call)


fft, ifft = _transform(_raw.FFT, False), _transform(_raw.IFFT, True)


@_along_last
def rfft(x, n, norm):
    x = _fit_length(x, n)
    n = sizes(x)[-1]
    kind = tf.complex128 if x.dtype is tf.float64 else tf.complex64
    # the public function copies the length to the host
    return _rescale(_raw.RFFT(input=x, fft_length=[n], Tcomplex=kind), n, norm, False)


@_along_last
def irfft(x, n, norm):
    x = _complex(x)
    n = 2 * (sizes(x)[-1] - 1) if n is None else n
    if isinstance(n, int) and n < 1:  # TensorFlow would end the process
        raise ValueError(f"irfft wants at least 1 element, received {n}")
    x = _fit_length(x, n // 2 + 1)  # its gradient does not support truncation
    return _rescale(_raw.IRFFT(input=x, fft_length=[n], Treal=x.dtype.real_dtype), n, norm, True)
