"""Exponentials, LU factors, condition numbers and products of matrices against SciPy, NumPy and PyTorch."""

import math
from unittest import mock

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial.distance
import torch

from labdl import ops
from labdl.ops.math import products
from labdl.ops.operator import OPERATORS
from labdl.spec import Spec

RNG = np.random.default_rng(0)
DTYPES = pytest.mark.parametrize("dtype", ["float64", "complex128"])


def floats(*shape, dtype="float64"):
    values = RNG.uniform(-2, 2, shape)
    return (values + 1j * RNG.uniform(-2, 2, shape) if "complex" in dtype else values).astype(dtype)


def definite(*shape, dtype="float64"):
    x = floats(*shape, dtype=dtype)
    return (x @ np.conj(np.swapaxes(x, -2, -1)) + np.eye(shape[-1])).astype(dtype)


def close(actual, expected, rtol=1e-10):
    expected = np.asarray(expected)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol)


@DTYPES
@pytest.mark.parametrize("scale", [1e-6, 1.0, 3.0, 20.0])
def test_matrix_exp_as_in_scipy(scale, dtype):
    x = floats(2, 5, 5, dtype=dtype) * scale
    expected = scipy.linalg.expm(x)
    close(ops.matrix_exp(x) / np.abs(expected).max(), expected / np.abs(expected).max())


def test_matrix_exp_of_large_negative_matrices_is_a_distribution():
    rates = np.abs(floats(4, 4)) * 1e5
    generator = rates - np.diag(rates.sum(-1) - np.diagonal(rates)) - np.diag(np.diagonal(rates))
    close(ops.matrix_exp(generator).sum(-1), np.ones(4), 1e-6)


