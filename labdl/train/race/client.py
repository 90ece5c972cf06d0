"""One backend in a race, monitored and controlled through the files of its worker process."""

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

from labdl.display import dashboard_widget, display_dashboard
from labdl.runs import control
from labdl.runs.reading.event_file import EVENTS, EventReader
from labdl.runs.schema import EndEvent, EpochEvent, StartEvent, StatusEvent, StepsEvent, parse
from labdl.train.run.event_stream import EventStream, Listener
from labdl.train.run.exports import RecordedRun

_TAIL = 4096  # bytes at the end of a worker's output
log = logging.getLogger(__name__)


class RaceRun(RecordedRun):
    """The run of one backend in a race, in a worker process.

    ``status`` is waiting, starting, running, paused, stopping, finished, stopped, failed or missing; ``error`` says why it
    failed or is missing. ``folder`` has ``events.jsonl``, the recording of the run, ``output.txt``, the output of the worker,
    and ``model.npz``, the parameters. It accepts the commands of a `Run`, and `labdl.lab.Dashboard` displays it.
    """

    _ipython_display_ = display_dashboard
    _display_ = dashboard_widget

    def __init__(self, backend: str, folder: Path, problem: str | None):
        self.backend, self.folder = backend, folder
        self.process: subprocess.Popen | None = None
        self.start_event: dict[str, Any] | None = None
        self.error: str | None = problem
        self._status = "waiting" if problem is None else "missing"
        self._history: dict[str, list[float]] = {}
        self._speeds: list[float] = []
        self._step = 0
        self._last = 0.0
        self._reader, self._lock = EventReader(folder / EVENTS), threading.Lock()
        self._poll_lock, self._polling = threading.RLock(), False
        self._own: list[dict[str, Any]] = []  # events that the worker could not record
        self._stream = EventStream(self._reader.path, lambda: list(self._own), lambda: self._reader.offset)
        self._pending_commands: list[tuple[str, Any, str | None]] = []
        if problem is not None:
            self._publish(_end_event("failed", problem))

    @property
    def status(self) -> str:
        self._poll()
        return self._status

    @property
    def alive(self) -> bool:
        """True until the end of the run, as far as its recording has been read."""
        return self._status not in ("finished", "stopped", "failed", "missing")

    @property
    def step(self) -> int:
        """Number of steps so far."""
        self._poll()
        return self._step

    @property
    def history(self) -> dict[str, list[float]]:
        """For each value a list with one entry per epoch."""
        self._poll()
        return self._history

    @property
    def seconds(self) -> float:
        """Time from the start of the training, without loading the framework, to its last event."""
        self._poll()
        return self._last - self.start_event["time"] if self.start_event else 0.0

    @property
    def samples_per_second(self) -> float | None:
        """Median over the epochs, because the first one may include compilation."""
        self._poll()
        return float(np.median(self._speeds)) if self._speeds else None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with all events so far, then with new ones; returns a function that unsubscribes it."""
        with self._exclusive():
            return self._stream.subscribe(listener)

    def pause(self) -> None:
        """Pause after the current step."""
        self.send_command("pause")

    def resume(self) -> None:
        """Continue after a pause."""
        self.send_command("resume")

    def stop(self) -> None:
        """End after the current step; a run that has not started is cancelled."""
        with self._lock:
            waiting = self._status == "waiting"
            if waiting:
                self._status = "stopped"
            if self.process is not None and self.process.stdin is not None:
                self.process.stdin.close()
        if waiting:
            self._publish(_end_event("stopped"))

    def send_command(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """Send a command to the worker: see `Run.send_command`. Before the start of the training it is deferred."""
        value = control.check_command(command, value)
        identity = None if identity is None else control.check_id(identity)
        if command == "stop" and (self.start_event is None or identity is None):
            if self._status == "waiting" and identity is not None:
                self._publish(
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
                if self.start_event is None:  # a run ignores commands from before its start
                    self._pending_commands.append((command, value, identity))
                    return
            control.append(self.folder, command, value, identity)

    def _send_pending_commands(self) -> None:
        """Send the commands from before the start of the training."""
        with self._lock:
            pending, self._pending_commands = self._pending_commands, []
        for command, value, identity in pending:
            try:
                control.append(self.folder, command, value, identity)
            except OSError as error:
                log.warning("the command %s cannot be sent to %s: %s", command, self.backend, error)

    def _start(self, exchange: str, threads: int) -> None:
        with self._lock:
            if self._status != "waiting":
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            paths = [
                str(Path(__file__).parents[3]),
                *filter(None, sys.path),
            ]  # so that the worker imports the same packages
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
        """Record that the worker could not be started."""
        self._status, self.error = "failed", message
        self._publish(_end_event("failed", message))

    # -- reading the recording

    def _poll(self) -> None:
        """Read new events of the worker, check that its process is alive, and publish the events."""
        with self._exclusive() as outermost:
            if not outermost:  # called by a listener
                return
            # checked before reading, so that no event is missed
            exited = self.process is not None and self.process.poll() is not None
            while events := self._read_events():
                for event in events:
                    self._apply(event)
                self._stream.publish(events)
            if exited and self._status in ("starting", "running", "paused", "stopping"):
                end = _end_event("failed", self._exit_message())
                self._apply(end)
                self._publish(end)
        if self.start_event is not None:
            self._send_pending_commands()

    @contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """A context for reading and publishing in one thread at a time; its value is False if this thread is already in it."""
        with self._poll_lock:
            nested, self._polling = self._polling, True
            try:
                yield not nested
            finally:
                self._polling = nested

    def _publish(self, event: dict[str, Any]) -> None:
        """Publish an event that the worker could not record."""
        with self._exclusive():
            self._own.append(event)
            self._stream.publish([event])

    def _read_events(self) -> list[dict[str, Any]]:
        if self.process is None:
            return []
        try:
            return self._reader.read()
        except OSError:
            return []  # temporarily unreadable; the next poll tries again

    def _apply(self, event: dict[str, Any]) -> None:
        parsed = parse(event)
        if parsed is None:
            return
        self._last = parsed.time
        if isinstance(parsed, StartEvent):
            self.start_event, self._status = event, "running"
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

    def _exit_message(self) -> str:
        assert self.process is not None
        code = self.process.returncode
        reason = f"exit status {code}"
        if code < 0:
            reason = next((f"signal {s.name}" for s in signal.Signals if s == -code), f"signal {-code}")
        output = (self.folder / "output.txt").read_bytes()[-_TAIL:].decode(errors="replace").strip().splitlines()
        return f"the worker process ended with {reason}{f': {output[-1][:300]}' if output else ''}"

    def __repr__(self) -> str:
        return f"RaceRun({self.backend}: {self.status}{f', {self.error}' if self.error else ''})"


def _end_event(status: str, message: str | None = None) -> dict[str, Any]:
    """The last event of a run that could not record it."""
    return {"kind": "end", "time": time.time(), "status": status, "message": message}
