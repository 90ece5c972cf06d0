"""Matrices that have no inverse, and those that have no Cholesky factor."""

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

SINGULAR = {
    "rank_1_of_2": [[1, 1], [1, 1]],
    "rank_2_of_3": [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
    "nilpotent": [[0, 1], [0, 0]],
    "zeros": [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    "one_element": [[0]],
    "in_a_batch": [[[1, 2], [3, 4]], [[1, 2], [2, 4]]],
}


def cofactors(matrix):
    """The derivative of the determinant: of each element the determinant of the rest, with its sign."""
    n = len(matrix)
    return np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(matrix, i, 0), j, 1)) for j in range(n)]
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("name", SINGULAR)
def test_gradient_of_a_determinant_of_zero(name, backend):
    x = np.array(SINGULAR[name], "float32")
    expected = np.stack([cofactors(m) for m in x.reshape(-1, *x.shape[-2:])]).reshape(x.shape)
    _, (gradient,) = backend.gradients(lambda t: ops.sum(ops.det(t)), [native(x, backend.name)])
    np.testing.assert_allclose(labdl.to_numpy(gradient), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "matrix", [[[1, 2], [2, 1]], [[-1, 0], [0, 1]], [[0, 0], [0, 0]], [[[1, 0], [0, 1]], [[1, 2], [2, 1]]]]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_cholesky_refuses_what_is_not_positive_definite(matrix, dtype, backend):
    with pytest.raises(ValueError, match=r"(?i)positive.definite|minor"):
        labdl.to_numpy(ops.cholesky(native(np.array(matrix, dtype), backend.name)))
