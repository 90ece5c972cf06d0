"""Records of runs: in progress, ended, resumed, killed, of an older version, and broken."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_files import NOW, end, epoch, gone, start, steps, trained, written

from labdl import runs
from labdl.errors import FileFormatError
from labdl.runs.reading.event_file import EVENTS, encode
from labdl.runs.reading.run_data import RunData
from labdl.runs.reading.step_columns import StepColumns
from labdl.runs.reading.step_list import StepList
from labdl.runs.reading.summary import Summary
from labdl.runs.schema import parse


def test_a_run_that_is_over_is_read_whole(tmp_path):
    record = runs.open(written(tmp_path / "one", [*trained(), end()]))
    assert (record.id, record.status, record.alive, record.model, record.backend) == (
        "one",
        "finished",
        False,
        "Net",
        "torch",
    )
    assert record.steps["step"].tolist() == list(range(1, 31))
    assert record.steps["loss"].tolist() == [1 / step for step in range(1, 31)]
    assert record.history["val_accuracy"] == [0.1, 0.2, 0.0]
    assert record.history["loss"] == [1 / 10, 1 / 20, 1 / 30]
    assert [row["samples_per_second"] for row in record.epochs] == [40.0] * 3
    assert record.rates["step"].tolist() == [0]
    assert record.rates["value"].tolist() == [0.1]
    assert record.times.tolist() == pytest.approx([NOW + step for step in range(1, 31)])
    assert record.seconds == 30
    assert record.step == 30
    assert record.error is None
    assert not record.steps["loss"].flags.writeable, "what one reader changed another would see"


def test_summary_has_the_best_value_of_each_metric(tmp_path):
    summary = runs.open(written(tmp_path, [*trained(), end()])).summary()
    assert summary["best"]["val_accuracy"] == {"value": 0.2, "epoch": 2}
    assert summary["best"]["error"] == {"value": 1.0, "epoch": 1}
    assert summary["best"]["val_loss"] == {"value": 2 / 30, "epoch": 3}
    assert summary["figures"]["val_accuracy"] == 0.0
    assert summary["epoch"] == 3
    assert summary["step"] == 30
    assert set(summary["higher"]) == {"accuracy", "val_accuracy"}
    assert len(summary["spark"]) == 30
    assert summary["spark"][0] == 1.0


def test_unknown_metric_has_no_best_value(tmp_path):
    record = runs.open(written(tmp_path, trained(higher=[], lower=[])))
    assert set(record.summary()["best"]) == {"loss", "val_loss"}


def test_refresh_reads_what_is_new(tmp_path):
    events = trained()
    record = runs.open(written(tmp_path, events[:4]))
    before = record.steps["loss"]
    assert (record.status, record.alive, len(record.epochs)) == ("running", True, 1)
    written(
        tmp_path, [*events[4:], end(status="failed", message="loss is NaN", place={"node": "head", "what": "output"})]
    )
    assert len(before) == 10
    record.refresh()
    assert (record.status, record.error, record.place["node"]) == ("failed", "loss is NaN", "head")
    assert len(record.steps["loss"]) == 30
    assert len(before) == 10


def test_partial_line_is_read_when_complete(tmp_path):
    line = encode([steps(1, 10)])
    written(tmp_path, [start()])
    with open(tmp_path / EVENTS, "ab") as file:
        file.write(line[:40])
    record = runs.open(tmp_path)
    assert record.step == 0
    with open(tmp_path / EVENTS, "ab") as file:
        file.write(line[40:])
    assert record.refresh().step == 10


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_truncated_file_is_read(tmp_path_factory, data):
    """What a kill leaves, and what a reader sees while the run writes."""
    whole = encode([*trained(), {"kind": "status", "time": NOW + 30, "status": "paused", "step": 30}, end()])
    folder = tmp_path_factory.mktemp("cut")
    at = data.draw(st.integers(0, len(whole)))
    (folder / EVENTS).write_bytes(whole[:at])
    record, catalog = runs.open(folder), runs.Catalog(folder)
    assert record.step == max((e["step"][-1] for e in told(whole[:at]) if e["kind"] == "steps"), default=0)
    assert [row.step for row in catalog.look()] == [record.step]
    with open(folder / EVENTS, "ab") as file:
        file.write(whole[at:])
    again = runs.open(folder)
    assert record.refresh().history == again.history
    assert record.status == again.status == "finished"
    assert record.summary() == again.summary()
    assert catalog.look()[0].figures == again.summary()["figures"]


def told(data):
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def test_events_after_the_resumed_step_are_dropped(tmp_path):
    told = [
        {"kind": kind, "time": NOW + 25, "step": 25, "message": "x", "alert": "plateau"}
        for kind in ("alert", "confusion")
    ]
    first = [*trained(), *told, {"kind": "rate", "time": NOW, "step": [22], "value": [0.01]}, end()]
    again = [start(step=20, time=NOW + 100), steps(21, 25, after=105, loss=[9.0] * 5), epoch(3, 30, val_accuracy=0.15)]
    record = runs.open(written(tmp_path, first + again))
    assert record.steps["step"].tolist() == list(range(1, 26))
    assert record.steps["loss"].tolist() == [*(1 / s for s in range(1, 21)), *[9.0] * 5]
    assert np.isnan(record.steps["accuracy"][20:]).all(), "a figure that the second part does not have"
    assert [row["epoch"] for row in record.epochs] == [1, 2, 3]
    assert record.epochs[2].get("loss") is None
    assert math.isnan(record.history["loss"][2])
    assert record.alerts == []
    assert record.events("confusion") == []
    assert record.rates["step"].tolist() == [0]
    assert [(mark["kind"], mark["step"]) for mark in record.marks] == [("resumed", 20)]
    assert record.status == "running"
    assert record.seconds == pytest.approx(30 + 5), "the break between them does not count"
    assert record.summary()["best"]["val_accuracy"] == {"value": 0.2, "epoch": 2}


def test_restarted_run_replaces_the_previous_one(tmp_path):
    record = runs.open(
        written(tmp_path, [*trained(), end(), start(time=NOW + 50, model="Other"), steps(1, 5, after=60)])
    )
    assert (record.model, record.step, record.epochs, record.marks) == ("Other", 5, [], [])
    assert record.summary()["best"] == {}
    assert record.seconds == 10


def test_marks_have_their_steps(tmp_path):
    did = [
        {"kind": "status", "time": NOW + 10, "status": "paused", "step": 10},
        {"kind": "learning_rate", "time": NOW + 15, "value": 0.01, "step": 10},
        {"kind": "status", "time": NOW + 20, "status": "running"},
        {"kind": "epochs", "time": NOW + 20, "epochs": 9},
    ]
    record = runs.open(written(tmp_path, [start(), steps(1, 10), *did, steps(11, 20, after=30)]))
    assert [(mark["kind"], mark["step"]) for mark in record.marks] == [
        ("status", 10),
        ("learning_rate", 10),
        ("status", 10),
        ("epochs", 10),
    ]
    assert record.seconds == 20, "of thirty seconds ten were a pause"
    assert record.total_epochs == 9


def test_a_killed_run_is_lost(tmp_path):
    record = runs.open(written(tmp_path, [start(**gone()), steps(1, 10)]))
    assert (record.status, record.alive, record.step) == ("lost", False, 10)


def test_layer_events_have_the_names_of_layers(tmp_path):
    health = {"kind": "health", "time": NOW, "step": 1, "parameters": {}, "outputs": {}}
    record = runs.open(written(tmp_path, [start(), {**health, "layers": ["a", "b"]}, {**health, "step": 2}]))
    assert [event["layers"] for event in record.events("health")] == [["a", "b"]] * 2


def test_version_1_is_read_and_a_later_one_refused(tmp_path):
    old = [
        {
            "kind": "start",
            "time": NOW,
            "version": 1,
            "id": "x",
            "pid": 1,
            "model": "Net",
            "backend": "paddle",
            "epochs": 2,
            "metrics": ["accuracy"],
            "settings": {"learning_rate": 0.1},
        },
        {"kind": "steps", "time": NOW + 1, "step": [1, 2], "loss": [1.0, None]},
        {"kind": "status", "time": NOW + 2, "status": "paused"},
        {"kind": "epoch", "time": NOW + 3, "epoch": 1, "step": 2, "loss": 0.5, "accuracy": 0.9},
        {"kind": "end", "time": NOW + 4, "status": "finished", "message": None},
    ]
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / EVENTS).write_text("".join(json.dumps(event) + "\n" for event in old))
    record = runs.open(folder)
    assert (record.status, record.backend, record.marks[0]["step"]) == ("finished", "paddle", 2)
    assert np.isnan(record.steps["loss"][1])
    assert record.summary()["figures"] == {"loss": 0.5, "accuracy": 0.9}
    written(tmp_path / "new", [start(version=3)])
    with pytest.raises(FileFormatError, match="upgrade labdl"):
        runs.open(tmp_path / "new")
    written(folder, [start(version=3), steps(1, 5)])
    for _ in range(2):
        with pytest.raises(FileFormatError, match="upgrade labdl"):
            record.refresh()
    with pytest.raises(FileNotFoundError, match=r"no events\.jsonl"):
        runs.open(tmp_path)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.sets(st.integers(0, 20)), st.integers(0, 30))
def test_grouping_of_steps_makes_no_difference(lengths, others, start_again):
    events, done = [start()], 0
    for place, length in enumerate(lengths):
        events += [{"kind": "log", "time": NOW + done, "message": "x"}] * (place in others)
        figures = {"loss": list(map(float, range(length)))} | ({"accuracy": [None] * length} if place % 5 == 4 else {})
        events.append(steps(done + 1, done + length, **figures))
        done += length
    events.insert(len(events) // 2, start(step=start_again))
    copies = [json.loads(json.dumps(events)) for _ in range(2)]
    together, apart = RunData(), RunData()
    together.update(copies[0])
    for event in copies[1]:
        apart.update([event])
    for name, column in apart.steps.arrays().items():
        np.testing.assert_array_equal(together.steps.arrays()[name], column)
    np.testing.assert_allclose(together.steps.times(), apart.steps.times(), rtol=0, atol=1e-5)
    assert together.status.summary() == apart.status.summary()
    assert together.step == apart.step


@given(st.lists(st.one_of(st.tuples(st.integers(0, 9), st.none()), st.integers(0, 9)), max_size=40))
def test_rows_after_a_step_are_discarded(edits):
    rows, wanted = StepList(), []
    for place, edit in enumerate(edits):
        if isinstance(edit, tuple):
            rows.append(edit[0], (edit[0], place))
            wanted.append((edit[0], place))
        else:
            rows.truncate(edit)
            wanted = [row for row in wanted if row[0] <= edit]
        assert (list(rows), len(rows)) == (wanted, len(wanted))


@given(st.lists(st.tuples(st.sampled_from(["loss", "accuracy", "cut", "view"]), st.integers(0, 2000)), max_size=12))
def test_columns_grow_and_shrink_and_their_views_do_not_change(edits):
    columns, wanted, views = StepColumns(), [], []
    for what, number in edits:
        begin = columns.last + 1
        if what == "cut":
            columns.truncate(number)
            wanted = [row for row in wanted if row[0] <= number]
        elif what == "view":
            views.append((columns.arrays(), list(wanted)))
        elif number:
            values = [float(len(wanted) + n) for n in range(number)]
            columns.add(parse(steps(begin, begin + number - 1, **{what: values})), None)
            wanted += [(begin + n, what, value) for n, value in enumerate(values)]
    for arrays, rows in [*views, (columns.arrays(), wanted)]:
        assert arrays["step"].tolist() == [step for step, _, _ in rows]
        for name in arrays.keys() - {"step"}:
            np.testing.assert_array_equal(arrays[name], [v if of == name else np.nan for _, of, v in rows])


def test_a_run_has_a_limited_number_of_metrics(tmp_path):
    lines = [epoch(n, n, **{f"m{n}_{k}": 1.0 for k in range(100)}) for n in range(1, 21)]
    columns = [steps(n, n, **{f"s{n}": [1.0]}) for n in range(1, 601)]
    record = runs.open(written(tmp_path / "run", [start(), *lines, *columns]))
    assert len(record.history) == 500
    assert len(record.steps) == 501


def test_deleted_folder_keeps_the_read_events(tmp_path):
    record = runs.open(written(tmp_path / "run", trained()))
    (tmp_path / "run" / EVENTS).unlink()
    assert record.refresh().step == 30
    written(tmp_path / "run", [start(), steps(1, 3)])
    assert record.refresh().step == 3, "another file is read from its beginning"


def test_the_summary_of_a_long_run_does_not_grow():
    summary = Summary()
    summary.update(parse(start(metrics=["accuracy"])))
    for number in range(1, 3001):
        summary.update(parse(steps(10 * number - 9, 10 * number)))
        summary.update(parse(epoch(number, 10 * number, loss=1 / number, accuracy=number / 3000)))
    assert len(json.dumps(summary.to_dict())) < 2000
    assert all(len(found) <= 64 for found in summary._best._improvements.values())
    told = summary.to_dict()
    assert 16 <= len(told["spark"]) <= 32
    assert told["spark"] == sorted(told["spark"], reverse=True)
    assert told["best"]["accuracy"] == {"value": 1.0, "epoch": 3000}
