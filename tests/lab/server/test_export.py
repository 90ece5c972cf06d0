"""Export of a model from the canvas: ONNX, source of each framework, and weights, as files that work."""

import io
import json
import typing
import zipfile
from urllib.parse import unquote

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from tornado.httpclient import HTTPClientError

import labdl
from labdl import nn
from labdl.framework_info import TRAINING
from labdl.lab.editor import service
from labdl.lab.messages.editor import ExportRequest

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture
def model(jp_root_dir):
    """A saved model, its graph, and an input."""
    model = nn.Sequential(nn.Conv2d(3), nn.Flatten(), nn.Linear(2)).build((None, 1, 6, 6), backend="numpy", seed=3)
    labdl.save(model, jp_root_dir / "net.labdl")
    return model, service.decode((jp_root_dir / "net.labdl").read_bytes(), "net.labdl")


@pytest.fixture
def ask(jp_fetch):
    async def ask(graph, kind, path="net.labdl"):
        body = json.dumps({"path": path, "graph": graph, "format": kind})
        try:
            response = await jp_fetch("labdl", "export", method="POST", body=body, request_timeout=300)
        except HTTPClientError as error:
            return json.loads(error.response.body)["message"]
        headers = response.headers
        return response.body, unquote(headers["X-LabDL-File"]), unquote(headers["X-LabDL-New-Weights"])

    return ask


def test_every_framework_is_offered():
    kinds = typing.get_args(ExportRequest.model_fields["format"].annotation)
    assert set(kinds) == {"onnx", "weights", *TRAINING}


async def test_onnx_has_the_weights_of_the_document(model, ask):
    trained, graph = model
    data, name, note = await ask(graph, "onnx")
    assert (name, note) == ("net.onnx", "")
    x = np.random.default_rng(0).normal(size=(4, 1, 6, 6)).astype("float32")
    loaded = onnx.load_from_string(data)
    (found,) = ReferenceEvaluator(loaded).run(None, {loaded.graph.input[0].name: x})
    np.testing.assert_allclose(found, trained(x), rtol=1e-4, atol=1e-5)


@pytest.mark.sample(False)
@pytest.mark.parametrize("kind", sorted(TRAINING))
async def test_source_comes_with_its_weights(model, ask, kind):
    data, name, note = await ask(model[1], kind)
    assert (name, note) == (f"net-{kind}.zip", "")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert sorted(archive.namelist()) == ["net.py", "net.weights.npz"]
        source = archive.read("net.py").decode()
    assert "import labdl" not in source
    compile(source, "net.py", "exec")


async def test_weights_are_those_of_the_file(model, ask, jp_root_dir):
    data, name, _ = await ask(model[1], "weights")
    assert (name, data) == ("net.npz", (jp_root_dir / "net.npz").read_bytes())
    (jp_root_dir / "net.npz").unlink()
    assert await ask(model[1], "weights") == "net has no parameters yet: train it first"


async def test_a_changed_model_is_exported_with_new_weights_and_says_so(model, ask):
    _, graph = model
    node = next(n for n in graph["nodes"].values() if n["type"] == "Linear")
    node["params"]["out_features"] = 5
    _, name, note = await ask(graph, "onnx")
    assert name == "net.onnx"
    assert "shape" in note


async def test_what_cannot_be_exported_is_an_error(model, ask):
    _, graph = model
    assert "does not exist" in await ask(graph, "onnx", path="other.labdl")
    assert "format" in await ask(graph, "tflite")
    next(n for n in graph["nodes"].values() if n["type"] == "Linear")["params"]["out_features"] = -1
    assert "out_features" in await ask(graph, "onnx")
