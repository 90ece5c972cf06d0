"""The draft's clause 7: parameters and structure in files that every framework reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from labdl import dispatch, framework_info, nn, standard
from labdl.conformance.row import array, close, equal_states, holds, row
from labdl.saving import load, save, swap_parameters
from labdl.saving.export import export
from labdl.saving.native.checkpoints import load_checkpoint, save_checkpoint

_X = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype("float32")


def _model() -> nn.Module:
    model = nn.Sequential(nn.Conv2d(4, kernel_size=3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Linear(2))
    return model.build(_X.shape, seed=0).eval()


@row("draft 7.1", "Standard names and shapes of parameters", "an .npz with kernel:0 as height × width × in × out")
def standard_names():
    model = _model()
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "net")
        with np.load(Path(folder) / "net.npz") as file:
            shapes = {name: file[name].shape for name in file.files}
    holds(shapes["0/kernel:0"] == (3, 3, 3, 4) and shapes["0/bias:0"] == (4,), f"the file has {shapes}")
    holds(shapes["4/kernel:0"] == (64, 2), "a linear kernel is in × out")


@row("draft 7.1", "Checkpoints of the framework's own form, written and read", "save_checkpoint and load_checkpoint")
def own_checkpoints():
    model = _model()
    suffix = framework_info.FACTS[dispatch.default()].checkpoint_suffix
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"net{suffix}"
        save_checkpoint(model, path)
        other = _model()
        other.get_parameter("0/bias:0").value = dispatch.get().variable(np.full(4, 9.0, "float32"))
        load_checkpoint(other, path)
        equal_states(other.state_dict(), model.state_dict())


@row(
    "draft 7.2",
    "Structure in HDF5 and parameters in .npz make a model on each framework",
    "saved here, loaded here and on NumPy",
)
def structure():
    model = _model()
    expected = array(model(standard.initialize(_X)))
    with tempfile.TemporaryDirectory() as folder:
        path, _ = save(model, Path(folder) / "net")
        with open(path, "rb") as file:
            holds(file.read(4) == b"\x89HDF", "the structure is an HDF5 file")
        close(load(path).eval()(standard.initialize(_X)), expected)
        close(load(path, backend="numpy").eval()(_X), expected)


@row("draft 7.2", "Parameters are changed while a model is in use", "swap_parameters")
def hot_swap():
    model, other = (
        _model(),
        nn.Sequential(nn.Conv2d(4, kernel_size=3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Linear(2)),
    )
    other.build(_X.shape, seed=7).eval()
    with tempfile.TemporaryDirectory() as folder:
        _, weights = save(other, Path(folder) / "other")
        swap_parameters(model, weights)
    close(model(standard.initialize(_X)), array(other(standard.initialize(_X))))


@row("draft 7.2", "ONNX is written and read", "export, then load on this framework")
def onnx():
    from labdl.saving.onnx import import_onnx  # an extra, which may not be installed

    model = _model()
    with tempfile.TemporaryDirectory() as folder:
        path = export(model, Path(folder) / "net.onnx")
        close(import_onnx(path)(standard.initialize(_X)), array(model(standard.initialize(_X))))
