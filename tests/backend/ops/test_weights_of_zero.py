"""Weights: those of 0 leave out what they weigh, even where it is infinite; those that no draw can have are refused."""

import math

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2)


@pytest.mark.parametrize("logit", [math.inf, -math.inf, 1000.0])
@pytest.mark.parametrize("target", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["binary_cross_entropy", "multilabel_soft_margin_loss"])
def test_infinite_logit_of_weight_0_counts_nothing(loss, logit, target, backend):
    logits = native(np.array([[0.5, logit]], "float32"), backend.name)
    targets = native(np.array([[1.0, target]], "float32"), backend.name)
    weight = native(np.array([1.0, 0.0], "float32"), backend.name)

    def compute(x):
        return getattr(ops, loss)(x, targets, weight=weight, reduction="sum")

    expected = math.log1p(math.exp(-0.5)) / (2 if loss == "multilabel_soft_margin_loss" else 1)
    value, (gradient,) = backend.gradients(compute, [logits])
    np.testing.assert_allclose(labdl.to_numpy(value), expected, rtol=1e-6)
    gradient = labdl.to_numpy(gradient)
    assert gradient[0, 0] < 0
    assert gradient[0, 1] == 0


@pytest.mark.parametrize("weights", [[-0.5, 1.0, 1.0], [0.0, 0.0, 0.0], [math.nan, 1.0, 1.0], [math.inf, 1.0, 1.0]])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("replacement", [False, True])
def test_weights_that_nothing_can_be_drawn_by(weights, rows, replacement, backend):
    values = np.array([[0.2, 0.3, 0.5], weights] if rows else weights, "float32")
    with pytest.raises(ValueError, match="multinomial wants weights of at least 0 that are finite"):
        ops.multinomial(native(values, backend.name), 2, replacement=replacement)
    positions = ops.multinomial(native(np.array([0.0, 1.0, 0.0], "float32"), backend.name), 1, replacement=replacement)
    assert labdl.to_numpy(positions).tolist() == [1]
