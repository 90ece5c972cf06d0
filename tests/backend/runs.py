"""What the tests of runs in the background share: a small training, one that is held step by step, and what a run has told."""

import json
import secrets
import threading
import time
from contextlib import contextmanager

import numpy as np

from labdl import nn, train
from labdl.train import Trainer

WAIT = 90


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
    """A run that makes as many steps as it is allowed to; it waits behind each of them in a callback."""

    def __init__(self, backend, folder, epochs=3, **options):
        self.passes, self.steps, self.made = threading.Semaphore(0), 0, threading.Condition()
        self.trainer = trainer(backend)
        self.rates = []
        self.run = self.trainer.start(
            *DATA, epochs=epochs, batch_size=8, folder=folder, callbacks=[self._hear], **options
        )
        self.until(1)

    def _hear(self, event):
        if isinstance(event, train.Step):
            with self.made:
                self.steps += 1
                self.rates.append(self.trainer.learning_rate)
                self.made.notify_all()
            assert self.passes.acquire(timeout=WAIT)

    def until(self, step):
        """Wait for the end of a step, which the run then holds at."""
        with self.made:
            assert self.made.wait_for(lambda: self.steps >= step, WAIT)

    def go(self, steps=100_000):
        self.passes.release(steps)

    def end(self):
        self.run.stop()
        self.go()
        assert self.run._done.wait(WAIT)


@contextmanager
def holding(backend):
    """A function that starts runs which are held; all of them end with it."""
    made = []

    def make(*args, **options):
        made.append(Held(backend, *args, **options))
        return made[-1]

    yield make
    for run in made:
        run.end()


def resting(held):
    """Bring it to a rest after a step."""
    held.run.pause()
    held.go(1)
    assert soon(lambda: held.run.status == "paused")


def lines_of(run):
    return [json.loads(line) for line in (run.folder / "events.jsonl").read_text().splitlines()]


def of_kind(run, kind):
    return [e for e in lines_of(run) if e["kind"] == kind]


def soon(test):
    for _ in range(int(WAIT / 0.02)):
        if test():
            return True
        time.sleep(0.02)
    return False


def order(run, **command):
    """Leave a command in the folder as a program would that knows nothing of LabDL; returns its identity."""
    control, name = run.folder / "control", f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    control.mkdir(exist_ok=True)
    (control / f".{name}").write_text(json.dumps({"id": name, **command}))
    (control / f".{name}").rename(control / f"{name}.json")
    return command.get("id", name)


def answers(run):
    """The commands that were answered, by their identities."""
    return {e["id"]: e for e in of_kind(run, "command")}
