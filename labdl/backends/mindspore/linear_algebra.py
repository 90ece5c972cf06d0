"""MindSpore implementations of matrix products and linear algebra.

Its gradients of decompositions are missing or wrong. Here the decomposition is treated as a constant, plus a term that is
zero but has the right derivative: the first-order formula in the difference of the matrix from itself.
"""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportOperatorIssue=false, reportOptionalMemberAccess=false, reportOptionalOperand=false, reportOptionalSubscript=false

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.arithmetic import _conjugate, _imag, _real, conj
from labdl.backends.mindspore.arithmetic import _product as _times
from labdl.backends.mindspore.arrays import diag, diagonal, triu
from labdl.backends.mindspore.dtypes import (
    ALL_NUMBERS,
    as_tensor,
    broadcast,
    float32,
    is_complex,
    promote_operands,
    through,
)
from labdl.spec import COMPLEX

_matmul2, _batch_matmul, _complex = P.MatMul(), P.BatchMatMul(), P.Complex()
_stop = ops.stop_gradient
_PRECISE = ("float32", "float64", *COMPLEX)


# -- products


def matmul(x, y):
    """MindSpore returns uninitialized memory where the inner size is 0."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is float32 and y.dtype is float32:
        return _product(x, y)
    x, y = promote_operands(x, y)
    return _any_product(x, y)


def _product(x, y):
    a, b = x.shape, y.shape
    left, right = len(a), len(b)
    if not left or not right or a[-1] != b[-2 if right > 1 else 0]:
        raise ValueError(f"matmul of {a} and {b}: the inner sizes must be equal")
    if left == right == 2 and x.size and y.size:
        return _matmul2(x, y)
    batch = broadcast(a[:-2], b[:-2])
    if 0 in a or 0 in b:
        return ops.zeros((*batch, *a[-2:-1], *(b[-1:] if right > 1 else ())), x.dtype)
    if left == right > 2 and a[:-2] == b[:-2]:
        return _batch_matmul(x, y)
    return ops.matmul(x, y)


def _product_of_parts(x, y):
    a, b, c, d = _real(x), _imag(x), _real(y), _imag(y)
    return _complex(_product(a, c) - _product(b, d), _product(a, d) + _product(b, c))


_any_product = through(
    lambda x, y: _product_of_parts(x, y) if is_complex(x) else _product(x, y.astype(x.dtype)), ALL_NUMBERS
)


def _adjoint(x):
    return ops.swapaxes(conj(x), -2, -1)


def _square(function):
    """For functions of square matrices."""

    def call(x, *others, **options):
        if x.ndim < 2 or x.shape[-2] != x.shape[-1]:
            raise ValueError(f"square matrices expected, received {x.shape}")
        return function(x, *others, **options)

    return call


# -- determinants and equations


def _of_two(x):
    """Extend a matrix of one row by the identity, for kernels that need two rows."""
    if x.shape[-1] > 1:
        return x
    ends = [
        as_tensor(np.broadcast_to(row, (*x.shape[:-2], *np.shape(row))), x.dtype) for row in ([[0.0]], [[0.0, 1.0]])
    ]
    return ops.cat((ops.cat((x, ends[0]), -1), ends[1]), -2)


@_square
def det(x):
    """MindSpore rejects matrices of one row."""
    if not x.size:
        return ops.ones(x.shape[:-2], x.dtype)
    return _determinant_of_complex(_of_two(x)) if is_complex(x) else _determinant_of_reals(_of_two(x))


class _Determinant(nn.Cell):
    """The kernel's gradient divides by the determinant."""

    def construct(self, x):
        return _determinant(x)

    def bprop(self, x, result, gradient):
        return (_cofactors(x) * ops.expand_dims(ops.expand_dims(gradient, -1), -1),)


def _cofactors(x):
    """The derivative of the determinant by singular values: for each, the product of the others."""
    s, u, v = _singular_values(x)
    others = _products_before(s, -1) * _products_behind(s, -1)
    sign = ops.expand_dims(ops.expand_dims(_determinant(u) * _determinant(v), -1), -1)
    return sign * matmul(u * ops.expand_dims(others, -2), ops.swapaxes(v, -2, -1))


