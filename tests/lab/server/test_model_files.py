"""The parameters of a model go where its structure goes, through Jupyter's own operations on files."""

import json

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError

import labdl
from labdl.graph import Edge, Graph, Node
from labdl.runs import control

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture
def jp_server_config(jp_server_config):
    return jp_server_config | {"FileContentsManager": {"delete_to_trash": False}}


@pytest.fixture
def contents(jp_fetch):
    async def send(path, method, body=None):
        response = await jp_fetch(
            "api", "contents", path, method=method, body=None if body is None else json.dumps(body)
        )
        return json.loads(response.body) if response.body else None

    return send


@pytest.fixture
def model(jp_root_dir):
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)}), "a": Node("Linear", "first", {"out_features": 2})}
    labdl.save(Graph(nodes, {"e": Edge("i", "a")}).to_module().build(backend="numpy", seed=0), jp_root_dir / "net")
    return jp_root_dir


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".labdl", ".npz"))


async def test_parameters_are_renamed_moved_copied_and_deleted(contents, model):
    await contents("net.labdl", "PATCH", {"path": "other.labdl"})
    assert names(model) == ["other.labdl", "other.npz"]
    (model / "sub").mkdir()
    await contents("other.labdl", "PATCH", {"path": "sub/other.labdl"})
    assert (names(model), names(model / "sub")) == ([], ["other.labdl", "other.npz"])
    response = await contents("sub", "POST", {"copy_from": "sub/other.labdl"})
    stem = response["name"].removesuffix(".labdl")
    assert (model / "sub" / f"{stem}.npz").read_bytes() == (model / "sub" / "other.npz").read_bytes()
    labdl.load(model / "sub" / stem, backend="numpy")
    await contents("", "POST", {"copy_from": "sub/other.labdl"})
    assert names(model) == ["other.labdl", "other.npz"]
    await contents("sub/other.labdl", "DELETE")
    assert names(model / "sub") == [f"{stem}.labdl", f"{stem}.npz"]


async def test_a_parameter_file_is_not_replaced(contents, model):
    np.savez(model / "other.npz", x=np.zeros(3))
    with pytest.raises(HTTPClientError) as refusal:
        await contents("net.labdl", "PATCH", {"path": "other.labdl"})
    assert refusal.value.code == 409
    assert "other.npz exists already" in json.loads(refusal.value.response.body)["message"]
    assert names(model) == ["net.labdl", "net.npz", "other.npz"]


async def test_a_data_set_of_the_same_name_stays(contents, model):
    np.savez(model / "net.npz", x=np.zeros(3), y=np.zeros(3))
    await contents("net.labdl", "PATCH", {"path": "other.labdl"})
    assert names(model) == ["net.npz", "other.labdl"]
    await contents("other.labdl", "PATCH", {"path": "net.labdl"})
    await contents("net.labdl", "DELETE")
    assert names(model) == ["net.npz"]


async def test_other_files_are_as_before(contents, model):
    (model / "notes.txt").write_text("a")
    await contents("notes.txt", "PATCH", {"path": "notes.md"})
    await contents("net.labdl", "PATCH", {"path": "net.bak"})
    assert names(model) == ["net.npz"]


async def test_a_running_training_follows_every_renaming(contents, model, monkeypatch):
    sent = []
    monkeypatch.setattr(control, "append", lambda folder, *command: sent.append((folder.name, *command)))
    monkeypatch.setattr("labdl.runs.folder.is_process_alive", lambda start, folder: True)
    for name, written in (("one", "../../net.npz"), ("two", "../../elsewhere.npz"), ("old", None)):
        folder = model / "runs" / name
        folder.mkdir(parents=True)
        start = {"kind": "start", "version": 2, "time": 1.0, "pid": 1, "host": "here"}
        start |= {"save_to": written} if written else {}
        (folder / "events.jsonl").write_text(json.dumps(start) + "\n")
    (model / "sub").mkdir()
    for before, after in (("net", "a"), ("a", "sub/b"), ("sub/b", "sub/c")):
        await contents(f"{before}.labdl", "PATCH", {"path": f"{after}.labdl"})
    assert sent == [("one", "save_to", f"../../{name}.npz") for name in ("a", "sub/b", "sub/c")]
