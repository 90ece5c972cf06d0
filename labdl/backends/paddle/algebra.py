"""PaddlePaddle's spelling of matrix products and linear algebra."""

import math

import paddle
from paddle import _C_ops

from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.operands import BOOL, cast, diagonal_mask, filled, is_complex, matched, pair


def _product(x, y):
    a, b = x.shape, y.shape
    rank, other = len(a), len(b)
    if rank != other or not rank:
        if not rank or not other:
            raise ValueError("matmul wants tensors of at least one axis")
        if rank > 2 and other > 2:  # the gradient's kernel fails when batches differ in rank
            x = _C_ops.reshape(x, [1] * (other - rank) + a) if rank < other else x
            y = _C_ops.reshape(y, [1] * (rank - other) + b) if other < rank else y
    return _C_ops.matmul(x, y, False, False)


_any_product = pair(_product, refused=(BOOL,))


def matmul(x, y):
    """Paddle multiplies integers as float64: they are exact up to 2**53."""
    return _any_product(x, y)


def _turned(x):
    """Transposed, and conjugated where it is complex."""
    return _transposed(_C_ops.conj(x) if is_complex(x.dtype) else x)


def _transposed(x):
    return _C_ops.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _symmetric(x):
    return _C_ops.scale(_C_ops.add(x, _turned(x)), 0.5, 0.0, True)


def cholesky(x, *, upper=False):
    """Paddle has no kernel for complex numbers, and reads one triangle only."""
    x = _symmetric(x)
    lower = _complex_cholesky(x) if is_complex(x.dtype) else _C_ops.cholesky(x, False)
    return _turned(lower) if upper else lower


def _complex_cholesky(x):
    """By that of a real matrix: each complex number a + bi as the 2 by 2 matrix ((a, -b), (b, a)), and back."""
    size, batch = x.shape[-1], list(x.shape[:-2])
    a, b = _C_ops.real(x), _C_ops.imag(x)
    rows = [_C_ops.stack([a, _C_ops.scale(b, -1.0, 0.0, True)], -1), _C_ops.stack([b, a], -1)]
    blocks = _C_ops.reshape(_C_ops.stack(rows, -3), [*batch, 2 * size, 2 * size])
    lower = _C_ops.reshape(_C_ops.cholesky(blocks, False), [*batch, size, 2, size, 2])
    left = _C_ops.slice(lower, [lower.ndim - 1], [0], [1], [1], [lower.ndim - 1])
    return _C_ops.complex(*(_C_ops.slice(left, [left.ndim - 2], [k], [k + 1], [1], [left.ndim - 2]) for k in (0, 1)))


def det(x):
    return _C_ops.det(x)


def slogdet(x):
    """Paddle gives both in one tensor, the logarithm of complex matrices as a complex number."""
    sign, logarithm = _C_ops.unbind(_C_ops.slogdet(x), 0)
    return sign, _C_ops.real(logarithm) if is_complex(x.dtype) else logarithm


inv = _C_ops.inverse


def _solving(function):
    """For kernels that want matrices, with as many axes."""

    def call(x, y, **options):
        x, y = matched(x, y)
        columns = _C_ops.unsqueeze(y, [-1]) if y.ndim == 1 else y
        batch = list(paddle.broadcast_shape(list(x.shape[:-2]), list(columns.shape[:-2])))
        x = _C_ops.expand(x, [*batch, *x.shape[-2:]])
        columns = _C_ops.expand(columns, [*batch, *columns.shape[-2:]])
        result = function(x, columns, **options)
        return _C_ops.squeeze(result, [-1]) if y.ndim == 1 else result

    return call


@_solving
def solve(x, y):
    """Paddle has no kernel for complex numbers, and takes a matrix for a batch of vectors where the sizes allow both."""
    if not is_complex(x.dtype):
        return _C_ops.solve(x, y)
    a, b = _C_ops.real(x), _C_ops.imag(x)
    above = _C_ops.concat([a, _C_ops.scale(b, -1.0, 0.0, True)], -1)
    whole = _C_ops.concat([above, _C_ops.concat([b, a], -1)], -2)
    parts = _C_ops.solve(whole, _C_ops.concat([_C_ops.real(y), _C_ops.imag(y)], -2))
    return _C_ops.complex(*_C_ops.split(parts, [x.shape[-1]] * 2, parts.ndim - 2))


@_solving
def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    if unit_diagonal:  # the kernel gives the ones a gradient
        x = where(diagonal_mask(x.shape[-1]), filled([], 1, x.dtype), x)
    return _C_ops.triangular_solve(x, y, upper, False, False)


def qr(x, *, mode="reduced"):
    """Paddle's gradient ends the process where only one of the two matrices has one."""
    q, r = _C_ops.qr(x, mode)
    if x.stop_gradient:
        return q, r
    zero = _C_ops.add(_C_ops.sum(q, [-2, -1], None, True), _C_ops.sum(r, [-2, -1], None, True))
    zero = _C_ops.scale(zero, 0.0, 0.0, True)
    return _C_ops.add(q, zero), _C_ops.add(r, zero)


def svd(x, *, full_matrices=True):
    """Paddle fills nothing in where there are no elements."""
    if full_matrices and 0 in x.shape:
        *batch, rows, columns = x.shape
        u, vh = (_C_ops.expand(paddle.eye(n, dtype=x.dtype), [*batch, n, n]) for n in (rows, columns))
        return u, _C_ops.abs(filled([*batch, min(rows, columns)], 0, x.dtype)), vh
    return tuple(_C_ops.svd(x, full_matrices))


def _followed(x, vectors, inverse):
    """Eigenvalues by the vectors: the kernels give all matrices of a batch the first one's gradient."""
    vectors, inverse = vectors.detach(), inverse.detach()
    return _C_ops.sum(_C_ops.multiply(inverse, _transposed(_C_ops.matmul(x, vectors, False, False))), [-1], None, False)


def eigh(x):
    """Paddle reads one triangle only, and gives all matrices of a batch the gradient of the first."""
    x = _symmetric(x)
    values, vectors = _C_ops.eigh(x, "L")
    if x.stop_gradient or x.ndim == 2 or 0 in x.shape:
        return values, vectors
    followed = _followed(x, vectors, _turned(vectors))
    return _C_ops.real(followed) if is_complex(x.dtype) else followed, vectors


def eig(x):
    """Paddle ends the process where an element is not finite: here the results are NaN then."""
    fine = _C_ops.all(_C_ops.isfinite(x), [-2, -1], True)
    x = where(fine, x, filled([], 0, x.dtype))
    values, vectors = _C_ops.eig(x)
    if not x.stop_gradient and x.ndim > 2 and 0 not in x.shape:
        values = _followed(cast(x, vectors.dtype), vectors, _C_ops.inverse(vectors.detach()))
    lost = filled([], math.nan, values.dtype)
    return where(_C_ops.squeeze(fine, [-1]), values, lost), where(fine, vectors, lost)
