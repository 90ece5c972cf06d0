"""Layers of any name through every file: structure, parameters, native checkpoints, ONNX, and source."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl.graph import Edge, Graph, Node
from labdl.graph.codegen.source import class_name

sys.path.insert(0, str(Path(__file__).parents[1] / "files"))
from inputs import SUFFIXES

pytestmark = pytest.mark.sample(backends=2)

NAMES = ("卷积层", "é", "блок/मॉडल")
X = np.random.default_rng(0).normal(size=(2, 1, 6, 6)).astype("float32")


def graph():
    nodes = {
        "i": Node("Input", "图", {"shape": (None, 1, 6, 6)}),
        "c": Node("Conv2d", NAMES[0], {"out_channels": 3}),
        "n": Node("BatchNorm", NAMES[1]),
        "f": Node("Flatten", "плоско"),
        "l": Node("Linear", NAMES[2], {"out_features": 2}),
    }
    chain = "icnfl"
    edges = {f"e{a}": Edge(a, b) for a, b in itertools.pairwise(chain)}
    return Graph(nodes, edges, "模型")


@pytest.fixture
def model(backend):
    return graph().to_module().build(backend=backend.name, seed=0).eval()


def output(model):
    return labdl.to_numpy(model(labdl.tensor(X, backend=model.backend)))


def assert_same(model, other):
    assert list(other.state_dict()) == list(model.state_dict())
    np.testing.assert_allclose(output(other), output(model), rtol=1e-5, atol=1e-5)


def test_files_keep_the_names(model, backend, tmp_path):
    labdl.save(model, tmp_path / "模型")
    with np.load(tmp_path / "模型.npz") as values:
        assert {key.rpartition("/")[0] for key in values} >= set(NAMES)
    assert_same(model, labdl.load(tmp_path / "模型", backend=backend.name).eval())


def test_native_checkpoints_keep_the_names(model, backend, tmp_path):
    for number, suffix in enumerate(SUFFIXES[backend.name]):
        path = labdl.save_checkpoint(model, tmp_path / f"net{number}{suffix}", framework=backend.name)
        other = graph().to_module().build(backend=backend.name, seed=1).eval()
        assert_same(model, labdl.load_checkpoint(other, path))


def test_onnx_keeps_the_model(model, tmp_path):
    from labdl.saving.onnx import import_onnx

    labdl.export(model, tmp_path / "net.onnx")
    other = import_onnx(tmp_path / "net.onnx").build(backend="numpy").eval()
    np.testing.assert_allclose(output(other), output(model), rtol=1e-5, atol=1e-5)


def test_source_keeps_the_model(model, backend, tmp_path):
    labdl.export(model, tmp_path / "net.py", target=backend.name)
    spec = importlib.util.spec_from_file_location("net_of_names", tmp_path / "net.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exported = vars(module)[class_name(model.graph.name)]()
    if hasattr(exported, "eval"):
        exported.eval()
    prediction = exported(labdl.tensor(X, backend=backend.name))
    np.testing.assert_allclose(labdl.to_numpy(prediction), output(model), rtol=1e-5, atol=1e-5)


def test_a_compiled_model_trains(backend):
    model = graph().to_module()
    trainer = labdl.Trainer(model, loss="cross_entropy", backend=backend.name, compiled=True, epochs=1)
    trainer.fit(X, np.array([0, 1]))
    assert np.isfinite(output(model.eval())).all()
