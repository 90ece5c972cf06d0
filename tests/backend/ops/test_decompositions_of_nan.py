"""Decompositions of matrices with NaN or infinity: an error, or results that are not finite; never wrong numbers."""

import numpy as np
import pytest

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(every=4)

MATRICES = {"nan": [[1, np.nan], [np.nan, 2]], "corner": [[np.nan, 0], [0, 1]], "infinity": [[1, np.inf], [np.inf, 2]]}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_cholesky_is_refused(matrix, dtype, backend):
    one = np.array(matrix, dtype)
    for x in (one, np.stack([np.eye(2, dtype=dtype), one])):
        with pytest.raises((ValueError, RuntimeError), match=r"(?i)cholesky|definite"):
            labdl.to_numpy(ops.cholesky(backend.tensor(x)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("matrix", [MATRICES["nan"], MATRICES["corner"]], ids=["nan", "corner"])
@pytest.mark.parametrize("name", ["svd", "pinv", "eig", "eigh", "matrix_exp", "det"])
def test_nan_gives_no_numbers(name, matrix, dtype, backend):
    try:
        results = getattr(ops, name)(backend.tensor(np.array(matrix, dtype)))
        arrays = [labdl.to_numpy(r) for r in (results if isinstance(results, tuple | list) else [results])]
    except (ValueError, RuntimeError):  # of LAPACK, where NumPy has a result
        return
    assert not all(np.isfinite(a).all() for a in arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_matrix_leaves_the_exponentials_of_others(bad, dtype, backend):
    x = np.stack([np.diag([1, 2]), [[1, bad], [0, 2]], np.zeros((2, 2))]).astype(dtype)
    found = labdl.to_numpy(ops.matrix_exp(backend.tensor(x)))
    assert np.isnan(found[1]).any()
    np.testing.assert_allclose(found[[0, 2]], [np.diag(np.exp([1, 2])), np.eye(2)], rtol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 1e8), ("float32", 1e30), ("float64", 1e12), ("float64", 1e200)]
)
def test_exponentials_of_large_matrices(dtype, size, backend):
    x = np.array([np.diag([-size, 0]), [[0, size], [0, 0]], np.diag([1, 2])], dtype)
    found = labdl.to_numpy(ops.matrix_exp(backend.tensor(x)))
    np.testing.assert_allclose(found[0], np.diag([0, 1]), atol=1e-6)
    np.testing.assert_allclose(found[1], np.array([[1, size], [0, 1]], dtype), rtol=1e-5)
    np.testing.assert_allclose(found[2], np.diag(np.exp([1, 2])), rtol=1e-5)


@pytest.mark.parametrize("order", [2, -2, 1, "fro"])
def test_a_matrix_of_zeros_has_an_infinite_condition_number(order, backend):
    for x in (np.zeros((2, 2)), np.stack([np.zeros((2, 2)), np.eye(2)])):
        found = labdl.to_numpy(ops.condition_number(backend.tensor(x), ord=order))
        assert np.isinf(found.flat[0])
        assert np.isfinite(found.flat[1:]).all()
