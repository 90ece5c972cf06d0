"""Order statistics that ignore NaN against NumPy and PyTorch."""

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.spec import Spec

NAN = np.nan


def spoiled(*shape, seed=0):
    """Numbers among which some are NaN, in one row all."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, shape)
    x[rng.random(shape) < 0.3] = NAN
    x[0] = NAN
    return x


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_nanquantile_as_in_numpy(method, axis, keepdims):
    x, shares = spoiled(4, 5, 7), [0.0, 0.1, 0.5, 0.77, 1.0]
    expected = np.nanquantile(x, shares, axis=axis, method=method, keepdims=keepdims)
    ours = ops.nanquantile(x, shares, axis, keepdims, method=method)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
    one = ops.nanquantile(x, 0.3, axis, keepdims, method=method)
    np.testing.assert_allclose(one, np.nanquantile(x, 0.3, axis=axis, method=method, keepdims=keepdims), rtol=1e-12)


def test_nanquantile_as_in_torch():
    x = spoiled(4, 9).astype("float32")
    expected = torch.nanquantile(torch.tensor(x), torch.tensor([0.2, 0.6]), dim=1).numpy()
    np.testing.assert_allclose(ops.nanquantile(x, (0.2, 0.6), axis=1), expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_nanmedian_as_in_numpy():
    x = spoiled(4, 6)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(ops.nanmedian(x, axis=axis), np.nanmedian(x, axis=axis))
    assert ops.nanmedian(np.array([1, 4])) == 2.5
    assert ops.nanmedian(np.array([1, 4])).dtype == "float32"


def test_infinities_are_ordered_and_not_mixed():
    x = np.array([-np.inf, NAN, 1.0, np.inf])
    np.testing.assert_array_equal(ops.nanquantile(x, (0.0, 0.5, 1.0)), [-np.inf, 1.0, np.inf])


def test_shapes_and_refusals():
    assert ops.nanquantile(Spec((None, 3)), [0.1, 0.2], axis=1).shape == (2, None)
    with pytest.raises(ValueError, match="q from 0 to 1"):
        ops.nanquantile(spoiled(2, 2), 2.0)
    with pytest.raises(ValueError, match="no elements"):
        ops.nanmedian(np.zeros((0, 2)), axis=0)


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_fmax_and_fmin_as_in_numpy(name):
    x, y = np.array([NAN, 1.0, NAN, 2.0, -np.inf]), np.array([1.0, NAN, NAN, 3.0, NAN])
    reference = getattr(np, name)
    np.testing.assert_array_equal(getattr(ops, name)(x, y), reference(x, y))
    np.testing.assert_array_equal(getattr(ops, name)(x, 1.5), reference(x, 1.5))
    np.testing.assert_array_equal(getattr(ops, name)(1.5, x), reference(1.5, x))
    np.testing.assert_array_equal(getattr(ops, name)(x, NAN), x)
    np.testing.assert_array_equal(getattr(ops, name)(x[:, None], y), reference(x[:, None], y))
    mixed = getattr(ops, name)(np.array([1, 5]), x[1:3].astype("float32"))
    assert mixed.tolist() == reference([1, 5], x[1:3]).tolist()
    assert mixed.dtype == "float32"
