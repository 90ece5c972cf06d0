"""Pooling with every kind of padding, with and without ceil_mode, against its NumPy body."""

import itertools

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2)

SIZES = (5, 6, 7)
WINDOWS = ((2, 2), (3, 2), (3, 3), (2, 1))  # kernel_size, stride


def paddings(rank):
    pairs = [((1, 0),), ((0, 1),), ((1, 0), (0, 1))]
    return (0, 1, "same", "valid", *(tuple(itertools.islice(itertools.cycle(p), rank)) for p in pairs))


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "avg", "avg_inside"])
def test_pooling_with_padding(kind, rank, ceil_mode, backend):
    pool = getattr(ops, f"{kind[:3]}_pool{rank}d")
    options = {"ceil_mode": ceil_mode, **({"count_include_pad": False} if kind == "avg_inside" else {})}
    for size, (window, stride), padding in itertools.product(SIZES, WINDOWS, paddings(rank)):
        shape = (1, 2, *(size + axis % 2 for axis in range(rank)))
        x = np.random.default_rng(0).uniform(-1, 1, shape).astype("float32")
        expected = pool(x, window, stride=stride, padding=padding, **options)
        actual = labdl.to_numpy(pool(native(x, backend.name), window, stride=stride, padding=padding, **options))
        assert actual.shape == expected.shape, (size, window, stride, padding)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
