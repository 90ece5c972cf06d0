"""Decompositions and functions of matrices, on the last two axes of a tensor (Python Array API standard).

They compute in float32 and float64 and in complex numbers; half precision is an error on every backend.
"""

import math

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.indexing import getitem
from labdl.ops.array.shape import astype, diag, diagonal, expand_dims, matrix_transpose, ones_like, squeeze
from labdl.ops.math.arithmetic import divide, greater, multiply, where
from labdl.ops.math.complex_numbers import conj
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import sum
from labdl.ops.operator import NUMBERS, Choice, case, floats, operator
from labdl.spec import COMPLEX

_PRECISE = ("float32", "float64", *COMPLEX)


def _adjoint(x):
    """Transposed, and conjugated where it is complex."""
    return matrix_transpose(conj(x))


def _conjugate_transpose(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -2, -1))


def _is_square(x: np.ndarray) -> bool:
    return x.ndim > 1 and x.shape[-2] == x.shape[-1]


def _regular(x: np.ndarray) -> np.ndarray:
    """A matrix far from singular, for samples."""
    return x + 4 * np.eye(x.shape[-1]) if _is_square(x) else x


def _definite(x: np.ndarray) -> np.ndarray:
    """A symmetric, positive definite matrix, for samples."""
    return x @ _conjugate_transpose(x) + np.eye(x.shape[-1]) if _is_square(x) else x


def _symmetric(x: np.ndarray) -> np.ndarray:
    """The symmetric part, of which functions of symmetric matrices and their gradients are defined."""
    return (x + _conjugate_transpose(x)) / 2 if _is_square(x) else x