@DTYPES
@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (2, 3, 5), (1, 1), (0, 3), (3, 0), (0, 2, 2)])
def test_lu_as_in_scipy(shape, dtype):
    x = floats(*shape, dtype=dtype)
    p, lower, upper = ops.lu(x)
    np.testing.assert_allclose(p @ lower @ upper, x, rtol=1e-12, atol=1e-12)
    expected = torch.linalg.lu(torch.from_numpy(x))
    assert [r.shape for r in (p, lower, upper)] == [tuple(r.shape) for r in expected]
    assert (
        np.abs(lower) <= 1 + 1e-12
    ).all() or dtype == "complex128"  # LAPACK and this one choose by other sizes there
    if dtype == "float64":
        for ours, theirs in zip((p, lower, upper), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_lu_of_singular_matrices():
    for x in (np.zeros((3, 3)), np.ones((3, 3)), np.array([[0.0, 1.0], [0.0, 2.0]])):
        p, lower, upper = ops.lu(x)
        np.testing.assert_allclose(p @ lower @ upper, x, atol=1e-12)
        assert np.isfinite(lower).all()


def test_comparison_of_lu_detects_wrong_factors():
    x = floats(3, 3)
    p, lower, upper = ops.lu(x)
    compare = OPERATORS["lu"].compare
    assert not np.allclose(compare((np.eye(3)[::-1], lower, upper), x)[0], x)
    assert not np.allclose(compare((p, lower * 2, upper / 2), x)[3], 1)


@DTYPES
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("right", [(4, 2), (4,), (3, 4, 1)])
def test_cholesky_solve_solves_with_the_matrix(right, upper, dtype):
    x, y = definite(3, 4, 4, dtype=dtype), floats(*right, dtype=dtype)
    factor = ops.cholesky(x, upper=upper)
    close(ops.cholesky_solve(y, factor, upper=upper), ops.solve(x, y), 1e-9)
    garbage = floats(4, 4, dtype=dtype)
    dirty = factor + (np.tril(garbage, -1) if upper else np.triu(garbage, 1))
    close(ops.cholesky_solve(y, dirty, upper=upper), ops.solve(x, y), 1e-9)


def test_cholesky_solve_as_in_torch():
    factor, y = np.linalg.cholesky(definite(4, 4)), floats(4, 2)
    close(ops.cholesky_solve(y, factor), torch.cholesky_solve(torch.from_numpy(y), torch.from_numpy(factor)), 1e-9)


def test_logdet_as_in_torch():
    x = floats(20, 3, 3)
    expected = torch.logdet(torch.from_numpy(x))
    assert expected.isnan().any()
    assert not expected.isnan().all()
    close(ops.logdet(x), expected)
    close(ops.logdet(np.zeros((2, 2))), -math.inf)
    z = floats(5, 3, 3, dtype="complex128")
    close(np.exp(ops.logdet(z)), np.linalg.det(z), 1e-9)


@DTYPES
@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_condition_number_as_in_numpy(ord, dtype):
    x = floats(3, 4, 4, dtype=dtype)
    close(ops.condition_number(x, ord=ord), np.linalg.cond(x, ord).real, 1e-8)


def test_condition_number_of_singular_and_oblong_matrices():
    x = np.array([[1.0, 0.0], [0.0, 0.0]])
    for ord in ("fro", "nuc", 1, -1, 2, math.inf, -math.inf):
        assert ops.condition_number(x, ord=ord) == math.inf
    y = floats(2, 5, 3)
    close(ops.condition_number(y), np.linalg.cond(y))


@pytest.mark.parametrize(
    "shapes", [[(2, 9), (9, 3), (3, 8), (8, 2)], [(4,), (4, 3), (3, 5), (5,)], [(3, 2), (2,)], [(3,), (3,)]]
)
def test_multi_dot_as_in_numpy(shapes):
    tensors = [floats(*shape) for shape in shapes]
    expected = np.linalg.multi_dot(tensors)
    np.testing.assert_allclose(ops.multi_dot(tensors), expected)
    assert ops.multi_dot([Spec(shape) for shape in shapes]).shape == np.shape(expected)


def test_multi_dot_multiplies_in_the_cheapest_order():
    """Of (10 x 1000), (1000 x 5), (5 x 1000) the first two first: an intermediate of 1000 x 1000 would cost 100 times more."""
    seen = []
    with ops_observed(seen):
        ops.multi_dot([floats(10, 1000), floats(1000, 5), floats(5, 1000)])
    assert seen == [(10, 5), (10, 1000)]
    seen.clear()
    with ops_observed(seen):
        ops.multi_dot([floats(1000, 5), floats(5, 1000), floats(1000, 10)])
    assert seen == [(5, 10), (1000, 10)]


def ops_observed(seen):
    """Records the shapes of products."""
    original = products.matmul

    def matmul(x, y):
        result = original(x, y)
        seen.append(result.shape)
        return result

    return mock.patch.object(products, "matmul", matmul)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_pdist_as_in_scipy(p):
    x = floats(5, 3)
    expected = scipy.spatial.distance.pdist(x, "minkowski", p=p)
    close(ops.pdist(x, p), expected)
    assert ops.pdist(floats(1, 3)).shape == (0,)


REFUSED = [
    ("lu", (Spec((None, 3)),), "known number of rows"),
    ("lu", (Spec((3,)),), "lu wants a matrix"),
    ("matrix_exp", (Spec((2, 3)),), "matrix_exp wants a square matrix"),
    ("cholesky_solve", (Spec((2, 3)), Spec((3, 3))), "3 rows and 2 rows"),
    ("condition_number", (Spec((2, 3)), "fro"), "ord"),
    ("multi_dot", ([Spec((2, 3))],), "at least 2 tensors"),
    ("multi_dot", ([Spec((2, 3)), Spec((3,)), Spec((3, 2))],), "vectors only at the ends"),
    ("multi_dot", ([Spec((2, 3)), Spec((4, 2))],), "inner sizes 3 and 4 differ"),
    ("pdist", (Spec((2, 3, 4)),), "points"),
]


@pytest.mark.parametrize(("name", "args", "message"), REFUSED)
def test_error_messages_of_invalid_arguments(name, args, message):
    options = {"ord": args[1]} if name == "condition_number" else {}
    with pytest.raises(ValueError, match=message):
        getattr(ops, name)(*(args[:1] if options else args), **options)


def test_condition_number_rejects_an_unknown_norm():
    with pytest.raises(ValueError, match="condition_number wants ord: one of fro, nuc"):
        ops.condition_number(floats(2, 2), ord="max")
