"""Runs in the background under control: rates, epochs, checkpoints and commands while they go on (R6.4)."""

import logging
import math
import threading

import numpy as np
import pytest
from runs import DATA, WAIT, holding, of_kind, order, soon, trainer

from labdl import nn, train
from labdl.errors import ConfigError
from labdl.runs.reading.event_file import encode
from labdl.train import Checkpoint, Trainer
from labdl.train.checkpoint import checkpoints


@pytest.fixture
def held(backend):
    with holding(backend) as make:
        yield make


def test_a_learning_rate_counts_from_the_next_step(held, tmp_path):
    held = held(tmp_path / "run")
    held.run.learning_rate = 0.01
    assert held.run.learning_rate == 0.01
    held.go(1)
    held.until(2)
    held.go(2)
    order(held.run, command="learning_rate", value=0.002)
    assert soon(lambda: held.run.learning_rate == 0.002)
    held.go()
    held.run.wait(WAIT)
    assert held.rates[:2] == [0.05, 0.01]
    assert held.rates[-1] == 0.002
    assert [e["value"] for e in of_kind(held.run, "learning_rate")] == [0.01, 0.002]
    with pytest.raises(RuntimeError, match="has ended"):
        held.run.learning_rate = 0.1
    assert held.run.learning_rate == 0.002


def test_a_learning_rate_set_in_a_run_is_that_of_native_arithmetic(backend, tmp_path):
    """Full batches of a linear model: the parameters that these rates lead to, written out."""
    x, y = DATA[0].astype("float64"), DATA[1].astype("float64")
    model = nn.Sequential(nn.Linear(1))
    subject = Trainer(model, loss="mean_squared_error", optimizer=train.SGD(0.1), backend=backend.name, seed=1)
    runs, gate = [], threading.Event()

    def hear(event):
        if isinstance(event, train.Step) and event.step == 2:
            assert gate.wait(WAIT)
            runs[0].learning_rate = 0.02

    model.build((None, 4), backend=backend.name, seed=1)
    state = {name: value.astype("float64") for name, value in model.state_dict().items()}
    kernel, bias = state["0/kernel:0"], state["0/bias:0"]
    runs.append(subject.start(*DATA, epochs=4, batch_size=40, shuffle=False, folder=tmp_path / "run", callbacks=[hear]))
    gate.set()
    runs[0].wait(WAIT)
    for rate in (0.1, 0.1, 0.02, 0.02):
        residual = 2 * (x @ kernel + bias - y) / len(x)
        kernel, bias = kernel - rate * x.T @ residual, bias - rate * residual.sum(0)
    np.testing.assert_allclose(model.state_dict()["0/kernel:0"], kernel, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.state_dict()["0/bias:0"], bias, rtol=1e-4, atol=1e-5)


def test_epochs_are_added_up_to_the_end(held, tmp_path):
    held = held(tmp_path / "run", epochs=1)
    held.run.add_epochs(1)
    order(held.run, command="add_epochs", value=1)
    assert soon(lambda: len(of_kind(held.run, "epochs")) == 2)
    held.go()
    held.run.wait(WAIT)
    assert len(held.run.history["loss"]) == 3
    assert [e["epochs"] for e in of_kind(held.run, "epochs")] == [2, 3]
    with pytest.raises(RuntimeError, match="takes no more epochs"):
        held.run.add_epochs(1)


def test_a_checkpoint_is_written_while_it_goes_on(backend, held, tmp_path):
    """Also at rest, by a command in the folder, to the training's own place, and after the end."""
    held = held(tmp_path / "run", epochs=2)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(held.run.checkpoint()))
    asking.start()
    assert soon(lambda: not held.run._scheduler.idle)
    held.go(1)
    asking.join(WAIT)
    assert answers == [tmp_path / "run" / "checkpoints" / "step-00000001"]
    held.run.pause()
    held.go(1)
    assert soon(lambda: held.run.status == "paused")
    resting = held.run.checkpoint(tmp_path / "elsewhere")
    assert resting.parent == tmp_path / "elsewhere"
    order(held.run, command="checkpoint")
    assert soon(lambda: len(of_kind(held.run, "checkpoint")) == 3)
    held.run.resume()
    held.go()
    held.run.wait(WAIT)
    assert of_kind(held.run, "checkpoint")[0]["path"] == str(answers[0])
    assert held.run.checkpoint().name == "step-00000010"
    whole = held.run.model.state_dict()
    again = trainer(backend, seed=9)
    again.fit(DATA, epochs=2, batch_size=8, progress=False, resume=resting)
    assert all(np.array_equal(value, whole[name]) for name, value in again.model.state_dict().items())


def test_a_run_with_a_checkpoint_keeps_one_when_it_is_stopped(held, tmp_path):
    held = held(tmp_path / "run", checkpoint=Checkpoint(tmp_path / "kept"))
    held.run.stop()
    held.go()
    assert held.run.wait(WAIT).status == "stopped"
    assert [path.name for path in checkpoints(tmp_path / "kept")] == [f"step-{held.steps:08d}"]


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "fast", None, True])
def test_a_learning_rate_of_nonsense_is_refused(value, held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(ConfigError, match="learning_rate wants a number at least 0, received"):
        held.run.learning_rate = value
    assert held.run.learning_rate == 0.05


@pytest.mark.parametrize("value", [0, -2, 1.5, "2", None, True])
def test_epochs_of_nonsense_are_refused(value, held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(ConfigError, match="add_epochs wants an integer at least 1, received"):
        held.run.add_epochs(value)


def test_lines_that_are_no_commands_change_nothing(held, tmp_path):
    (tmp_path / "run" / "control").mkdir(parents=True)
    (tmp_path / "run" / "control" / "1.json").write_text('{"command": "stop"}')  # of an earlier run
    held = held(tmp_path / "run")
    for value in (-1, "x", None, [], True, {}):
        order(held.run, command="learning_rate", value=value)
        order(held.run, command="add_epochs", value=value)
    order(held.run, command=["stop"])
    order(held.run, command="learning_rate", value=0.03)
    assert soon(lambda: held.run.learning_rate == 0.03)
    held.go()
    assert held.run.wait(WAIT).status == "finished"
    assert len(held.run.history["loss"]) == 3
    assert not of_kind(held.run, "epochs")


def test_a_listener_may_stop_the_run(backend, tmp_path):
    """It hears of a step in the thread that writes, and the run says that it stops while it listens."""
    run = trainer(backend).start(*DATA, epochs=10_000, batch_size=8, folder=tmp_path / "run")
    heard = []
    run.subscribe(lambda events: run.stop() if any(e["kind"] == "steps" for e in events) else None)
    run.subscribe(heard.extend)
    assert run.wait(WAIT).status == "stopped"
    kinds = [e["kind"] for e in heard]
    assert kinds.index("steps") < kinds.index("status")
    assert encode(heard) == (tmp_path / "run" / "events.jsonl").read_bytes()


def test_what_is_logged_stands_in_the_recording(backend, tmp_path):
    def speak(event):
        if getattr(event, "step", None) == 2:
            logging.getLogger("somebody").warning("mind the step")

    t = trainer(backend)
    run = t.start(*DATA, epochs=1, batch_size=8, folder=tmp_path / "run", callbacks=[speak]).wait(WAIT)
    told = [(e["level"], e["source"], e["message"]) for e in of_kind(run, "log")]
    assert ("WARNING", "somebody", "mind the step") in told
    logging.getLogger("somebody").warning("after the end")
    assert len(of_kind(run, "log")) == len(told)
