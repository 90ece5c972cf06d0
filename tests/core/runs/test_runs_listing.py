"""Listing of runs below a folder: search, rows, and incremental updates."""

import dataclasses
import json
import os
import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_files import NOW, end, epoch, gone, start, steps, trained, written

from labdl import runs
from labdl.errors import ConfigError
from labdl.runs.listing import listing
from labdl.runs.metadata import group
from labdl.runs.reading.event_file import EVENTS
from labdl.runs.reading.summary import Summary
from labdl.runs.schema import parse


def over(**values):
    """The events of a training that is over, with its summary."""
    events, summary = trained(**values), Summary()
    for event in events:
        summary.update(parse(event))
    return [*events, end(summary=summary.to_dict())]


def test_runs_are_found_in_nested_folders(tmp_path):
    for place in (
        "runs/a",
        "runs/sweep/trial-1",
        "b",
        "runs/a/checkpoints/c",
        "runs/a/below",
        ".hidden/d",
        "node_modules/e",
        "x/code/f",
    ):
        written(tmp_path / place, over())
    written(tmp_path / "env2/lib/run", over())
    (tmp_path / "env2/pyvenv.cfg").touch()
    outside = written(tmp_path.parent / f"{tmp_path.name}-outside" / "run", over())
    (tmp_path / "link").symlink_to(outside.parent)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / EVENTS).symlink_to(outside / EVENTS)
    os.mkfifo(tmp_path / "x" / EVENTS)
    found = runs.list(tmp_path)
    assert sorted(run.path for run in found) == ["b", "runs/a", "runs/sweep/trial-1"]
    assert found.truncation is None
    assert [run.path for run in runs.list(tmp_path / "b")] == ["."]
    assert runs.list(tmp_path / "b")[0].id == "b"
    with pytest.raises(NotADirectoryError):
        runs.list(tmp_path / "nowhere")


def test_limits_of_the_search_are_reported(tmp_path, monkeypatch):
    written(tmp_path / "/".join("abcdefghij"), over())
    assert "deep" in runs.list(tmp_path).truncation
    monkeypatch.setattr("labdl.runs.listing.discovery.RUNS", 2)
    for name in "xyz":
        written(tmp_path / name, over())
    found = runs.list(tmp_path)
    assert len(found) == 2
    assert "more than 2 runs" in found.truncation


def test_row_equals_record(tmp_path):
    written(tmp_path / "one", over(params={"learning_rate": 0.1}, group="sweep-1", parent={"id": "zero", "step": 7}))
    runs.write_about(tmp_path / "one", name=" My\nrun ", tags=["a", "b", "a"], note="first\nsecond")
    (row,), record = runs.list(tmp_path), runs.open(tmp_path / "one")
    summary = record.summary()
    for name in ("id", "status", "alive", "time", "seconds", "step", "model", "backend", "settings"):
        assert getattr(row, name) == getattr(record, name), name
    for name in ("figures", "best", "spark", "epoch"):
        assert getattr(row, name) == summary[name], name
    assert (row.name, row.tags, row.note) == ("My run", ("a", "b"), "first\nsecond")
    assert (row.params, row.group, row.parent["id"], row.parameters) == ({"learning_rate": 0.1}, "sweep-1", "zero", 123)
    assert (row.epoch, row.epochs, row.loss, row.optimizer) == (3, 3, "cross_entropy", "adam")


def html_cells(page):
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", page)]


def test_a_notebook_shows_a_table_with_the_best_run_first(tmp_path):
    """What all runs have in common is one line below."""
    for name, loss in (("a<b", 0.7), ("best", 0.2), ("c", 0.4)):
        written(tmp_path / name, [start(model="Net", epochs=1), steps(1, 10), epoch(1, 10, loss=loss)])
    page = runs.list(tmp_path)._repr_html_()
    head, *rows = html_cells(page)
    assert [row[head.index("run")] for row in rows] == ["best", "c", "a&lt;b"]
    assert not {"model", "backend", "epochs"} & {*head}
    assert "<p>the same for all: " in page
    assert "model Net" in page
    assert 'style="text-align:right">0.2000<' in page
    written(tmp_path / "d", [start(model="Net", epochs=1), steps(1, 10), epoch(1, 10, loss=0.9, accuracy=0.8)])
    head, *rows = html_cells(runs.list(tmp_path)._repr_html_())
    assert [row[head.index("run")] for row in rows] == ["d", "best", "c", "a&lt;b"], "higher accuracies are better"


