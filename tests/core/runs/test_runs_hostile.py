"""Hostile files of runs: valid parts are read, others ignored."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import runs
from labdl.runs.reading.event_file import EVENTS

pytestmark = pytest.mark.slow

figures = st.one_of(
    st.none(),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=5),
    st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=2)), max_size=4),
)
anything = st.recursive(
    figures,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
)
KINDS = [
    "start",
    "steps",
    "epoch",
    "rate",
    "pace",
    "system",
    "status",
    "learning_rate",
    "epochs",
    "checkpoint",
    "branch",
    "command",
    "problem",
    "alert",
    "log",
    "health",
    "histograms",
    "samples",
    "confusion",
    "worst",
    "end",
    "x",
]
KEYS = [
    "step",
    "epoch",
    "epochs",
    "loss",
    "accuracy",
    "status",
    "summary",
    "message",
    "layers",
    "value",
    "metrics",
    "higher",
    "settings",
    "params",
    "parent",
    "samples_per_second",
    "samples",
    "data",
    "counts",
    "pid",
    "host",
    "place",
    "alert",
    "steps_per_epoch",
    "weights",
    "figures",
    "best",
    "spark",
]
hostile = st.builds(
    lambda kind, time, rest: {"kind": kind, "time": time, **rest},
    st.sampled_from(KINDS),
    st.one_of(st.floats(0, 2e9), st.floats(allow_nan=False)),
    st.dictionaries(st.sampled_from(KEYS), anything, max_size=8),
)


def lines(events):
    return b"".join(
        json.dumps(event).encode().replace(b"NaN", b"null").replace(b"Infinity", b"1e999") + b"\n" for event in events
    )


@pytest.mark.sample(False)
@settings(max_examples=150, deadline=None)
@given(st.lists(hostile, max_size=12), st.binary(max_size=30))
def test_no_file_can_make_reading_fail(tmp_path_factory, events, rubbish):
    folder = tmp_path_factory.mktemp("hostile") / "run"
    folder.mkdir()
    (folder / EVENTS).write_bytes(lines(events) + rubbish + b"\n" + lines(events[:3]) + rubbish)
    record = runs.open(folder)
    for name in (
        "id",
        "status",
        "alive",
        "model",
        "backend",
        "settings",
        "environment",
        "metrics",
        "parent",
        "about",
        "error",
        "place",
        "total_epochs",
        "step",
        "seconds",
        "time",
        "steps",
        "times",
        "epochs",
        "history",
        "rates",
        "marks",
        "alerts",
        "throughput",
        "system",
    ):
        getattr(record, name)
    json.dumps(record.summary(), allow_nan=False)
    assert len({len(column) for column in record.steps.values()}) == 1
    assert (np.diff(record.steps["step"]) > 0).all()
    found = runs.list(folder.parent)
    json.dumps([run.__dict__ for run in found], allow_nan=False, default=list)
    str(found)
