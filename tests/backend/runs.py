"""Helpers for tests of runs: a small training, a run that is advanced step by step, and its recorded events."""

import json
import secrets
import threading
import time
from contextlib import contextmanager

import numpy as np

from labdl import nn, train
from labdl.train import Trainer

WAIT = 240


_rng = np.random.default_rng(0)
X = _rng.normal(size=(40, 4)).astype("float32")
DATA = X, (X @ _rng.normal(size=(4, 1))).astype("float32")


def trainer(backend, seed=1, optimizer=None, features=8, **options):
    model = nn.Sequential(nn.Linear(features), nn.Tanh(), nn.Linear(1))
    return Trainer(
        model,
        loss="mean_squared_error",
        optimizer=optimizer or train.SGD(0.05),
        backend=backend.name,
        seed=seed,
        **options,
    )


class Held:
    """A run that is advanced step by step: it waits in a callback after each step."""

    def __init__(self, backend, folder, epochs=3, **options):
        self.passes, self.steps, self.stepped = threading.Semaphore(0), 0, threading.Condition()
        self.trainer = trainer(backend)
        self.rates = []
        self.run = self.trainer.start(
            *DATA, epochs=epochs, batch_size=8, folder=folder, callbacks=[self._on_event], **options
        )
        self.until(1)

    def _on_event(self, event):
        if isinstance(event, train.Step):
            with self.stepped:
                self.steps += 1
                self.rates.append(self.trainer.learning_rate)
                self.stepped.notify_all()
            assert self.passes.acquire(timeout=WAIT)

    def until(self, step):
        """Wait for the end of a step."""
        with self.stepped:
            assert self.stepped.wait_for(lambda: self.steps >= step, WAIT)

    def go(self, steps=100_000):
        self.passes.release(steps)

    def end(self):
        self.run.stop()
        self.go()
        assert self.run._done.wait(WAIT)


@contextmanager
def holding(backend):
    """A context with a function that starts `Held` runs; they are ended on exit."""
    runs = []

    def make(*args, **options):
        runs.append(Held(backend, *args, **options))
        return runs[-1]

    yield make
    for run in runs:
        run.end()


def pause_run(held):
    """Pause the run after a step."""
    held.run.pause()
    held.go(1)
    assert soon(lambda: held.run.status == "paused")


def lines_of(run):
    return [json.loads(line) for line in (run.folder / "events.jsonl").read_text().splitlines()]


def of_kind(run, kind):
    return [e for e in lines_of(run) if e["kind"] == kind]


def soon(test):
    """Wait until the test is true; returns False after `WAIT` seconds."""
    for _ in range(int(WAIT / 0.02)):
        if test():
            return True
        time.sleep(0.02)
    return False


def write_command(run, **command):
    """Write a command file without LabDL, as another program would; returns the id of the command."""
    control, name = run.folder / "control", f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    control.mkdir(exist_ok=True)
    (control / f".{name}").write_text(json.dumps({"id": name, **command}))
    (control / f".{name}").rename(control / f"{name}.json")
    return command.get("id", name)


def acknowledgements(run):
    """The acknowledged commands by id."""
    return {e["id"]: e for e in of_kind(run, "command")}