def test_a_notebook_shows_everything_of_a_single_run(tmp_path):
    assert "no runs below" in runs.list(tmp_path)._repr_html_()
    written(tmp_path / "one", over(model="Net"))
    head, row = html_cells(runs.list(tmp_path)._repr_html_())
    assert row[head.index("model")] == "Net"


def test_only_the_ends_of_a_long_ended_run_are_read(tmp_path, monkeypatch):
    told = {
        "step": 20_000,
        "epoch": 2000,
        "epochs": 2005,
        "seconds": 5,
        "figures": {"loss": 0.5},
        "best": {},
        "spark": [1, 0.5],
    }
    folder = written(tmp_path / "long", [*trained(2000, epochs=2000), end(summary=told)])
    assert (folder / EVENTS).stat().st_size > 4 * listing._END
    monkeypatch.setattr(listing.EventReader, "read", None)
    (row,) = runs.list(tmp_path)
    assert (row.status, row.step, row.epochs, row.model) == ("finished", 20_000, 2005, "Net")
    assert (row.figures, row.spark) == ({"loss": 0.5}, [1, 0.5])


def test_resumed_long_run_is_read_again(tmp_path):
    folder = written(tmp_path / "long", [*trained(2000, epochs=2000), end(summary=Summary().to_dict())])
    catalog = runs.Catalog(tmp_path)
    assert catalog.look()[0].status == "finished"
    written(folder, [start(step=10, epochs=5), steps(11, 20, after=40), epoch(2, 20, loss=0.01)])
    row = catalog.look(budget=None)[0]
    assert (row.status, row.step, row.epochs, row.figures["loss"]) == ("running", 20, 5, 0.01)


def test_update_reads_only_new_events(tmp_path, monkeypatch):
    for name in "ab":
        written(tmp_path / name, trained()[:3])
    read, whole = [], listing.EventReader.read

    def noted(reader):
        read.append((reader.path.parent.name, reader.offset))
        return whole(reader)

    monkeypatch.setattr(listing.EventReader, "read", noted)
    catalog = runs.Catalog(tmp_path)
    first = catalog.look()
    size = (tmp_path / "a" / EVENTS).stat().st_size
    read.clear()
    assert all(new is old for new, old in zip(catalog.look(), first, strict=True))
    assert read == []
    written(tmp_path / "a", [epoch(1, 10, loss=0.25)])
    (changed,) = [run for run in catalog.look() if run.path == "a"]
    assert changed.figures == {"loss": 0.25, "accuracy": 0.1}
    assert {name for name, _ in read} == {"a"}
    assert min(offset for _, offset in read) == size
    runs.write_about(tmp_path / "b", name="B")
    assert {run.name for run in catalog.look()} == {"", "B"}


def test_new_and_deleted_runs_are_seen(tmp_path):
    catalog = runs.Catalog(tmp_path)
    assert catalog.look() == []
    (tmp_path / "runs" / "new").mkdir(parents=True)
    assert catalog.look() == []
    written(tmp_path / "runs" / "new", [start()])
    assert [run.path for run in catalog.look()] == ["runs/new"]
    (tmp_path / "runs" / "new" / EVENTS).unlink()
    assert catalog.look() == []
    written(tmp_path / "runs" / "new", [start(model="Again")])
    assert [run.model for run in catalog.look()] == ["Again"]


def test_a_run_is_lost_when_its_process_is(tmp_path, monkeypatch):
    written(tmp_path / "killed", [start(**gone()), steps(1, 10)])
    written(tmp_path / "going", [start(), steps(1, 10)])
    catalog = runs.Catalog(tmp_path)
    assert {run.path: run.status for run in catalog.look()} == {"killed": "lost", "going": "running"}
    monkeypatch.setattr("labdl.runs.reading.status.is_process_alive", lambda start, folder: False)
    assert {run.path: run.status for run in catalog.look()} == {"killed": "lost", "going": "lost"}


