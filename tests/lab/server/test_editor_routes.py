"""The REST routes of the editor: answers and error messages."""

import base64
import json
import os
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from example_graphs import graph_with_input
from tornado.httpclient import HTTPClientError

from labdl.runs.control import ControlFolder

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture
def labdl_fetch(jp_fetch):
    """Ask one of our routes; the answer's status and JSON."""

    async def fetch(route, *, method="GET", body=None, **params):
        content = {} if body is None else {"body": body if isinstance(body, (str, bytes)) else json.dumps(body)}
        try:
            response = await jp_fetch("labdl", *route.split("/"), method=method, params=params, **content)
        except HTTPClientError as error:
            response = error.response
        return response.code, json.loads(response.body)

    return fetch


@pytest.fixture
def graph():
    return graph_with_input()


@pytest.fixture
def run(jp_root_dir):
    """A run that this very process has begun."""
    folder = jp_root_dir / "runs" / "one"
    folder.mkdir(parents=True)
    write(folder, {"kind": "start", "pid": os.getpid(), "time": time.time()})
    return folder


def write(folder, *events):
    with open(folder / "events.jsonl", "a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def test_server_imports_no_framework():
    code = "import sys, labdl.lab.server.extension; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "tensorflow", "paddle", "mindspore"} & set(result.stdout.split())


async def test_layers_say_what_the_palette_needs(labdl_fetch):
    status, answer = await labdl_fetch("layers")
    assert status == 200
    assert answer["layers"]
    for layer in answer["layers"]:
        assert {"type", "label", "category", "summary", "palette", "inputs", "outputs", "schema"} <= layer.keys()


async def test_choices_for_training(labdl_fetch):
    status, answer = await labdl_fetch("datasets")
    assert status == 200
    assert {"datasets", "backends", "optimizers"} <= answer.keys()


async def test_new_graph_is_empty(labdl_fetch):
    status, graph = await labdl_fetch("new")
    assert (status, graph["nodes"]) == (200, {})
    assert (await labdl_fetch("check", method="POST", body={"graph": graph}))[1]["problems"] == []


async def test_a_graph_can_be_checked_and_written_as_code(labdl_fetch, graph):
    status, answer = await labdl_fetch("check", method="POST", body={"graph": graph})
    assert (status, answer["problems"]) == (200, [])
    assert answer["nodes"].keys() == graph["nodes"].keys()
    status, answer = await labdl_fetch("drawing", method="POST", body={"graph": graph})
    assert status == 200
    assert ElementTree.fromstring(answer["svg"])[0].text == graph["name"]
    status, answer = await labdl_fetch("code", method="POST", body={"graph": graph})
    assert status == 200
    assert answer["source"]


async def test_boxes_are_arranged(labdl_fetch):
    box = {"name": "block/a", "width": 208, "height": 58}
    body = {"nodes": {"a": box, "b": box}, "edges": [["a", "b"]], "frames": ["block"], "direction": "right"}
    status, answer = await labdl_fetch("layout", method="POST", body=body)
    assert status == 200
    (x, y), (second_x, second_y) = answer["positions"]["a"], answer["positions"]["b"]
    assert y == second_y
    assert x + 208 < second_x
    for wrong, sentence in (
        ({"direction": "up"}, "'direction' of the request"),
        ({"nodes": {"a": box | {"width": -1}}}, "'nodes.a.width' of the request"),
        ({"nodes": {"a//": box}}, "no id ends in //"),
        ({"edges": [["a"]]}, "'edges.0"),
    ):
        status, answer = await labdl_fetch("layout", method="POST", body=body | wrong)
        assert status == 400
        assert sentence in answer["message"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{nonsense", "not JSON"),
        ("[]", "object"),
        ("{}", "'graph'"),
        ('{"graph": 3}', "'graph'"),
    ],
)
async def test_bad_bodies_are_refused_with_a_sentence(labdl_fetch, body, expected):
    status, answer = await labdl_fetch("check", method="POST", body=body)
    assert status == 400
    assert expected in answer["message"]


async def test_body_too_large_is_refused(labdl_fetch, monkeypatch):
    monkeypatch.setattr("labdl.lab.server.base_handler.BODY_LIMIT", 10)
    status, answer = await labdl_fetch("check", method="POST", body={"graph": {}})
    assert status == 413
    assert "larger" in answer["message"]


async def test_requests_need_permission(jp_fetch):
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("labdl", "layers", headers={"Authorization": "token wrong"})
    assert error.value.code == 403


async def test_graph_file_goes_round(labdl_fetch, graph, jp_root_dir):
    status, saved = await labdl_fetch("graph", method="PUT", body={"content": graph}, path="net.labdl")
    assert status == 201
    assert saved["content"] is None
    assert saved["path"] == "net.labdl"
    status, model = await labdl_fetch("graph", path="net.labdl", hash=1)
    assert status == 200
    assert (model["type"], model["format"], model["writable"]) == ("file", "json", True)
    assert model["content"]["nodes"] == graph["nodes"]
    assert model["hash"]
    # the very same file again: neither the time nor the hash may say that another wrote it
    status, meta = await labdl_fetch("graph", path="net.labdl", content=0, hash=1)
    assert meta["content"] is None
    assert (meta["hash"], meta["last_modified"]) == (model["hash"], model["last_modified"])
    status, _ = await labdl_fetch("graph", method="PUT", body={"content": graph}, path="net.labdl")
    assert status == 200


async def test_file_is_hdf5(labdl_fetch, graph, jp_root_dir):
    await labdl_fetch("graph", method="PUT", body={"content": graph}, path="net.labdl")
    assert (jp_root_dir / "net.labdl").read_bytes().startswith(b"\x89HDF\r\n")


async def test_checkpoints_hold_for_graph_files(labdl_fetch, jp_fetch, graph):
    await labdl_fetch("graph", method="PUT", body={"content": graph}, path="net.labdl")
    response = await jp_fetch("api/contents/net.labdl/checkpoints", method="POST", body=b"")
    checkpoint = json.loads(response.body)["id"]
    changed = graph | {"nodes": {}, "edges": {}, "positions": {}}
    await labdl_fetch("graph", method="PUT", body={"content": changed}, path="net.labdl")
    await jp_fetch("api/contents/net.labdl/checkpoints", checkpoint, method="POST", body=b"")
    _, model = await labdl_fetch("graph", path="net.labdl")
    assert model["content"]["nodes"] == graph["nodes"]


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x89HDF\r\n\x1a\nbroken"])
async def test_broken_file_has_an_error_message(labdl_fetch, jp_root_dir, content):
    (jp_root_dir / "broken.labdl").write_bytes(content)
    status, answer = await labdl_fetch("graph", path="broken.labdl")
    assert status == 400
    assert "broken.labdl" in answer["message"]


async def test_broken_graph_is_not_written(labdl_fetch, jp_root_dir):
    status, answer = await labdl_fetch("graph", method="PUT", body={"content": {"nodes": 3}}, path="net.labdl")
    assert status == 400
    assert answer["message"]
    assert not (jp_root_dir / "net.labdl").exists()


@pytest.mark.parametrize("path", ["../out.labdl", ".hidden/net.labdl", ".net.labdl", "missing.labdl", ""])
async def test_paths_are_confined_as_contents_confines_them(labdl_fetch, jp_root_dir, graph, path):
    (jp_root_dir / ".hidden").mkdir()
    (jp_root_dir / ".hidden" / "net.labdl").write_bytes(b"secret")
    (jp_root_dir / ".net.labdl").write_bytes(b"secret")
    (jp_root_dir.parent / "out.labdl").write_bytes(b"secret")
    status, answer = await labdl_fetch("graph", path=path)
    assert status in (403, 404)
    assert "secret" not in answer["message"]


async def test_save_as_through_contents_still_writes_a_model_file(labdl_fetch, jp_fetch, graph, jp_root_dir):
    model = {"type": "file", "format": "json", "content": graph}
    await jp_fetch("api/contents/copy.labdl", method="PUT", body=json.dumps(model))
    status, model = await labdl_fetch("graph", path="copy.labdl")
    assert status == 200
    assert model["content"]["nodes"] == graph["nodes"]


async def test_text_under_a_model_name_is_refused(jp_fetch, jp_root_dir):
    model = {"type": "file", "format": "text", "content": "hello"}
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("api/contents/text.labdl", method="PUT", body=json.dumps(model))
    assert error.value.code == 400
    assert not (jp_root_dir / "text.labdl").exists()


async def test_other_files_are_left_alone(jp_fetch, jp_root_dir):
    data = base64.b64encode(b"\x89HDF").decode()
    await jp_fetch(
        "api/contents/up.labdl", method="PUT", body=json.dumps({"type": "file", "format": "base64", "content": data})
    )
    assert (jp_root_dir / "up.labdl").read_bytes() == b"\x89HDF"
    await jp_fetch(
        "api/contents/a.txt", method="PUT", body=json.dumps({"type": "file", "format": "text", "content": "hello"})
    )
    assert (jp_root_dir / "a.txt").read_text() == "hello"


async def test_training_code(labdl_fetch, graph, jp_root_dir):
    settings = {"backend": "torch", "dataset": "digits", "optimizer": "adam"}
    settings |= {"learning_rate": 0.001, "epochs": 3, "batch_size": 32}
    status, answer = await labdl_fetch("train", method="POST", body={"path": "sub/net.labdl"} | settings)
    assert status == 404
    (jp_root_dir / "sub").mkdir()
    await labdl_fetch("graph", method="PUT", body={"content": graph}, path="sub/net.labdl")
    status, answer = await labdl_fetch("train", method="POST", body={"path": "sub/net.labdl"} | settings)
    assert status == 200
    compile(answer["code"], "<train>", "exec")
    assert answer["run"].startswith("sub/runs/")


@pytest.mark.parametrize("path", ["runs/none", "runs", "../outside", ".secret/run", "runs/link", ""])
async def test_only_run_folders_under_the_root_are_read(labdl_fetch, run, jp_root_dir, path):
    for folder in (jp_root_dir.parent / "outside", jp_root_dir / ".secret" / "run"):
        folder.mkdir(parents=True)
        write(folder, {"kind": "start", "pid": 1, "time": 1.0})
    (jp_root_dir / "runs" / "link").symlink_to(jp_root_dir.parent / "outside")
    status, _ = await labdl_fetch("runs/picture", path=path)
    assert status == 404
    status, _ = await labdl_fetch("run/control", method="POST", body={"path": path, "command": "stop"})
    assert status == 404
    assert not list(jp_root_dir.parent.rglob("control"))


async def test_commands_are_appended_for_the_run(labdl_fetch, run):
    sent = [
        {"command": "pause"},
        {"command": "checkpoint"},
        {"command": "learning_rate", "value": 0.01},
        {"command": "learning_rate", "value": 0},
        {"command": "add_epochs", "value": 3},
    ]
    reader = ControlFolder(run / "control")
    for number, command in enumerate(sent):
        body = {"path": "runs/one", **command, **({"id": "mine"} if not number else {})}
        status, _ = await labdl_fetch("run/control", method="POST", body=body)
        assert status == 202
    found = reader.commands()
    assert [(order.command, order.value) for order in found] == [(c["command"], c.get("value")) for c in sent]
    assert len({order.identity for order in found}) == len(sent)
    assert found[0].identity == "mine"


async def test_a_sweep_takes_commands_in_its_own_folder(labdl_fetch, run):
    status, _ = await labdl_fetch("run/control", method="POST", body={"path": "runs", "command": "stop"})
    assert status == 404
    (run.parent / "group.json").write_text('{"version": 1, "kind": "sweep"}')
    reader = ControlFolder(run.parent / "control")
    status, _ = await labdl_fetch("run/control", method="POST", body={"path": "runs", "command": "stop"})
    assert status == 202
    assert [order.command for order in reader.commands()] == ["stop"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"command": "explode"},
            "command wants one of pause, resume, step, stop, checkpoint, learning_rate, add_epochs, branch, "
            "save_to, received 'explode'",
        ),
        ({"command": ["stop"]}, "command wants one of pause, .*, received \\['stop'\\]"),
        ({}, "command wants one of pause, .*, received None"),
        ({"command": "learning_rate"}, "learning_rate wants a number at least 0, received None"),
        ({"command": "learning_rate", "value": -1}, "learning_rate wants a number at least 0, received -1"),
        ({"command": "learning_rate", "value": "0.1"}, "learning_rate wants a number at least 0, received '0.1'"),
        ({"command": "learning_rate", "value": float("nan")}, "learning_rate wants a number at least 0, received nan"),
        ({"command": "learning_rate", "value": 10**400}, "learning_rate wants a number at least 0, received 1000"),
        ({"command": "add_epochs"}, "add_epochs wants an integer at least 1, received None"),
        ({"command": "add_epochs", "value": 0}, "add_epochs wants an integer at least 1, received 0"),
        ({"command": "add_epochs", "value": 1.5}, "add_epochs wants an integer at least 1, received 1.5"),
        ({"command": "add_epochs", "value": True}, "add_epochs wants an integer at least 1, received True"),
    ],
)
async def test_invalid_commands_have_error_messages(given, sentence, labdl_fetch, run):
    status, answer = await labdl_fetch("run/control", method="POST", body={"path": "runs/one", **given})
    assert status == 400
    assert re.match(sentence, answer["message"])
    assert len(answer["message"]) < 200
    assert not (run / "control.jsonl").exists()


async def test_failed_command_has_an_error_message(labdl_fetch, run):
    (run / "control").write_text("")
    status, answer = await labdl_fetch("run/control", method="POST", body={"path": "runs/one", "command": "stop"})
    assert status == 500
    assert answer["message"] == "The command could not be written to the run's folder: File exists."
