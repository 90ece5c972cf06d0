"""Exported source has the framework's own layers where LabDL's have a twin, and flat calls where it is asked for."""

import re

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.cli import main
from labdl.errors import ConfigError
from labdl.saving.parameters import save_parameters
from labdl.saving.source_export import to_source

OWN = {
    "torch": """
        Conv2d(3, 4, 3, padding='same') BatchNorm2d(4) ReLU() MaxPool2d(2) LSTM(4, 6, batch_first=True, bidirectional=True)
        Linear(12, 12) LayerNorm((12,)) Dropout() Linear(12, 3) Embedding(7, 5)
    """,
    "paddle": """
        Conv2D(3, 4, 3, padding='same') ReLU() MaxPool2D(2) LSTM(4, 6, direction='bidirect')
        Linear(12, 12) LayerNorm((12,)) Dropout() Linear(12, 3) Embedding(7, 5)
    """,
}
pytestmark = pytest.mark.backends(*OWN)


class Net(nn.Module):
    def __init__(self):
        self.stem = nn.Sequential(
            nn.Conv2d(4, kernel_size=3, padding="same"), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.sequence = nn.LSTM(6, bidirectional=True)
        self.attention, self.norm = nn.MultiHeadAttention(2), nn.LayerNorm()
        self.drop, self.head, self.words = nn.Dropout(0.5), nn.Linear(3), nn.Embedding(7, 5)

    def forward(self, x, words):
        y = ops.permute_dims(ops.flatten(self.stem(x), 2), (0, 2, 1))
        y = self.norm(self.attention(self.sequence(y)[0]))
        return self.head(self.drop(ops.mean(y, axis=1))) * 2 - ops.mean(self.words(words))


def execute(text, values, folder):
    save_parameters(values, folder / "net.weights.npz")
    space = {"__file__": str(folder / "net.py"), "__name__": "net"}
    exec(compile(text, "net.py", "exec"), space)
    return space["Net"]()


def test_own_layers_of_the_framework(backend, tmp_path):
    model = Net().build((None, 3, 8, 8), labdl.spec.Spec((None, 2), "int64"), backend=backend.name, seed=0)
    rng = np.random.default_rng(0)
    for name, parameter in model.state_dict().items():
        model.load_state_dict({**model.state_dict(), name: rng.uniform(0.5, 1.5, parameter.shape).astype("float32")})
    text, values = to_source(model)
    for call in re.findall(r"\w+\(.*?\)+", OWN[backend.name]):
        assert f"{backend.name}.nn.{call}" in text
    # PaddlePaddle's running variance is another one in training; what is left follows the mode by itself
    assert ("_train" in text) == (backend.name == "paddle")
    assert ".nn.functional.conv2d" not in text
    inputs = backend.tensor(rng.normal(size=(4, 3, 8, 8)).astype("float32")), backend.tensor(np.ones((4, 2), "int64"))
    native = execute(text, values, tmp_path)
    native.eval()
    np.testing.assert_allclose(
        labdl.to_numpy(native(*inputs)), labdl.to_numpy(model.eval()(*inputs)), rtol=1e-4, atol=1e-5
    )
    native.train()
    model.train()
    model.drop.rate = 0.0
    native.drop.p = 0.0
    for _ in range(2):
        expected, actual = model(*inputs), native(*inputs)
        np.testing.assert_allclose(labdl.to_numpy(actual), labdl.to_numpy(expected), rtol=1e-4, atol=1e-5)
    native.eval()
    np.testing.assert_allclose(
        labdl.to_numpy(native(*inputs)), labdl.to_numpy(model.eval()(*inputs)), rtol=1e-4, atol=1e-5
    )


class Shared(nn.Module):
    """Layers that no attribute can stand for alone: called twice, with two outputs, with their parameter used elsewhere."""

    def __init__(self):
        self.twice, self.states, self.table = nn.Linear(4), nn.GRU(4), nn.Linear(4)

    def forward(self, x):
        outputs, hidden = self.states(self.twice(self.twice(x)))
        return ops.matmul(self.table(outputs), self.table.kernel) + ops.sum(hidden)


def test_layers_without_a_twin_stay_flat(backend, tmp_path):
    model = Shared().build((None, 5, 4), backend=backend.name, seed=0)
    text, values = to_source(model)
    assert f"{backend.name}.nn.Linear" not in text
    assert f"{backend.name}.nn.GRU" not in text
    x = backend.tensor(np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32"))
    native = execute(text.replace("class Shared", "class Net"), values, tmp_path)
    np.testing.assert_allclose(labdl.to_numpy(native(x)), labdl.to_numpy(model(x)), rtol=1e-4, atol=1e-5)


def test_flat_style(backend, tmp_path):
    model = nn.Sequential(nn.Linear(3), nn.ReLU()).build((None, 4), backend=backend.name, seed=0)
    labdl.export(model, tmp_path / "net.py", style="flat")
    assert ".nn.Linear" not in (tmp_path / "net.py").read_text()
    labdl.export(model, tmp_path / "net.py")
    assert f"{backend.name}.nn.Linear(4, 3)" in (tmp_path / "net.py").read_text()
    with pytest.raises(ConfigError, match="style wants"):
        labdl.export(model, tmp_path / "net.py", style="functional")
    labdl.save(model, tmp_path / "saved")
    command = ["export", str(tmp_path / "saved.labdl"), "--to", backend.name, "-o", str(tmp_path / "net.py")]
    assert main([*command, "--style", "flat"]) == 0
    assert ".nn.Linear" not in (tmp_path / "net.py").read_text()


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("style", ["modules", "flat"])
def test_a_frozen_normalization_keeps_its_statistics_in_training(style, backend, tmp_path):
    model = nn.Sequential(nn.BatchNorm(), nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    statistics = {"0/moving_mean:0": [1.0, 2.0, 3.0], "0/moving_variance:0": [4.0, 1.0, 0.5]}
    values = {name: np.asarray(value, "float32") for name, value in statistics.items()}
    model.load_state_dict({**model.state_dict(), **values})
    model[0].freeze()
    text, arrays = to_source(model, style=style)
    native = execute(re.sub(r"class \w+\(", "class Net(", text), arrays, tmp_path)
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    expected = labdl.to_numpy(model.eval()(backend.tensor(x)))
    for mode in (native.eval, native.train, native.eval):
        mode()
        np.testing.assert_allclose(labdl.to_numpy(native(backend.tensor(x))), expected, rtol=1e-5, atol=1e-6)
