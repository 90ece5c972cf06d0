"""A race: the same training on several backends at the same time, each in a worker process."""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from labdl import framework_info
from labdl.display import display_runs, runs_widget
from labdl.errors import ConfigError, TrainingError, message_of
from labdl.graph.graph import Graph
from labdl.keywords import show_keywords
from labdl.nn.module import Module
from labdl.train.aliases import TRAINER, full_names
from labdl.train.leaderboard import Leaderboard
from labdl.train.options import RaceOptions, check_keywords
from labdl.train.race import serialization
from labdl.train.race.client import RaceRun
from labdl.train.run.groups import write_group
from labdl.train.starting import start_loop
from labdl.train.trainer import Trainer

log = logging.getLogger(__name__)
_HEALTH = 0.0  # share of the time that checks may take, which a race compares
SECONDS = 0.1  # polling interval
_OWN = ("validation", "backends", "epochs", "batch_size", "shuffle", "seed", "folder", "at_once")
_KEYWORDS = (*_OWN, *RaceOptions.__annotations__)


class Race:
    """A running race: ``runs`` has a `RaceRun` for each backend; `wait`, `stop` and `table`."""

    _ipython_display_ = display_runs
    _display_ = runs_widget

    def __init__(self, runs: dict[str, RaceRun], folder: Path, exchange: tempfile.TemporaryDirectory, at_once: int):
        self.runs, self.folder = runs, folder
        self._exchange, self._at_once = exchange, at_once
        self._done = threading.Event()
        threading.Thread(target=self._watch, name=f"labdl-{folder.name}", daemon=True).start()

    def wait(self, timeout: float | None = None) -> Race:
        """Block until all runs have ended.

        A run that fails does not end the others: a warning in the log says how many failed, and `table` has their errors.
        Raises TrainingError if all failed, and TimeoutError.
        """
        if not self._done.wait(timeout):
            active = ", ".join(name for name, run in self.runs.items() if run.alive)
            raise TimeoutError(f"the race is still active after {timeout} s: {active}")
        failed = {name: run.error for name, run in self.runs.items() if run.error is not None}
        if failed:
            backend, error = next(iter(failed.items()))
            count = (
                f"{len(failed)} of {len(self.runs)} runs failed" if len(failed) < len(self.runs) else "all runs failed"
            )
            message = f"{self.folder.name}: {count}; {backend}: {error}"
            if len(failed) == len(self.runs):
                raise TrainingError(message)
            log.warning("%s", message)
        return self

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def stop(self) -> None:
        """End all runs after the current step; their models keep their current parameters."""
        for run in self.runs.values():
            run.stop()

    def table(self) -> Leaderboard:
        """Table of the runs: status, epochs, seconds, samples per second, last values, and errors."""
        rows = Leaderboard()
        for name, run in self.runs.items():
            status = run.status
            rows.append(
                {
                    "backend": name,
                    "status": status,
                    "epochs": max(map(len, run.history.values()), default=0),
                    "seconds": run.seconds,
                    "samples_per_second": run.samples_per_second,
                    **{key: values[-1] for key, values in run.history.items()},
                    "error": run.error,
                }
            )
        return rows

    def _watch(self) -> None:
        waiting = [run for run in self.runs.values() if run.error is None]
        share = max(1, (os.cpu_count() or 1) // max(1, min(self._at_once, len(waiting))))
        active: list[RaceRun] = []
        while waiting or active:
            while waiting and len(active) < self._at_once:
                run = waiting.pop(0)
                try:
                    run._start(self._exchange.name, share)
                except OSError as error:
                    run._fail(f"the worker process cannot be started: {message_of(error)}")
                if run.process is not None:
                    active.append(run)
            exited = [run for run in active if run.process is None or run.process.poll() is not None]
            for run in active:
                run._poll()
            active = [run for run in active if run not in exited]
            time.sleep(SECONDS)
        for run in self.runs.values():
            run.stop()  # closes the pipe to the worker
        self._exchange.cleanup()
        self._done.set()

    def __repr__(self) -> str:
        return f"Race({self.folder.name}: {', '.join(f'{n} {r.status}' for n, r in self.runs.items())})"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@show_keywords(
    Trainer,
    start_loop,
    without=(
        *serialization.RACE_ARGUMENTS,
        *("keep_gradients", "resume", "callbacks", "sample_weight"),
        *("steps_per_epoch", "validation_steps", "validation_freq", "validation_batch_size"),
    ),
)
def race(
    model: Module | Graph,
    data: Any,
    y: Any = None,
    *,
    validation: Any = None,
    backends: Sequence[str] | None = None,
    epochs: int = 1,
    batch_size: int = 32,
    shuffle: bool = True,
    seed: int = 0,
    folder: str | Path | None = None,
    at_once: int | None = None,
    **settings: Unpack[RaceOptions],
) -> Race:
    """Train a model on several backends, each in its own process, and return immediately.

    The data are those of `Trainer.fit`, ``race(model, dataset)`` or ``race(model, x, y)``. All start with the same weights,
    those of the model if it is built, and use the same data in the same order; if one crashes the others continue.
    ``backends`` are by default all installed ones; ``at_once`` is the largest number of backends that train at the same
    time, by default all, and they share the processor. ``settings`` are those of `Trainer` (loss, optimizer, metrics, …),
    and ``validation_split`` and ``class_weight`` of `Trainer.fit`; ``health`` is 0 unless it is given. Functions are not
    possible, because settings are passed in files. Raises ConfigError, and ModelError for a model that cannot be traced as a
    graph.
    """
    check_keywords("race", settings.keys() - {*serialization.RACE_ARGUMENTS}, _KEYWORDS)
    data = data if y is None else (data, y)
    names = (
        list(backends)
        if backends is not None
        else [n for n in framework_info.installed_backends() if n in framework_info.TRAINING]
    )
    for name in names:
        if name not in framework_info.TRAINING:
            wanted = ", ".join(sorted(framework_info.TRAINING))
            raise ConfigError(f"race: backends wants some of {wanted}, received {name!r}")
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"race: backends wants different backends, at least one, received {names!r}")
    if at_once is not None and (not isinstance(at_once, int) or isinstance(at_once, bool) or at_once < 1):
        raise ConfigError(f"race: at_once wants an integer at least 1, received {at_once!r}")
    target = (
        Path(folder)
        if folder is not None
        else Path("runs") / f"race-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    )
    trainers = full_names(settings, TRAINER)
    options: dict[str, Any] = {
        "epochs": epochs,
        "batch_size": batch_size,
        "shuffle": shuffle,
        "health": trainers.pop("health", _HEALTH),
        "group": target.name,
        **{
            name: trainers.pop(name)
            for name in ("class_weight", "validation_split", "validation_from")
            if name in trainers
        },
    }
    exchange = tempfile.TemporaryDirectory(prefix="labdl-race-", ignore_cleanup_errors=True)
    try:
        serialization.pack(Path(exchange.name), model, data, validation, trainers, options, seed)
        write_group(target, "race")
    except BaseException:
        exchange.cleanup()
        raise
    runs = {name: RaceRun(name, target / name, framework_info.problem(name)) for name in names}
    return Race(runs, target, exchange, at_once or len(names))
