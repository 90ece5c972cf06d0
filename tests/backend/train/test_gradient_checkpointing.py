"""Gradient checkpointing: the same training, with forwards that run again for the gradient."""

import numpy as np
import pytest

import labdl
from labdl import nn, train
from labdl.errors import ConfigError, ModelError
from labdl.train import SGD, Trainer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3, 6, 6)).astype("float32")
Y = np.arange(24) % 3
HAVE_IT = pytest.mark.backends("torch", "paddle")


class Block(nn.Module):
    """Statistics, chance and a result that is used twice."""

    def __init__(self, channels):
        self.conv, self.norm, self.drop = nn.Conv2d(channels, padding="same"), nn.BatchNorm(), nn.Dropout(0.3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = self.drop(self.norm(self.conv(x)))
        return y * y + y


def model():
    return nn.Sequential(Block(4), Block(6), nn.Flatten(), nn.Linear(3))


def trained(backend, **settings):
    labdl.seed(5)
    built = model().build((None, 3, 6, 6), backend=backend.name, seed=0)
    for block in (built[0], built[1]):
        block.calls = 0
    subject = Trainer(built, backend=backend.name, seed=1, optimizer=SGD(0.1, momentum=0.9), **settings)
    history = subject.fit(X, Y, epochs=2, batch_size=8, progress=False)
    return history["loss"], built.state_dict(), [built[0].calls, built[1].calls]


@HAVE_IT
@pytest.mark.parametrize(
    "settings",
    [
        {"gradient_checkpointing": "[01]"},
        {"gradient_checkpointing": ["0", "1/conv"], "accumulate": 2, "clip_norm": 1.0},
    ],
    ids=str,
)
def test_a_training_is_the_same(backend, settings):
    """With running statistics and the numbers of dropout."""
    plain = {name: value for name, value in settings.items() if name != "gradient_checkpointing"}
    losses, values, calls = trained(backend, **plain)
    ours, others, again = trained(backend, **settings)
    np.testing.assert_allclose(ours, losses, rtol=1e-5)
    for name, value in values.items():
        np.testing.assert_allclose(others[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
    parts = 6  # of 8 samples in two epochs, each with a gradient
    assert again[0] - calls[0] == parts
    assert again[1] - calls[1] == (parts if settings["gradient_checkpointing"] == "[01]" else 0)


@HAVE_IT
def test_validation_runs_once_and_the_forward_is_the_plain_one_afterwards(backend):
    built = model().build((None, 3, 6, 6), backend=backend.name, seed=0)
    subject = Trainer(built, backend=backend.name, seed=1, gradient_checkpointing="0")
    subject.fit(X, Y, batch_size=8, progress=False)
    assert not [m for m in built.modules() if "forward" in m.__dict__]
    before = built[0].calls
    subject.evaluate(X, Y, batch_size=24)
    assert built[0].calls == before + 1


@pytest.mark.backends("torch")
def test_less_is_kept_for_the_gradient(backend):
    import torch

    def bytes_of_step(**settings):
        built = model().build((None, 3, 6, 6), backend=backend.name, seed=0)
        subject = Trainer(built, backend=backend.name, seed=1, compiled=False, **settings)
        subject.train_one_batch(X, Y)
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.nbytes) or t, lambda t: t):
            subject.train_one_batch(X, Y)
        return sum(kept)

    assert bytes_of_step(gradient_checkpointing="[01]") < 0.7 * bytes_of_step()


@pytest.mark.backends("tensorflow", "mindspore")
def test_a_backend_without_it_says_so(backend):
    with pytest.raises(
        ConfigError, match=r"gradient_checkpointing wants PyTorch or PaddlePaddle, (tensorflow|mindspore)"
    ):
        trained(backend, gradient_checkpointing="0")


@HAVE_IT
def test_wrong_settings(backend):
    with pytest.raises(ModelError, match=r"no module matches .encoder/\*., there are 0, 0/conv"):
        trained(backend, gradient_checkpointing="encoder/*")
    with pytest.raises(ConfigError, match="compiled=True exclude"):
        trained(backend, gradient_checkpointing="0", compiled=True)
    with pytest.raises(ConfigError, match="gradient_checkpointing"):
        Trainer(model(), gradient_checkpointing=3)
    assert train.Trainer(model(), gradient_checkpointing=["0", "1"]).settings.gradient_checkpointing == ("0", "1")
