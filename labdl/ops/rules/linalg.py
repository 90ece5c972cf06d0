"""Shape rules of products, and of decompositions and other functions of matrices."""

from __future__ import annotations

from collections import Counter

from labdl.ops.rules.array import one_axis
from labdl.ops.rules.elementwise import common_dtype, float_of, operand, promoting, real_of
from labdl.ops.rules.fourier import complex_dtype
from labdl.spec import Shape, Size, Spec, broadcast, normal_axes, show


@promoting
def matmul(x, y) -> Spec:
    a, b = operand(x), operand(y)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul wants tensors of at least one axis")
    left, right = a.shape if a.ndim > 1 else (1, *a.shape), b.shape if b.ndim > 1 else (*b.shape, 1)
    if left[-1] is not None and right[-2] is not None and left[-1] != right[-2]:
        raise ValueError(
            f"matmul of {show(a.shape)} and {show(b.shape)}: inner sizes {left[-1]} and {right[-2]} differ"
        )
    rows, columns = left[-2:-1] if a.ndim > 1 else (), right[-1:] if b.ndim > 1 else ()
    return Spec((*broadcast(left[:-2], right[:-2]), *rows, *columns), common_dtype(a, b))


@promoting
def linear(x, kernel, bias=None) -> Spec:
    if x.ndim < 1 or kernel.ndim != 2:
        raise ValueError(
            f"linear wants x (..., in) and a kernel (in, out), received {show(x.shape)}, {show(kernel.shape)}"
        )
    if bias is not None and (
        bias.ndim != 1 or (None not in (*bias.shape, kernel.shape[1]) and bias.shape != kernel.shape[1:])
    ):
        raise ValueError(f"linear wants a bias of shape ({kernel.shape[1]},), received {show(bias.shape)}")
    product = matmul(x, kernel)
    return product if bias is None else Spec(product.shape, common_dtype(product, bias))


