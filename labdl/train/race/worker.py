"""Worker process of a race, which trains on one backend (see `labdl.train.race.race`)."""

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
from labdl.runs.reading.event_file import EVENTS, encode
from labdl.saving import load
from labdl.train import failures
from labdl.train.schedules import SCHEDULES, schedule
from labdl.train.trainer import Trainer


def _dataset(folder: Path, description: dict | None) -> ArrayDataset | None:
    """Data set of memory-mapped arrays, which the workers share."""
    if description is None:
        return None
    arrays = [np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in description["files"]]
    return ArrayDataset(*arrays, name=description["name"], classes=description["classes"])


def _schedule(value):
    """Create a schedule from its settings, which may contain schedules."""
    if isinstance(value, list):
        return [_schedule(v) for v in value]
    if not isinstance(value, dict) or value.get("name") not in SCHEDULES:
        return value
    return schedule(value["name"], **{key: _schedule(v) for key, v in value.items() if key != "name"})


def _race(exchange: Path, backend: str, folder: Path, stopped: threading.Event) -> str:
    job = json.loads((exchange / "job.json").read_text(encoding="utf-8"))
    for module in job["modules"]:
        importlib.import_module(module)
    seed(job["seed"])
    new_seed = None if job["parameters"] else job["seed"]
    model = load(exchange / "model", backend=backend, parameters=job["parameters"], seed=new_seed)
    settings = job["settings"]
    if "schedule" in settings:
        settings["schedule"] = _schedule(settings["schedule"])
    options = job["options"]
    if isinstance(options["class_weight"], list) and isinstance(options["class_weight"][0], list):  # pairs
        options["class_weight"] = dict(options["class_weight"])
    trainer = Trainer.from_config(model, settings, backend=backend, seed=job["seed"])
    run = trainer.start(
        _dataset(exchange, job["data"]),
        validation=_dataset(exchange, job["validation"]),
        folder=folder,
        save_to=folder / "model.npz",
        **options,
    )

    def stop_run() -> None:
        stopped.wait()
        run.stop()

    threading.Thread(target=stop_run, daemon=True).start()
    return run.wait().status


def main() -> int:
    exchange, backend, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process of the race
    stopped = threading.Event()

    def watch_stdin() -> None:
        sys.stdin.read()  # returns when the race is stopped or its process ends
        stopped.set()

    threading.Thread(target=watch_stdin, daemon=True).start()
    try:
        _race(exchange, backend, folder, stopped)
    except Exception as error:  # reported in the table of the race
        traceback.print_exc()
        liveness = LiveStatus(folder)
        with suppress(OSError):
            liveness.alive()
        if not liveness.ended:
            line = {"kind": "end", "time": time.time(), "status": "failed", "message": failures.error_message(error)}
            with open(folder / EVENTS, "ab") as file:
                file.write(encode([line]))
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # skip the shutdown of the frameworks, which may crash
