"""Long polling of runs by a page: all in one request, each event once, without delay."""

import asyncio
import json
import os
import struct
import time

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError

from labdl.lab.server import event_polling
from labdl.runs.reading.event_file import EVENTS, encode

pytest_plugins = ["pytest_jupyter.jupyter_server"]
START = {"kind": "start", "version": 2, "id": "one"}


@pytest.fixture
def follow(jp_fetch):
    """Ask for runs; each one's answer, its columns as arrays, or the status and the sentence of a refusal."""

    async def ask(*runs, wait=0):
        body = json.dumps({"runs": [{"offset": 0, "alive": None, **run} for run in runs], "wait": wait})
        try:
            response = await jp_fetch("labdl", "runs", "follow", method="POST", body=body, request_timeout=30)
        except HTTPClientError as error:
            return error.code, json.loads(error.response.body)["message"]
        [length] = struct.unpack_from("<I", response.body)
        told = json.loads(response.body[4 : 4 + length])["runs"]
        at = 4 + length + -length % 4
        for run in told:
            columns = np.frombuffer(response.body, "<f4", run["bytes"] // 4, at)
            at += run["bytes"]
            for event in run["events"]:
                if event["kind"] == "steps":
                    step, columns = columns[: event["length"]] + event["base"], columns[event["length"] :]
                    event["step"] = step.tolist()
                    for name in event["columns"]:
                        event[name], columns = columns[: event["length"]].tolist(), columns[event["length"] :]
            assert not len(columns)
        assert at == len(response.body)
        return told

    return ask


def write(folder, *events, text=b""):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / EVENTS, "ab") as file:
        file.write(encode({"time": time.time(), **event} for event in events) + text)


@pytest.fixture
def run(jp_root_dir):
    """A run that this very process has begun."""
    folder = jp_root_dir / "runs" / "one"
    write(folder, START | {"pid": os.getpid()})
    return folder


async def test_events_are_sent_from_the_offset_of_the_page(follow, run):
    [first] = await follow({"path": "runs/one"})
    assert (first["alive"], first["reset"], [e["kind"] for e in first["events"]]) == (True, False, ["start"])
    write(run, {"kind": "steps", "step": [1, 2], "loss": [0.5, float("nan")]}, {"kind": "epoch", "epoch": 1, "step": 2})
    [second] = await follow({"path": "runs/one", "offset": first["offset"], "alive": True})
    steps, epoch = second["events"]
    assert steps["step"] == [1, 2]
    assert steps["loss"][0] == 0.5
    assert np.isnan(steps["loss"][1])
    assert epoch["epoch"] == 1
    [third] = await follow({"path": "runs/one", "offset": second["offset"], "alive": True})
    assert (third["offset"], third["events"]) == (second["offset"], [])


async def test_best_values_come_with_epochs(follow, run):
    write(
        run,
        {"kind": "epoch", "epoch": 1, "step": 2, "loss": 0.5},
        {"kind": "epoch", "epoch": 2, "step": 4, "loss": 0.7},
    )
    [first] = await follow({"path": "runs/one"})
    assert first["best"] == {"loss": {"value": 0.5, "epoch": 1}}
    write(run, {"kind": "steps", "step": [5], "loss": [0.1]})
    [second] = await follow({"path": "runs/one", "offset": first["offset"], "alive": True})
    assert second["best"] is None
    write(run, {"kind": "epoch", "epoch": 3, "step": 6, "loss": 0.25})
    [third] = await follow({"path": "runs/one", "offset": second["offset"], "alive": True})
    assert third["best"] == {"loss": {"value": 0.25, "epoch": 3}}


async def test_several_are_answered_together_each_with_its_columns(follow, run, jp_root_dir):
    write(run, {"kind": "steps", "step": [1], "loss": [1.0]})
    write(jp_root_dir / "two", START | {"pid": os.getpid()}, {"kind": "steps", "step": [7, 8], "loss": [3.0, 4.0]})
    one, none, two = await follow({"path": "runs/one"}, {"path": "runs/none"}, {"path": "two"})
    assert (one["events"][1]["loss"], two["events"][1]["loss"], two["events"][1]["step"]) == ([1.0], [3.0, 4.0], [7, 8])
    assert (none["alive"], none["events"], none["offset"]) == (None, [], 0)


async def test_only_the_kinds_that_are_wanted(follow, run):
    write(run, {"kind": "steps", "step": [1], "loss": [1.0]}, {"kind": "health", "step": 1})
    [told] = await follow({"path": "runs/one", "kinds": ["start", "health"]})
    assert [event["kind"] for event in told["events"]] == ["start", "health"]
    assert told["offset"] == (run / EVENTS).stat().st_size


async def test_the_answer_waits_for_something_new(follow, run, jp_root_dir):
    size = (run / EVENTS).stat().st_size
    known = [{"path": "runs/one", "offset": size, "alive": True}, {"path": "runs/later"}]
    asking = asyncio.ensure_future(follow(*known, wait=10))
    await asyncio.sleep(0.5)
    assert not asking.done()
    write(run, {"kind": "epoch", "epoch": 1, "step": 4})
    one, later = await asking
    assert ([e["kind"] for e in one["events"]], later["alive"]) == (["epoch"], None)

    known[0]["offset"] = one["offset"]
    asking = asyncio.ensure_future(follow(*known, wait=10))
    await asyncio.sleep(0.3)
    write(jp_root_dir / "runs" / "later", START | {"pid": os.getpid()})
    one, later = await asking
    assert (one["events"], later["alive"]) == ([], True), "a run that was waited for"

    began = time.monotonic()
    await follow({"path": "runs/one", "offset": one["offset"], "alive": True}, wait=0.6)
    assert time.monotonic() - began > 0.5, "and in the end it says that there is nothing"


