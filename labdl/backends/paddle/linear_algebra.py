"""PaddlePaddle implementations of matrix products and linear algebra."""

# PaddlePaddle annotates results as unions
# pyright: reportArgumentType=false

import cmath
import functools
import math

import paddle
from paddle.autograd import PyLayer

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import where
from labdl.backends.paddle.call_recorder import reads_values
from labdl.backends.paddle.dtypes import (
    BOOL,
    INT64,
    INTEGERS,
    cast,
    diagonal_mask,
    full_tensor,
    in_dtype,
    is_complex,
    pair,
    promote_operands,
)
from labdl.backends.paddle.frozen_inputs import both_trainable


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


def _general_product(x, y):
    if x.dtype not in INTEGERS or 0 in x.shape or 0 in y.shape:
        return _product(x, y)
    exact = reads_values(x) and x.shape[-1] * _largest(x) * _largest(y) < 2**53
    return in_dtype((_rounded_product if exact else _product_of_parts)(in_dtype(x, INT64), in_dtype(y, INT64)), x.dtype)


def _largest(x) -> int:
    return max(int(paddle.amax(x, [], False).item()), -int(paddle.amin(x, [], False).item()))


def _rounded_product(x, y):
    return cast(_product(cast(x, paddle.float64), cast(y, paddle.float64)), INT64)


_BITS, _PARTS = 16, 4  # exact for up to 2**21 terms


def _product_of_parts(x, y):
    """Modulo 2**64: the sum of the products of parts of 16 bits."""
    xs, ys = _parts(x), _parts(y)
    total = None
    for place in reversed(range(_PARTS)):
        products = [_rounded_product(xs[at], ys[place - at]) for at in range(place + 1)]
        found = functools.reduce(kernels.add, products)
        total = found if total is None else kernels.add(kernels.scale(total, float(2**_BITS), 0.0, True), found)
    return total


def _parts(x):
    """The 16 bits at each place, from the lowest; the last part has the sign."""
    low, bits = full_tensor([], 2**_BITS - 1, INT64), full_tensor([], _BITS, INT64)
    parts = []
    for _ in range(_PARTS - 1):
        parts.append(paddle.bitwise_and(x, low))
        x = paddle.bitwise_right_shift(x, bits, True)
    return [*parts, x]


_any_product = pair(_general_product, refused=(BOOL,), straight=_product)


def matmul(x, y):
    """Paddle multiplies integers as float32: here as float64, those above 2**53 in parts."""
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
    if reads_values(x) and not cmath.isfinite(paddle.sum(lower.detach()).item()):
        raise ValueError("cholesky wants positive definite matrices, received one with NaN or infinity")
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
    """Paddle's gradient is zero for a whole batch if one matrix of it is singular."""
    result = paddle.linalg.det(x)
    if x.stop_gradient or 0 in x.shape:
        return result
    singular = paddle.equal(result.detach(), full_tensor([], 0, x.dtype))
    chosen = kernels.unsqueeze(singular, [-1, -2])
    regular = paddle.linalg.det(where(chosen, paddle.eye(x.shape[-1], dtype=x.dtype), x))
    cofactors = _cofactors(where(chosen, x, full_tensor([], 0, x.dtype)).detach())
    linear = paddle.sum(kernels.multiply(cofactors, kernels.subtract(x, x.detach())), [-2, -1], None, False)
    return where(singular, linear, regular)


def _cofactors(x):
    """The derivative of the determinant by singular values: for each, the product of the others."""
    left, values, right = svd(x)
    others = where(diagonal_mask(x.shape[-1]), full_tensor([], 1, values.dtype), kernels.unsqueeze(values, [-2]))
    others = kernels.unsqueeze(cast(paddle.prod(others, -1), x.dtype), [-2])
    sign = kernels.multiply(paddle.linalg.det(left), paddle.linalg.det(right))
    product = kernels.matmul(kernels.multiply(left, others), right, False, False)
    return kernels.multiply(kernels.unsqueeze(sign, [-1, -2]), paddle.conj(product))


