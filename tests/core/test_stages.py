"""The stages of `make test`: which run, how one that hangs or fails is reported, and the table."""

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_stages.py"


@pytest.fixture
def stages(tmp_path, monkeypatch):
    """The script as a module, whose files lie in a folder of the test."""
    spec = importlib.util.spec_from_file_location("run_stages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_stages", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "BUILD", tmp_path)
    for name in ("stages", "logs"):
        (tmp_path / name).mkdir()
    return module


def python(stages, name, code):
    return stages.Stage(name, command=(sys.executable, "-c", code))


def test_a_stage_that_hangs_is_ended_and_the_others_are_reported(stages):
    slow, quick = python(stages, "slow", "import time; time.sleep(600)"), python(stages, "quick", "print('done')")
    (stages.BUILD / "stages" / "slow.running").write_text("left by a run before")
    runner = stages.Runner("sample", time.monotonic() + 2)
    runner.run([slow, quick])
    assert runner.outcomes["slow"].failed == ["exit status -6"]
    assert runner.outcomes["quick"].failed == []


def test_the_test_that_was_running_is_named(stages):
    code = f"from pathlib import Path; Path({str(stages.BUILD)!r}, 'stages', 'a.running').write_text('test_x'); exit(3)"
    runner = stages.Runner("sample", time.monotonic() + 60)
    runner.run([python(stages, "a", code)])
    assert runner.outcomes["a"].failed == ["test_x (was running when the stage ended)"]


def test_a_stage_without_tests_fails(stages, tmp_path):
    empty = stages.Stage("empty", (str(tmp_path),))
    runner = stages.Runner("sample", time.monotonic() + 120)
    runner.run([empty])
    assert runner.outcomes["empty"].failed


def test_outcome_of_a_report(stages):
    stage = stages.Stage("some", ("tests/core",))
    stage.log_file().write_text("")
    tests = {"a": {"seconds": 1, "processor": 0.5}, "b": {"seconds": 2, "processor": 3}}
    report = {"passed": 1, "failed": ["b"], "repeated": ["a"], "left_out": ["conv"], "tests": tests}
    stage.report_file().write_text(json.dumps(report))
    outcome = stages.outcome_of(stage, 1)
    assert (outcome.tests, outcome.failed, outcome.repeated) == (2, ["b"], ["a"])
    assert list(outcome.slowest) == ["b", "a"]
    outcome.processor = 100
    [_, line] = stages.table({"some": outcome}, {"some": 60})
    assert line.endswith("above its budget by half")


def test_stages_and_folders_by_name(stages):
    selected = stages.narrow(stages.all_stages(), ["torch", "library"], ["ops"])
    assert {s.name: s.paths for s in selected} == {"torch": ("tests/backend/ops",), "library": ("tests/core/ops",)}
    with pytest.raises(SystemExit, match="There is no stage torhc"):
        stages.narrow(stages.all_stages(), ["torhc"], [])
    with pytest.raises(SystemExit, match="No stage has tests"):
        stages.narrow(stages.all_stages(), [], ["nothing"])


def test_folders_of_what_differs(stages, tmp_path, monkeypatch):
    repository = tmp_path / "repository"
    (repository / "labdl" / "ops").mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], cwd=repository, check=True)
    (repository / "labdl" / "ops" / "a.py").write_text("1")
    subprocess.run([*git, "add", "."], cwd=repository, check=True)
    subprocess.run([*git, "commit", "-qm", "a"], cwd=repository, check=True)
    monkeypatch.setattr(stages, "ROOT", repository)
    assert stages.changed_folders("HEAD") == []
    (repository / "labdl" / "ops" / "a.py").write_text("2")
    assert stages.changed_folders("HEAD") == ["ops"]
    with pytest.raises(SystemExit, match="make test-changed BASE="):
        stages.changed_folders("nowhere")
