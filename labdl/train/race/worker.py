"""A worker of a race: one backend's training in a process of its own (see `labdl.train.race.race`)."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

import numpy as np

from labdl.data import ArrayDataset
from labdl.ops.random.state import seed
from labdl.runs.folder import LiveStatus
from labdl.runs.reading.event_file import encode
from labdl.saving import load
from labdl.train import failures
from labdl.train.schedules import SCHEDULES, schedule
from labdl.train.trainer import Trainer


def _dataset(folder: Path, told: dict | None) -> ArrayDataset | None:
    """Arrays as they lie in the files: the operating system shares them between the workers."""
    if told is None:
        return None
    arrays = [np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in told["files"]]
    return ArrayDataset(*arrays, name=told["name"], classes=told["classes"])


def _schedule(value):
    """A schedule from its settings, of which some may be schedules again."""
    if isinstance(value, list):
        return [_schedule(v) for v in value]
    if not isinstance(value, dict) or value.get("name") not in SCHEDULES:
        return value
    return schedule(value["name"], **{key: _schedule(v) for key, v in value.items() if key != "name"})


def _race(exchange: Path, backend: str, folder: Path, stopped: threading.Event) -> str:
    order = json.loads((exchange / "order.json").read_text(encoding="utf-8"))
    for module in order["modules"]:
        importlib.import_module(module)
    seed(order["seed"])
    model = load(exchange / "model", backend=backend, parameters=order["parameters"], seed=order["seed"])
    settings = order["settings"]
    if "schedule" in settings:
        settings["schedule"] = _schedule(settings["schedule"])
    trainer = Trainer.from_config(model, settings, backend=backend, seed=order["seed"])
    run = trainer.start(
        _dataset(exchange, order["data"]),
        validation=_dataset(exchange, order["validation"]),
        folder=folder,
        save_to=folder / "model.npz",
        **order["options"],
    )

    def obey() -> None:
        stopped.wait()
        run.stop()

    threading.Thread(target=obey, daemon=True).start()
    return run.wait().status


def main() -> int:
    exchange, backend, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that watches
    stopped = threading.Event()

    def listen() -> None:
        sys.stdin.read()  # ends when the race is stopped, and when the process that began it is no more
        stopped.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        _race(exchange, backend, folder, stopped)
    except Exception as error:  # it becomes a row of the race's table
        traceback.print_exc()
        liveness = LiveStatus(folder)
        with suppress(OSError):
            liveness.alive()
        if not liveness.ended:
            line = {"kind": "end", "time": time.time(), "status": "failed", "message": failures.error_message(error)}
            with open(liveness.path, "ab") as file:
                file.write(encode([line]))
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the frameworks' own endings, which may crash, say nothing about the training
