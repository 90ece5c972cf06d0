"""Shape rules of functions of matrices beyond the Python Array API standard."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype, float_of, operand, promoting, real_of
from labdl.ops.rules.linalg import _square, matmul, solve
from labdl.spec import Size, Spec, show


def _check_matrix(x: Spec, name: str) -> None:
    if x.ndim < 2:
        raise ValueError(f"{name} wants a matrix: at least 2 axes, received {show(x.shape)}")


def lu(x) -> tuple[Spec, Spec, Spec]:
    _check_matrix(x, "lu")
    *batch, rows, columns = x.shape
    if rows is None or columns is None:
        raise ValueError(f"lu wants a known number of rows and columns, received {show(x.shape)}")
    inner = min(rows, columns)
    sizes = (rows, rows), (rows, inner), (inner, columns)
    p, lower, upper = (x.with_shape((*batch, *size)) for size in sizes)
    return p, lower, upper


@promoting
def cholesky_solve(y, factor, *, upper=False) -> Spec:
    return solve(operand(factor), operand(y))


def logdet(x) -> Spec:
    return x.with_shape(_square(x, "logdet").shape[:-2])


def condition_number(x, *, ord=2) -> Spec:
    _check_matrix(x, "condition_number")
    rows, columns = x.shape[-2:]
    if 0 in (rows, columns):
        raise ValueError(f"condition_number wants matrices that are not empty, received {show(x.shape)}")
    if ord not in (2, -2) and None not in (rows, columns) and rows != columns:
        raise ValueError(f"condition_number with ord {ord} wants square matrices, received {show(x.shape)}")
    return Spec(x.shape[:-2], real_of(x.dtype))


@promoting
def multi_dot(tensors) -> Spec:
    specs = [operand(x) for x in tensors]
    if len(specs) < 2:
        raise ValueError(f"multi_dot wants at least 2 tensors, received {len(specs)}")
    for at, x in enumerate(specs):
        least = 1 if at in (0, len(specs) - 1) else 2
        if not least <= x.ndim <= 2:
            raise ValueError(f"multi_dot wants matrices, vectors only at the ends, received {show(x.shape)}")
    result = specs[0]
    for x in specs[1:]:
        result = matmul(result, x)
    return Spec(result.shape, common_dtype(*specs))


def pdist(x, p=2.0) -> Spec:
    if x.ndim != 2:
        raise ValueError(f"pdist wants points (N, coordinates), received {show(x.shape)}")
    count: Size = x.shape[0]
    if count is None:
        raise ValueError(f"pdist wants a known number of points, received {show(x.shape)}")
    return Spec((count * (count - 1) // 2,), float_of(x.dtype))
