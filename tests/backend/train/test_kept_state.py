"""A run without checkpoints keeps its state for a process that ends early."""

import json
import subprocess
import sys

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel
from runs import DATA, WAIT, trainer

from labdl.runs.reading.record import Record
from labdl.train import checkpoint as checkpoints
from labdl.train.run import kept_state

pytestmark = pytest.mark.sample(backends=1)
# MindSpore sends SIGTERM by itself, when a training is interrupted
WITH_SIGTERM = pytest.mark.backends("torch", "tensorflow", "paddle")
SCRIPT = """
import sys
import numpy as np
from labdl import nn, train
name, folder = sys.argv[1:]
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", optimizer="sgd", backend=name, seed=1)
run = trainer.start(x, x[:, :1], epochs=1_000_000, batch_size=8, folder=folder)
while trainer.progress is None or trainer.progress.step < 20:
    pass
"""


def events_of(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_each_epoch_replaces_the_state_and_the_end_removes_it(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_state, "SECONDS", 0.0)
    monkeypatch.setattr(kept_state, "SHARE", 0)
    kept = []

    def stop_at_third(event):
        kept.append([path.name for path in checkpoints.checkpoints(tmp_path / "run" / "checkpoints")])

    run = trainer(backend).start(*DATA, epochs=3, batch_size=8, folder=tmp_path / "run", callbacks=[stop_at_third])
    run.wait(WAIT)
    assert {len(names) for names in kept} == {0, 1}
    steps = [event["step"] for event in events_of(run.folder) if event["kind"] == "checkpoint"]
    assert steps == [5, 10, 15]
    assert all(event["automatic"] for event in events_of(run.folder) if event["kind"] == "checkpoint")
    assert checkpoints.checkpoints(run.folder / "checkpoints") == []


def test_a_run_of_short_epochs_writes_nothing(backend, tmp_path):
    run = trainer(backend).start(*DATA, epochs=3, batch_size=8, folder=tmp_path / "run").wait(WAIT)
    assert not (run.folder / "checkpoints").exists()


def test_a_state_that_cannot_be_written_does_not_end_the_training(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_state, "SECONDS", 0.0)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoints").write_text("a file in its place")
    run = trainer(backend).start(*DATA, epochs=1, batch_size=8, folder=tmp_path / "run").wait(WAIT)
    assert run.status == "finished"
    problems = [event["message"] for event in events_of(run.folder) if event["kind"] == "problem"]
    assert len(problems) == 1
    assert problems[0].startswith("the state of epoch 1 was not kept: ")


@pytest.mark.sample(False)
def test_the_end_of_the_program_keeps_the_state_and_it_resumes(backend, tmp_path):
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, backend.name, str(folder)], capture_output=True, text=True, timeout=WAIT
    )
    assert done.returncode == 0, done.stderr
    record = Record(folder)
    last = events_of(folder)[-1]
    assert (last["kind"], last["status"]) == ("end", "stopped")
    assert record.checkpoint is not None
    step = checkpoints.read_progress(record.checkpoint).step
    assert step >= 20
    from labdl import nn, train

    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    model = nn.Sequential(nn.Linear(1))
    again = train.Trainer(model, loss="mean_squared_error", optimizer="sgd", backend=backend.name, seed=1)
    again.fit(x, x[:, :1], epochs=step // 8 + 1, batch_size=8, resume=record.checkpoint, progress=False)
    assert again.progress.step == (step // 8 + 1) * 8


@pytest.mark.sample(False)
@pytest.mark.parametrize("cell", ["no cell", pytest.param("a cell that waits", marks=WITH_SIGTERM)])
def test_a_kernel_that_is_restarted_keeps_the_state(cell, backend, tmp_path):
    """As by the dialog of JupyterLab, which asks before it and knows nothing of runs."""
    folder = tmp_path / "run"
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=WAIT)
    try:
        cells = SCRIPT.replace("sys.argv[1:]", repr((backend.name, str(folder))))
        reply = client.execute_interactive(cells, output_hook=lambda _: None, timeout=WAIT)
        assert reply["content"]["status"] == "ok", reply["content"]
        if cell != "no cell":
            client.execute("run.wait()")
            while client.get_iopub_msg(timeout=WAIT)["msg_type"] != "execute_input":
                pass
        manager.restart_kernel()
        last = events_of(folder)[-1]
        assert (last["kind"], last["status"]) == ("end", "stopped")
        assert checkpoints.read_progress(Record(folder).checkpoint).step >= 20
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
