"""The widget of the runs of a folder: list, followed runs and requests."""

import os
import time

import pytest
from test_widgets import Page

from labdl.errors import ConfigError
from labdl.lab.widgets import front_end, runs
from labdl.runs.control import ControlFolder
from labdl.runs.metadata import about
from labdl.runs.reading.event_file import EVENTS, encode

START = {"kind": "start", "version": 2, "id": "one", "model": "Net", "backend": "torch", "epochs": 3}


def write(folder, *events):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / EVENTS, "ab") as file:
        file.write(encode({"time": time.time(), **event} for event in events))


@pytest.fixture(autouse=True)
def built_files(tmp_path, monkeypatch):
    (tmp_path / "static").mkdir()
    for name in ("runs.js", "runs.css"):
        (tmp_path / "static" / name).write_text("")
    monkeypatch.setattr(front_end, "STATIC", tmp_path / "static")
    monkeypatch.setattr(runs, "LOOK_SECONDS", 3600)  # the tests look themselves


@pytest.fixture
def board(tmp_path, monkeypatch):
    """The widget of a folder with a run that this process writes, and a page of it."""
    write(tmp_path / "all" / "one", START | {"pid": os.getpid()})
    widget = runs.Runs(tmp_path / "all")
    yield widget, Page(widget, monkeypatch)
    widget.close()


def of(page, kind):
    return [content for content, _ in page.received if content["type"] == kind]


def test_list_is_sent_completely_then_changes(board, tmp_path):
    widget, page = board
    page.tell({"type": "list", "token": ""})
    [first] = of(page, "runs")
    assert (first["whole"], first["folder"], [run["path"] for run in first["runs"]]) == (True, "all", ["one"])
    widget._look()
    assert len(of(page, "runs")) == 1, "nothing is new"
    write(tmp_path / "all" / "two", START | {"id": "two", "pid": os.getpid()})
    widget._look()
    second = of(page, "runs")[1]
    assert (second["whole"], second["since"], [run["path"] for run in second["runs"]]) == (
        False,
        first["token"],
        ["two"],
    )
    page.tell({"type": "list", "token": "of another time"})
    assert of(page, "runs")[2]["whole"], "a page that does not know what was before gets all"


def test_runs_are_followed_each_by_its_path(board, tmp_path):
    widget, page = board
    write(tmp_path / "all" / "two", START | {"id": "two", "pid": os.getpid()})
    page.tell({"type": "sync", "path": "one", "run": -1, "after": 0})
    page.tell({"type": "sync", "path": "two", "run": -1, "after": 0})
    assert [(e["path"], e["first"], e["events"][0]["id"]) for e in of(page, "events")] == [
        ("one", 0, "one"),
        ("two", 0, "two"),
    ]
    write(tmp_path / "all" / "one", {"kind": "steps", "step": [1, 2], "loss": [1.0, 0.5]})
    widget._look()
    news, buffers = page.received[-1]
    assert (news["path"], news["first"], news["alive"], len(buffers)) == ("one", 1, True, 1)
    write(tmp_path / "all" / "one", {"kind": "end", "status": "finished"})
    widget._look()
    assert of(page, "events")[-1]["alive"] is False
    count = len(page.received)
    widget._look()
    assert len(page.received) == count


def test_commands_reach_the_folder_of_a_run(board, tmp_path):
    _, page = board
    control = ControlFolder(tmp_path / "all" / "one" / "control")
    page.tell({"type": "command", "path": "one", "command": "learning_rate", "value": 0.1, "id": "mine"})
    [order] = control.commands()
    assert (order.command, order.value, order.identity) == ("learning_rate", 0.1, "mine")


def test_a_sweep_is_stopped_in_its_own_folder(board, tmp_path):
    _, page = board
    page.tell({"type": "command", "path": ".", "command": "stop", "id": "early"})
    assert not (tmp_path / "all" / "control").exists(), "no sweep"
    (tmp_path / "all" / "group.json").write_text('{"version": 1, "kind": "sweep"}')
    control = ControlFolder(tmp_path / "all" / "control")
    page.tell({"type": "command", "path": ".", "command": "stop", "id": "mine"})
    assert [(order.command, order.identity) for order in control.commands()] == [("stop", "mine")]


def test_concurrent_edits_are_not_overwritten(board, tmp_path):
    _, page = board
    page.tell({"type": "write", "path": "one", "id": "1", "words": {"note": "good"}, "before": {"note": ""}})
    assert (of(page, "written")[0]["done"], about(tmp_path / "all" / "one").note) == (True, "good")
    page.tell({"type": "write", "path": "one", "id": "2", "words": {"note": "bad"}, "before": {"note": ""}})
    answer = of(page, "written")[1]
    assert (answer["id"], answer["done"], answer["about"]["note"]) == ("2", False, "good")
    page.tell({"type": "write", "path": "none", "id": "3", "words": {"note": "bad"}})
    assert "no longer exists" in of(page, "written")[2]["error"]


def test_the_code_of_a_run(board, tmp_path):
    _, page = board
    (tmp_path / "all" / "one" / "code").mkdir()
    (tmp_path / "all" / "one" / "code" / "model.py").write_text("net = 1")
    page.tell({"type": "code", "path": "one"})
    assert of(page, "code")[0]["files"] == {"model.py": "net = 1"}


@pytest.mark.parametrize("path", ["../outside", "/etc", "", "none", "a\0b", 5, None, ["one"]])
def test_files_outside_of_the_folder_are_not_read(board, tmp_path, path):
    _, page = board
    write(tmp_path / "outside", START)
    page.tell({"type": "sync", "path": path, "after": 0})
    page.tell({"type": "command", "path": path, "command": "stop"})
    page.tell({"type": "code", "path": path})
    page.tell({"type": "write", "path": path, "id": "1", "words": {"note": "x"}})
    assert not of(page, "events")
    assert not (tmp_path / "outside" / "control").exists()
    assert all(not message["files"] for message in of(page, "code"))
    assert not (tmp_path / "outside" / "about.json").exists()


@pytest.mark.parametrize(
    "content", [None, 5, "list", [], {}, {"type": 1}, {"type": "command", "path": "one", "command": "x"}]
)
def test_invalid_messages_are_ignored(board, content):
    _, page = board
    page.tell(content)
    assert not page.received


def test_accepted_arguments(tmp_path):
    class Race:
        folder = tmp_path

    assert runs.Runs(Race()).folder == tmp_path
    with pytest.raises(ConfigError, match="Runs wants a folder, a race or a sweep, received int"):
        runs.Runs(5)
