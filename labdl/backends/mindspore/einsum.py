"""Einstein sums as matrix products: mindspore.ops.einsum has no CPU kernel."""

import math

from mindspore import mint, ops

from labdl.backends.mindspore.neural import matmul


def einsum(equation, *operands):
    """Operands are multiplied from left to right; a letter is summed as soon as nothing later names it."""
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    letters, x = _once(terms[0], operands[0])
    for at in range(1, len(terms)):
        wanted = set(output).union(*terms[at + 1 :])
        letters, x = _product(letters, x, *_once(terms[at], operands[at]), wanted)
    letters, x = _summed(letters, x, set(output))
    return _ordered(x, letters, output)


def _once(letters, x):
    """The diagonal where a term names a letter twice."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            x = ops.diagonal(x, 0, first, second)  # the diagonal becomes the last axis
            letters = "".join(c for a, c in enumerate(letters) if a not in (first, second)) + letter
    return letters, x


def _summed(letters, x, wanted):
    axes = tuple(a for a, c in enumerate(letters) if c not in wanted)
    return ("".join(c for c in letters if c in wanted), mint.sum(x, axes)) if axes else (letters, x)


def _ordered(x, letters, order):
    return x if letters == order else ops.permute(x, tuple(map(letters.index, order)))


def _product(left, x, right, y, wanted):
    """One batched matrix product: letters of both that stay, of x alone, of both that are summed, of y alone."""
    left, x = _summed(left, x, wanted | set(right))
    right, y = _summed(right, y, wanted | set(left))
    batch = "".join(c for c in left if c in right and c in wanted)
    inner = "".join(c for c in left if c in right and c not in wanted)
    rows, columns = "".join(c for c in left if c not in right), "".join(c for c in right if c not in left)
    size = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))

    def sizes(group):
        return [size[c] for c in group]

    x = _ordered(x, left, batch + rows + inner).reshape(*sizes(batch), math.prod(sizes(rows)), math.prod(sizes(inner)))
    y = _ordered(y, right, batch + inner + columns)
    y = y.reshape(*sizes(batch), math.prod(sizes(inner)), math.prod(sizes(columns)))
    product = matmul(x, y)
    return batch + rows + columns, product.reshape(*sizes(batch), *sizes(rows), *sizes(columns))