class _ComplexDeterminant(nn.Cell):
    """The kernel's gradient is wrong: the cofactors are conjugate."""

    def construct(self, x):
        return _determinant(x)

    def bprop(self, x, result, gradient):
        s, u, v = _singular_values(x)
        others = ops.expand_dims(_products_before(_real(s), -1) * _products_behind(_real(s), -1), -2).astype(x.dtype)
        sign = _times(_conjugate(_determinant(u)), _determinant(v))
        factor = ops.expand_dims(ops.expand_dims(_times(sign, gradient), -1), -1)
        return (_times(factor, _product_of_parts(_times(u, others), ops.swapaxes(_conjugate(v), -2, -1))),)


_determinant, _singular_values = P.MatrixDeterminant(), P.Svd(True, True)
_determinant_of_reals, _determinant_of_complex = _Determinant(), _ComplexDeterminant()
_products_before, _products_behind = P.CumProd(exclusive=True), P.CumProd(exclusive=True, reverse=True)


@_square
def slogdet(x):
    """MindSpore rejects matrices of one row."""
    if not x.size:
        return ops.ones(x.shape[:-2], x.dtype), ops.zeros(x.shape[:-2], _real_kind(x))
    if not is_complex(x):
        return _log_determinant(_of_two(x))
    result = _complex_log_determinant(_of_two(x))
    return result[0], _real(result[1])


class _LogDeterminant(nn.Cell):
    """The kernel's gradient of complex numbers is wrong."""

    def construct(self, x):
        return _log_determinant(x)

    def bprop(self, x, result, gradient):
        turn = _imag(_times(_conjugate(result[0]), gradient[0]))
        factor = ops.expand_dims(ops.expand_dims(_complex(_real(gradient[1]), turn), -1), -1)
        return (_times(factor, ops.swapaxes(_conjugate(inv(x)), -2, -1)),)


_log_determinant, _complex_log_determinant = P.LogMatrixDeterminant(), _LogDeterminant()


def _real_kind(x):
    return {mindspore.complex64: mindspore.float32, mindspore.complex128: mindspore.float64}.get(x.dtype, x.dtype)


@_square
def inv(x):
    """MindSpore's returns numbers for singular matrices: solves for the identity."""
    if not x.size:
        return ops.zeros(x.shape, x.dtype)
    return _solution(x, as_tensor(np.broadcast_to(np.eye(x.shape[-1]), x.shape), x.dtype))


class _Solution(nn.Cell):
    """The kernel's own gradient is one of float32."""

    def construct(self, x, y):
        return _solve_plain(x, y)

    def bprop(self, x, y, result, gradient):
        of_y = _solve_adjoint(x, gradient)
        return _negative(matmul(of_y, _adjoint(result))), of_y


_solve_plain, _solve_adjoint, _negative = P.MatrixSolve(), P.MatrixSolve(adjoint=True), P.Neg()
_solve_tensors = _Solution()


def _solution(x, y):
    try:
        return _solve_tensors(x, y)
    except ValueError as error:
        if "not invertible" not in str(error):
            raise
    raise np.linalg.LinAlgError("Singular matrix")


def solve(x, y):
    return _solve(x, y, _solution)


def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    x, y = promote_operands(x, y)
    kept = np.triu(np.ones(x.shape[-2:], "bool")) if upper else np.tril(np.ones(x.shape[-2:], "bool"))
    if unit_diagonal:
        kept &= ~np.eye(*x.shape[-2:], dtype="bool")
    x = ops.where(ops.broadcast_to(Tensor(kept), x.shape), x, ops.zeros_like(x))
    if unit_diagonal:
        x = ops.add(x, as_tensor(np.eye(*x.shape[-2:]), x.dtype))
    return _solve(x, y, P.MatrixTriangularSolve(lower=not upper))


def _solve(x, y, kernel):
    x, y = promote_operands(x, y)
    if x.ndim < 2 or x.shape[-2] != x.shape[-1]:
        raise ValueError(f"square matrices expected, received {x.shape}")
    columns = ops.expand_dims(y, -1) if y.ndim == 1 else y
    if columns.shape[-2] != x.shape[-1]:
        raise ValueError(f"matrices of {x.shape} do not fit right-hand sides of {y.shape}")
    batch = broadcast(x.shape[:-2], columns.shape[:-2])
    if not x.size or not columns.size:
        result = ops.zeros((*batch, *columns.shape[-2:]), x.dtype)
    else:
        result = kernel(
            ops.broadcast_to(x, (*batch, *x.shape[-2:])), ops.broadcast_to(columns, (*batch, *columns.shape[-2:]))
        )
    return ops.squeeze(result, -1) if y.ndim == 1 else result


