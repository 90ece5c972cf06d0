"""`labdl.use_deterministic_algorithms`: the same bits in every training, also in another process and after a restart."""

import subprocess
import sys

import pytest

import labdl
from labdl.errors import BackendError, ConfigError

# a process of its own, because TensorFlow cannot take the switch back
SOURCE = """
import hashlib, sys
import numpy as np
import labdl
from labdl import nn
from labdl.train import Checkpoint, Trainer
backend, folder, resume = sys.argv[1:]
labdl.seed(5)
labdl.use_deterministic_algorithms()
labdl.use(backend)
assert labdl.are_deterministic_algorithms_enabled()
rng = np.random.default_rng(0)
x, y = rng.normal(size=(24, 2, 8, 8)).astype("float32"), rng.integers(0, 5, 24)

def train(epochs, **options):
    labdl.seed(5)
    model = nn.Sequential(
        nn.Conv2d(8, 3, padding="same"), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Dropout(0.2),
        nn.Conv2d(8, 3), nn.GELU(), nn.Flatten(), nn.LayerNorm(), nn.Linear(5),
    )
    trainer = Trainer(model, optimizer="adamw", seed=5, metrics=["accuracy"])
    history = trainer.fit(x, y, epochs=epochs, batch_size=8, progress=False, validation=(x, y), **options)
    parameters = b"".join(np.ascontiguousarray(value).tobytes() for value in model.state_dict().values())
    return hashlib.sha256(parameters).hexdigest() + repr(history["loss"] + history["val_loss"])

if resume == "resume":
    print(train(3, checkpoint=Checkpoint(folder), resume=True))
else:
    print(train(3))
    print(train(3))
    train(1, checkpoint=Checkpoint(folder))
"""


def lines_of(*arguments):
    result = subprocess.run(
        [sys.executable, "-c", SOURCE, *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return [line for line in result.stdout.splitlines() if "[" in line]


@pytest.mark.sample(False)
@pytest.mark.timeout(900)
def test_trainings_are_equal_in_every_bit(backend, tmp_path):
    first, again = lines_of(backend.name, str(tmp_path), "start")
    (resumed,) = lines_of(backend.name, str(tmp_path), "resume")
    assert first == again == resumed


@pytest.mark.sample(backends=1)
@pytest.mark.backends("torch", "paddle", "mindspore")  # TensorFlow's cannot be switched off again in the process
def test_switch_on_and_off(backend):
    assert not labdl.are_deterministic_algorithms_enabled()
    try:
        labdl.dispatch.set_deterministic(False, False)
        backend.set_deterministic(True, False)
    finally:
        backend.set_deterministic(False, False)
    with pytest.raises(ConfigError, match="mode wants True or False, received 'yes'"):
        labdl.use_deterministic_algorithms("yes")


@pytest.mark.backends("torch")
def test_pytorch_names_the_kernel_that_has_no_deterministic_form(backend):
    import torch

    backend.set_deterministic(True, False)
    try:
        with pytest.raises(RuntimeError, match=r"put_.* does not have a deterministic implementation"):
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2))
        backend.set_deterministic(True, True)
        with pytest.warns(UserWarning, match="put_"):
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2))
    finally:
        backend.set_deterministic(False, False)


@pytest.mark.backends("paddle", "mindspore")
def test_backends_that_promise_nothing_for_a_device_refuse_it(backend, monkeypatch):
    module = sys.modules[backend.set_deterministic.__module__]
    monkeypatch.setattr(module, "current_device", lambda: "gpu:0")
    with pytest.raises(BackendError, match="does not tell which kernels of gpu:0 are not deterministic"):
        backend.set_deterministic(True, False)
    backend.set_deterministic(True, True)
    backend.set_deterministic(False, False)
