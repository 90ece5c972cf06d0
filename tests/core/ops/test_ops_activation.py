"""Activation functions against PyTorch: values in several shapes and dtypes, at infinities and NaN, and slopes at kinks."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from labdl import dispatch, ops
from labdl.ops.infix import neutral
from labdl.ops.operator import OPERATORS

# name, our options, PyTorch's function
SAME = [
    ("relu", {}, F.relu),
    ("relu6", {}, F.relu6),
    ("sigmoid", {}, torch.sigmoid),
    ("silu", {}, F.silu),
    ("gelu", {}, F.gelu),
    ("gelu", {"approximate": "tanh"}, lambda x: F.gelu(x, approximate="tanh")),
    ("softplus", {}, F.softplus),
    ("softplus", {"beta": 3.0}, lambda x: F.softplus(x, beta=3.0)),
    ("logsigmoid", {}, F.logsigmoid),
    ("mish", {}, F.mish),
    ("leaky_relu", {}, F.leaky_relu),
    ("leaky_relu", {"negative_slope": 0.3}, lambda x: F.leaky_relu(x, 0.3)),
    ("rrelu", {"lower": 0.1, "upper": 0.5}, lambda x: F.rrelu(x, 0.1, 0.5)),
    ("elu", {}, F.elu),
    ("elu", {"alpha": 0.3}, lambda x: F.elu(x, 0.3)),
    ("selu", {}, F.selu),
    ("celu", {"alpha": 0.3}, lambda x: F.celu(x, 0.3)),
    ("softsign", {}, F.softsign),
    ("hardtanh", {}, F.hardtanh),
    ("hardtanh", {"low": -0.5, "high": 2.0}, lambda x: F.hardtanh(x, -0.5, 2.0)),
    ("hardsigmoid", {}, F.hardsigmoid),
    ("hardswish", {}, F.hardswish),
    ("softshrink", {}, F.softshrink),
    ("hardshrink", {"threshold": 0.7}, lambda x: F.hardshrink(x, 0.7)),
    ("tanhshrink", {}, F.tanhshrink),
    ("threshold", {"threshold": 0.1, "value": 5.0}, lambda x: F.threshold(x, 0.1, 5.0)),
]
ALONG = [
    ("softmax", F.softmax),
    ("softmin", F.softmin),
    ("log_softmax", F.log_softmax),
    ("glu", F.glu),
    ("swiglu", lambda x, axis: F.silu(x.chunk(2, axis)[0]) * x.chunk(2, axis)[1]),
    ("crelu", lambda x, axis: torch.cat([F.relu(x), F.relu(-x)], axis)),
]
names = [f"{name}-{i}" for i, (name, *_) in enumerate(SAME)]


def close(ours, theirs, dtype="float64"):
    ours = np.asarray(ours)
    assert ours.dtype == dtype
    assert ours.shape == tuple(theirs.shape)
    tolerance = 1e-8 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "options", "reference"), SAME, ids=names)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 50)])
def test_elementwise(name, options, reference, dtype, shape):
    x = np.asarray(np.random.default_rng(0).uniform(-9, 9, shape)).astype(dtype)
    close(getattr(ops, name)(x, **options), reference(torch.tensor(x)), dtype)


@pytest.mark.parametrize(("name", "options", "reference"), SAME, ids=names)
def test_extremes(name, options, reference):
    x = np.array([-np.inf, -1e4, -100, 0, 100, 1e4, np.inf, np.nan], "float32")
    expected = reference(torch.tensor(x)).numpy()
    if name == "gelu":
        expected[6] = np.inf  # PyTorch's vector code gives NaN, its formula infinity
    np.testing.assert_allclose(getattr(ops, name)(x, **options), expected, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize(("name", "options", "reference"), SAME, ids=names)
def test_slopes(name, options, reference):
    """The gradients that frameworks find for the composite, at 0 and far from it."""
    entry = OPERATORS[name]
    if not entry.composite:
        return
    dispatch.load("torch")
    points = np.array([-1e4, -100, -3.7, -0.2, 0, 0.2, 3.7, 100, 1e4], "float32")
    slopes = []
    for function in (lambda x: neutral(entry.body)(x, **options), reference):
        x = torch.tensor(points, requires_grad=True)
        function(x).sum().backward()
        slopes.append(x.grad)
    np.testing.assert_allclose(*slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "reference"), ALONG)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_axis(name, reference, axis):
    x = np.random.default_rng(0).uniform(-50, 50, (2, 4, 6))
    close(getattr(ops, name)(x, axis=axis), reference(torch.tensor(x), axis))


@pytest.mark.parametrize("name", ["softmax", "softmin", "log_softmax"])
def test_extremes_along_axis(name):
    rows = np.array([[np.inf, 0, 1], [-np.inf, 0, 1], [-np.inf] * 3, [np.nan, 0, 1], [1e4, -1e4, 0]])
    for row in rows:
        close(getattr(ops, name)(row), getattr(F, name)(torch.tensor(row), -1))
    assert getattr(ops, name)(np.zeros((0, 3))).shape == (0, 3)


def test_softmax_of_no_classes():
    assert ops.softmax(np.zeros((2, 0))).shape == (2, 0)


def test_invalid_axes():
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        ops.softmax(np.zeros((2, 3)), axis=2)
    with pytest.raises(ValueError, match="out of range"):
        ops.softmax(np.array(1.0))
    with pytest.raises(ValueError, match="cannot be split into 2"):
        ops.glu(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="approximate"):
        ops.gelu(np.zeros(3), approximate="fast")


def test_relu_takes_integers():
    assert ops.relu(np.array([-3, 0, 4], "int8")).tolist() == [0, 0, 4]


@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 1), ((2, 3, 4), 1), ((5, 3, 2, 2), 1)])
def test_prelu(shape, axis):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    for slope in (np.array([0.2]), rng.uniform(size=3)):
        close(ops.prelu(x, slope), F.prelu(torch.tensor(x), torch.tensor(slope)))
        last = np.moveaxis(x, 1, -1)
        np.testing.assert_allclose(ops.prelu(last, slope, axis=-1), np.moveaxis(ops.prelu(x, slope), 1, -1))
    with pytest.raises(ValueError, match="wants 3 slopes"):
        ops.prelu(x, np.zeros(2))


@pytest.mark.parametrize("axis", [0, -1])
def test_sparsemax_is_the_nearest_point(axis):
    """A probability distribution whose support has one common threshold, and no more than that (the projection's KKT)."""
    x = np.random.default_rng(0).uniform(-2, 2, (5, 7))
    p = ops.sparsemax(x, axis=axis)
    np.testing.assert_allclose(p.sum(axis), 1)
    for row, out in zip(np.moveaxis(x, axis, -1), np.moveaxis(p, axis, -1), strict=True):
        threshold = (row - out)[out > 0]
        np.testing.assert_allclose(threshold, threshold[0])
        assert (row[out == 0] <= threshold[0]).all()
    np.testing.assert_allclose(ops.sparsemax(np.array([0.1, 1.1, 0.3])), [0, 0.9, 0.1])
    np.testing.assert_allclose(ops.sparsemax(np.array([1.0, 1.0, 1.0])), [1 / 3] * 3)


def test_rrelu_in_training():
    x = -np.ones(10_000)
    slopes = -ops.rrelu(x, 0.1, 0.5, training=True)
    assert slopes.min() >= 0.1
    assert slopes.max() <= 0.5
    np.testing.assert_allclose([slopes.mean(), slopes.var()], [0.3, 0.4**2 / 12], rtol=0.05)
    np.testing.assert_array_equal(ops.rrelu(-x, 0.1, 0.5, training=True), -x)


def test_gumbel_softmax_chooses_by_softmax():
    logits = np.broadcast_to(np.array([0.0, 1.0, -1.0, 0.5]), (40_000, 4))
    hard = ops.gumbel_softmax(logits, 0.3, hard=True)
    np.testing.assert_allclose(np.sort(hard, axis=-1), np.broadcast_to([0, 0, 0, 1.0], hard.shape), atol=1e-6)
    np.testing.assert_allclose(hard.mean(0), ops.softmax(logits[0]), atol=0.01)
    soft = ops.gumbel_softmax(logits.T, 2.0, axis=0)
    np.testing.assert_allclose(soft.sum(0), 1)
    reference = F.gumbel_softmax(torch.tensor(logits.copy()), 2.0).numpy()
    np.testing.assert_allclose(
        np.quantile(soft, [0.1, 0.5, 0.9], axis=1), np.quantile(reference, [0.1, 0.5, 0.9], axis=0), atol=0.02
    )