async def test_dead_process_is_reported_without_new_events(follow, jp_root_dir):
    process = await asyncio.create_subprocess_exec("sleep", "60")
    write(jp_root_dir / "run", START | {"pid": process.pid, "time": time.time()})
    [first] = await follow({"path": "run"})
    assert first["alive"] is True
    asking = asyncio.ensure_future(follow({"path": "run", "offset": first["offset"], "alive": True}, wait=10))
    process.kill()
    await process.wait()
    [gone] = await asking
    assert (gone["alive"], gone["events"]) == (False, [])


async def test_the_end_and_a_number_that_belongs_to_another_process(follow, run, jp_root_dir):
    write(run, {"kind": "end", "status": "finished"})
    write(jp_root_dir / "old", START | {"pid": os.getpid(), "time": 1.0})
    ended, old = await follow({"path": "runs/one"}, {"path": "old"})
    assert (ended["alive"], old["alive"]) == (False, False)


async def test_partial_line_is_read_when_complete(follow, run):
    [first] = await follow({"path": "runs/one"})
    write(run, text=b'{"kind": "ep')
    [half] = await follow({"path": "runs/one", "offset": first["offset"], "alive": True})
    assert (half["events"], half["offset"]) == ([], first["offset"])
    write(run, text=b'och", "time": 2}\n')
    [whole] = await follow({"path": "runs/one", "offset": first["offset"], "alive": True})
    assert whole["events"] == [{"kind": "epoch", "time": 2}]


async def test_long_runs_come_in_pieces(follow, run, monkeypatch):
    monkeypatch.setattr(event_polling, "_LIMIT", 300)
    write(run, *({"kind": "log", "message": f"{i}"} for i in range(50)), {"kind": "log", "message": "x" * 3000})
    events, offset, answers = [], 0, 0
    while len(events) < 52:
        [told] = await follow({"path": "runs/one", "offset": offset, "alive": True})
        assert told["offset"] > offset
        events, offset, answers = events + told["events"], told["offset"], answers + 1
    assert answers > 5
    assert len(events[-1]["message"]) == 3000


async def test_replaced_file_is_read_from_the_start(follow, run):
    write(run, {"kind": "log", "message": "x" * 100})
    [first] = await follow({"path": "runs/one"})
    (run / EVENTS).unlink()
    write(run, START | {"pid": os.getpid(), "id": "again"})
    [told] = await follow({"path": "runs/one", "offset": first["offset"], "alive": True})
    assert (told["reset"], told["events"][0]["id"]) == (True, "again")


@pytest.mark.parametrize("path", ["../outside", ".secret/run", "runs/link", "", "/etc", "a\0b", "runs"])
async def test_invalid_runs_do_not_affect_others(follow, run, jp_root_dir, path):
    for folder in (jp_root_dir.parent / "outside", jp_root_dir / ".secret" / "run"):
        write(folder, START | {"pid": os.getpid()})
    (jp_root_dir / "runs" / "link").symlink_to(jp_root_dir.parent / "outside")
    none, one = await follow({"path": path}, {"path": "runs/one"})
    assert (none["alive"], none["events"]) == (None, [])
    assert len(one["events"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"runs": []},
        {"runs": [{"path": "a", "offset": 0}] * 65},
        {"runs": ["a"]},
        {"runs": [{"path": 1, "offset": 0}]},
        {"runs": [{"path": "a"}]},
        {"runs": [{"path": "a", "offset": 0, "alive": 1}]},
        {"runs": [{"path": "a", "offset": 0, "kinds": [1]}]},
        {"runs": [{"path": "a", "offset": 0}], "wait": -1},
        {"runs": [{"path": "a", "offset": 0}], "wait": 1e9},
        {"runs": [{"path": "a", "offset": 0}], "wait": "long"},
    ],
)
async def test_invalid_follow_requests(jp_fetch, body):
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("labdl", "runs", "follow", method="POST", body=json.dumps(body))
    assert error.value.code == 400
    assert len(json.loads(error.value.response.body)["message"]) > 20


async def test_where_the_folder_of_an_output_lies(jp_fetch, run, jp_root_dir):
    async def find(**given):
        response = await jp_fetch("labdl", "runs", "find", params=given)
        return json.loads(response.body)["path"]

    assert await find(folder=str(run)) == "runs/one"
    assert await find(beside="runs/one", notebook="a.ipynb", folder="/elsewhere") == "runs/one"
    assert await find(beside="../runs/one", notebook="sub/a.ipynb") == "runs/one"
    for given in (
        {"folder": str(jp_root_dir)},
        {"folder": "/etc"},
        {"beside": "../../etc", "notebook": "a.ipynb"},
        {},
        {"folder": "\0"},
        {"beside": ".secret/run"},
        {"folder": "x" * 5000},
    ):
        assert await find(**given) is None, given


async def test_the_picture_that_a_notebook_keeps(jp_fetch, run):
    write(
        run,
        {"kind": "steps", "step": [1, 2], "loss": [1.0, 0.5]},
        {"kind": "end", "status": "finished", "message": None},
    )
    response = await jp_fetch("labdl", "runs", "picture", params={"path": "runs/one"})
    answer = json.loads(response.body)
    assert answer["final"] is True
    assert answer["svg"].startswith("<svg")
    assert len(answer["svg"].encode()) <= 20_000
