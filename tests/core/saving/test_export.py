"""`labdl.export` selects the format by suffix, and accepts models, graphs and files."""

import json

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ConfigError, ModelError
from labdl.graph import Graph


@pytest.fixture(params=["model", "path", "text", "parameters", "graph"])
def given(request, saved):
    model, structure, weights = saved
    return {"model": model, "path": structure, "text": str(structure), "parameters": weights, "graph": model.graph}[
        request.param
    ]


def test_export_json_from_files_models_and_graphs(given, saved, tmp_path):
    path = labdl.export(given, tmp_path / "out.json")
    assert path == tmp_path / "out.json"
    assert Graph.from_dict(json.loads(path.read_text())) == saved[0].graph


def test_export_svg_from_files_models_and_graphs(given, saved, tmp_path):
    path = labdl.export(given, tmp_path / "out.svg")
    assert path.read_text(encoding="utf-8") == saved[0].graph.to_svg()


@pytest.mark.parametrize("suffix", [".pt", ".safetensors", ".weights.h5", ".pdparams", ".ckpt"])
@pytest.mark.slow
def test_native_checkpoints(saved, suffix, tmp_path):
    model, structure, _ = saved
    path = labdl.export(structure, tmp_path / f"out{suffix}")
    again = labdl.load(structure, backend="numpy", parameters=False, seed=5)
    labdl.load_checkpoint(again, path)
    assert all(np.array_equal(v, again.state_dict()[k]) for k, v in model.state_dict().items())


def test_export_is_atomic(saved, tmp_path, monkeypatch):
    labdl.export(saved[0], tmp_path / "out.json")
    before = (tmp_path / "out.json").read_bytes()
    monkeypatch.setattr(labdl.bounded.atomic_write.os, "fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        labdl.export(nn.Sequential(nn.ReLU()).build((None, 2), backend="numpy"), tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "target", "sentence"),
    [
        ("net.txt", None, "net.txt does not have the suffix of a checkpoint"),
        ("net.onnx", "caffe", "target wants one of mindspore, paddle, tensorflow, torch, received 'caffe'"),
        ("net.py", "numpy", "target wants one of"),
    ],
)
def test_unknown_names_and_options(saved, name, target, sentence, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        labdl.export(saved[0], tmp_path / name, target=target)
    assert not (tmp_path / name).exists()


def test_a_model_that_is_not_built(tmp_path):
    for name in ("net.json", "net.svg", "net.pt"):
        with pytest.raises(ModelError, match="not built"):
            labdl.export(nn.Sequential(nn.Linear(2)), tmp_path / name)
