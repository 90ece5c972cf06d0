"""One backend in a race, followed and steered through the files of its worker process (R6.4)."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from labdl.display import display_dashboard
from labdl.runs import control
from labdl.runs.reading.event_file import EVENTS, EventReader
from labdl.runs.schema import EndEvent, EpochEvent, StartEvent, StatusEvent, StepsEvent, parse
from labdl.train.run.event_stream import EventStream, Listener
from labdl.train.run.exports import RecordedRun

_TAIL = 4096  # bytes of a worker's last words
log = logging.getLogger(__name__)


class RaceRun(RecordedRun):
    """One backend in a race, followed through the files of its worker.

    ``status`` is waiting, starting, running, paused, stopping, finished, stopped, failed or missing; ``error`` says why it
    failed or is missing. ``folder`` holds the ``events.jsonl`` of its run, ``output.txt``, what the worker printed, and
    ``model.npz``, its parameters. It takes the commands of a `Run`, and `labdl.lab.Dashboard` shows it as one.
    """

    _ipython_display_ = display_dashboard

    def __init__(self, backend: str, folder: Path, problem: str | None):
        self.backend, self.folder = backend, folder
        self.process: subprocess.Popen | None = None
        self.started: dict[str, Any] | None = None
        self.error: str | None = problem
        self._status = "waiting" if problem is None else "missing"
        self._history: dict[str, list[float]] = {}
        self._speeds: list[float] = []
        self._step = 0
        self._last = 0.0
        self._reader, self._lock = EventReader(folder / EVENTS), threading.Lock()
        self._looking, self._at_it = threading.RLock(), False
        self._own: list[dict[str, Any]] = []  # events that the worker could not record
        self._feed = EventStream(self._reader.path, lambda: list(self._own), lambda: self._reader.offset)
        self._orders: list[tuple[str, Any, str | None]] = []
        if problem is not None:
            self._tell(_end("failed", problem))

    @property
    def status(self) -> str:
        self._look()
        return self._status

    @property
    def alive(self) -> bool:
        """Whether it is still to come or going on, as far as has been heard."""
        return self._status not in ("finished", "stopped", "failed", "missing")

    @property
    def step(self) -> int:
        """The number of steps made."""
        self._look()
        return self._step

    @property
    def history(self) -> dict[str, list[float]]:
        """A list an epoch for each value."""
        self._look()
        return self._history

    @property
    def seconds(self) -> float:
        """From the start of its training, the framework being loaded, to its last event."""
        self._look()
        return self._last - self.started["time"] if self.started else 0.0

    @property
    def samples_per_second(self) -> float | None:
        """The median over its epochs, of which the first may have compiled the model."""
        self._look()
        return float(np.median(self._speeds)) if self._speeds else None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with everything recorded so far, then live; returns a function that ends it."""
        with self._alone():
            return self._feed.subscribe(listener)

    def pause(self) -> None:
        """Rest after the step under way."""
        self.obey("pause")

    def resume(self) -> None:
        """Go on after a pause."""
        self.obey("resume")

    def stop(self) -> None:
        """End after the step under way; one that has not begun never does."""
        with self._lock:
            unborn = self._status == "waiting"
            if unborn:
                self._status = "stopped"
            if self.process is not None and self.process.stdin is not None:
                self.process.stdin.close()
        if unborn:
            self._tell(_end("stopped"))

    def obey(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """Pass a command on: see `Run.obey`. One that comes before the training has begun waits for it. Raises ConfigError."""
        value = control.check_command(command, value)
        identity = None if identity is None else control.check_id(identity)
        if command == "stop" and (self.started is None or identity is None):
            if self._status == "waiting" and identity is not None:
                self._tell(
                    {
                        "kind": "command",
                        "time": time.time(),
                        "id": identity,
                        "command": command,
                        "step": 0,
                        "status": "done",
                        "message": None,
                    }
                )
            self.stop()
        elif self.alive:
            with self._lock:
                if self.started is None:  # a run takes what comes after it has begun
                    self._orders.append((command, value, identity))
                    return
            control.append(self.folder, command, value, identity)

    def _pass_on(self) -> None:
        """Commands sent before the training started."""
        with self._lock:
            orders, self._orders = self._orders, []
        for command, value, identity in orders:
            try:
                control.append(self.folder, command, value, identity)
            except OSError as error:
                log.warning("%s cannot be told to %s: %s", self.backend, command, error)

    def _start(self, exchange: str, threads: int) -> None:
        with self._lock:
            if self._status != "waiting":
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            paths = [
                str(Path(__file__).parents[3]),
                *filter(None, sys.path),
            ]  # the worker finds what this process finds
            given = {
                "LABDL_BACKEND": self.backend,
                "LABDL_BACKENDS": self.backend,
                "PYTHONPATH": os.pathsep.join(paths),
            }
            environment = {"OMP_NUM_THREADS": str(threads), **os.environ, **given}
            command = [
                sys.executable,
                "-m",
                "labdl.train.race.worker",
                exchange,
                self.backend,
                str(self.folder.resolve()),
            ]
            with open(self.folder / "output.txt", "wb") as output:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=output, stderr=output, env=environment
                )
            self._status = "starting"

    def _fail(self, message: str) -> None:
        """It could not even be started."""
        self._status, self.error = "failed", message
        self._tell(_end("failed", message))

    # -- following

    def _look(self) -> None:
        """Hear what the worker has recorded since the last look, and whether it is still there, and tell the listeners."""
        with self._alone() as first:
            if not first:  # a listener asks how far we are
                return
            # before reading: nothing comes after that
            gone = self.process is not None and self.process.poll() is not None
            while events := self._recorded():
                for event in events:
                    self._hear(event)
                self._feed.tell(events)
            if gone and self._status in ("starting", "running", "paused", "stopping"):
                end = _end("failed", self._last_words())
                self._hear(end)
                self._tell(end)
        if self.started is not None:
            self._pass_on()

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """One thread at a time looks and tells; whether this is not yet inside of that, as what listeners do is."""
        with self._looking:
            outer, self._at_it = self._at_it, True
            try:
                yield not outer
            finally:
                self._at_it = outer

    def _tell(self, event: dict[str, Any]) -> None:
        """Tell what the worker could not record."""
        with self._alone():
            self._own.append(event)
            self._feed.tell([event])

    def _recorded(self) -> list[dict[str, Any]]:
        if self.process is None:
            return []
        try:
            return self._reader.read()
        except OSError:
            return []  # not at this moment; it is asked for again soon

    def _hear(self, event: dict[str, Any]) -> None:
        parsed = parse(event)
        if parsed is None:
            return
        self._last = parsed.time
        if isinstance(parsed, StartEvent):
            self.started, self._status = event, "running"
        elif isinstance(parsed, StepsEvent):
            self._step = int(parsed.step[-1])
        elif isinstance(parsed, EpochEvent):
            if parsed.samples_per_second is not None:
                self._speeds.append(parsed.samples_per_second)
            for name, value in parsed.metrics.items():
                self._history.setdefault(name, []).append(value)
        elif isinstance(parsed, StatusEvent):
            self._status = parsed.status
        elif isinstance(parsed, EndEvent):
            self._status, self.error = parsed.status, parsed.message

    def _last_words(self) -> str:
        assert self.process is not None
        code = self.process.returncode
        how = f"exit status {code}"
        if code < 0:
            how = next((f"signal {s.name}" for s in signal.Signals if s == -code), f"signal {-code}")
        said = (self.folder / "output.txt").read_bytes()[-_TAIL:].decode(errors="replace").strip().splitlines()
        return f"the worker process ended with {how}{f': {said[-1][:300]}' if said else ''}"

    def __repr__(self) -> str:
        return f"RaceRun({self.backend}: {self.status}{f', {self.error}' if self.error else ''})"


def _end(status: str, message: str | None = None) -> dict[str, Any]:
    """The last event of one that could not record it."""
    return {"kind": "end", "time": time.time(), "status": status, "message": message}
