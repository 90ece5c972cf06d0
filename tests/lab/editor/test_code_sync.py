"""Python source read to the canvas: unchanged parts, and error messages."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError

import labdl
from labdl import lab, nn
from labdl.errors import FileFormatError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor.python_code import LONGEST, read
from labdl.lab.server import onnx_conversion

pytest_plugins = ["pytest_jupyter.jupyter_server"]

CANVAS = Graph(
    {
        "a": Node("Input", "input", {"shape": (None, 1, 8, 8)}),
        "b": Node("Conv2d", "conv", {"out_channels": 3, "kernel_size": 3, "use_bias": True}),
        "c": Node("ops.relu", "bend"),
        "d": Node("ops.relu", "bend_more"),
        "e": Node("Flatten", "flat"),
        "f": Node("Linear", "head", {"out_features": 10}),
    },
    {n: Edge(*pair) for n, pair in enumerate(zip("abcde", "bcdef", strict=True), 1)},
    name="digits net",
    positions={name: (float(n), 2.0 * n) for n, name in enumerate("abcdef")},
)
CANVAS = Graph.from_dict(CANVAS.to_dict())
SOURCE = CANVAS.to_python()


def after(*changes: tuple[str, str], canvas: Graph = CANVAS) -> Graph:
    source = canvas.to_python()
    for old, new in changes:
        assert source.count(old) == 1, (old, source)
        source = source.replace(old, new)
    answer = read(source, canvas.to_dict())
    assert answer["problem"] is None, answer["problem"]
    return Graph.from_dict(answer["graph"])


def test_the_text_of_a_canvas_is_that_canvas():
    found = after()
    assert found == CANVAS
    assert found.positions == CANVAS.positions
    assert found.name == "digits net"


def test_an_input_of_the_default_shape_keeps_it():
    nodes = {**CANVAS.nodes, "a": Node("Input", "input")}
    assert after(canvas=dataclasses.replace(CANVAS, nodes=nodes)).nodes.keys() == CANVAS.nodes.keys()


def test_a_changed_setting_changes_nothing_else():
    found = after(("nn.Linear(10)", "nn.Linear(20)"))
    head = dataclasses.replace(CANVAS.nodes["f"], params={"out_features": 20})
    assert found == dataclasses.replace(CANVAS, nodes={**CANVAS.nodes, "f": head})


def test_a_new_layer_has_an_id_of_its_own_and_the_others_keep_theirs():
    found = after(
        ("self.head =", "self.drop = nn.Dropout()\n        self.head ="),
        ("x = self.head(x)", "x = self.head(self.drop(x))"),
    )
    (new,) = found.nodes.keys() - CANVAS.nodes.keys()
    assert found.nodes[new] == Node("Dropout", "drop")
    assert new not in found.positions
    assert found.positions == CANVAS.positions
    assert {i: n for i, n in found.nodes.items() if i != new} == CANVAS.nodes


def test_operators_keep_names_and_ids_when_one_comes_before_them():
    found = after(("x = self.conv(x)", "x = ops.relu(self.conv(x)) * 2"))
    assert {i: n.name for i, n in found.nodes.items() if i in CANVAS.nodes} == {
        i: n.name for i, n in CANVAS.nodes.items()
    }


def test_a_renamed_layer_is_the_same_layer_and_another_type_stands_in_its_place():
    source = SOURCE.replace("self.head", "self.tail").replace("self.flat = nn.Flatten()", "self.flat = nn.Identity()")
    found = Graph.from_dict(read(source, CANVAS.to_dict())["graph"])
    assert found.nodes["f"].name == "tail"
    (other,) = found.nodes.keys() - CANVAS.nodes.keys()
    assert (found.nodes[other].type, found.positions[other]) == ("Identity", CANVAS.positions["e"])


def test_blocks_ties_and_shared_layers():
    graph = Graph(
        {
            "a": Node("Input", "input", {"shape": (None, 4)}),
            "b": Node("Linear", "block/0", {"out_features": 4}),
            "c": Node("ReLU", "block/1"),
            "d": Node("Linear", "again", {"out_features": 4}),
            "e": Node("Linear", "again_1", {}, "d"),
        },
        {n: Edge(*pair) for n, pair in enumerate(zip("abcd", "bcde", strict=True))},
        groups={"block": "Sequential"},
        ties={"again/kernel:0": "block/0/kernel:0"},
        positions={"block/": (7.0, 8.0)},
    )
    graph = Graph.from_dict(graph.to_dict())
    found = after(canvas=graph)
    assert found == graph
    assert found.positions == graph.positions


def test_names_that_python_spells_in_another_way_stay():
    graph = labdl.trace(nn.Sequential(nn.Linear(4), nn.ReLU()), (None, 3))
    assert [n.name for n in graph.nodes.values()] == ["input", "0", "1"]
    found = after(("nn.Linear(4)", "nn.Linear(5)"), canvas=graph)
    assert {i: n.name for i, n in found.nodes.items()} == {i: n.name for i, n in graph.nodes.items()}


def test_a_widget_reads_as_the_server_does(monkeypatch):
    monkeypatch.setattr("labdl.lab.widgets.base.read_static", lambda name: "")
    editor, sent = lab.Editor(CANVAS), []
    monkeypatch.setattr(editor, "send", sent.append)

    def ask(**fields):
        editor._on_message(editor, {"type": "request", "id": "1", "name": "read", **fields}, [])
        return sent.pop()

    answer = ask(source=SOURCE, graph=CANVAS.to_dict())
    assert Graph.from_dict(answer["result"]["graph"]) == CANVAS
    assert ask(source="nn.Linear(3)")["result"]["problem"] is None
    for wrong in ({}, {"source": 3}, {"source": "x", "graph": 3}):
        assert "source" in ask(**wrong)["error"] or "graph" in ask(**wrong)["error"]
    editor.close()


def test_another_class_renames_the_model():
    assert after(("class DigitsNet", "class Other")).name == "Other"


@pytest.mark.parametrize(
    ("source", "line", "why"),
    [
        (SOURCE.replace("nn.Flatten()", "nn.Flaten()"), 8, "did you mean 'Flatten'"),
        (SOURCE.replace("        return x", "       return x"), 17, "unindent"),
        (SOURCE.replace("self.flat(x)", "self.nothing(x)"), 15, "self.nothing is not a layer"),
        ("x" * (LONGEST + 1), None, "characters"),
        (SOURCE.replace("forward(self, x)", "forward(self, x, y)"), None, "add or delete an Input"),
    ],
)
def test_problems_have_a_line(source, line, why):
    answer = read(source, CANVAS.to_dict())
    assert answer["graph"] is None
    assert why in answer["problem"]["message"]
    assert answer["problem"]["line"] == line


def test_an_input_without_a_shape_is_named():
    graph = Graph({"a": Node("Input", "image", {"shape": None})}).to_dict()
    assert "'image' has no shape" in read(SOURCE, graph)["problem"]["message"]


async def ask(jp_fetch, body):
    try:
        response = await jp_fetch("labdl", "read", method="POST", body=json.dumps(body))
    except HTTPClientError as error:
        response = error.response
    return response.code, json.loads(response.body)


async def test_the_route(jp_fetch):
    status, answer = await ask(jp_fetch, {"source": SOURCE, "graph": CANVAS.to_dict()})
    assert (status, Graph.from_dict(answer["graph"])) == (200, CANVAS)
    status, answer = await ask(jp_fetch, {"source": "nn.Linear(3)", "graph": None})
    assert [n["type"] for n in answer["graph"]["nodes"].values()] == ["Linear"]
    status, answer = await ask(jp_fetch, {"source": "nothing of it"})
    assert (status, answer["problem"]["line"]) == (200, 1)
    for wrong in ({}, {"source": 3}, {"source": "x", "graph": 3}):
        assert (await ask(jp_fetch, wrong))[0] == 400


def test_reading_imports_no_framework():
    code = """
