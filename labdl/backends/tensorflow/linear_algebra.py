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
            reason = error.message.splitlines()[0].rpartition("}} ")[2].removeprefix("assertion failed: ")
            raise ValueError(f"{function.__name__}: {reason.partition(' [Op:')[0].strip('[]')}") from None

    return call


def _symmetric(x):
    """The symmetric part; TensorFlow reads the lower triangle only."""
    return (x + tf.linalg.adjoint(x)) / 2


@_refuse_dtype
def cholesky(x, *, upper=False):
    """TensorFlow reads the lower triangle only, and leaves memory unwritten where a matrix is not positive definite."""
    lower = tf.linalg.cholesky(_symmetric(x))
    positive = tf.reduce_all(tf.math.real(tf.linalg.diag_part(lower)) > 0)
    tf.raw_ops.Assert(condition=positive, data=["a matrix is not positive definite"])
    return tf.linalg.adjoint(lower) if upper else lower


@tf.custom_gradient
def det(x):
    """TensorFlow inverts the matrix for the gradient, and raises where it is singular."""
    result = tf.linalg.det(x)

    def pull(gradient):
        singular, unknown = (v[..., None, None] for v in (tf.equal(result, 0), tf.not_equal(result, result)))
        regular = tf.where(singular | unknown, tf.eye(sizes(x)[-1], dtype=x.dtype), x)
        found = result[..., None, None] * tf.linalg.inv(tf.linalg.matrix_transpose(regular))
        found = tf.cond(
            tf.reduce_any(singular), lambda: tf.where(singular, _cofactors(x), found), lambda: tf.identity(found)
        )
        return gradient[..., None, None] * tf.math.conj(found)

    return result, pull


def _cofactors(x):
    """The derivative of the determinant by singular values: for each, the product of the others."""
    values, left, right = tf.linalg.svd(x, full_matrices=True)
    others = tf.math.cumprod(values, -1, exclusive=True) * tf.math.cumprod(values, -1, exclusive=True, reverse=True)
    sign = tf.linalg.det(left) * tf.math.conj(tf.linalg.det(right))
    scaled = tf.math.conj(left) * tf.cast(others, x.dtype)[..., None, :]
    return sign[..., None, None] * tf.matmul(scaled, right, transpose_b=True)


def slogdet(x):
    """TensorFlow's sign of a complex determinant has no gradient."""
    if x.dtype.is_complex:
        return _complex_slogdet(x)
    return tf.linalg.slogdet(x)


@tf.custom_gradient
def _complex_slogdet(x):
    sign, logarithm = tf.linalg.slogdet(x)

    def pull(of_sign, of_logarithm):
        # the logarithm of the determinant, with its angle as the imaginary part, has the slope of the trace of inv(x) dx
        factor = tf.complex(of_logarithm, tf.math.imag(tf.math.conj(of_sign) * sign))
        return tf.linalg.adjoint(factor[..., tf.newaxis, tf.newaxis] * tf.linalg.inv(x))

    return (sign, tf.math.real(logarithm)), pull


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


def lu(x):
    """TensorFlow's takes regular matrices only, and in a compiled function it cannot be known which are."""
    size = x.shape[-1]
    if x.shape.rank < 2 or x.shape[-2] != size or not size or not tf.executing_eagerly():
        return NotImplemented
    try:
        return _regular_lu(x)
    except tf.errors.InvalidArgumentError:
        return NotImplemented


@tf.custom_gradient
def _regular_lu(x):
    """TensorFlow's has no gradient."""
    packed, order = tf.linalg.lu(x)
    lower = tf.linalg.set_diag(tf.linalg.band_part(packed, -1, 0), tf.ones_like(packed[..., 0]))
    upper = tf.linalg.band_part(packed, 0, -1)
    p = tf.linalg.matrix_transpose(tf.one_hot(order, x.shape[-1], dtype=x.dtype))

    def gradient(_, of_lower, of_upper):
        left = tf.linalg.band_part(tf.matmul(lower, of_lower, adjoint_a=True), -1, 0)
        left = tf.linalg.set_diag(left, tf.zeros_like(packed[..., 0]))
        right = tf.linalg.band_part(tf.matmul(of_upper, upper, adjoint_b=True), 0, -1)
        inner = tf.linalg.triangular_solve(lower, left + right, adjoint=True)
        inner = tf.linalg.triangular_solve(upper, tf.linalg.adjoint(inner), lower=False)
        return tf.matmul(p, inner, adjoint_b=True)

    return (p, lower, upper), gradient


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
