"""Batch normalization where the number of samples or axes is unusual."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops

pytestmark = pytest.mark.sample(backends=2)

LAYERS = (nn.BatchNorm, nn.SyncBatchNorm)


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 1), (1, 3, 1, 1), (1, 3, 1, 1, 1), (1, 1, 3)], ids=str)
@pytest.mark.parametrize("layer", LAYERS)
def test_one_value_for_each_channel(layer, shape, backend):
    """The unbiased variance of one value, 0 / 0, counts as 0."""
    axis = "channels_last" if shape == (1, 1, 3) else "channels_first"
    model = layer(data_format=axis).build(shape, backend=backend.name)
    x = np.arange(3, dtype="float32").reshape(shape)
    value, found = backend.gradients(lambda v: ops.sum(model(v)), [backend.tensor(x)])
    assert float(labdl.to_numpy(value)) == 0
    np.testing.assert_array_equal(labdl.to_numpy(found[0]), np.zeros(shape))
    state = model.state_dict()
    np.testing.assert_allclose(state["moving_variance:0"], [0.9] * 3, rtol=1e-6)
    np.testing.assert_allclose(state["moving_mean:0"], [0, 0.1, 0.2], rtol=1e-6)


def test_a_last_batch_of_one_sample_is_trained(backend):
    model = nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Linear(1)).build((None, 3), backend=backend.name, seed=0)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)).astype("float32"), rng.normal(size=(5, 1)).astype("float32")
    labdl.Trainer(model, loss="mse").fit(x, y, epochs=2, batch_size=4)
    assert all(np.isfinite(v).all() for v in model.state_dict().values())


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("axes", [5, 6, 7])
def test_any_number_of_axes(axes, training, axis, backend):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(*(2, 3, 3, 2, 1, 2, 3)[: axes - 1], 3)).astype("float32")
    factors = rng.normal(size=x.shape).astype("float32")
    settings = [rng.random(3).astype("float32") + 0.5 for _ in range(4)]
    moving = [backend.variable(a.copy(), False) for a in settings[2:]]
    scale, offset = map(backend.tensor, settings[:2])
    options = {"training": training, "axis": axis}

    def scalar(v):
        return ops.sum(ops.multiply(ops.batch_norm(v, scale, offset, *moving, **options), backend.tensor(factors)))

    value, found = backend.gradients(scalar, [backend.tensor(x)])
    order = np.moveaxis(x, axis, 1)
    flat = order.reshape(2, 3, -1)
    mean, variance = settings[2:]
    m, v = (flat.mean((0, 2)), flat.var((0, 2))) if training else (mean, variance)
    wide = (1, 3, 1)
    wanted = (flat - m.reshape(wide)) / np.sqrt(v + 1e-5).reshape(wide) * settings[0].reshape(wide)
    wanted = np.moveaxis((wanted + settings[1].reshape(wide)).reshape(order.shape), 1, axis)
    assert float(labdl.to_numpy(value)) == pytest.approx(float((wanted * factors).sum()), rel=1e-4, abs=1e-3)
    if not training:
        slope = settings[0] / np.sqrt(variance + 1e-5)
        expected = np.moveaxis(np.moveaxis(factors, axis, -1) * slope, -1, axis)
        np.testing.assert_allclose(labdl.to_numpy(found[0]), expected, rtol=1e-4, atol=1e-5)
    assert tuple(found[0].shape) == x.shape


@pytest.mark.parametrize("shape", [(8, 4, 1000), (32, 4, 28, 28)])
def test_batch_of_equal_values_is_the_offset(shape, backend):
    """The rounding of the mean of many equal numbers is no deviation from it."""
    ones, zeros = (np.full(4, value, "float32") for value in (1.0, 0.0))
    mean, variance = backend.variable(zeros, trainable=False), backend.variable(ones, trainable=False)
    x = backend.tensor(np.full(shape, 100.1, "float32"))
    y = ops.batch_norm(x, backend.tensor(ones), backend.tensor(zeros), mean, variance, training=True)
    np.testing.assert_allclose(labdl.to_numpy(y), 0, atol=5e-3)
    np.testing.assert_allclose(labdl.to_numpy(mean), 10.01, rtol=1e-6)
    np.testing.assert_allclose(labdl.to_numpy(variance), 0.9, rtol=1e-6)


@pytest.mark.sample(every=8)
@pytest.mark.parametrize(
    "shape", [(6, 3), (4, 3, 5), (4, 3, 5, 5), (2, 3, 4, 4, 4)], ids=lambda shape: f"{len(shape)}d"
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("value", [100.1, 10000.1])
def test_constant_columns_are_the_offset(value, dtype, shape, backend):
    """In every dtype; the gradient of a factor is the factor less its mean, by the root of epsilon."""
    factors = np.random.default_rng(0).normal(size=shape).astype("float32")
    kind = dtype if dtype == "float64" else "float32"  # of the weights and statistics, as in mixed precision
    scale, offset = (backend.tensor(np.full(3, number, kind)) for number in (1.0, 0.0))
    moving = [backend.variable(np.full(3, number, kind), trainable=False) for number in (0.0, 1.0)]
    x = ops.astype(backend.tensor(np.full(shape, value, "float64")), dtype)

    def norm(v):
        return ops.astype(ops.batch_norm(v, scale, offset, *moving, training=True), "float32")

    np.testing.assert_allclose(labdl.to_numpy(norm(x)), 0, atol=1e-3)
    _, (slope,) = backend.gradients(lambda v: ops.sum(ops.multiply(norm(v), backend.tensor(factors))), [x])
    axes = (0, *range(2, len(shape)))
    expected = (factors - factors.mean(axes, keepdims=True)) / np.sqrt(1e-5)
    rough = 1e-4 if "64" in dtype or "32" in dtype else 1e-2
    np.testing.assert_allclose(
        labdl.to_numpy(ops.astype(slope, "float32")), expected, rtol=rough, atol=rough * abs(expected).max()
    )


@pytest.mark.parametrize("axis", [1, -1])
def test_gradient_of_a_batch_of_nearly_equal_values(axis, backend):
    """As of the differences from 1, which float32 has exactly."""
    rng = np.random.default_rng(0)
    spread = np.float32(2**-14) * rng.integers(-3, 4, (6, 5, 5)).astype("float32")
    factors = backend.tensor(rng.normal(size=spread.shape).astype("float32"))
    scale, offset = (backend.tensor(np.full(5, value, "float32")) for value in (1.0, 0.0))

    def gradient(x):
        moving = [backend.variable(np.full(5, value, "float32"), trainable=False) for value in (0.0, 1.0)]
        norm = lambda v: ops.batch_norm(v, scale, offset, *moving, training=True, axis=axis, epsilon=1e-12)  # noqa: E731
        value, found = backend.gradients(lambda v: ops.sum(ops.multiply(norm(v), factors)), [backend.tensor(x)])
        return [float(labdl.to_numpy(value)), labdl.to_numpy(found[0]), *map(labdl.to_numpy, moving)]

    shifted, centered = gradient(spread + 1), gradient(spread)
    assert shifted[0] == pytest.approx(centered[0], rel=1e-2)
    np.testing.assert_allclose(shifted[1], centered[1], rtol=1e-2, atol=1e-3 * abs(centered[1]).max())
    np.testing.assert_allclose(shifted[2], centered[2] + 0.1, rtol=1e-6)
    np.testing.assert_allclose(shifted[3], centered[3], rtol=1e-6)
