"""Einstein sums as matrix products: mindspore.ops.einsum has no CPU kernel."""

import math

from labdl.backends.mindspore.algebra import matmul
from labdl.backends.mindspore.arrays import broadcast_to, diagonal, permute_dims, reshape
from labdl.backends.mindspore.kinds import matched
from labdl.backends.mindspore.reductions import sum


def einsum(equation, *operands):
    """Operands are multiplied from left to right; a letter is summed as soon as nothing later names it."""
    operands = matched(*operands)
    terms, output = _letters(equation, [x.ndim for x in operands])
    letters, x = _once(terms[0], operands[0])
    for at in range(1, len(terms)):
        wanted = set(output).union(*terms[at + 1 :])
        letters, x = _product(letters, x, *_once(terms[at], operands[at]), wanted)
    letters, x = _summed(letters, x, set(output))
    return _ordered(x, letters, output)


def _letters(equation, ranks):
    """The letters of each operand and of the result; capital ones from another alphabet for what ``...`` stands for."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum {equation!r} is for {len(terms)} tensors, received {len(ranks)}")
    hidden = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True)]
    if any(n < 0 or (n and "..." not in t) for t, n in zip(terms, hidden, strict=True)):
        raise ValueError(f"einsum {equation!r} does not fit tensors of {ranks} axes")
    if not arrow:
        joined = inputs.replace(",", "").replace(".", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    unseen = "".join(chr(0x391 + k) for k in range(max(hidden, default=0)))
    terms = [t.replace("...", unseen[len(unseen) - n :]) for t, n in zip(terms, hidden, strict=True)]
    return terms, output.replace("...", unseen)


def _once(letters, x):
    """The diagonal where a term names a letter twice."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            x = diagonal(x, axes=(first, second))  # which becomes the last axis
            letters = "".join(c for a, c in enumerate(letters) if a not in (first, second)) + letter
    return letters, x


def _summed(letters, x, wanted):
    axes = tuple(a for a, c in enumerate(letters) if c not in wanted)
    return ("".join(c for c in letters if c in wanted), sum(x, axes)) if axes else (letters, x)


def _ordered(x, letters, order):
    return x if letters == order else permute_dims(x, tuple(map(letters.index, order)))


def _product(left, x, right, y, wanted):
    """One batched matrix product: letters of both that stay, of x alone, of both that are summed, of y alone."""
    left, x = _summed(left, x, wanted | set(right))
    right, y = _summed(right, y, wanted | set(left))
    batch = "".join(c for c in left if c in right and c in wanted)
    inner = "".join(c for c in left if c in right and c not in wanted)
    rows, columns = "".join(c for c in left if c not in right), "".join(c for c in right if c not in left)
    size = dict(zip(left, x.shape, strict=True))
    for c, n in zip(right, y.shape, strict=True):
        if n != 1 and size.get(c, 1) not in (1, n):
            raise ValueError(f"einsum: axis {c!r} is both {size[c]} and {n}")
        size[c] = n if size.get(c, 1) == 1 else size[c]

    def arranged(tensor, letters, *groups):
        """Each group of letters as one axis; where ``...`` names a size of 1, it is spread."""
        order = "".join(groups)
        tensor = broadcast_to(_ordered(tensor, letters, order), tuple(size[c] for c in order))
        return reshape(
            tensor, tuple(size[c] for c in groups[0]) + tuple(math.prod(size[c] for c in g) for g in groups[1:])
        )

    product = matmul(arranged(x, left, batch, rows, inner), arranged(y, right, batch, inner, columns))
    letters = batch + rows + columns
    return letters, reshape(product, tuple(size[c] for c in letters))
