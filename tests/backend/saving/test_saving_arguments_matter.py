"""Two values of an argument of `labdl.save`, `load` and `export` give other files or models, or it is refused."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ConfigError

pytestmark = pytest.mark.sample(backends=1)

X = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")


def net(backend, seed=0):
    return nn.Sequential(nn.Linear(3), nn.Tanh()).build((None, 4), backend=backend.name, seed=seed)


def output(model):
    return labdl.to_numpy(model.eval()(labdl.tensor(X, backend=model.backend)))


def test_every_argument_of_saving(backend, tmp_path):
    for at, seed in enumerate((0, 0, 1)):
        labdl.save(net(backend, seed), tmp_path / f"net{at}")
    files = [(tmp_path / f"net{at}.npz").read_bytes() for at in range(3)]
    assert files[0] == files[1] != files[2]


@pytest.mark.sample(False)
def test_every_argument_of_loading(backend, tmp_path):
    for seed in (0, 1):
        labdl.save(net(backend, seed), tmp_path / f"net{seed}")
    loaded = labdl.load(tmp_path / "net0", backend=backend.name)
    assert loaded.backend == backend.name != labdl.load(tmp_path / "net0", backend="numpy").backend
    assert not np.allclose(output(labdl.load(tmp_path / "net1", backend.name)), output(loaded))
    drawn = [labdl.load(tmp_path / "net0", backend.name, parameters=False, seed=seed) for seed in (5, 5, 6)]
    assert not np.allclose(output(drawn[0]), output(loaded))
    np.testing.assert_array_equal(output(drawn[0]), output(drawn[1]))
    assert not np.allclose(output(drawn[0]), output(drawn[2]))
    with pytest.raises(ConfigError, match="seed draws new parameters"):
        labdl.load(tmp_path / "net0", backend.name, seed=5)
    with pytest.raises(ConfigError, match="constants are values of inputs of ONNX files"):
        labdl.load(tmp_path / "net0", backend.name, constants={"axes": [1]})
    arguments = inspect.signature(labdl.load).parameters.keys()
    assert arguments == {"path", "backend", "parameters", "seed", "constants"}  # constants: test_onnx_import


def test_every_argument_of_exporting(backend, tmp_path):
    model = net(backend)
    labdl.export(model, tmp_path / "net.json")
    labdl.export(nn.Sequential(nn.Linear(3)).build((None, 4), backend=backend.name), tmp_path / "other.json")
    assert json.loads((tmp_path / "net.json").read_text()) != json.loads((tmp_path / "other.json").read_text())
    texts = {}
    for style in ("modules", "flat"):
        for target in ("torch", "paddle"):
            path = labdl.export(model, tmp_path / f"{style}_{target}.py", target, style=style)
            texts[style, target] = path.read_text().replace(path.stem, "")
    assert len({*texts.values()}) == 4
    for name in ("net.onnx", "net.json", "net.svg"):
        with pytest.raises(
            ConfigError, match=f"target is the framework of source code or a native checkpoint, refused-{name}"
        ):
            labdl.export(model, tmp_path / f"refused-{name}", "torch")
        with pytest.raises(ConfigError, match="style is that of source code"):
            labdl.export(model, tmp_path / f"refused-{name}", style="flat")
    assert not [*Path(tmp_path).glob("refused*")]
    assert inspect.signature(labdl.export).parameters.keys() == {"model", "path", "target", "style"}
