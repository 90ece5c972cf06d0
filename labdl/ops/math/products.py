"""Products of matrices and tensors (Python Array API standard; cov and corrcoef as in NumPy and PyTorch)."""

import builtins
import math
from string import ascii_letters

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import costs, rules
from labdl.ops.array.shape import (
    astype,
    diagonal,
    expand_dims,
    matrix_transpose,
    moveaxis,
    permute_dims,
    reshape,
    roll,
    squeeze,
)
from labdl.ops.math.arithmetic import clip, divide, multiply, sqrt, subtract
from labdl.ops.math.complex_numbers import conj
from labdl.ops.math.reduction import mean, sum
from labdl.ops.operator import NUMBERS, REALS, case, floats, operator


@operator(
    rules.matmul,
    case(floats(2, 3), floats(3, 4)),
    case(floats(5, 2, 3), floats(3, 4)),
    case(floats(3), floats(3, 2)),
    case(floats(2, 1, 2, 3), floats(4, 3, 2)),
    takes=NUMBERS,
    checked=False,
    cost=costs.matmul,
    precision="half",
    onnx="MatMul",
)
def matmul(x, y, /):
    """Matrix product over the last two axes; the others broadcast."""
    return np.matmul(x, y)


@operator(
    rules.einsum,
    case("ij,jk->ik", floats(2, 3), floats(3, 4)),
    case("bhi,bhj->bij", floats(2, 3, 4), floats(2, 3, 5)),
    case("...ij,...jk->...ik", floats(2, 2, 3), floats(3, 2)),
    case("ij,jk", floats(2, 3), floats(3, 4)),
    case("ii->i", floats(3, 3)),
    case("ij->", floats(2, 3)),
    case("ab,bcb,cd->da", floats(2, 3), floats(3, 4, 3), floats(4, 2)),
    case("...i,i...->...", floats(2, 1, 3), floats(3, 4)),
    takes=NUMBERS,
    composite=True,
    cost=costs.einsum,
    precision="half",
)
def einsum(equation, *operands):
    """Sum of products by the Einstein notation, the result's axes named after ``->``.

    ``...`` stands for any number of axes, which broadcast. Without ``->`` the result has those, then the letters that
    occur once, in alphabetical order. Operands are multiplied from left to right, each time as matrices, and a
    letter is summed as soon as no later operand has it.
    """
    specs = [spec_of(x) for x in operands]
    kind = rules.einsum(equation, *specs).dtype
    terms, output = rules.einsum_terms(equation, [s.ndim for s in specs])
    names, x = _once(terms[0], astype(operands[0], kind))
    for at in range(1, len(terms)):
        wanted = set(output).union(*terms[at + 1 :])
        names, x = _contract(names, x, *_once(terms[at], astype(operands[at], kind)), wanted)
    names, x = _sum_out(names, x, set(output))
    return _permute_to(x, names, output)


def _once(names, x):
    """The diagonal where a term names an axis twice; it becomes the last axis."""
    names = list(names)
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            x = diagonal(x, axes=(first, second))
            names = [c for a, c in enumerate(names) if a not in (first, second)] + [name]
    return names, x


def _sum_out(names, x, wanted):
    axes = tuple(a for a, c in enumerate(names) if c not in wanted)
    if not axes:
        return names, x
    return [c for c in names if c in wanted], sum(x, axes, dtype=spec_of(x).dtype)


def _permute_to(x, names, order):
    return x if list(names) == list(order) else permute_dims(x, tuple(map(list(names).index, order)))


def _contract(left, x, right, y, wanted):
    """One batched matrix product; axes: batch, of x alone, summed, of y alone."""
    left, x = _sum_out(left, x, wanted | set(right))
    right, y = _sum_out(right, y, wanted | set(left))
    left, x = _squeeze_broadcast(left, x, right, y)
    right, y = _squeeze_broadcast(right, y, left, x)
    batch = [c for c in left if c in right and c in wanted]
    inner = [c for c in left if c in right and c not in wanted]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]
    size = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))

    def sizes(*groups):
        return [size[c] for group in groups for c in group]

    def matrices(tensor, names, first, second):
        shape = (*sizes(batch), math.prod(sizes(first)), math.prod(sizes(second)))
        return reshape(_permute_to(tensor, names, batch + first + second), shape)

    product = matmul(matrices(x, left, rows, inner), matrices(y, right, inner, columns))
    return batch + rows + columns, reshape(product, tuple(sizes(batch, rows, columns)))


