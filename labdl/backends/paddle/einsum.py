"""Einstein sums as matrix products: Paddle's kernel knows no integers, and no letter twice in one of several terms."""

import math

from paddle import _C_ops

from labdl.backends.paddle.algebra import matmul
from labdl.backends.paddle.arrays import reshape
from labdl.backends.paddle.operands import in_dtype, matched
from labdl.backends.paddle.reductions import sum as total


def einsum(equation, *operands):
    """Operands are multiplied from left to right; a letter is summed as soon as nothing later names it."""
    xs = matched(*operands)
    kind = xs[0].dtype
    terms, output = _terms(equation, [x.ndim for x in xs])
    letters, x = _once(terms[0], xs[0])
    for at in range(1, len(terms)):
        wanted = set(output).union(*terms[at + 1 :])
        letters, x = _product(letters, x, *_once(terms[at], xs[at]), wanted)
    letters, x = _summed(letters, x, set(output))
    return in_dtype(_ordered(x, letters, output), kind)


def _terms(equation, ranks):
    """The letters of each operand and of the result; numbers, the last of them 1, stand for the axes of ``...``."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    hidden = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True)]

    def letters(term, extra):
        before, dots, after = term.partition("...")
        return [*before, *(range(extra, 0, -1) if dots else ()), *after]

    if not arrow:
        joined = inputs.replace(",", "").replace(".", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    widest = max((e for t, e in zip(terms, hidden, strict=True) if "..." in t), default=0)
    return [letters(t, e) for t, e in zip(terms, hidden, strict=True)], letters(output, widest)


def _once(letters, x):
    """The diagonal where a term names a letter twice."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            x = _C_ops.diagonal(x, 0, first, second)  # the diagonal becomes the last axis
            letters = [c for a, c in enumerate(letters) if a not in (first, second)] + [letter]
    return letters, x


def _summed(letters, x, wanted):
    axes = tuple(a for a, c in enumerate(letters) if c not in wanted)
    return ([c for c in letters if c in wanted], total(x, axes, dtype=None)) if axes else (letters, x)


def _ordered(x, letters, order):
    return x if letters == order else _C_ops.transpose(x, [letters.index(c) for c in order])


def _product(left, x, right, y, wanted):
    """One batched matrix product: letters of both that stay, of x alone, of both that are summed, of y alone."""
    left, x = _summed(left, x, wanted | set(right))
    right, y = _summed(right, y, wanted | set(left))
    left, x = _unstretched(left, x, right, y)
    right, y = _unstretched(right, y, left, x)
    batch = [c for c in left if c in right and c in wanted]
    inner = [c for c in left if c in right and c not in wanted]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]
    size = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))

    def sizes(group):
        return [size[c] for c in group]

    x = reshape(
        _ordered(x, left, batch + rows + inner), [*sizes(batch), math.prod(sizes(rows)), math.prod(sizes(inner))]
    )
    y = reshape(_ordered(y, right, batch + inner + columns),
                [*sizes(batch), math.prod(sizes(inner)), math.prod(sizes(columns))])  # fmt: skip
    product = matmul(x, in_dtype(y, x.dtype))
    return batch + rows + columns, reshape(product, [*sizes(batch), *sizes(rows), *sizes(columns)])


def _unstretched(letters, x, others, y):
    """Without the axes of size 1 that ``...`` spreads to the other operand's."""
    size = dict(zip(others, y.shape, strict=True))
    axes = [a for a, c in enumerate(letters) if isinstance(c, int) and x.shape[a] == 1 and size.get(c, 1) != 1]
    return ([c for a, c in enumerate(letters) if a not in axes], _C_ops.squeeze(x, axes)) if axes else (letters, x)
