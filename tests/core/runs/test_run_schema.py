"""The schema of run events, and the files generated from it."""

import subprocess
import sys
from pathlib import Path

import pytest

from labdl.runs.schema import EVENTS, parse

ROOT = Path(__file__).parents[3]


def test_generated_files_are_up_to_date():
    command = [sys.executable, ROOT / "scripts" / "generate_schema.py", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("kind", EVENTS)
def test_event_without_required_fields_is_rejected(kind):
    model = EVENTS[kind]
    required = [name for name, field in model.model_fields.items() if field.is_required() and name != "kind"]
    assert "time" in required
    assert parse({"kind": kind}) is None
    assert parse({"kind": kind, **{name: float("nan") for name in required}}) is None


def test_wrong_optional_fields_have_their_defaults():
    event = parse({"kind": "start", "time": 1, "epochs": "three", "metrics": 3, "model": "Net", "parent": {"step": 3}})
    assert event is not None
    assert event.model_dump(exclude_defaults=True) == {"kind": "start", "time": 1.0, "model": "Net"}


def test_summary_keeps_what_is_right():
    best = {"loss": {"value": 0.5, "epoch": "x"}, "accuracy": {"value": None}, "error": 3}
    summary = {"step": -1, "figures": {"loss": 0.5, "error": "x"}, "best": best, "spark": [1, None, "x"]}
    event = parse({"kind": "end", "time": 1, "status": "finished", "summary": summary})
    assert event is not None
    assert event.summary.model_dump(exclude_defaults=True) == {
        "figures": {"loss": 0.5, "error": None},
        "best": {"loss": {"value": 0.5}},
        "spark": [1.0, None, None],
    }


def test_unknown_kinds_are_ignored():
    assert parse({"kind": "weather", "time": 1}) is None