import sys
from labdl.lab.editor.python_code import read
assert read(sys.argv[1], None)["graph"]
print(*sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code, SOURCE], capture_output=True, text=True, check=True)
    assert not {"torch", "tensorflow", "paddle", "mindspore"} & set(result.stdout.split())


# -- ONNX files


async def convert(jp_fetch, **body):
    try:
        response = await jp_fetch("labdl", "convert", method="POST", body=json.dumps(body))
    except HTTPClientError as error:
        response = error.response
    return response.code, json.loads(response.body)


async def test_an_onnx_file_becomes_a_model_beside_it(jp_fetch, jp_root_dir):
    model = CANVAS.to_module().build(backend="numpy", seed=3)
    labdl.export(model, jp_root_dir / "net.onnx")
    assert await convert(jp_fetch, path="net.onnx") == (201, {"path": "net.labdl", "taken": []})
    x = np.random.default_rng(0).normal(size=(2, 1, 8, 8)).astype("float32")
    made = labdl.load(jp_root_dir / "net.labdl", backend="numpy")
    np.testing.assert_allclose(made(x), model(x), rtol=1e-5, atol=1e-6)

    # what is there is replaced only where the person has agreed
    (jp_root_dir / "net.npz").write_bytes(b"mine")
    assert await convert(jp_fetch, path="net.onnx") == (200, {"path": None, "taken": ["net.labdl", "net.npz"]})
    assert (jp_root_dir / "net.npz").read_bytes() == b"mine"
    assert (await convert(jp_fetch, path="net.onnx", overwrite=True))[0] == 201
    assert (jp_root_dir / "net.npz").read_bytes() != b"mine"


