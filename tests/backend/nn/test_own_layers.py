"""`labdl.testing.check_layer` on user-defined layers."""

import pytest

from labdl import nn, ops, testing
from labdl.errors import ModelError
from labdl.nn.schema import LAYERS
from labdl.ops.operator import floats


@pytest.fixture(autouse=True)
def removed():
    before = dict(LAYERS)
    yield
    LAYERS.clear()
    LAYERS.update(before)


def scaled(forward, doc="The input times a learned number for each feature."):
    class Scaled(nn.Module):
        start: float = 2.0

        def setup(self, x):
            self.scale = nn.Parameter((x.shape[-1],), "ones")

    Scaled.__doc__, Scaled.forward = doc, forward
    return nn.layer({"start": 1.5}, floats(2, 3, 4))(Scaled)


def test_a_good_layer_passes(backend):
    testing.check_layer(scaled(lambda self, x: x * self.scale * self.start), backend.name)
    testing.check_layer(nn.Linear, backend.name)


def test_failed_requirement_is_named(backend):
    with pytest.raises(AssertionError, match="Scaled: it does not hold that it has the gradient of scale:0"):
        testing.check_layer(scaled(lambda self, x: x * ops.stop_gradient(self.scale)), backend.name)
    with pytest.raises(AssertionError, match="has a docstring whose first line is a sentence"):
        testing.check_layer(scaled(lambda self, x: x, doc="no sentence"), backend.name)
    calls = iter(range(100))
    with pytest.raises(AssertionError, match=r"computes the same as the model of its graph|gives NumPy's values"):
        testing.check_layer(scaled(lambda self, x: x * self.scale + float(next(calls))), backend.name)

    class Plain(nn.Module):
        pass

    with pytest.raises(ModelError, match="Plain is not registered"):
        testing.check_layer(Plain, backend.name)
