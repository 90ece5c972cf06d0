"""The folder of runs: whether a training can write there, and the space that is left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from labdl.doctor.finding import Finding, fault

LITTLE = 1 << 30  # bytes: a few checkpoints of a small model
FULL = 100 << 20  # bytes: recording and checkpoints are about to fail


def check_runs(folder: Path) -> Iterator[Finding]:
    """The folder in which trainings that start here are recorded, as `runs` in the working directory."""
    place = folder.resolve()
    existing = next(path for path in (place, *place.parents) if path.exists())
    if not existing.is_dir():
        yield fault(
            "runs", f"{existing} is a file, where the folder of runs should be", f"mv {existing} {existing}.old"
        )
        return
    if not os.access(existing, os.W_OK | os.X_OK):
        yield fault("runs", f"{place} cannot be written", f"chmod u+rwx {existing}")
        return
    free = shutil.disk_usage(existing).free
    message = f"{place}: {_size(_bytes_in(place))} used, {_size(free)} free"
    if free < FULL:
        yield fault(
            "runs", f"{message}; trainings are about to fail", f"du -sh {place}/*  # and remove what you do not need"
        )
    else:
        yield Finding("runs", message, "note" if free < LITTLE else "ok")


def _bytes_in(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:  # a run has removed its file in the meantime
                continue
    return total


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} TB"
