"""Reductions and pooling of rows that are infinite, or beyond the range of float32 in float64."""

import math

import numpy as np
import pytest

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2, every=8)

INF = math.inf


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("width", [1, 3, 64, 1000])
def test_logsumexp_of_infinite_rows(width, dtype, axis, keepdims, backend):
    for value in (-INF, INF):
        x = np.full((2, width), value, dtype)
        with np.errstate(all="ignore"):
            expected = np.logaddexp.reduce(x.astype("float64"), axis=axis, keepdims=keepdims)
        found = labdl.to_numpy(ops.logsumexp(backend.tensor(x), axis=axis, keepdims=keepdims))
        np.testing.assert_array_equal(found, expected)
    x = np.full((2, width), -INF, dtype)
    x[1] = 1.0
    found = labdl.to_numpy(ops.logsumexp(backend.tensor(x), axis=-1))
    np.testing.assert_allclose(found, [-INF, 1 + math.log(width)], rtol=1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pool_at_the_end_of_the_range(rank, dtype, backend):
    pool, adaptive = (getattr(ops, f"{name}{rank}d") for name in ("max_pool", "adaptive_max_pool"))
    scale = 1e300 if dtype == "float64" else 1e38
    rng = np.random.default_rng(0)
    for x in (
        np.full((1, 2, *(4,) * rank), -INF),
        -scale * rng.uniform(0.5, 1.5, (1, 2, *(4,) * rank)),
        np.concatenate(
            [-scale * rng.uniform(1, 2, (1, 1, *(4,) * rank)), rng.normal(size=(1, 1, *(4,) * rank)) * 1e-30], 1
        ),
    ):
        x = x.astype(dtype)
        expected = x.reshape(1, 2, *(2,) * (2 * rank)).max(axis=tuple(range(3, 3 + 2 * rank, 2)))
        np.testing.assert_array_equal(labdl.to_numpy(pool(backend.tensor(x), 2)), expected)
        np.testing.assert_array_equal(labdl.to_numpy(adaptive(backend.tensor(x), (2,) * rank)), expected)
        _, (slope,) = backend.gradients(lambda v: ops.sum(pool(v, 2)), [backend.tensor(x)])
        if np.isfinite(x).all():
            np.testing.assert_array_equal(labdl.to_numpy(slope), np.isin(x, expected))