@operator(
    rules.square_matrix("cholesky"),
    case(floats(3, 3, transform=_definite)),
    case(floats(2, 2, 2, transform=_definite), upper=True),
    takes=_PRECISE,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def cholesky(x, /, *, upper=False):
    """The triangular matrix L of L Lᴴ = x, or U of Uᴴ U = x, for symmetric (Hermitian), positive definite matrices."""
    lower = np.linalg.cholesky(_symmetric(x))
    return _conjugate_transpose(lower) if upper else lower


@operator(
    rules.det,
    case(floats(3, 3, transform=_regular)),
    case(floats(2, 2, 2, transform=_regular)),
    takes=_PRECISE,
    precision="float32",
    onnx="Det",
)
def det(x, /):
    """Determinants of square matrices."""
    return np.linalg.det(x)


@operator(
    rules.slogdet,
    case(floats(3, 3, transform=_regular)),
    case(floats(2, 2, 2, transform=_regular)),
    takes=_PRECISE,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def slogdet(x, /):
    """Sign and logarithm of the absolute value of determinants; (0, -inf) for singular matrices."""
    return tuple(np.linalg.slogdet(x))


@operator(
    rules.square_matrix("inv"),
    case(floats(3, 3, transform=_regular)),
    case(floats(2, 2, 2, transform=_regular)),
    takes=_PRECISE,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def inv(x, /):
    """Inverses of square matrices."""
    return np.linalg.inv(x)


@operator(
    rules.solve,
    case(floats(3, 3, transform=_regular), floats(3, 2)),
    case(floats(2, 3, 3, transform=_regular), floats(3)),
    case(floats(2, 3, 3, transform=_regular), floats(3, 2)),
    takes=_PRECISE,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def solve(x, y, /):
    """The solution of ``x @ result = y`` with a square matrix ``x``: one vector, or the columns of matrices."""
    return _solve_columns(x, y)


def _solve_columns(x, y):
    columns = y[:, None] if y.ndim == 1 else y
    result = np.linalg.solve(x, columns.reshape((1,) * (x.ndim - columns.ndim) + columns.shape))
    return result[..., 0] if y.ndim == 1 else result


@operator(
    rules.solve,
    case(floats(3, 3, transform=_regular), floats(3, 2)),
    case(floats(2, 3, 3, transform=_regular), floats(3), upper=True),
    case(floats(3, 3), floats(2, 3, 2), unit_diagonal=True),
    takes=_PRECISE,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def triangular_solve(x, y, /, *, upper=False, unit_diagonal=False):
    """As `solve` for triangular ``x``: reads one triangle only; ``unit_diagonal`` assumes ones on the diagonal."""
    triangle = np.triu(x) if upper else np.tril(x)
    return _solve_columns(np.where(np.eye(x.shape[-1], dtype=bool), 1, triangle) if unit_diagonal else triangle, y)


def _compare_qr(results, x):
    q, r = results
    return [q @ r, _conjugate_transpose(q) @ q, np.tril(r, -1)]


@operator(
    rules.qr,
    case(floats(4, 3)),
    case(floats(2, 2, 3)),
    case(floats(4, 3), mode="complete"),
    takes=_PRECISE,
    differentiable=False,
    compare=_compare_qr,
    precision="float32",
    without_onnx="no factorizations of matrices",
    options={"mode": Choice("reduced", "complete")},
)
def qr(x, /, *, mode="reduced"):
    """A matrix as a product Q R: columns of Q orthonormal, R upper triangular.

    With ``mode="complete"`` Q is square. The signs of the rows of R are unspecified. It is differentiable if x has
    at least as many rows as columns.
    """
    return tuple(np.linalg.qr(x, mode=mode))  # type: ignore[call-overload]


def _compare_svd(results, x):
    u, s, vh = results
    k = s.shape[-1]
    return [
        s,
        (u[..., :k] * s[..., None, :]) @ vh[..., :k, :],
        _conjugate_transpose(u) @ u,
        vh @ _conjugate_transpose(vh),
    ]


@operator(
    rules.svd,
    case(floats(3, 2)),
    case(floats(2, 2, 3), full_matrices=False),
    case(floats(3, 3)),
    takes=_PRECISE,
    differentiable=False,
    compare=_compare_svd,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def svd(x, /, *, full_matrices=True):
    """Singular values: U, S and Vᴴ of x = U diag(S) Vᴴ, S from large to small.

    Without ``full_matrices`` U has as many columns, and Vᴴ as many rows, as there are values. The signs of vectors
    are unspecified. Gradients are defined for results that do not depend on them, without ``full_matrices``, if the values
    differ.
    """
    return tuple(np.linalg.svd(x, full_matrices=full_matrices))


@operator(
    rules.svdvals,
    case(floats(3, 2)),
    case(floats(2, 2, 3)),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def svdvals(x, /):
    """Singular values of matrices, from large to small."""
    return svd(x, full_matrices=False)[1]


def _compare_eigh(results, x):
    w, v = results
    return [w, (v * w[..., None, :]) @ _conjugate_transpose(v), _conjugate_transpose(v) @ v]


@operator(
    rules.eigh,
    case(floats(3, 3, transform=_symmetric)),
    case(floats(2, 2, 2, transform=_symmetric)),
    takes=_PRECISE,
    differentiable=False,
    compare=_compare_eigh,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def eigh(x, /):
    """Eigenvalues of symmetric (Hermitian) matrices, from small to large, and their eigenvectors as columns.

    The signs of the vectors are unspecified. Gradients are defined for results that do not depend on them, if the values
    differ.
    """
    return tuple(np.linalg.eigh(_symmetric(x)))


@operator(
    rules.eigvalsh,
    case(floats(3, 3, transform=_symmetric)),
    case(floats(2, 2, 2, transform=_symmetric)),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def eigvalsh(x, /):
    """Eigenvalues of symmetric (Hermitian) matrices, from small to large."""
    return eigh(x)[0]


def _sorted(w):
    rounded = w / max(np.abs(w).max(initial=0), 1)
    order = np.lexsort((rounded.imag.round(3), rounded.real.round(3)))
    return np.take_along_axis(w, order, -1)


def _compare_eigvals(results, x):
    return [_sorted(w) for w in results]


def _compare_eig(results, x):
    w, v = results
    x = np.asarray(x, w.dtype)
    residue = (x @ v - v * w[..., None, :]) / (10 * max(np.abs(x).max(initial=0), 1))
    return [_sorted(w), residue, np.linalg.norm(v, axis=-2)]


@operator(
    rules.eig,
    case(floats(3, 3)),
    case(floats(2, 2, 2)),
    takes=_PRECISE,
    differentiable=False,
    compare=_compare_eig,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def eig(x, /):
    """Eigenvalues of square matrices in any order, and their eigenvectors as columns of length 1; both complex."""
    return tuple(np.linalg.eig(x))


@operator(
    rules.eigvals,
    case(floats(3, 3)),
    case(floats(2, 2, 2)),
    takes=_PRECISE,
    differentiable=False,
    composite=True,
    compare=_compare_eigvals,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def eigvals(x, /):
    """Eigenvalues of square matrices in any order, complex."""
    return eig(x)[0]


@operator(
    rules.pinv,
    case(floats(2, 3, 2)),
    case(floats(2, 2, 3)),
    case(floats(2, 2), rtol=1e-6),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def pinv(x, /, *, rtol=None):
    """Moore-Penrose pseudo-inverses; singular values up to ``rtol`` times the largest count as 0.

    ``rtol`` is the larger size times the precision of the dtype unless it is given.
    """
    u, s, vh = svd(x, full_matrices=False)
    counts = _nonzero_values(s, spec_of(x), rtol)
    inverse = where(counts, divide(1.0, where(counts, s, 1.0)), 0.0)
    return matmul(multiply(_adjoint(vh), expand_dims(inverse, -2)), _adjoint(u))


@operator(
    rules.matrix_rank,
    case(floats(2, 3, 2)),
    case(floats(2, 2, 3)),
    case(floats(2, 3, 3), rtol=0.5),
    case(floats(2, 3, 3), rtol=floats(2, low=0.1, high=0.9)),
    takes=_PRECISE,
    differentiable=False,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def matrix_rank(x, /, *, rtol=None):
    """The number of singular values above ``rtol`` times the largest; see `pinv`."""
    return sum(astype(_nonzero_values(svdvals(x), spec_of(x), rtol), "int64"), axis=-1)


def _nonzero_values(s, spec, rtol):
    """Mask of the singular values that do not count as 0."""
    if rtol is None:
        rtol = max(spec.shape[-2:]) * float(np.finfo(rules.real_of(spec.dtype)).eps)
    elif not isinstance(rtol, float | int):
        rtol = expand_dims(rtol, -1)  # one for each matrix
    return greater(s, multiply(getitem(s, (..., slice(0, 1))), rtol))


@operator(
    rules.lstsq,
    case(floats(2, 4, 3), floats(4, 2)),
    case(floats(2, 2, 3), floats(2, 1)),
    case(floats(2, 4, 2), floats(4)),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def lstsq(x, y, /):
    """The least-squares solution of ``x @ result = y``, the shortest of several; ``x`` has full rank."""
    columns = expand_dims(y, -1) if spec_of(y).ndim == 1 else y
    rows, size = spec_of(x).shape[-2:]
    if rows >= size:  # type: ignore[operator]
        q, r = qr(x)
        result = triangular_solve(r, matmul(_adjoint(q), columns), upper=True)
    else:
        q, r = qr(_adjoint(x))
        result = matmul(q, triangular_solve(_adjoint(r), columns))
    return squeeze(result, -1) if spec_of(y).ndim == 1 else result


@operator(
    rules.square_matrix("matrix_power"),
    case(floats(3, 3), 3),
    case(floats(2, 2, 2), 2),
    case(floats(3, 3, transform=_regular), -2),
    takes=NUMBERS,
    composite=True,
    precision="float32",
    without_onnx="no factorizations of matrices",
)
def matrix_power(x, n, /):
    """The ``n``-th power of square matrices; negative powers invert them (floats only)."""
    if n == 0:
        return diag(ones_like(diagonal(x)))
    x, n = (inv(x), -n) if n < 0 else (x, n)
    result = None
    for bit in range(math.floor(math.log2(n)) + 1):
        if n >> bit & 1:
            result = x if result is None else matmul(result, x)
        if n >> bit + 1:
            x = matmul(x, x)
    return result