def _squeeze_broadcast(names, x, others, y):
    """Remove the axes of size 1 that ``...`` broadcasts to those of the other operand."""
    size = dict(zip(others, y.shape, strict=True))
    axes = tuple(a for a, c in enumerate(names) if c[0] == "." and x.shape[a] == 1 and size.get(c, 1) != 1)
    return ([c for a, c in enumerate(names) if a not in axes], squeeze(x, axes)) if axes else (names, x)


@operator(
    rules.tensordot,
    case(floats(2, 3, 4), floats(3, 4, 2)),
    case(floats(2, 3), floats(3, 4), axes=1),
    case(floats(2, 3, 4), floats(4, 2, 3), axes=((0, -1), (1, 0))),
    case(floats(2), floats(3), axes=0),
    takes=NUMBERS,
    composite=True,
    precision="half",
)
def tensordot(x, y, /, *, axes=2):
    """Sum of products over the last ``axes`` axes of one tensor and the first of another, or over two lists of axes."""
    left, right = spec_of(x).ndim, spec_of(y).ndim
    first, second = rules.contraction_axes(left, right, axes)
    a, b = list(ascii_letters[:left]), list(ascii_letters[left : left + right])
    for i, j in zip(first, second, strict=True):
        b[j] = a[i]
    kept = [c for i, c in enumerate(a) if i not in first] + [c for j, c in enumerate(b) if j not in second]
    return einsum(f"{''.join(a)},{''.join(b)}->{''.join(kept)}", x, y)


@operator(
    rules.vecdot,
    case(floats(2, 3), floats(2, 3)),
    case(floats(3, 2), floats(4, 3, 1), axis=-2),
    case(floats(3), floats(3)),
    takes=NUMBERS,
    composite=True,
    precision="half",
)
def vecdot(x, y, /, *, axis=-1):
    """Products of vectors, which lie along an axis; the others broadcast. Of complex ones the first is conjugated."""
    rows = expand_dims(conj(x if axis == -1 else moveaxis(x, axis, -1)), -2)
    columns = expand_dims(y if axis == -1 else moveaxis(y, axis, -1), -1)
    return squeeze(matmul(rows, columns), (-2, -1))


@operator(
    rules.outer,
    case(floats(2), floats(3)),
    case(floats(2, 2), floats(3)),
    takes=NUMBERS,
    composite=True,
    precision="half",
)
def outer(x, y, /):
    """Products of each element of one vector with each of another; axes before the last broadcast."""
    rules.outer(spec_of(x), spec_of(y))  # rejects shapes that the products alone would broadcast
    return multiply(expand_dims(x, -1), expand_dims(y, -2))


@operator(
    rules.cross,
    case(floats(2, 3), floats(2, 3)),
    case(floats(3, 2), floats(4, 3, 1), axis=-2),
    takes=NUMBERS,
    composite=True,
)
def cross(x, y, /, *, axis=-1):
    """Cross products of vectors of 3 elements, which lie along an axis; the others broadcast."""
    rules.cross(spec_of(x), spec_of(y), axis=axis)  # rejects other sizes, which could be rolled too
    ahead = multiply(roll(x, -1, axis), roll(y, -2, axis))
    return subtract(ahead, multiply(roll(x, -2, axis), roll(y, -1, axis)))


