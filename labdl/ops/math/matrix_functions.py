"""Functions of matrices beyond the Python Array API standard: exponential, LU factors, condition numbers (as in PyTorch).

They compute in float32 and float64 and in complex numbers; half precision is an error on every backend.
"""

import math

import numpy as np

from labdl import dispatch
from labdl.dispatch import spec_of
from labdl.ops import costs, rules
from labdl.ops.array.creation import to_numpy
from labdl.ops.array.shape import (
    astype,
    expand_dims,
    matrix_transpose,
    one_hot,
    ones_like,
    squeeze,
    take_along_axis,
    tril,
    triu,
    zeros_like,
)
from labdl.ops.control_flow.interpretation import find_interpreter
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import add, ceil, clip, divide, exp2, less, log2, multiply, subtract
from labdl.ops.math.comparison import equal, greater, greater_equal, logical_and, where
from labdl.ops.math.complex_numbers import angle, complex, real
from labdl.ops.math.linalg import (
    _PRECISE,
    _adjoint,
    _definite,
    _regular,
    inv,
    slogdet,
    solve,
    svdvals,
    triangular_solve,
)
from labdl.ops.math.norms import matrix_norm
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import argmax, sum
from labdl.ops.math.reduction import max as largest
from labdl.ops.neural.linear import tensor_like
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import Choice, case, floats, operator
from labdl.ops.operator.readable import only_shapes
from labdl.spec import COMPLEX

_NO_FACTORS = "no factorizations of matrices"
_PADE = (  # the numerator of degree 13, divided by its first coefficient (Higham, 2005)
    1.0,
    0.5,
    0.12,
    0.018333333333333333,
    0.0019927536231884057,
    0.00016304347826086958,
    1.0351966873706003e-05,
    5.175983436853002e-07,
    2.0431513566525008e-08,
    6.306022705717595e-10,
    1.48377004840414e-11,
    2.529153491597966e-13,
    2.8101705462199623e-15,
    1.5440497506703088e-17,
)
_NORM = 5.371920351148152  # up to which the approximation is exact in float64
_SQUARINGS = 20  # in a compiled step, which does not know the norms: up to one of five million


@operator(
    rules.square_matrix("matrix_exp"),
    case(floats(3, 3)),
    case(floats(2, 2, 2)),
    case(floats(3, 3, low=-20.0, high=0.0)),
    takes=_PRECISE,
    composite=True,
    cost=costs.matrix_exp,
    precision="float32",
    without_onnx=_NO_FACTORS,
)
def matrix_exp(x, /):
    """The exponential of square matrices, I + x + x x / 2 + …, by scaling, a Padé approximation, and squaring (Higham, 2005).

    A matrix with NaN or an infinity has NaN alone; others of the batch keep their values. A compiled step, other than
    PyTorch's, gives NaN for norms above five million. Semantics: torch.linalg.matrix_exp.
    """
    if 0 in spec_of(x).shape:
        return x
    column = largest(sum(absolute(x), axis=-2, keepdims=True), axis=-1, keepdims=True)
    finite = less(column, math.inf)
    x = where(finite, x, zeros_like(x))
    rounds = clip(ceil(log2(divide(where(finite, column, 1.0), _NORM))), 0, None)
    count = int(to_numpy(largest(rounds))) if _has_values(x) else _SQUARINGS
    x = multiply(x, astype(exp2(multiply(rounds, -1.0)), spec_of(x).dtype))
    even, odd = _pade(x)
    result = solve(subtract(even, odd), add(even, odd))
    for k in range(count):
        result = where(less(rounds, k + 1.0), result, matmul(result, result))
    return where(logical_and(finite, less(rounds, count + 1.0)), result, math.nan)


def _has_values(x) -> bool:
    """Whether Python may read values: neither shapes nor a compiler's tensors, and nothing is recorded."""
    owner = dispatch.owner([x])
    if only_shapes(owner) or hasattr(owner, "refuse_control_flow"):
        return False
    return find_interpreter(owner, "matrix_exp") is None


def _identity(x, columns=None):
    """Ones on the diagonal of a matrix with the rows of ``x``, in its dtype."""
    rows = spec_of(x).shape[-2]
    return astype(tensor_like(real(x), np.eye(rows, columns)), spec_of(x).dtype)  # type: ignore[call-overload]


def _pade(x):
    """The even and the odd terms of the numerator; the denominator is their difference."""
    b = _PADE
    one = _identity(x)
    x2 = matmul(x, x)
    x4 = matmul(x2, x2)
    x6 = matmul(x4, x2)

    def polynomial(*factors):
        total = None
        for factor, power in zip(factors, (x6, x4, x2, one), strict=False):
            part = multiply(power, factor)
            total = part if total is None else add(total, part)
        return total

    odd = add(matmul(x6, polynomial(b[13], b[11], b[9])), polynomial(b[7], b[5], b[3], b[1]))
    even = add(matmul(x6, polynomial(b[12], b[10], b[8])), polynomial(b[6], b[4], b[2], b[0]))
    return even, matmul(x, odd)


def _compare_lu(results, x):
    p, lower, upper = results
    return [p @ lower @ upper, p.sum(-1), np.triu(lower, 1), np.diagonal(lower, axis1=-2, axis2=-1), np.tril(upper, -1)]


