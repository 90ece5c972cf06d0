"""LU factors of matrices that a framework's own function may refuse, and their gradients."""

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

SINGULAR = (
    [[0.0, 1.0], [0.0, 2.0]],
    np.ones((3, 3)),
    np.zeros((2, 2)),
    [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]],
)


@pytest.mark.parametrize("matrix", SINGULAR, ids=range(len(SINGULAR)))
def test_singular_matrices_have_factors(matrix, backend):
    x = np.array(matrix, "float32")
    p, lower, upper = map(labdl.to_numpy, ops.lu(native(x, backend.name)))
    np.testing.assert_allclose(p @ lower @ upper, x, atol=1e-6)
    np.testing.assert_array_equal(p.sum(-1), np.ones(x.shape[:-1]))


def test_gradient_of_the_determinant_by_its_factors(backend):
    """The product of the diagonal is the determinant but for the sign: the gradient follows from the inverse."""
    x = np.random.default_rng(0).normal(size=(2, 4, 4)).astype("float32")

    def logarithm(t):
        upper = ops.lu(t)[2]
        return ops.sum(ops.log(ops.abs(ops.diagonal(upper))))

    _, (found,) = backend.gradients(logarithm, [native(x, backend.name)])
    np.testing.assert_allclose(labdl.to_numpy(found), np.swapaxes(np.linalg.inv(x), -1, -2), rtol=1e-3, atol=1e-4)