# -- decompositions


def _change(x):
    """Zero, with the derivative of ``x``."""
    return _minus(x, _stop(x))


def _minus(x, y):
    return _complex(_real(x) - _real(y), _imag(x) - _imag(y)) if is_complex(x) else x - y


def _plus(x, y):
    return _complex(_real(x) + _real(y), _imag(x) + _imag(y)) if is_complex(x) else x + y


def _half(x):
    """The lower triangle and half of the diagonal."""
    weights = as_tensor(np.tril(np.ones(x.shape[-2:])) - np.eye(x.shape[-1]) / 2, _real_kind(x))
    return _rescale(x, weights)


def _rescale(x, factors):
    """Products with real numbers."""
    return _complex(_real(x) * factors, _imag(x) * factors) if is_complex(x) else x * factors


def _symmetric(x):
    return _rescale(_plus(x, _adjoint(x)), as_tensor(0.5, _real_kind(x)))


@_square
def cholesky(x, *, upper=False):
    """MindSpore's has no gradient on CPU, and none for complex numbers."""
    if not x.size:
        return x.copy()
    x = _symmetric(x)
    fixed = _stop(x)
    lower = _complex_cholesky(fixed) if is_complex(x) else P.Cholesky()(fixed)
    inverse = inv(lower)
    inner = matmul(matmul(inverse, _change(x)), _adjoint(inverse))
    lower = _plus(lower, matmul(lower, _half(inner)))
    return _adjoint(lower) if upper else lower


def _complex_cholesky(x):
    """From the eigenvalues: a root of the matrix, made triangular."""
    values, vectors = _eigen(x)
    if not ops.greater(values, 0).all():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    root = _rescale(vectors, ops.expand_dims(ops.sqrt(values), -2))
    triangle = P.Qr(False)(_adjoint(root))[1]
    ends = diagonal(triangle)
    phases = ops.div(conj(ends), P.ComplexAbs()(ends).astype(ends.dtype))
    return _adjoint(ops.mul(triangle, ops.expand_dims(phases, -1)))


def _eigen(x):
    """Eigenvalues and vectors of a Hermitian matrix, from the singular values of the matrix shifted to be positive."""
    size = x.shape[-1]
    bound = ops.expand_dims(ops.amax(_sizes(x).sum(-1), -1), -1)
    moved = _plus(x, as_tensor(np.eye(size), x.dtype) * ops.expand_dims(bound, -1).astype(x.dtype))
    values, vectors, _ = P.Svd(False, True)(moved)
    values = (_real(values) if is_complex(x) else values) - bound
    order = Tensor(np.arange(size)[::-1].copy())
    return ops.gather(values, order, x.ndim - 2), ops.gather(vectors, order, x.ndim - 1)


def _sizes(x):
    return P.ComplexAbs()(x) if is_complex(x) else ops.abs(x)


def _gaps(values):
    """1 / (w_j - w_i), and 0 where they are equal."""
    return _invert(ops.expand_dims(values, -2) - ops.expand_dims(values, -1))


def _invert(x):
    """1 / x, and 0 where that is not finite: it multiplies zeros."""
    inverse = 1 / x
    return ops.where(ops.isfinite(inverse), inverse, ops.zeros_like(x))


@_square
def eigh(x):
    """From the singular values: MindSpore's own takes one matrix at a time and has no gradient."""
    if not x.size:
        return ops.zeros(x.shape[:-1], _real_kind(x)), x.copy()
    x = _symmetric(x)
    values, vectors = _eigen(_stop(x))
    inner = matmul(matmul(_adjoint(vectors), _change(x)), vectors)
    ends = diagonal(inner)
    values_out = values + (_real(ends) if is_complex(x) else ends)
    return values_out, _plus(vectors, matmul(vectors, _rescale(inner, _gaps(values))))


