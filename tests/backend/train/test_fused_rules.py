"""What a compiled step of MindSpore holds of an optimizer without a kernel computes its rule."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.train import OPTIMIZERS, SGD, Adam, AdamW, Optimizer

pytestmark = [pytest.mark.backends("mindspore"), pytest.mark.sample(every=4)]


def bound(rule, backend, dtype):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=shape).astype(dtype) for shape in ((4, 3), (3,), (2, 4, 3))]
    return backend.optimizer(rule, [backend.variable(a) for a in arrays])


def gradients(backend, step, dtype):
    draws = np.random.default_rng(step)
    first = backend.tensor(draws.normal(size=(4, 3)).astype(dtype))
    return [first, None, backend.tensor(draws.normal(size=(2, 4, 3)).astype(dtype))]


def values(native):
    slots = [slot for slots in native.state for slot in slots.values()]
    return [labdl.to_numpy(value) for value in [*native.variables, *slots]]


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name, named in OPTIMIZERS.items() if named.cls not in (SGD, Adam, AdamW)])
def test_kernels_for_a_compiled_step_compute_the_rule(name, dtype, backend):
    from labdl.backends.mindspore.optimizers import fused_kernels

    held, updated = (bound(OPTIMIZERS[name].make(), backend, dtype) for _ in range(2))
    for step in (1, 2, 3):
        kernels = fused_kernels(held)
        kernels.construct(gradients(backend, step, dtype), *kernels.numbers())
        held.advance()
        updated.advance()
        updated.update(gradients(backend, step, dtype))
        for ours, expected in zip(values(held), values(updated), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-7)


def test_a_rule_that_reads_values_is_not_held(backend):
    from labdl.backends.mindspore.optimizers import fused_kernels

    class Careful(Optimizer):
        def update(self, parameter, gradient, state, *, rate):
            small = float(labdl.to_numpy(ops.sum(gradient * gradient))) < 1
            return parameter - gradient * (rate if small else rate / 2), {}

    assert fused_kernels(bound(Careful(0.1), backend, "float32")) is None