def test_empty_file_is_waiting_then_lost(tmp_path):
    written(tmp_path / "new", [])
    assert [(run.status, run.alive) for run in runs.list(tmp_path)] == [("waiting", True)]
    os.utime(tmp_path / "new" / EVENTS, (NOW - 1000, NOW - 1000))
    assert [(run.status, run.alive) for run in runs.list(tmp_path)] == [("lost", False)]


def test_a_file_of_a_newer_version_is_a_row_that_says_so(tmp_path):
    written(tmp_path / "new", [start(version=9)])
    catalog = runs.Catalog(tmp_path)
    assert [(run.status, "upgrade" in run.message) for run in catalog.look()] == [("unreadable", True)]
    written(tmp_path / "new", [steps(1, 10)])
    assert [run.status for run in catalog.look()] == ["unreadable"]


def test_budget_defers_reading_to_the_next_update(tmp_path):
    for name in "abc":
        written(tmp_path / name, trained())
    catalog = runs.Catalog(tmp_path)
    assert all(run.time is None or run.step < 30 or run.step == 30 for run in catalog.look(budget=0.0))
    for _ in range(3):
        found = catalog.look(budget=0.0)
    assert [run.step for run in found] == [30, 30, 30]


def test_about_is_written_atomically(tmp_path):
    (tmp_path / "about.json").write_text('{"color": "red", "tags": "none", "name": 3}')
    assert runs.about(tmp_path) == runs.About()
    runs.write_about(tmp_path, name="a")
    runs.write_about(tmp_path, tags=["x"])
    assert runs.about(tmp_path) == runs.About("a", ("x",), "")
    assert json.loads((tmp_path / "about.json").read_text())["color"] == "red", "what a later version put there"
    assert os.listdir(tmp_path) == ["about.json"]
    for wrong in ({"name": "x" * 201}, {"tags": "x"}, {"tags": ["x"] * 51}, {"note": 3}, {"tags": [3]}):
        with pytest.raises(ConfigError, match="wants"):
            runs.write_about(tmp_path, **wrong)
    assert runs.about(tmp_path).name == "a"
    with pytest.raises(OSError, match="nowhere"):
        runs.write_about(tmp_path / "nowhere", name="a")


def test_concurrent_writes_leave_one_complete_file(tmp_path):
    def write(word):
        for _ in range(50):
            runs.write_about(tmp_path, name=word * 100, note=word * 5000)

    threads = [threading.Thread(target=write, args=(word,)) for word in "ab"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        about = runs.about(tmp_path)
        assert len(set(about.note)) <= 1
    assert os.listdir(tmp_path) == ["about.json"]


def test_group_json(tmp_path):
    assert group(tmp_path) is None
    (tmp_path / "group.json").write_text('{"version": 1, "kind": "sweep", "time": 12, "method": "grid"}')
    assert group(tmp_path) == {"version": 1, "kind": "sweep", "name": tmp_path.name, "time": 12.0, "method": "grid"}
    (tmp_path / "group.json").write_text("[" * 100_000)
    assert group(tmp_path) is None


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=300),
    st.binary(max_size=200),
    st.sampled_from(["a", "a\nb", "\x1b[31m", "名前", "<b>"]),
    st.booleans(),
)
def test_no_file_can_make_a_list_fail(tmp_path_factory, data, about, name, ended):
    folder = written(tmp_path_factory.mktemp("hostile") / name, [start()])
    with open(folder / EVENTS, "ab") as file:
        file.write(data + b"[" * 5000 + b"\n" + b'{"kind":"epoch","time":1,"x":' + b"1" * 400 + b"}\n")
    written(folder, [end(summary={"figures": {"loss": "x"}, "spark": [None, "x", [1]], "best": [1]})] if ended else [])
    (folder / "about.json").write_bytes(about)
    (found,) = runs.list(folder.parent)
    json.dumps(dataclasses.asdict(found), allow_nan=False)
    assert found.status == ("finished" if ended else "running")
    assert "\x1b" not in str(runs.list(folder.parent))
    assert len(str(runs.list(folder.parent)).splitlines()) == 2


def test_long_line_is_read(tmp_path):
    written(tmp_path / "wide", [start(settings={"x": "y" * 5_000_000}), steps(1, 10)])
    (row,) = runs.list(tmp_path)
    assert (row.step, row.settings) == (10, {})
