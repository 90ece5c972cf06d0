"""Activations at infinities, NaN and where exp overflows, element by element against their NumPy bodies."""

import numpy as np
import pytest
from cases import native, samples_of

import labdl
from labdl import ops
from labdl.ops.operator import OPERATORS

POINTS = [np.inf, -np.inf, np.nan, 1e30, -1e30, 100.0, -100.0, 0.0, -0.0, 1.0, -1.0]
ELEMENTWISE = [
    name
    for name, entry in OPERATORS.items()
    if entry.category == "activation" and not entry.random and "axis" not in entry.signature.parameters
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_activation_at_its_ends(name, dtype, backend):
    args, kwargs = OPERATORS[name].samples[0]
    assert len(samples_of(args)) == 1
    x = np.array(POINTS, dtype)
    with np.errstate(all="ignore"):
        expected = getattr(ops, name)(x, *args[1:], **kwargs)
    actual = labdl.to_numpy(getattr(ops, name)(native(x, backend.name), *args[1:], **kwargs))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-30)
