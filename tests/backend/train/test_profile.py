"""`Trainer.profile`: times that add up, layers that are told apart, a flame graph, traces, and nothing left behind."""

import random
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from interrupted import DATA, Net, equal, own_seeds

import labdl
from labdl import nn, train
from labdl.errors import ConfigError
from labdl.train import SGD, Adam, Trainer

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
Y = np.arange(48) % 3


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


class Slow(nn.Module):
    """Takes at least 4 ms, 1 ms of it in each of two inner modules."""

    def __init__(self):
        self.one, self.other = Waiting(), Waiting()

    def forward(self, x):
        time.sleep(0.002)
        return self.other(self.one(x))


class Waiting(nn.Module):
    def forward(self, x):
        time.sleep(0.001)
        return x


def test_times_of_layers(backend):
    model = nn.Sequential(nn.Linear(8), Slow(), nn.Linear(3))
    subject = Trainer(model, backend=backend.name, optimizer=SGD(0.1), seed=1, compiled=False)
    profile = subject.profile(X, Y, steps=7, batch_size=16)
    layers = {layer.name: layer for layer in profile.layers}
    assert [*layers] == ["", "0", "1", "1/one", "1/other", "2"]
    assert (layers["1"].kind, layers["1"].calls) == ("Slow", 1)
    assert layers["1"].seconds >= 0.004
    assert 0.002 <= layers["1"].own_seconds < layers["1"].seconds - 0.002
    assert layers["1/one"].own_seconds == layers["1/one"].seconds >= 0.001
    assert profile.forward >= layers["1"].seconds
    assert profile.forward == layers[""].seconds
    assert profile.step >= 0.004  # other steps than those whose forward is measured
    assert min(profile.loss, profile.backward, profile.update, profile.wait) > 0
    assert (profile.steps, profile.batch_size, profile.backend) == (7, 16, backend.name)
    table = str(profile)
    assert "7 steps of 16 samples" in table
    order = sorted(profile.layers, key=lambda layer: -layer.own_seconds)
    places = [table.index(f"{layer.name or 'Sequential'} ({layer.kind})") for layer in order]
    assert places == sorted(places)


def test_a_slow_loader_is_waited_for(backend):
    class Samples:
        def __len__(self):
            return 48

        def __getitem__(self, index):
            time.sleep(0.001)
            return X[index], Y[index]

    subject = Trainer(nn.Linear(3), backend=backend.name, optimizer=SGD(0.1), seed=1)
    assert subject.profile(Samples(), steps=3, batch_size=8).wait >= 0.008


def test_everything_is_as_it_was(backend, tmp_path):
    labdl.seed(3)
    subject = Trainer(
        Net(), backend=backend.name, seed=1, optimizer=Adam(0.01), metrics=["accuracy"], average=train.EMA(0.9)
    )
    subject.fit(DATA, epochs=1, batch_size=16, progress=False, checkpoint=tmp_path / "kept")
    before, loop = subject.state_dict(), subject.loop
    states, files = (random.getstate(), np.random.get_state()[1].copy()), sorted((tmp_path / "kept").rglob("*"))
    subject.profile(DATA, steps=3)
    assert equal(subject.state_dict(), before)
    assert subject.loop is loop
    assert random.getstate() == states[0]
    np.testing.assert_array_equal(np.random.get_state()[1], states[1])
    assert sorted((tmp_path / "kept").rglob("*")) == files
    assert not [m for m in subject.model.modules() if "forward" in m.__dict__]


def test_several_phases_weights_and_shared_layers(backend):
    class Shared(nn.Module):
        def __init__(self):
            self.layer, self.last = nn.Linear(6), nn.Linear(3)

        def forward(self, x):
            return self.last(self.layer(self.layer(x)))

    class Phases(Trainer):
        def phases(self):
            return [
                train.Phase("first", self.loss_and_output, parameters="layer/*"),
                train.Phase("second", self.loss_and_output, parameters="last/*"),
            ]

    model = Shared().build((None, 6), backend=backend.name, seed=0)
    profile = Phases(model, backend=backend.name, seed=1, clip_norm=1.0).profile(X, Y, steps=2)
    layers = {layer.name: layer for layer in profile.layers}
    assert (layers["layer"].calls, layers["last"].calls) == (4, 2)
    plain = Trainer(model, backend=backend.name, seed=1, accumulate=2, precision="bfloat16")
    assert plain.profile(X, Y, steps=2, batch_size=8).batch_size == 16


def test_a_flame_graph_of_nested_modules(backend):
    model = nn.Sequential(nn.Linear(8), nn.Sequential(nn.Linear(4), nn.ReLU()), nn.Linear(3))
    svg = Trainer(model, backend=backend.name, seed=1).profile(X, Y, steps=2)._repr_html_()
    root = ET.fromstring(svg)
    names = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    places = {
        group[0].text.rpartition(": ")[0]: group[1].attrib for group in root.iter("{http://www.w3.org/2000/svg}g")
    }
    assert "steps of" in names[0]
    assert {"step", "forward", "backward", "update", "1 (Sequential)", "1/0 (Linear)"} <= places.keys()
    outer, inner = places["1 (Sequential)"], places["1/0 (Linear)"]
    assert float(inner["y"]) > float(outer["y"]) > float(places["forward"]["y"])
    assert float(outer["x"]) - 1 <= float(inner["x"])
    assert float(inner["x"]) + float(inner["width"]) <= float(outer["x"]) + float(outer["width"]) + 1
    assert max(float(p["x"]) + float(p["width"]) for p in places.values()) <= 721


@pytest.mark.backends("torch", "tensorflow", "paddle")
def test_the_trace_of_the_framework(backend, tmp_path):
    Trainer(nn.Linear(3), backend=backend.name, seed=1).profile(X, Y, steps=2, trace=tmp_path / "trace")
    files = [path for path in (tmp_path / "trace").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) > 2000
    if backend.name != "tensorflow":
        assert [path.name for path in files] == ["trace.json"]


@pytest.mark.backends("mindspore")
def test_no_trace_of_mindspore(backend, tmp_path):
    subject = Trainer(nn.Linear(3), backend=backend.name, seed=1)
    with pytest.raises(ConfigError, match="mindspore has none here"):
        subject.profile(X, Y, steps=2, trace=tmp_path / "trace")


@pytest.mark.parametrize("steps", [0, -1, 2.5, "many", True])
def test_wrong_numbers(backend, steps):
    with pytest.raises(ConfigError, match="profile wants a number of steps"):
        Trainer(nn.Linear(3), backend=backend.name).profile(X, Y, steps=steps)
