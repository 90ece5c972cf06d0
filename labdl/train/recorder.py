"""Recording a run as events.jsonl: append-only, one line a flush with column arrays (D12)."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FLUSH_SECONDS = 0.2
Listener = Callable[[list[dict[str, Any]]], None]


def jsonable(value) -> Any:
    """NaN and infinities as null, which every JSON reader understands."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: jsonable(v) for k, v in value.items()}
    return [jsonable(v) for v in value] if isinstance(value, list | tuple) else value


class Recorder:
    """Collects steps in memory; a thread writes them and tells the listeners, at most five times a second."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "events.jsonl"
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the run
        self._columns: dict[str, list] = {}
        self._written: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._closed = threading.Event()
        self.on_flush: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._flush_often, name="labdl-recorder", daemon=True)
        self._thread.start()

    def step(self, step: int, values: dict[str, float]) -> None:
        """Remember one step; it is written with the next flush."""
        with self._lock:
            columns = self._columns
            if not columns:
                columns["step"] = []
                columns.update({name: [] for name in values})
            columns["step"].append(step)
            for name, value in values.items():
                columns[name].append(value)

    def event(self, kind: str, **values) -> None:
        """Write one event now, after the steps before it."""
        self._write({"kind": kind, "time": time.time(), **values})

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with all events so far, then with new ones as they are written; returns the way out."""
        with self._lock:
            past = list(self._written)
            if past:
                listener(past)  # inside the lock, so that nothing can overtake the replay
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def close(self) -> None:
        self._closed.set()
        self._thread.join(timeout=5)
        self._write(None)
        self._file.close()

    def _flush_often(self) -> None:
        while not self._closed.wait(FLUSH_SECONDS):
            if self.on_flush is not None:
                self.on_flush()
            self._write(None)

    def _write(self, event: dict[str, Any] | None) -> None:
        with self._lock:
            events = []
            if self._columns:
                now = time.time() if event is None else event["time"]  # never after the event that follows
                events.append({"kind": "steps", "time": now, **self._columns})
                self._columns = {}
            if event is not None:
                events.append(event)
            if not events:
                return
            lines = [jsonable(e) for e in events]
            self._file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            self._written += lines
            for listener in list(self._listeners):
                try:
                    listener(lines)
                except Exception:  # somebody else's code, such as a widget's, must not end the training
                    self._listeners.remove(listener)
                    logging.getLogger(__name__).exception("%s raised an error and gets no more events", listener)
