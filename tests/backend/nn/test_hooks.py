"""Forward hooks beside a user-defined backward function."""

import itertools

import numpy as np
import pytest

import labdl
from labdl import nn, ops

pytestmark = pytest.mark.sample(backends=2)


@pytest.fixture
def layer(backend):
    return nn.Linear(3).build((None, 4), backend=backend.name, seed=0)


def slope(layer, backend):
    x = backend.tensor(np.ones((2, 4), "float32"))
    return labdl.to_numpy(backend.gradients(lambda v: ops.sum(layer(v)), [x])[1][0])


def twos(gradient, x):
    return ops.full_like(x, 2.0)


STEPS = ("backward", "first", "second", "remove_first", "remove_second")
ORDERS = [
    order
    for order in itertools.permutations(STEPS)
    if all(order.index(n) < order.index(f"remove_{n}") for n in ("first", "second"))
]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_a_backward_function_and_hooks_come_and_go_in_any_order(order, layer, backend):
    seen, removers = [], {}
    real = slope(layer, backend)
    for at, step in enumerate(order):
        if step == "backward":
            layer.register_backward_function(twos)
        elif step.startswith("remove"):
            removers.pop(step.removeprefix("remove_"))()
        else:
            removers[step] = layer.register_forward_hook(lambda *_, step=step: seen.append(step))
        seen.clear()
        expected = np.full((2, 4), 2.0) if "backward" in order[: at + 1] else real
        np.testing.assert_allclose(slope(layer, backend), expected, rtol=1e-6)
        assert sorted(set(seen)) == sorted(removers)


def test_a_removed_hook_does_not_remove_later_ones(layer, backend):
    seen = []
    remove = layer.register_forward_hook(lambda *_: seen.append("first"))
    remove()
    layer.register_forward_hook(lambda *_: seen.append("second"))
    remove()
    layer(backend.tensor(np.ones((2, 4), "float32")))
    assert seen == ["second"]
