"""Folders of runs for tests: events written as a training writes them."""

import os
import socket
import time

import psutil

from labdl.runs.reading.event_file import EVENTS, encode

NOW = float(int(time.time()) + 1)  # a run of this process began after it


def start(**values):
    """A start event; of this process unless it says otherwise, so that the run counts as alive."""
    return {
        "kind": "start",
        "time": NOW,
        "version": 2,
        "id": "run",
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "model": "Net",
        "backend": "torch",
        "epochs": 3,
        "steps_per_epoch": 10,
        "batch_size": 4,
        "samples": 40,
        "step": 0,
        "loss": "cross_entropy",
        "optimizer": "adam",
        "metrics": ["accuracy", "error"],
        "higher": ["accuracy"],
        "lower": ["error"],
        "parameters": 123,
        "settings": {"learning_rate": 0.1, "seed": 3},
        **values,
    }


def steps(first, last, after=0.0, **figures):
    """Steps first to last; the loss falls as 1 / step."""
    found = list(range(first, last + 1))
    columns = figures or {"loss": [1 / step for step in found], "accuracy": [step / 100 for step in found]}
    return {"kind": "steps", "time": NOW + (after or last), "step": found, **columns}


def epoch(number, step, **figures):
    return {"kind": "epoch", "time": NOW + step, "epoch": number, "step": step, **figures, "samples_per_second": 40.0}


def trained(count=3, **begun):
    """The events of a training of ten steps an epoch, one a second."""
    events = [start(**begun), {"kind": "rate", "time": NOW, "step": [0], "value": [0.1]}]
    for number in range(1, count + 1):
        last = 10 * number
        events += [
            steps(last - 9, last),
            epoch(
                number,
                last,
                loss=1 / last,
                val_loss=2 / last,
                accuracy=number / 10,
                val_accuracy=(number % 3) / 10,
                error=float(number),
            ),
        ]
    return events


def written(folder, events):
    """The folder, to whose file these events were added."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / EVENTS, "ab") as file:
        file.write(encode(events))
    return folder


def gone(**values):
    """What a start event says of a process that is no more."""
    taken = set(psutil.pids())
    return {"pid": next(pid for pid in range(3_000_000, 4_000_000) if pid not in taken), "time": time.time(), **values}


def end(status="finished", after=30.0, **values):
    return {"kind": "end", "time": NOW + after, "status": status, "message": None, **values}
