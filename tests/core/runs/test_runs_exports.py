"""Exports of runs, read with the readers of the formats."""

import csv
import json
import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_files import NOW, end, epoch, start, steps, trained, written

from labdl import runs
from labdl.errors import ConfigError
from labdl.runs.exports.optional_imports import require

HISTOGRAMS = {
    "kind": "histograms",
    "time": NOW + 12,
    "step": 10,
    "layers": ["stem", "head"],
    "weights": {"of": [0, 1], "low": [-1.0, 0.0], "high": [1.0, 0.0], "counts": [[1] * 24, [0] * 23 + [5]]},
    "gradients": {"of": [0], "low": [None], "high": [1.0], "counts": [[1] * 24]},
    "outputs": {"of": [], "low": [], "high": [], "counts": []},
}
CONFUSION = [
    {"kind": "samples", "time": NOW + 11, "task": "classification", "classes": ["cat", "d|g"], "samples": []},
    {"kind": "confusion", "time": NOW + 12, "epoch": 1, "step": 10, "counts": [[3, 1], [0, 5]]},
]


@pytest.fixture
def record(tmp_path):
    """Ten steps an epoch; a loss that is not finite, a rate set by hand behind step 15, no accuracy in the last epoch."""
    events = [
        *trained(2),
        {"kind": "rate", "time": NOW + 25, "step": [15], "value": [0.01]},
        {"kind": "learning_rate", "time": NOW + 25, "step": 15, "value": 0.01},
        HISTOGRAMS,
        *CONFUSION,
        steps(21, 25, loss=[1.0, None, 3.0, 4.0, 5.0]),
        epoch(3, 25, val_loss=None, loss=2.5),
        end(),
    ]
    return runs.open(written(tmp_path / "one", events))


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_csv_has_a_row_for_each_step_with_the_epoch_at_its_end(record, tmp_path):
    rows = rows_of(record.to_csv(tmp_path / "a.csv"))
    assert [int(row["step"]) for row in rows] == list(range(1, 26))
    assert [row["epoch"] for row in rows] == ["1"] * 10 + ["2"] * 10 + ["3"] * 5
    assert [float(row["loss"]) for row in rows[:20]] == [1 / step for step in range(1, 21)]
    assert (rows[21]["loss"], rows[20]["accuracy"]) == ("NaN", "NaN")
    assert [row["learning_rate"] for row in rows] == ["0.1"] * 15 + ["0.01"] * 10
    assert [row["val_loss"] for row in rows if row["val_loss"]] == [repr(2 / 10), repr(2 / 20), "NaN"]
    assert [(row["step"], float(row["epoch_loss"])) for row in rows if row["epoch_loss"]] == [
        ("10", 0.1),
        ("20", 0.05),
        ("25", 2.5),
    ]
    assert [row["error"] for row in rows if row["error"]] == ["1.0", "2.0"], "a figure of epochs alone keeps its name"
    assert all(abs(float(row["time"]) - NOW - int(row["step"])) < 0.01 for row in rows[:20])


