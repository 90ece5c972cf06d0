"""MindSpore implementations of matrix products, linear algebra and Fourier transforms.

Its gradients of decompositions are missing or wrong. Here the decomposition is treated as a constant, plus a term that is
zero but has the right derivative: the first-order formula in the difference of the matrix from itself.
"""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportOperatorIssue=false, reportOptionalMemberAccess=false, reportOptionalOperand=false, reportOptionalSubscript=false

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.arithmetic import conj
from labdl.backends.mindspore.arrays import diag, diagonal
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

_matmul2, _batch_matmul, _complex, _real, _imag = P.MatMul(), P.BatchMatMul(), P.Complex(), P.Real(), P.Imag()
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
    return P.MatrixDeterminant()(_of_two(x)) if x.size else ops.ones(x.shape[:-2], x.dtype)


@_square
def slogdet(x):
    """MindSpore rejects matrices of one row."""
    if not x.size:
        return ops.ones(x.shape[:-2], x.dtype), ops.zeros(x.shape[:-2], _real_kind(x))
    sign, logarithm = P.LogMatrixDeterminant()(_of_two(x))
    return sign, _real(logarithm) if is_complex(x) else logarithm


def _real_kind(x):
    return {mindspore.complex64: mindspore.float32, mindspore.complex128: mindspore.float64}.get(x.dtype, x.dtype)


@_square
def inv(x):
    """MindSpore rejects matrices of one row."""
    size = x.shape[-1]
    return P.MatrixInverse()(_of_two(x))[..., :size, :size] if x.size else ops.zeros(x.shape, x.dtype)


def solve(x, y):
    return _solve(x, y, P.MatrixSolve())


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
    return tuple(P.Eig(True)(x))


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
    inverse = inv(r)
    inner = matmul(matmul(_adjoint(q), apart), inverse)
    lower = _rescale(inner, as_tensor(np.tril(np.ones(inner.shape[-2:]), -1), _real_kind(x)))
    turn = _minus(lower, _adjoint(lower))
    if is_complex(x):  # the diagonal of R stays real
        turn = _plus(turn, diag(_complex(ops.zeros_like(_real(diagonal(inner))), _imag(diagonal(inner)))))
    across = matmul(apart, inverse)
    outside = _minus(across, matmul(q, matmul(_adjoint(q), across)))
    return _plus(q, _plus(matmul(q, turn), outside)), _plus(r, matmul(_minus(inner, turn), r))


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
    gaps, row = _gaps(s * s), ops.expand_dims(s, -2)
    turned = _adjoint(inner)
    column = ops.expand_dims(s, -1)
    du = matmul(u, _rescale(_plus(_rescale(inner, row), _rescale(turned, column)), gaps))
    dv = matmul(v, _rescale(_plus(_rescale(inner, column), _rescale(turned, row)), gaps))
    inverse = _invert(row)
    if rows > size:
        across = matmul(apart, v)
        du = _plus(du, _rescale(_minus(across, matmul(u, matmul(_adjoint(u), across))), inverse))
    if columns > size:
        across = matmul(_adjoint(apart), u)
        dv = _plus(dv, _rescale(_minus(across, matmul(v, matmul(_adjoint(v), across))), inverse))
    return _plus(u, du), values, _adjoint(_plus(v, dv))


# -- Fourier transforms


def _spectrum(kernel, into):
    """A transform; ``into`` gives the size and dtype of the result, for empty tensors."""

    def call(x, n=None, axis=-1, norm="backward"):
        """MindSpore rejects empty tensors, and crashes for a transform of no points."""
        axis %= x.ndim
        size, kind = into(x, n, axis)
        if size < 1 or (n is not None and n < 1):
            raise ValueError("a transform wants at least one point")  # the shape rule gives the message
        if x.size:
            return kernel(x, n, axis, norm)
        return ops.zeros(tuple(size if a == axis else m for a, m in enumerate(x.shape)), kind)

    return call


def _complex_kind(x):
    return {mindspore.float32: mindspore.complex64, mindspore.float64: mindspore.complex128}.get(x.dtype, x.dtype)


fft, ifft = (
    _spectrum(kernel, lambda x, n, axis: (n or x.shape[axis], _complex_kind(x))) for kernel in (ops.fft, ops.ifft)
)
rfft = _spectrum(ops.rfft, lambda x, n, axis: ((n or x.shape[axis]) // 2 + 1, _complex_kind(x)))
irfft = _spectrum(ops.irfft, lambda x, n, axis: (n or 2 * (x.shape[axis] - 1), _real_kind(x)))
