"""TensorFlow implementations of products, decompositions and functions of matrices."""

import functools

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import SMALL, promote_operands, sizes


def _product_of(function):
    """For products, which have no kernels for small integers."""

    @functools.wraps(function)
    def call(x, y):
        x, y = promote_operands(x, y)
        if x.dtype in SMALL:
            return tf.cast(function(tf.cast(x, tf.int32), tf.cast(y, tf.int32)), x.dtype)
        return function(x, y)

    return call


@_product_of
def matmul(x, y):
    """TensorFlow multiplies neither vectors nor small integers."""
    left, right = x.shape.rank, y.shape.rank
    if left == 1:
        return tf.squeeze(matmul(tf.expand_dims(x, 0), y), -2 if right > 1 else -1)
    if right == 1:
        return tf.linalg.matvec(x, y)
    if right == 2 and left > 2:  # one product of matrices, for it and for its gradients
        *outer, inner = sizes(x)
        return tf.reshape(tf.matmul(tf.reshape(x, (-1, inner)), y), [*outer, sizes(y)[-1]])
    return tf.matmul(x, y)


def einsum(equation, *operands):
    """TensorFlow multiplies no small integers."""
    operands = promote_operands(*operands)
    kind = operands[0].dtype
    if kind in SMALL:
        return tf.cast(tf.einsum(equation, *(tf.cast(v, tf.int32) for v in operands)), kind)
    return tf.einsum(equation, *operands)


def kron(x, y):
    x, y = promote_operands(x, y)
    if x.dtype is tf.bool:
        raise TypeError("kron wants numbers")
    a, b = sizes(x), sizes(y)
    a, b = [1] * (len(b) - len(a)) + a, [1] * (len(a) - len(b)) + b
    left, right = (
        tf.reshape(v, [n for pair in pairs for n in pair])
        for v, pairs in ((x, [(n, 1) for n in a]), (y, [(1, n) for n in b]))
    )
    return tf.reshape(left * right, [n * m for n, m in zip(a, b, strict=True)])


def _refuse_dtype(function):
    """For functions that reject some matrices: eager errors become ValueErrors, as in NumPy."""

    @functools.wraps(function)
    def call(*args, **options):
        try:
            return function(*args, **options)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(f"{function.__name__}: {error.message.splitlines()[0].rpartition('}} ')[2]}") from None

    return call


def _symmetric(x):
    """The symmetric part; TensorFlow reads the lower triangle only."""
    return (x + tf.linalg.adjoint(x)) / 2


@_refuse_dtype
def cholesky(x, *, upper=False):
    """TensorFlow reads the lower triangle only."""
    lower = tf.linalg.cholesky(_symmetric(x))
    return tf.linalg.adjoint(lower) if upper else lower


det = tf.linalg.det


def slogdet(x):
    sign, logarithm = tf.linalg.slogdet(x)
    return sign, tf.math.real(logarithm)


inv = _refuse_dtype(tf.linalg.inv)


def _columns(function):
    """For functions of a matrix and matrices of columns with the same axes before the last two."""

    @_refuse_dtype
    @functools.wraps(function)
    def call(x, y, **options):
        x, y = promote_operands(x, y)
        if y.shape.rank == 1:
            return tf.squeeze(call(x, tf.expand_dims(y, -1), **options), -1)
        outer = tf.broadcast_static_shape(x.shape[:-2], y.shape[:-2])
        shape = outer if outer.is_fully_defined() else tf.broadcast_dynamic_shape(tf.shape(x)[:-2], tf.shape(y)[:-2])
        x, y = (
            v
            if v.shape[:-2] == outer and outer.is_fully_defined()
            else tf.broadcast_to(v, tf.concat([shape, tf.shape(v)[-2:]], 0))
            for v in (x, y)
        )
        return function(x, y, **options)

    return call


@_columns
def solve(x, y):
    """TensorFlow does not broadcast matrices."""
    return tf.linalg.solve(x, y)


@_columns
def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    """TensorFlow has no unit diagonal: sets the diagonal to ones."""
    if unit_diagonal:
        x = tf.linalg.set_diag(x, tf.ones_like(tf.linalg.diag_part(x)))
    return tf.linalg.triangular_solve(x, y, lower=not upper)


def qr(x, *, mode="reduced"):
    return tuple(tf.linalg.qr(x, full_matrices=mode == "complete"))


@_refuse_dtype
def svd(x, *, full_matrices=True):
    """TensorFlow returns the values first, and V instead of its conjugate transpose."""
    s, u, v = tf.linalg.svd(x, full_matrices)
    return u, s, tf.linalg.adjoint(v)


@_refuse_dtype
def eigh(x):
    """TensorFlow reads the lower triangle only."""
    w, v = tf.linalg.eigh(_symmetric(x))
    return tf.math.real(w), v


@_refuse_dtype
def eig(x):
    return tuple(tf.linalg.eig(x))