def test_arrow_file_has_the_table_with_types(record, tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    found = feather.read_table(record.to_arrow(tmp_path / "a.arrow"))
    assert {name: str(found.schema.field(name).type) for name in ("step", "epoch", "time", "loss")} == {
        "step": "int64",
        "epoch": "int64",
        "time": "timestamp[us, tz=UTC]",
        "loss": "double",
    }
    columns, rows = found.to_pydict(), rows_of(record.to_csv(tmp_path / "a.csv"))
    assert list(columns) == list(rows[0])
    for name in columns.keys() - {"time"}:
        for ours, text in zip(columns[name], (row[name] for row in rows), strict=True):
            assert (text == "" and ours is None) or (text == "NaN" and math.isnan(ours)) or float(text) == ours, name
    assert abs(columns["time"][9].timestamp() - NOW - 10) < 0.01
    told = json.loads(found.schema.metadata[b"labdl"])
    assert (told["id"], told["settings"]["seed"], told["summary"]["epoch"]) == ("one", 3, 3)


@pytest.mark.sample(False)
@pytest.mark.slow
def test_tensorboard_shows_it_without_tensorflow(record, tmp_path):
    pytest.importorskip("tensorboard")
    code = (
        "import sys; from labdl import runs; runs.open(sys.argv[1]).to_tensorboard(sys.argv[2]);"
        "assert 'tensorflow' not in sys.modules and 'torch' not in sys.modules"
    )
    for _ in range(2):  # written again, it is the same
        subprocess.run([sys.executable, "-c", code, str(record.folder), str(tmp_path / "tb")], check=True, timeout=60)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train, validation, whole = (
        EventAccumulator(str(tmp_path / "tb" / name), {"scalars": 0}).Reload() for name in ("train", "validation", ".")
    )
    assert [(e.step, pytest.approx(e.value)) for e in train.Scalars("loss")[:20]] == [(n, 1 / n) for n in range(1, 21)]
    assert math.isnan(train.Scalars("loss")[21].value)
    assert [e.wall_time for e in train.Scalars("loss")[:3]] == pytest.approx([NOW + 1, NOW + 2, NOW + 3])
    assert [(e.step, pytest.approx(e.value)) for e in train.Scalars("learning_rate")] == [(0, 0.1), (15, 0.01)]
    assert [e.step for e in train.Scalars("epoch_loss")] == [10, 20, 25]
    assert [pytest.approx(e.value) for e in validation.Scalars("epoch_loss")[:2]] == [0.2, 0.1]
    assert [e.value for e in train.Scalars("samples_per_second")] == [40.0] * 3
    (histogram,) = train.Histograms("stem/weights")
    value = histogram.histogram_value
    assert (histogram.step, value.num, value.min, value.max, sum(value.bucket)) == (10, 24, -1, 1, 24)
    assert value.bucket_limit[-1] == 1
    assert len(train.Histograms("head/weights")) == 1
    assert train.Tags()["histograms"] == ["stem/weights", "head/weights"], (
        "one with an end that is not finite is left out"
    )
    (table,) = train.Tensors("confusion")
    assert "| cat | 3 | 1 |" in table.tensor_proto.string_val[0].decode()
    assert "d/g" in table.tensor_proto.string_val[0].decode()
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    told = whole.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    settings = HParamsPluginData.FromString(told).session_start_info.hparams
    assert (settings["learning_rate"].number_value, settings["seed"].number_value) == (0.1, 3)
    told = HParamsPluginData.FromString(whole.summary_metadata["_hparams_/experiment"].plugin_data.content)
    assert ("validation", "epoch_loss") in {(info.name.group, info.name.tag) for info in told.experiment.metric_infos}


def test_a_figure_has_the_curves(record):
    pytest.importorskip("plotly")
    figure = json.loads(record.figure().to_json())
    by_name = {}
    for trace in figure["data"]:
        by_name.setdefault((trace["name"], trace["yaxis"]), trace)
    assert {name for name, _ in by_name} == {"each step", "train", "validation", "learning rate"}
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert titles[:4] == ["loss", "accuracy", "error", "learning rate"]
    assert "learning rate 0.01000" in titles[4]
    assert by_name["validation", "y"]["line"]["dash"] == "dash"
    assert [trace["showlegend"] for trace in figure["data"] if trace["name"] == "train"].count(True) == 1


def test_several_runs_share_a_figure(record, tmp_path):
    pytest.importorskip("plotly")
    other = runs.open(written(tmp_path / "two", trained()))
    runs.write_about(tmp_path / "two", name="<b>bold")
    figure = runs.figure([record, other])
    names = {trace.name for trace in figure.data}
    assert {"one train", "&lt;b>bold validation"} <= names
    assert len({trace.line.color for trace in figure.data}) == 2
    with pytest.raises(ConfigError, match="runs"):
        runs.figure([])
    with pytest.raises(ConfigError, match="runs"):
        runs.figure(["one"])


def test_error_names_the_missing_package(record, tmp_path, monkeypatch):
    for module, export in (
        ("pyarrow", record.to_arrow),
        ("tensorboard", record.to_tensorboard),
        ("resvg_py", record.to_png),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=rf"{module}.*labdl\[export\]"):
            export(tmp_path / "x")
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ImportError, match=r"plotly.*labdl\[export\]"):
        record.figure()
    with pytest.raises(ImportError, match=r'pip install "labdl\[export\]"'):
        require("it", "no_such_library.inside")


def test_export_of_empty_runs(tmp_path):
    record = runs.open(written(tmp_path / "new", [start()]))
    assert rows_of(record.to_csv(tmp_path / "a.csv")) == []
    pytest.importorskip("pyarrow")
    record.to_arrow(tmp_path / "a.arrow")
    pytest.importorskip("plotly")
    assert len(record.figure().data) == 0
    pytest.importorskip("tensorboard")
    record.to_tensorboard(tmp_path / "tb")


values = st.one_of(
    st.none(), st.floats(), st.integers(-(2**70), 2**70), st.text(max_size=3), st.lists(st.integers(), max_size=2)
)
names = st.one_of(
    st.sampled_from(["loss", "epoch_loss", "val_loss", "learning_rate", "step_loss"]), st.text(max_size=5)
)


@pytest.mark.sample(False)
@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(names, st.lists(values, max_size=4), max_size=5),
    st.dictionaries(names, values, max_size=5),
    st.lists(st.integers(-5, 50), max_size=4),
    st.dictionaries(st.text(max_size=5), values, max_size=4),
)
def test_export_of_any_recorded_run(tmp_path_factory, columns, figures, steps_of_epochs, settings_of_run):
    events = [start(settings=settings_of_run), {**columns, "kind": "steps", "time": NOW + 1, "step": [1, 2, 3, 4]}]
    events += [{**figures, "kind": "epoch", "time": NOW + 2, "epoch": 1, "step": step} for step in steps_of_epochs]
    events += [{"kind": "confusion", "time": NOW, "step": 1, **figures}, {**HISTOGRAMS, "weights": figures}]
    folder = tmp_path_factory.mktemp("any")
    (folder / "run").mkdir()
    text = "".join(json.dumps(event).replace("NaN", "null").replace("Infinity", "1e999") + "\n" for event in events)
    (folder / "run" / "events.jsonl").write_text(text)
    record = runs.open(folder / "run")
    found = rows_of(record.to_csv(folder / "a.csv"))
    assert len({int(row["step"]) for row in found}) == len(found)
    record.to_arrow(folder / "a.arrow")
    record.to_tensorboard(folder / "tb")
    record.figure().to_json()