@_square
def eig(x):
    if not x.size:
        kind = {mindspore.float32: mindspore.complex64, mindspore.float64: mindspore.complex128}.get(x.dtype, x.dtype)
        return ops.zeros(x.shape[:-1], kind), x.astype(kind)
    values, vectors = P.Eig(True)(x)  # of NaN, the kernel has numbers
    return values + P.ReduceSum()((x - x).astype(values.dtype), (-2, -1))[..., None], vectors


def qr(x, *, mode="reduced"):
    """MindSpore's has no gradient on CPU."""
    rows, columns = x.shape[-2:]
    if not x.size:
        size = min(rows, columns) if mode == "reduced" else rows
        eye = np.broadcast_to(np.eye(rows, size), (*x.shape[:-2], rows, size))
        return as_tensor(eye, x.dtype), ops.zeros((*x.shape[:-2], size, columns), x.dtype)
    q, r = P.Qr(mode == "complete")(_stop(x))
    if mode == "complete" or rows < columns:
        return q, r
    apart = _change(x)
    dependent = ops.equal(P.ComplexAbs()(diagonal(r)) if is_complex(x) else diagonal(r), 0)
    inverse = inv(_plus(r, diag(dependent.astype(x.dtype))))
    inner = matmul(matmul(_adjoint(q), apart), inverse)
    lower = _rescale(inner, as_tensor(np.tril(np.ones(inner.shape[-2:]), -1), _real_kind(x)))
    turn = _minus(lower, _adjoint(lower))
    if is_complex(x):  # the diagonal of R stays real
        turn = _plus(turn, diag(_complex(ops.zeros_like(_real(diagonal(inner))), _imag(diagonal(inner)))))
    across = matmul(apart, inverse)
    outside = _minus(across, matmul(q, matmul(_adjoint(q), across)))
    return _plus(q, _plus(matmul(q, turn), outside)), triu(_plus(r, matmul(_minus(inner, turn), r)))


def svd(x, *, full_matrices=True):
    """MindSpore gives V itself, complex singular values, and a wrong gradient of vectors."""
    rows, columns = x.shape[-2:]
    size = min(rows, columns)
    if not x.size:
        kept = (rows, columns) if full_matrices else (size, size)
        eyes = [
            np.broadcast_to(np.eye(n, k), (*x.shape[:-2], n, k)) for n, k in zip((rows, columns), kept, strict=True)
        ]
        u, v = (as_tensor(e, x.dtype) for e in eyes)
        return u, ops.zeros((*x.shape[:-2], size), _real_kind(x)), ops.swapaxes(v, -2, -1)
    s, u, v = P.Svd(full_matrices, True)(_stop(x))
    s = _real(s) if is_complex(x) else s
    apart = _change(x)
    left, right = (u, v) if not full_matrices else (u[..., :size], v[..., :size])
    inner = matmul(matmul(_adjoint(left), apart), right)
    ends = diagonal(inner)
    values = s + (_real(ends) if is_complex(x) else ends)
    if full_matrices:
        return u, values, _adjoint(v)
    gaps, row, column = _gaps(s * s), ops.expand_dims(s, -2), ops.expand_dims(s, -1)
    turned = _adjoint(inner)
    turn_u = _rescale(_plus(_rescale(inner, row), _rescale(turned, column)), gaps)
    turn_v = _rescale(_plus(_rescale(inner, column), _rescale(turned, row)), gaps)
    if is_complex(x):  # a turn of a pair of vectors, half by each
        phase = _imag(ends) * _invert(s + s)
        turn = diag(_complex(ops.zeros_like(phase), phase))
        turn_u, turn_v = _plus(turn_u, turn), _minus(turn_v, turn)
    du, dv, inverse = matmul(u, turn_u), matmul(v, turn_v), _invert(row)
    if rows > size:
        across = matmul(apart, v)
        du = _plus(du, _rescale(_minus(across, matmul(u, matmul(_adjoint(u), across))), inverse))
    if columns > size:
        across = matmul(_adjoint(apart), u)
        dv = _plus(dv, _rescale(_minus(across, matmul(v, matmul(_adjoint(v), across))), inverse))
    return _plus(u, du), values, _adjoint(_plus(v, dv))
