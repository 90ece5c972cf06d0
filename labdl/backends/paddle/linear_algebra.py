"""PaddlePaddle implementations of matrix products and linear algebra."""

import math

import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.dtypes import BOOL, cast, diagonal_mask, full_tensor, is_complex, pair, promote_operands


def _product(x, y):
    a, b = x.shape, y.shape
    rank, other = len(a), len(b)
    if rank != other or not rank:
        if not rank or not other:
            raise ValueError("matmul wants tensors of at least one axis")
        if rank > 2 and other > 2:  # the kernel of the gradient fails for batches of different rank
            x = kernels.reshape(x, [1] * (other - rank) + a) if rank < other else x
            y = kernels.reshape(y, [1] * (rank - other) + b) if other < rank else y
    return kernels.matmul(x, y, False, False)


_any_product = pair(_product, refused=(BOOL,))


def matmul(x, y):
    """Paddle multiplies integers as float64: they are exact up to 2**53."""
    return _any_product(x, y)


def _negate(x):
    """Transposed, and conjugated where it is complex."""
    return _swap_last_axes(paddle.conj(x) if is_complex(x.dtype) else x)


def _swap_last_axes(x):
    return kernels.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _symmetric(x):
    return kernels.scale(kernels.add(x, _negate(x)), 0.5, 0.0, True)


def cholesky(x, *, upper=False):
    """Paddle has no kernel for complex numbers, and reads one triangle only."""
    x = _symmetric(x)
    lower = _complex_cholesky(x) if is_complex(x.dtype) else paddle.linalg.cholesky(x, False)
    return _negate(lower) if upper else lower


def _complex_cholesky(x):
    """Computed on real matrices: a complex number a + bi is the 2 by 2 matrix ((a, -b), (b, a))."""
    size, batch = x.shape[-1], list(x.shape[:-2])
    a, b = paddle.real(x), paddle.imag(x)
    rows = [kernels.stack([a, kernels.scale(b, -1.0, 0.0, True)], -1), kernels.stack([b, a], -1)]
    blocks = kernels.reshape(kernels.stack(rows, -3), [*batch, 2 * size, 2 * size])
    lower = kernels.reshape(paddle.linalg.cholesky(blocks, False), [*batch, size, 2, size, 2])
    left = kernels.slice(lower, [lower.ndim - 1], [0], [1], [1], [lower.ndim - 1])
    return kernels.complex(*(kernels.slice(left, [left.ndim - 2], [k], [k + 1], [1], [left.ndim - 2]) for k in (0, 1)))


def det(x):
    return paddle.linalg.det(x)


def slogdet(x):
    """Paddle returns both in one tensor, and a complex logarithm for complex matrices."""
    sign, logarithm = kernels.unbind(kernels.slogdet(x), 0)
    return sign, paddle.real(logarithm) if is_complex(x.dtype) else logarithm


inv = paddle.linalg.inv


def _solving(function):
    """For kernels that need matrices with equal numbers of axes."""

    def call(x, y, **options):
        x, y = promote_operands(x, y)
        columns = kernels.unsqueeze(y, [-1]) if y.ndim == 1 else y
        batch = list(paddle.broadcast_shape(list(x.shape[:-2]), list(columns.shape[:-2])))
        x = kernels.expand(x, [*batch, *x.shape[-2:]])
        columns = kernels.expand(columns, [*batch, *columns.shape[-2:]])
        result = function(x, columns, **options)
        return kernels.squeeze(result, [-1]) if y.ndim == 1 else result

    return call


@_solving
def solve(x, y):
    """Paddle has no kernel for complex numbers, and interprets a matrix as a batch of vectors if the sizes allow it."""
    if not is_complex(x.dtype):
        return paddle.linalg.solve(x, y)
    a, b = paddle.real(x), paddle.imag(x)
    above = kernels.concat([a, kernels.scale(b, -1.0, 0.0, True)], -1)
    whole = kernels.concat([above, kernels.concat([b, a], -1)], -2)
    parts = paddle.linalg.solve(whole, kernels.concat([paddle.real(y), paddle.imag(y)], -2))
    return kernels.complex(*kernels.split(parts, [x.shape[-1]] * 2, parts.ndim - 2))


@_solving
def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    if unit_diagonal:  # the kernel gives the diagonal of ones a gradient
        x = where(diagonal_mask(x.shape[-1]), full_tensor([], 1, x.dtype), x)
    return paddle.linalg.triangular_solve(x, y, upper, False, False)


def qr(x, *, mode="reduced"):
    """Paddle's gradient ends the process if only one of the two matrices has one."""
    q, r = paddle.linalg.qr(x, mode)  # pyright: ignore[reportCallIssue, reportArgumentType] - overloads want a literal
    if x.stop_gradient:
        return q, r
    zero = kernels.add(paddle.sum(q, [-2, -1], None, True), paddle.sum(r, [-2, -1], None, True))
    zero = kernels.scale(zero, 0.0, 0.0, True)
    return kernels.add(q, zero), kernels.add(r, zero)


def svd(x, *, full_matrices=True):
    """Paddle does not fill results of empty operands."""
    if full_matrices and 0 in x.shape:
        *batch, rows, columns = x.shape
        u, vh = (kernels.expand(paddle.eye(n, dtype=x.dtype), [*batch, n, n]) for n in (rows, columns))
        return u, paddle.abs(full_tensor([*batch, min(rows, columns)], 0, x.dtype)), vh
    return tuple(paddle.linalg.svd(x, full_matrices))


def _differentiable_values(x, vectors, inverse):
    """Eigenvalues with the vectors: the kernels use the first matrix's gradient for the whole batch."""
    vectors, inverse = vectors.detach(), inverse.detach()
    return paddle.sum(
        kernels.multiply(inverse, _swap_last_axes(kernels.matmul(x, vectors, False, False))), [-1], None, False
    )


def eigh(x):
    """Paddle reads one triangle only, and uses the first matrix's gradient for the whole batch."""
    x = _symmetric(x)
    values, vectors = paddle.linalg.eigh(x, "L")
    if x.stop_gradient or x.ndim == 2 or 0 in x.shape:
        return values, vectors
    followed = _differentiable_values(x, vectors, _negate(vectors))
    return paddle.real(followed) if is_complex(x.dtype) else followed, vectors


def eig(x):
    """Paddle ends the process for elements that are not finite; here the results are NaN."""
    fine = paddle.all(paddle.isfinite(x), [-2, -1], True)
    x = where(fine, x, full_tensor([], 0, x.dtype))
    values, vectors = paddle.linalg.eig(x)
    if not x.stop_gradient and x.ndim > 2 and 0 not in x.shape:
        values = _differentiable_values(cast(x, vectors.dtype), vectors, paddle.linalg.inv(vectors.detach()))
    lost = full_tensor([], math.nan, values.dtype)
    return where(kernels.squeeze(fine, [-1]), values, lost), where(fine, vectors, lost)
