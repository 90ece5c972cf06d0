"""Runs in the background: learning rates, epochs, checkpoints and commands during the training."""

import logging
import math
import threading

import numpy as np
import pytest
from runs import DATA, WAIT, holding, of_kind, soon, trainer, write_command

from labdl import nn, train
from labdl.errors import ConfigError
from labdl.runs.reading.event_file import encode
from labdl.train import Checkpoint, Trainer
from labdl.train.checkpoint import checkpoints

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture
def held(backend):
    with holding(backend) as make:
        yield make


def test_learning_rate_is_used_from_the_next_step(held, tmp_path):
    held = held(tmp_path / "run")
    held.run.learning_rate = 0.01
    assert held.run.learning_rate == 0.01
    held.go(1)
    held.until(2)
    held.go(2)
    write_command(held.run, command="learning_rate", value=0.002)
    assert soon(lambda: held.run.learning_rate == 0.002)
    held.go()
    held.run.wait(WAIT)
    assert held.rates[:2] == [0.05, 0.01]
    assert held.rates[-1] == 0.002
    assert [e["value"] for e in of_kind(held.run, "learning_rate")] == [0.01, 0.002]
    with pytest.raises(RuntimeError, match="has ended"):
        held.run.learning_rate = 0.1
    assert held.run.learning_rate == 0.002


def test_training_with_changed_learning_rate_matches_numpy(backend, tmp_path):
    """Full batches of a linear model: the parameters match gradient descent in NumPy."""
    x, y = DATA[0].astype("float64"), DATA[1].astype("float64")
    model = nn.Sequential(nn.Linear(1))
    subject = Trainer(model, loss="mean_squared_error", optimizer=train.SGD(0.1), backend=backend.name, seed=1)
    runs, started = [], threading.Event()

    def on_event(event):
        if isinstance(event, train.Step) and event.step == 2:
            assert started.wait(WAIT)
            runs[0].learning_rate = 0.02

    model.build((None, 4), backend=backend.name, seed=1)
    state = {name: value.astype("float64") for name, value in model.state_dict().items()}
    kernel, bias = state["0/kernel:0"], state["0/bias:0"]
    runs.append(
        subject.start(*DATA, epochs=4, batch_size=40, shuffle=False, folder=tmp_path / "run", callbacks=[on_event])
    )
    started.set()
    runs[0].wait(WAIT)
    for rate in (0.1, 0.1, 0.02, 0.02):
        residual = 2 * (x @ kernel + bias - y) / len(x)
        kernel, bias = kernel - rate * x.T @ residual, bias - rate * residual.sum(0)
    np.testing.assert_allclose(model.state_dict()["0/kernel:0"], kernel, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.state_dict()["0/bias:0"], bias, rtol=1e-4, atol=1e-5)


def test_epochs_can_be_added_until_the_end(held, tmp_path):
    held = held(tmp_path / "run", epochs=1)
    held.run.add_epochs(1)
    write_command(held.run, command="add_epochs", value=1)
    assert soon(lambda: len(of_kind(held.run, "epochs")) == 2)
    held.go()
    held.run.wait(WAIT)
    assert len(held.run.history["loss"]) == 3
    assert [e["epochs"] for e in of_kind(held.run, "epochs")] == [2, 3]
    with pytest.raises(RuntimeError, match="takes no more epochs"):
        held.run.add_epochs(1)


def test_checkpoint_during_a_run(backend, held, tmp_path):
    """While running, while paused, by a command in the folder, and after the end."""
    held = held(tmp_path / "run", epochs=2)
    paths = []
    thread = threading.Thread(target=lambda: paths.append(held.run.checkpoint()))
    thread.start()
    assert soon(lambda: not held.run._scheduler.idle)
    held.go(1)
    thread.join(WAIT)
    assert paths == [tmp_path / "run" / "checkpoints" / "step-00000001"]
    held.run.pause()
    held.go(1)
    assert soon(lambda: held.run.status == "paused")
    paused = held.run.checkpoint(tmp_path / "elsewhere")
    assert paused.parent == tmp_path / "elsewhere"
    write_command(held.run, command="checkpoint")
    assert soon(lambda: len(of_kind(held.run, "checkpoint")) == 3)
    held.run.resume()
    held.go()
    held.run.wait(WAIT)
    assert of_kind(held.run, "checkpoint")[0]["path"] == str(paths[0])
    assert held.run.checkpoint().name == "step-00000010"
    whole = held.run.model.state_dict()
    again = trainer(backend, seed=9)
    again.fit(DATA, epochs=2, batch_size=8, progress=False, resume=paused)
    assert all(np.array_equal(value, whole[name]) for name, value in again.model.state_dict().items())


def test_stopped_run_saves_a_last_checkpoint(held, tmp_path):
    held = held(tmp_path / "run", checkpoint=Checkpoint(tmp_path / "kept"))
    held.run.stop()
    held.go()
    assert held.run.wait(WAIT).status == "stopped"
    assert [path.name for path in checkpoints(tmp_path / "kept")] == [f"step-{held.steps:08d}"]


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "fast", None, True])
def test_invalid_learning_rate_raises(value, held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(ConfigError, match="learning_rate wants a number at least 0, received"):
        held.run.learning_rate = value
    assert held.run.learning_rate == 0.05


@pytest.mark.parametrize("value", [0, -2, 1.5, "2", None, True])
def test_invalid_epochs_raise(value, held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(ConfigError, match="add_epochs wants an integer at least 1, received"):
        held.run.add_epochs(value)


def test_invalid_command_files_have_no_effect(held, tmp_path):
    (tmp_path / "run" / "control").mkdir(parents=True)
    (tmp_path / "run" / "control" / "1.json").write_text('{"command": "stop"}')  # of an earlier run
    held = held(tmp_path / "run")
    for value in (-1, "x", None, [], True, {}):
        write_command(held.run, command="learning_rate", value=value)
        write_command(held.run, command="add_epochs", value=value)
    write_command(held.run, command=["stop"])
    write_command(held.run, command="learning_rate", value=0.03)
    assert soon(lambda: held.run.learning_rate == 0.03)
    held.go()
    assert held.run.wait(WAIT).status == "finished"
    assert len(held.run.history["loss"]) == 3
    assert not of_kind(held.run, "epochs")


def test_listener_may_stop_the_run(backend, tmp_path):
    """The listener is called in the writing thread, and its stop causes an event."""
    run = trainer(backend).start(*DATA, epochs=10_000, batch_size=8, folder=tmp_path / "run")
    received = []
    run.subscribe(lambda events: run.stop() if any(e["kind"] == "steps" for e in events) else None)
    run.subscribe(received.extend)
    assert run.wait(WAIT).status == "stopped"
    kinds = [e["kind"] for e in received]
    assert kinds.index("steps") < kinds.index("status")
    assert encode(received) == (tmp_path / "run" / "events.jsonl").read_bytes()


def test_log_messages_are_recorded(backend, tmp_path):
    def log_message(event):
        if getattr(event, "step", None) == 2:
            logging.getLogger("somebody").warning("mind the step")

    t = trainer(backend)
    run = t.start(*DATA, epochs=1, batch_size=8, folder=tmp_path / "run", callbacks=[log_message]).wait(WAIT)
    messages = [(e["level"], e["source"], e["message"]) for e in of_kind(run, "log")]
    assert ("WARNING", "somebody", "mind the step") in messages
    logging.getLogger("somebody").warning("after the end")
    assert len(of_kind(run, "log")) == len(messages)