@operator(rules.kron, case(floats(2, 3), floats(3, 2)), case(floats(2), floats(2, 2)), takes=NUMBERS, composite=True)
def kron(x, y, /):
    """Kronecker product: each element of one tensor times the whole other. Semantics: numpy.kron."""
    rank = builtins.max(spec_of(x).ndim, spec_of(y).ndim)
    a, b = ((1,) * (rank - s.ndim) + s.shape for s in (spec_of(x), spec_of(y)))
    left = reshape(x, tuple(-1 if n is None else n for size in a for n in (size, 1)))
    right = reshape(y, tuple(-1 if n is None else n for size in b for n in (1, size)))
    sizes = rules.kron(spec_of(x), spec_of(y)).shape
    return reshape(multiply(left, right), tuple(-1 if n is None else n for n in sizes))


@operator(None, case(floats(3, 3)), case(floats(2, 3, 4), offset=1), takes=NUMBERS)
def trace(x, /, *, offset=0, dtype=None):
    """Sum of the diagonal of matrices, in the dtype of `sum` unless one is given."""
    elements = diagonal(x, offset=offset)
    return sum(elements if dtype is None else astype(elements, dtype), axis=-1)


@operator(
    rules.multi_dot,
    case([floats(2, 3), floats(3, 4), floats(4, 2)]),
    case([floats(3), floats(3, 4), floats(4, 2), floats(2)]),
    case([floats(2, 3), floats(3)]),
    takes=NUMBERS,
    composite=True,
    cost=costs.multi_dot,
    precision="half",
)
def multi_dot(tensors):
    """The product of two or more matrices, in the order of the fewest multiplications; the first and last may be vectors.

    Unknown sizes count as 1. Semantics: torch.linalg.multi_dot, numpy.linalg.multi_dot.
    """
    rules.multi_dot([spec_of(x) for x in tensors])
    first, *_, last = (spec_of(x).ndim == 1 for x in tensors)
    matrices = [*tensors]
    matrices[0] = expand_dims(matrices[0], 0) if first else matrices[0]
    matrices[-1] = expand_dims(matrices[-1], 1) if last else matrices[-1]
    sizes = [spec_of(x).shape[0] or 1 for x in matrices] + [spec_of(matrices[-1]).shape[1] or 1]
    product = _multiply_between(matrices, _best_splits(sizes), 0, len(matrices) - 1)
    return squeeze(product, (0,) * first + (1,) * last) if first or last else product


def _best_splits(sizes):
    """For each range of matrices the last of its left factor (Cormen et al., Introduction to Algorithms, 15.2)."""
    count = len(sizes) - 1
    costs_of, splits = {(i, i): 0 for i in range(count)}, {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs_of[i, j], splits[i, j] = builtins.min(
                (costs_of[i, k] + costs_of[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return splits


def _multiply_between(matrices, splits, i, j):
    if i == j:
        return matrices[i]
    k = splits[i, j]
    return matmul(_multiply_between(matrices, splits, i, k), _multiply_between(matrices, splits, k + 1, j))


@operator(
    rules.covariance,
    case(floats(3, 5)),
    case(floats(2, 4), correction=0),
    takes=NUMBERS,
    composite=True,
    precision="float32",
)
def cov(x, /, *, correction=1):
    """Covariances of variables (rows) over their observations (columns); of one vector its variance.

    The sums are divided by the number of observations less ``correction``. Semantics: torch.cov.
    """
    if spec_of(x).ndim == 1:
        return squeeze(cov(expand_dims(x, 0), correction=correction), (0, 1))
    apart = subtract(x, mean(x, axis=-1, keepdims=True))
    count = builtins.max(spec_of(x).shape[-1] - correction, 0)  # type: ignore[operator]
    return divide(matmul(apart, matrix_transpose(conj(apart))), count)


@operator(rules.covariance, case(floats(3, 5)), takes=REALS, composite=True, precision="float32")
def corrcoef(x, /):
    """Correlations of variables (rows) over their observations (columns), between -1 and 1. Semantics: torch.corrcoef."""
    if spec_of(x).ndim == 1:
        return squeeze(corrcoef(expand_dims(x, 0)), (0, 1))
    together = cov(x)
    scale = sqrt(diagonal(together))
    return clip(divide(divide(together, expand_dims(scale, 1)), scale), -1, 1)
