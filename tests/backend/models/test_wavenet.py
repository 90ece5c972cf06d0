"""WaveNet on one backend: writing sample by sample, and settings that do not fit."""

import numpy as np
import pytest

import labdl
from labdl.errors import ModelError
from labdl.models.sound.wavenet import WaveNet
from labdl.spec import Spec


def small(**settings):
    return WaveNet(5, layers=4, stacks=2, residual=6, gate=8, skip=4, **settings)


@pytest.mark.sample(False)
@pytest.mark.parametrize("kernel_size", [2, 3])
def test_writing_sample_by_sample_is_the_parallel_pass(kernel_size, backend):
    model = small(kernel_size=kernel_size).build(
        Spec((None, 5, None)), Spec((None, 3, None)), backend=backend.name, seed=0
    )
    model.eval()
    rng = np.random.default_rng(0)
    samples = np.eye(5, dtype="float32")[rng.integers(0, 5, (2, 12))].transpose(0, 2, 1)
    conditions = rng.normal(size=(2, 3, 12)).astype("float32")
    expected = labdl.to_numpy(model(backend.tensor(samples), backend.tensor(conditions)))
    state = model.first_state(backend.tensor(samples[..., 0]))
    for at in range(12):
        logits, state = model.step(backend.tensor(samples[..., at]), state, backend.tensor(conditions[..., at]))
        np.testing.assert_allclose(labdl.to_numpy(logits), expected[..., at], rtol=0, atol=1e-5)


@pytest.mark.sample(backends=1)
def test_what_does_not_fit_is_refused(backend):
    with pytest.raises(ValueError, match="stacks that divide layers=5"):
        WaveNet(layers=5, stacks=2)
    with pytest.raises(ModelError, match=r"wants samples \(N, channels, steps\), received \(None, 5\)"):
        small().build(Spec((None, 5)), backend=backend.name)
    model = small(causal=False).build(Spec((None, 5, 4)), backend=backend.name, seed=0).eval()
    sample = backend.tensor(np.zeros((1, 5), "float32"))
    with pytest.raises(ValueError, match="is not causal"):
        model.step(sample, model.first_state(sample))
