"""Products of matrices and tensors (Python Array API standard; cov and corrcoef as in NumPy and PyTorch)."""

import builtins
from string import ascii_letters

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array import astype, diagonal, expand_dims, matrix_transpose, moveaxis, reshape, roll, squeeze
from labdl.ops.complex_numbers import conj
from labdl.ops.math import clip, divide, multiply, sqrt, subtract
from labdl.ops.operator import NUMBERS, REALS, case, floats, operator
from labdl.ops.reduction import mean, sum


@operator(rules.matmul, case(floats(2, 3), floats(3, 4)), case(floats(5, 2, 3), floats(3, 4)),
          case(floats(3), floats(3, 2)), case(floats(2, 1, 2, 3), floats(4, 3, 2)), takes=NUMBERS)  # fmt: skip
def matmul(x, y, /):
    """Matrix product over the last two axes; the others broadcast."""
    return np.matmul(x, y)


@operator(rules.einsum, case("ij,jk->ik", floats(2, 3), floats(3, 4)), case("bhi,bhj->bij", floats(2, 3, 4), floats(2, 3, 5)),
          case("...ij,...jk->...ik", floats(2, 2, 3), floats(3, 2)), case("ij,jk", floats(2, 3), floats(3, 4)),
          case("ii->i", floats(3, 3)), case("ij->", floats(2, 3)), takes=NUMBERS)  # fmt: skip
def einsum(equation, *operands):
    """Sum of products by the Einstein notation, the result's axes named after ``->``.

    ``...`` stands for any number of axes, which broadcast. Without ``->`` the result has those, then the letters that
    stand once, in the order of the alphabet.
    """
    return np.einsum(equation, *operands)


@operator(rules.tensordot, case(floats(2, 3, 4), floats(3, 4, 2)), case(floats(2, 3), floats(3, 4), axes=1),
          case(floats(2, 3, 4), floats(4, 2, 3), axes=((0, -1), (1, 0))), case(floats(2), floats(3), axes=0),
          takes=NUMBERS, composite=True)  # fmt: skip
def tensordot(x, y, /, *, axes=2):
    """Sum of products over the last ``axes`` axes of one tensor and the first of another, or over two lists of axes."""
    left, right = spec_of(x).ndim, spec_of(y).ndim
    first, second = rules.contracted(left, right, axes)
    a, b = list(ascii_letters[:left]), list(ascii_letters[left : left + right])
    for i, j in zip(first, second, strict=True):
        b[j] = a[i]
    kept = [c for i, c in enumerate(a) if i not in first] + [c for j, c in enumerate(b) if j not in second]
    return einsum(f"{''.join(a)},{''.join(b)}->{''.join(kept)}", x, y)


@operator(rules.vecdot, case(floats(2, 3), floats(2, 3)), case(floats(3, 2), floats(4, 3, 1), axis=-2),
          case(floats(3), floats(3)), takes=NUMBERS, composite=True)  # fmt: skip
def vecdot(x, y, /, *, axis=-1):
    """Products of vectors, which lie along an axis; the others broadcast. Of complex ones the first is conjugated."""
    rows = expand_dims(conj(x if axis == -1 else moveaxis(x, axis, -1)), -2)
    columns = expand_dims(y if axis == -1 else moveaxis(y, axis, -1), -1)
    return squeeze(matmul(rows, columns), (-2, -1))


@operator(rules.outer, case(floats(2), floats(3)), case(floats(2, 2), floats(3)), takes=NUMBERS, composite=True)
def outer(x, y, /):
    """Products of each element of one vector with each of another; axes before the last broadcast."""
    rules.outer(spec_of(x), spec_of(y))  # refuses what the products alone would broadcast
    return multiply(expand_dims(x, -1), expand_dims(y, -2))


@operator(rules.cross, case(floats(2, 3), floats(2, 3)), case(floats(3, 2), floats(4, 3, 1), axis=-2), takes=NUMBERS,
          composite=True)  # fmt: skip
def cross(x, y, /, *, axis=-1):
    """Cross products of vectors of 3 elements, which lie along an axis; the others broadcast."""
    rules.cross(spec_of(x), spec_of(y), axis=axis)  # refuses other sizes, which could be rolled too
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


@operator(rules.covariance, case(floats(3, 5)), case(floats(2, 4), correction=0), takes=NUMBERS,
          composite=True)  # fmt: skip
def cov(x, /, *, correction=1):
    """Covariances of variables (rows) over their observations (columns); of one vector its variance.

    The sums are divided by the number of observations less ``correction``. Semantics: torch.cov.
    """
    if spec_of(x).ndim == 1:
        return squeeze(cov(expand_dims(x, 0), correction=correction), (0, 1))
    apart = subtract(x, mean(x, axis=-1, keepdims=True))
    count = builtins.max(spec_of(x).shape[-1] - correction, 0)  # type: ignore[operator]
    return divide(matmul(apart, matrix_transpose(conj(apart))), count)


@operator(rules.covariance, case(floats(3, 5)), takes=REALS, composite=True)
def corrcoef(x, /):
    """Correlations of variables (rows) over their observations (columns), between -1 and 1. Semantics: torch.corrcoef."""
    if spec_of(x).ndim == 1:
        return squeeze(corrcoef(expand_dims(x, 0)), (0, 1))
    together = cov(x)
    scale = sqrt(diagonal(together))
    return clip(divide(divide(together, expand_dims(scale, 1)), scale), -1, 1)