@operator(
    rules.lu,
    case(floats(3, 3)),
    case(floats(2, 4, 3)),
    case(floats(2, 2, 4)),
    takes=_PRECISE,
    composite=True,
    compare=_compare_lu,
    checked=True,
    cost=costs.lu,
    precision="float32",
)
def lu(x, /):
    """Matrices as products P L U: a permutation, ones on the diagonal of the lower triangle L, an upper triangle U.

    Rows are exchanged so that no element of L is above 1 in size; PyTorch's LAPACK compares |real| + |imaginary| of complex
    numbers, and so may choose other rows, with elements up to the square root of 2. The sizes must be known. Singular matrices
    have factors too, but no gradients. Returns (P, L, U). Composed of one step for each row, and so slow for hundreds of rows,
    where the framework has no function of its own. Semantics: torch.linalg.lu.
    """
    rows, columns = sizes_of(x)[-2:]
    inner = min(rows, columns)
    order = zeros_like(sum(absolute(x), axis=-1), dtype="int64")
    down, across = tensor_like(order, np.arange(rows)), tensor_like(order, np.arange(columns))
    order = add(order, down)
    for k in range(inner):
        below = greater_equal(down, k)
        pivot = argmax(where(below, absolute(x[..., k]), -1.0), axis=-1, keepdims=True)
        exchange = where(equal(down, k), pivot, where(equal(down, pivot), k, down))
        order = take_along_axis(order, exchange, axis=-1)
        x = take_along_axis(x, add(expand_dims(exchange, -1), zeros_like(real(x), dtype="int64")), axis=-2)
        top = x[..., k : k + 1, :]
        end = top[..., k : k + 1]
        nothing = equal(end, 0)
        ratio = divide(x[..., k : k + 1], where(nothing, ones_like(end), end))
        ratio = where(logical_and(expand_dims(greater(down, k), -1), equal(nothing, False)), ratio, zeros_like(ratio))
        reduced = subtract(x, multiply(ratio, top))
        beneath = expand_dims(greater(down, k), -1)
        x = where(
            logical_and(beneath, equal(across, k)), ratio, where(logical_and(beneath, greater(across, k)), reduced, x)
        )
    lower = add(tril(x[..., :inner], k=-1), _identity(x, inner))
    p = matrix_transpose(one_hot(order, rows, dtype=spec_of(x).dtype))  # type: ignore[arg-type]
    return p, lower, triu(x[..., :inner, :])


@operator(
    rules.cholesky_solve,
    case(floats(3, 2), floats(3, 3, transform=_regular)),
    case(floats(3), floats(2, 3, 3, transform=_regular), upper=True),
    takes=_PRECISE,
    composite=True,
    cost=costs.cholesky_solve,
    precision="float32",
    without_onnx=_NO_FACTORS,
)
def cholesky_solve(y, factor, /, *, upper=False):
    """The solution of ``A @ result = y`` for the Cholesky factor of A, as `cholesky` gives it: ``factor @ adjoint(factor)``.

    With ``upper`` A is ``adjoint(factor) @ factor``. One vector ``y``, or the columns of matrices; only one triangle of
    ``factor`` is read. Semantics: torch.cholesky_solve.
    """
    other = _adjoint(factor)
    first, second = (other, factor) if upper else (factor, other)
    if spec_of(y).ndim == 1:
        return squeeze(cholesky_solve(expand_dims(y, -1), factor, upper=upper), -1)
    return triangular_solve(second, triangular_solve(first, y), upper=True)


@operator(
    rules.logdet,
    case(floats(3, 3, transform=_definite)),
    case(floats(2, 2, 2, transform=_regular)),
    takes=_PRECISE,
    composite=True,
    precision="float32",
)
def logdet(x, /):
    """Logarithms of determinants: -inf for 0, NaN for negative ones; of complex matrices the principal value.

    Semantics: torch.logdet.
    """
    sign, logarithm = slogdet(x)
    if spec_of(x).dtype in COMPLEX:
        return complex(logarithm, angle(sign))
    return where(less(sign, 0), math.nan, logarithm)


@operator(
    rules.condition_number,
    case(floats(3, 3, transform=_regular)),
    case(floats(2, 3, 2)),
    case(floats(3, 2), ord=-2),
    case(floats(2, 2, 2, transform=_regular), ord=1),
    case(floats(3, 3, transform=_regular), ord=-math.inf),
    case(floats(3, 3, transform=_regular), ord="fro"),
    case(floats(3, 3, transform=_regular), ord="nuc"),
    takes=_PRECISE,
    composite=True,
    checked=True,
    precision="float32",
    without_onnx=_NO_FACTORS,
    options={"ord": Choice(*rules.MATRIX_NORMS)},
)
def condition_number(x, /, *, ord=2):
    """The `matrix_norm` of matrices times that of their inverses: how much a solution may change with the equation.

    ``ord`` is one of `matrix_norm`; 2 and -2 divide the largest by the smallest singular value, or the reverse, of matrices
    of any shape. Infinite for singular matrices. Semantics: torch.linalg.cond, numpy.linalg.cond.
    """
    if ord in (2, -2):
        values = svdvals(x)
        first, last = values[..., 0], values[..., -1]
        nothing = equal(first, 0)  # where the quotient would be NaN
        one = where(nothing, 1.0, first)
        return where(nothing, math.inf, divide(first, last) if ord == 2 else divide(last, one))
    singular = equal(slogdet(x)[0], 0)
    one = _identity(x)
    inverse = inv(where(expand_dims(expand_dims(singular, -1), -1), one, x))
    return where(singular, math.inf, multiply(matrix_norm(x, ord=ord), matrix_norm(inverse, ord=ord)))
