"""Round trips of models through files, and loading of values during training."""

import time

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import FileFormatError

pytestmark = pytest.mark.sample(backends=2)

RATE, MOMENTUM = 0.05, 0.9
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(16, 1, 6, 6)).astype("float32"), RNG.integers(0, 3, 16)


def net(backend, seed):
    layers = nn.Conv2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(3)
    return nn.Sequential(*layers).build((None, 1, 6, 6), backend=backend, seed=seed)


@pytest.fixture
def file(tmp_path):
    """Values that were trained elsewhere."""
    model = net("numpy", seed=7)
    labdl.save_parameters(model, tmp_path / "other.npz")
    return model.state_dict(), tmp_path / "other.npz"


class Tied(nn.Module):
    """A parameter of its own, statistics, and two parameters that are one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, padding="same")
        self.norm = nn.BatchNorm()
        self.first, self.second = nn.Linear(6), nn.Linear(6)
        self.token = nn.Parameter((6,), "ones")
        self.tie("second/kernel:0", to="first/kernel:0")

    def forward(self, x):
        x = ops.mean(self.norm(self.conv(x)), axis=1)
        return self.second(self.first(x)) * self.token


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("there", ["backend", "numpy"])
def test_loaded_model_can_be_trained(backend, tmp_path, there):
    model = Tied().build((None, 1, 6, 6), backend=backend.name, seed=0)
    trainer = labdl.Trainer(model, loss="mean_squared_error", optimizer=labdl.train.SGD(0.1))
    target = np.zeros((16, 6, 6), "float32")
    trainer.train_one_batch(X, target)
    labdl.save(model, tmp_path / "net")
    again = labdl.load(tmp_path / "net", backend=backend.name if there == "backend" else "numpy")
    values = model.state_dict()
    assert list(again.state_dict()) == [k for k in again.get_parameters()]
    assert again.state_dict().keys() == values.keys()
    assert all(np.array_equal(v, values[k]) for k, v in again.state_dict().items())
    assert {k: p.trainable for k, p in again.named_parameters()} == {
        k: p.trainable for k, p in model.named_parameters()
    }
    np.testing.assert_allclose(labdl.predict(again, X), labdl.predict(model, X), rtol=1e-4, atol=1e-5)
    assert again.get_parameter("second/kernel:0") is again.get_parameter("first/kernel:0")
    if there == "backend":
        before = again.state_dict()
        labdl.Trainer(again, loss="mean_squared_error", optimizer=labdl.train.SGD(0.1)).train_one_batch(X, target)
        assert all(not np.array_equal(v, before[k]) for k, v in again.state_dict().items())


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("compiled", [False, None])
def test_training_goes_on_with_the_new_values_and_the_old_momentum(backend, file, compiled):
    """The step after the swap is that of a fresh trainer from the new values, and what the momentum adds to it."""
    values, path = file
    model = net(backend.name, seed=0)
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(RATE, momentum=MOMENTUM), compiled=compiled)
    states = []
    for _ in range(3):
        trainer.train_one_batch(X, Y)
        states.append(model.state_dict())
    assert labdl.swap_parameters(model, path) == list(values)
    assert all(np.array_equal(v, values[k]) for k, v in model.state_dict().items())
    trainer.train_one_batch(X, Y)

    fresh = net(backend.name, seed=1)
    fresh.load_state_dict(values)
    labdl.Trainer(fresh, optimizer=labdl.train.SGD(RATE), compiled=compiled).train_one_batch(X, Y)
    after, once = model.state_dict(), fresh.state_dict()
    for key in values:
        expected = once[key] - MOMENTUM * (states[1][key] - states[2][key])
        np.testing.assert_allclose(after[key], expected, rtol=2e-4, atol=2e-6, err_msg=key)
        assert np.abs(after[key] - once[key]).max() > 1e-5, "the momentum shows"


@pytest.mark.sample(backends=1)
def test_a_part_is_swapped_in_the_loop_over_events(backend, file):
    values, path = file
    model = net(backend.name, seed=0)
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(1e-12))
    for event in trainer.events((X, Y), epochs=1, batch_size=4):
        if getattr(event, "step", 0) == 2:
            before = model.state_dict()
            labdl.swap_parameters(model, path, "3/*")
    after = model.state_dict()
    for key, value in after.items():
        np.testing.assert_allclose(value, (values if key.startswith("3/") else before)[key], rtol=1e-5, atol=1e-8)


@pytest.mark.sample(backends=1)
def test_a_damaged_file_does_not_disturb_training(backend, file):
    _, path = file
    data = bytearray(path.read_bytes())
    data[-400] ^= 0xFF
    path.write_bytes(data)
    model, twin = net(backend.name, seed=0), net(backend.name, seed=0)
    trainers = [labdl.Trainer(m, optimizer="adam") for m in (model, twin)]
    for turn in range(3):
        for trainer in trainers:
            trainer.train_one_batch(X, Y)
        if turn == 1:
            with pytest.raises(FileFormatError):
                labdl.swap_parameters(model, path)
    assert all(np.array_equal(v, twin.state_dict()[k]) for k, v in model.state_dict().items())


@pytest.mark.sample(backends=1)
def test_paused_background_run_is_swapped(backend, file, tmp_path):
    values, path = file
    model = net(backend.name, seed=0)
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(1e-12))
    run = trainer.start((X, Y), epochs=10_000, batch_size=8, folder=tmp_path / "run")
    try:
        run.pause()
        end = time.monotonic() + 60
        while run.status != "paused":
            assert time.monotonic() < end
            time.sleep(0.01)
        labdl.swap_parameters(model, path)
        run.resume()
        time.sleep(0.2)
    finally:
        run.stop()
        run.wait(60)
    for key, value in model.state_dict().items():
        np.testing.assert_allclose(value, values[key], rtol=1e-5, atol=1e-8)


def test_a_layer_alone_is_saved_as_the_graph_that_it_becomes(backend, tmp_path):
    layer = nn.Linear(3).build((None, 4), backend=backend.name, seed=1)
    labdl.save(layer, tmp_path / "layer")
    x = np.random.default_rng(0).normal(size=(2, 4)).astype("float32")
    np.testing.assert_array_equal(labdl.predict(labdl.load(tmp_path / "layer"), x), labdl.predict(layer, x))