def einsum_terms(equation: str, ranks) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The letters of each operand and of the result; those that ``...`` stands for are called ``.1`` (the last), ``.2`` …"""
    text = equation.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum {equation!r} is for {len(terms)} tensors, received {len(ranks)}")
    hidden = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True)]
    for term, rank, extra in zip(terms, ranks, hidden, strict=True):
        if extra < 0 or (extra and "..." not in term):
            raise ValueError(f"einsum {equation!r}: {term!r} names {rank - extra} axes, received {rank}")
    widest = max((e for t, e in zip(terms, hidden, strict=True) if "..." in t), default=0)

    def letters(term: str, extra: int) -> tuple[str, ...]:
        before, dots, after = term.partition("...")
        return (*before, *(f".{k}" for k in range(extra if dots else 0, 0, -1)), *after)

    named = [letters(t, e) for t, e in zip(terms, hidden, strict=True)]
    if not arrow:
        times = Counter("".join(terms).replace(".", ""))
        output = "..." * ("..." in inputs) + "".join(sorted(c for c, n in times.items() if n == 1))
    result = letters(output, widest)
    if set(result).difference(*named) or len(set(result)) != len(result):
        raise ValueError(f"einsum {equation!r}: the result names each of its axes once, and those of the operands only")
    return named, result


@promoting
def einsum(equation, *operands) -> Spec:
    specs = [operand(x) for x in operands]
    named, result = einsum_terms(equation, [x.ndim for x in specs])
    sizes: dict[str, Size] = {}
    for letters, x in zip(named, specs, strict=True):
        for letter, n in zip(letters, x.shape, strict=True):
            if letter.startswith("."):
                sizes[letter] = broadcast((sizes.get(letter, 1),), (n,))[0]
                continue
            if None not in (n, sizes.get(letter)) and sizes[letter] != n:
                raise ValueError(f"einsum {equation!r}: axis {letter!r} is both {sizes[letter]} and {n}")
            sizes[letter] = n if n is not None else sizes.get(letter)
    return Spec(tuple(sizes[c] for c in result), common_dtype(*specs))


def contraction_axes(left: int, right: int, axes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of two tensors that `tensordot` sums over, pair by pair."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(left, right):
            raise ValueError(f"tensordot over {axes} axes of tensors with {left} and {right}")
        return tuple(range(left - axes, left)), tuple(range(axes))
    first, second = (normal_axes(a, n) for a, n in zip(axes, (left, right), strict=True))
    if len(first) != len(second):
        raise ValueError(f"tensordot wants as many axes of one tensor as of the other, received {axes}")
    return first, second


@promoting
def tensordot(x, y, /, *, axes=2) -> Spec:
    a, b = operand(x), operand(y)
    first, second = contraction_axes(a.ndim, b.ndim, axes)
    for i, j in zip(first, second, strict=True):
        if None not in (a.shape[i], b.shape[j]) and a.shape[i] != b.shape[j]:
            raise ValueError(
                f"tensordot of {show(a.shape)} and {show(b.shape)}: sizes {a.shape[i]} and {b.shape[j]} differ"
            )
    rest = [n for i, n in enumerate(a.shape) if i not in first] + [n for i, n in enumerate(b.shape) if i not in second]
    return Spec(tuple(rest), common_dtype(a, b))


def last_axes(x: Spec, y: Spec, axis: int) -> Shape:
    """The broadcast shape of two tensors after moving an axis to the end."""
    a, b = one_axis(axis, x.ndim), one_axis(axis, y.ndim)
    return broadcast((*x.shape[:a], *x.shape[a + 1 :], x.shape[a]), (*y.shape[:b], *y.shape[b + 1 :], y.shape[b]))


@promoting
def vecdot(x, y, /, *, axis=-1) -> Spec:
    a, b = operand(x), operand(y)
    shape = last_axes(a, b, axis)
    n, m = a.shape[one_axis(axis, a.ndim)], b.shape[one_axis(axis, b.ndim)]
    if None not in (n, m) and n != m:
        raise ValueError(f"vecdot of {show(a.shape)} and {show(b.shape)}: sizes {n} and {m} differ")
    return Spec(shape[:-1], common_dtype(a, b))


@promoting
def outer(x, y, /) -> Spec:
    a, b = operand(x), operand(y)
    if not (a.ndim and b.ndim):
        raise ValueError("outer wants vectors: at least one axis")
    return Spec((*broadcast(a.shape[:-1], b.shape[:-1]), a.shape[-1], b.shape[-1]), common_dtype(a, b))


@promoting
def cross(x, y, /, *, axis=-1) -> Spec:
    a, b = operand(x), operand(y)
    for s in (a, b):
        if s.shape[one_axis(axis, s.ndim)] not in (3, None):
            raise ValueError(f"cross wants a size of 3 on axis {axis}, received {show(s.shape)}")
    if axis >= 0 and a.ndim != b.ndim:
        raise ValueError(f"cross of {show(a.shape)} and {show(b.shape)} wants an axis that counts from the end")
    return Spec(broadcast(a.shape, b.shape), common_dtype(a, b))


@promoting
def kron(x, y, /) -> Spec:
    a, b = operand(x), operand(y)
    rank = max(a.ndim, b.ndim)
    left, right = (1,) * (rank - a.ndim) + a.shape, (1,) * (rank - b.ndim) + b.shape
    sizes = [None if None in (n, m) else n * m for n, m in zip(left, right, strict=True)]  # type: ignore[operator]
    return Spec(tuple(sizes), common_dtype(a, b))


def _matrix(x: Spec, name: str) -> Spec:
    if x.ndim < 2:
        raise ValueError(f"{name} wants a matrix: at least 2 axes, received {show(x.shape)}")
    return x


def _square(x: Spec, name: str) -> Spec:
    rows, columns = _matrix(x, name).shape[-2:]
    if None not in (rows, columns) and rows != columns:
        raise ValueError(f"{name} wants a square matrix, received {show(x.shape)}")
    return x


def square_matrix(name: str, power=None):
    """The rule of functions from a square matrix to one of its shape."""

    def rule(x, *args, **options) -> Spec:
        return _square(x, name)

    return rule


def det(x) -> Spec:
    return x.with_shape(_square(x, "det").shape[:-2])


def slogdet(x) -> tuple[Spec, Spec]:
    shape = _square(x, "slogdet").shape[:-2]
    return Spec(shape, x.dtype), Spec(shape, real_of(x.dtype))


@promoting
def solve(x, y, *, upper=False, unit_diagonal=False) -> Spec:
    a, b = _square(operand(x), "solve"), operand(y)
    return _solution(a, b, a.shape[-1], "solve")


@promoting
def lstsq(x, y) -> Spec:
    a, b = _matrix(operand(x), "lstsq"), operand(y)
    if None in a.shape[-2:]:
        raise ValueError(f"lstsq wants a known number of rows and columns, received {show(a.shape)}")
    return _solution(a, b, a.shape[-1], "lstsq")


def _solution(a: Spec, b: Spec, size: Size, name: str) -> Spec:
    """The shape of the solution for one vector, or for the columns of matrices."""
    if not b.ndim:
        raise ValueError(f"{name} wants a vector or matrices, received a number")
    rows = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if None not in (a.shape[-2], rows) and a.shape[-2] != rows:
        raise ValueError(f"{name} of {show(a.shape)} and {show(b.shape)}: {a.shape[-2]} rows and {rows} rows")
    if b.ndim == 1:
        return Spec((*a.shape[:-2], size), common_dtype(a, b))
    return Spec((*broadcast(a.shape[:-2], b.shape[:-2]), size, b.shape[-1]), common_dtype(a, b))


def pinv(x, *, rtol=None) -> Spec:
    batch, rows, columns = _rank_sizes(x, rtol, "pinv")
    return x.with_shape((*batch, columns, rows))


def matrix_rank(x, *, rtol=None) -> Spec:
    return Spec(_rank_sizes(x, rtol, "matrix_rank")[0], "int64")


def _rank_sizes(x: Spec, rtol, name: str) -> tuple[Shape, Size, Size]:
    rows, columns = _matrix(x, name).shape[-2:]
    if rtol is None and (rows is None or columns is None):
        raise ValueError(f"{name} wants a known number of rows and columns, or rtol, received {show(x.shape)}")
    batch = x.shape[:-2]
    return broadcast(batch, rtol.shape) if isinstance(rtol, Spec) else batch, rows, columns


def _smaller(n: Size, m: Size) -> Size:
    return None if n is None or m is None else min(n, m)


def qr(x, *, mode="reduced") -> tuple[Spec, Spec]:
    *batch, rows, columns = _matrix(x, "qr").shape
    inner = rows if mode == "complete" else _smaller(rows, columns)
    return x.with_shape((*batch, rows, inner)), x.with_shape((*batch, inner, columns))


def svd(x, *, full_matrices=True) -> tuple[Spec, Spec, Spec]:
    *batch, rows, columns = _matrix(x, "svd").shape
    inner = _smaller(rows, columns)
    left, right = (rows, columns) if full_matrices else (inner, inner)
    values = Spec((*batch, inner), real_of(x.dtype))
    return x.with_shape((*batch, rows, left)), values, x.with_shape((*batch, right, columns))


def svdvals(x) -> Spec:
    return svd(x)[1]


def eigh(x) -> tuple[Spec, Spec]:
    return Spec(_square(x, "eigh").shape[:-1], real_of(x.dtype)), x


def eigvalsh(x) -> Spec:
    return eigh(x)[0]


def eig(x) -> tuple[Spec, Spec]:
    dtype = complex_dtype(x.dtype)
    return Spec(_square(x, "eig").shape[:-1], dtype), Spec(x.shape, dtype)


def eigvals(x) -> Spec:
    return eig(x)[0]


def vector_norm(x, *, axis=None, keepdims=False, ord=2) -> Spec:
    axes = normal_axes(axis, x.ndim)
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes]
    return Spec(tuple(shape), real_of(float_of(x.dtype)))


MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))


def matrix_norm(x, *, keepdims=False, ord="fro") -> Spec:
    return vector_norm(_matrix(x, "matrix_norm"), axis=(-2, -1), keepdims=keepdims)


@promoting
def cdist(x, y, p=2.0) -> Spec:
    a, b = _matrix(operand(x), "cdist"), _matrix(operand(y), "cdist")
    if None not in (a.shape[-1], b.shape[-1]) and a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"cdist of {show(a.shape)} and {show(b.shape)}: points of {a.shape[-1]} and {b.shape[-1]} numbers"
        )
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return Spec((*batch, a.shape[-2], b.shape[-2]), float_of(common_dtype(a, b)))


def covariance(x, *, correction=1) -> Spec:
    if x.ndim not in (1, 2):
        raise ValueError(f"a covariance wants (variables, observations), received {show(x.shape)}")
    if x.shape[-1] is None:
        raise ValueError("a covariance wants a known number of observations")
    return Spec((x.shape[0],) * 2 if x.ndim == 2 else (), float_of(x.dtype))