def slogdet(x):
    """Paddle returns both in one tensor; for complex matrices a complex logarithm, and NaN as the sign of singular ones."""
    sign, logarithm = kernels.unbind(kernels.slogdet(x), 0)
    if not is_complex(x.dtype):
        return sign, logarithm
    logarithm = paddle.real(logarithm)
    singular = kernels.equal(logarithm, full_tensor([], -math.inf, logarithm.dtype))
    sign = where(singular, full_tensor([], 0, x.dtype), sign)
    if x.stop_gradient or 0 in x.shape:
        return sign, logarithm
    return _differentiable_slogdet(x, sign.detach(), logarithm.detach())


def _differentiable_slogdet(x, sign, logarithm):
    """Paddle's gradient is wrong for complex numbers; that of the complex logarithm is the inverse."""
    regular = kernels.unsqueeze(paddle.isfinite(logarithm), [-1, -2])
    inverse = paddle.linalg.inv(where(regular, x.detach(), paddle.eye(x.shape[-1], dtype=x.dtype)))
    products = kernels.multiply(_swap_last_axes(inverse), kernels.subtract(x, x.detach()))
    change = paddle.sum(products, [-2, -1], None, False)  # 0, with the gradient of the logarithm
    turn = kernels.complex(full_tensor(logarithm.shape, 1, logarithm.dtype), paddle.imag(change))
    return kernels.multiply(sign, turn), kernels.add(logarithm, paddle.real(change))


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


_real_solve = both_trainable(paddle.linalg.solve)


@_solving
def solve(x, y):
    """Paddle has no kernel for complex numbers, and interprets a matrix as a batch of vectors if the sizes allow it."""
    if not is_complex(x.dtype):
        return _real_solve(x, y)
    a, b = paddle.real(x), paddle.imag(x)
    above = kernels.concat([a, kernels.scale(b, -1.0, 0.0, True)], -1)
    whole = kernels.concat([above, kernels.concat([b, a], -1)], -2)
    parts = _real_solve(whole, kernels.concat([paddle.real(y), paddle.imag(y)], -2))
    return kernels.complex(*kernels.split(parts, [x.shape[-1]] * 2, parts.ndim - 2))


_triangular_solve = both_trainable(paddle.linalg.triangular_solve)


@_solving
def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    if unit_diagonal:  # the kernel gives the diagonal of ones a gradient
        x = where(diagonal_mask(x.shape[-1]), full_tensor([], 1, x.dtype), x)
    return _triangular_solve(x, y, upper, False, False)


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
    if is_complex(x.dtype) and not x.stop_gradient and not (full_matrices and x.shape[-1] != x.shape[-2]):
        return _ComplexSvd.apply(x)
    return tuple(paddle.linalg.svd(x, full_matrices))


class _ComplexSvd(PyLayer):
    """Paddle's gradient of complex matrices is wrong; this is that of torch.linalg.svd (Wan & Zhang, 2019)."""

    @staticmethod
    def forward(ctx, x):
        u, s, vh = paddle.linalg.svd(x, False)
        ctx.save_for_backward(u, s, vh)
        return u, s, vh

    @staticmethod
    def backward(ctx, of_u, of_s, of_vh):
        u, s, vh = ctx.saved_tensor()
        of_v, v = _adjoint(of_vh), _adjoint(vh)
        squares = s * s
        gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + paddle.eye(s.shape[-1], dtype=s.dtype)
        left, right = (_skew(paddle.matmul(_adjoint(a), b)) / cast(gaps, u.dtype) for a, b in ((u, of_u), (v, of_v)))
        wide = cast(s, u.dtype)
        inner = left * wide.unsqueeze(-2) + wide.unsqueeze(-1) * right
        phases = paddle.diagonal(_skew(paddle.matmul(_adjoint(u), of_u)), axis1=-2, axis2=-1) / (2 * wide)
        inner = inner + paddle.diag_embed(paddle.real(phases) + of_s) + 1j * paddle.diag_embed(paddle.imag(phases))
        below = of_u - paddle.matmul(u, paddle.matmul(_adjoint(u), of_u))  # outside of the span of the vectors
        beside = of_v - paddle.matmul(v, paddle.matmul(_adjoint(v), of_v))
        result = paddle.matmul(paddle.matmul(u, inner) + below / wide.unsqueeze(-2), vh)
        return result + paddle.matmul(u / wide.unsqueeze(-2), _adjoint(beside))


def _adjoint(x):
    return paddle.conj(_swap_last_axes(x))


def _skew(x):
    return x - _adjoint(x)


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