@pytest.mark.sample(False)
async def test_invalid_onnx_files(jp_fetch, jp_root_dir):
    (jp_root_dir / "broken.onnx").write_bytes(b"nothing of it")
    (jp_root_dir / "other.txt").write_bytes(b"")
    status, answer = await convert(jp_fetch, path="broken.onnx")
    assert status == 400
    assert "broken.onnx" in answer["message"]
    assert not (jp_root_dir / "broken.labdl").exists()
    for path in ("other.txt", "missing.onnx", "../broken.onnx", ".hidden.onnx"):
        assert (await convert(jp_fetch, path=path))[0] == 404


@pytest.mark.sample(False)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_conversion_has_a_memory_limit(tmp_path, monkeypatch):
    model = nn.Sequential(nn.Linear(2000)).build((None, 4000), backend="numpy", seed=0)
    data = labdl.export(model, tmp_path / "net.onnx").read_bytes()
    assert onnx_conversion.convert(data, "net.onnx")
    monkeypatch.setattr(onnx_conversion, "MEMORY", 2**28)
    monkeypatch.setattr(onnx_conversion, "_FOR_EACH_BYTE", 0)
    with pytest.raises(FileFormatError, match=r"net.onnx (takes more memory than|could not be converted)"):
        onnx_conversion.convert(data, "net.onnx")


def test_failed_conversion_has_an_error_message(monkeypatch):
    monkeypatch.setattr(onnx_conversion, "LARGEST", 3)
    with pytest.raises(FileFormatError, match="are converted in a notebook"):
        onnx_conversion.convert(b"more than that", "net.onnx")
    monkeypatch.setattr(onnx_conversion, "LARGEST", 100)
    monkeypatch.setattr(onnx_conversion, "SECONDS", 0.01)
    with pytest.raises(FileFormatError, match="could not be converted within"):
        onnx_conversion.convert(b"x", "net.onnx")
    monkeypatch.setattr(onnx_conversion, "SECONDS", 60)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(FileFormatError, match="ended with status 1"):
        onnx_conversion.convert(b"x", "net.onnx")
