"""Long polling of the runs that a page follows: one request for all, answered when one has new events (docs/runs.md)."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.jsonutil import json_default

from labdl.lab.messages.base import write
from labdl.lab.messages.runs import MAX_WAIT, FollowAnswer
from labdl.lab.widgets.binary_events import pack
from labdl.runs.folder import LiveStatus
from labdl.runs.reading.best import has_epochs
from labdl.runs.reading.event_file import EVENTS, EventReader

_EVERY = 0.1  # seconds between checks of the files, and at least before an answer
_ALIVE_EVERY = 1.0  # seconds between checks of the processes
_LIMIT = 4 * 1024 * 1024  # bytes of a run per answer
_CACHED = 256  # runs in the cache


@dataclass
class PolledRun:
    """A run of which a page has the first ``offset`` bytes, and whether it was ``alive`` (None: it did not exist)."""

    path: str
    folder: Path | None  # None for an invalid path
    offset: int = 0
    alive: bool | None = None
    kinds: tuple[str, ...] = ()  # kinds of events to send; all if empty
    answer: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


class StatusCache:
    """Status of runs, cached between requests."""

    def __init__(self):
        self._known: OrderedDict[Path, LiveStatus] = OrderedDict()

    def alive(self, folder: Path) -> bool | None:
        """True while a process works on the run of a folder; None if there is no run."""
        status = self._known.pop(folder, None) or LiveStatus(folder)
        try:
            alive = status.alive()
        except OSError:
            return None
        self._known[folder] = status
        if len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return alive

    def best(self, folder: Path) -> dict[str, Any] | None:
        """The best value of each metric of a run so far; None if there is no run."""
        status = self._known.get(folder)
        try:
            if status is not None:
                status.refresh()
        except OSError:
            return None
        return None if status is None else status.best.to_dict()


statuses = StatusCache()


async def poll(runs: list[PolledRun], wait: float) -> bytes:
    """Wait until one of the runs has new events, at most ``wait`` seconds, and return the binary answer."""
    ends, checked = time.monotonic() + min(wait, MAX_WAIT), 0.0
    if wait:
        await asyncio.sleep(_EVERY)  # collect events for one answer
    while True:
        now = time.monotonic()
        has_news = await asyncio.to_thread(_has_news, runs)
        if now - checked >= _ALIVE_EVERY or has_news:
            checked = now
            has_news = await asyncio.to_thread(_read, runs) or has_news
        if has_news or now >= ends:
            return await asyncio.to_thread(pack_answer, runs)
        await asyncio.sleep(_EVERY)


def _has_news(runs: Iterable[PolledRun]) -> bool:
    """True when the size of a file differs from the offset of the page."""
    for run in runs:
        if run.folder is None:
            continue
        try:
            if (run.folder / EVENTS).stat().st_size != run.offset:
                return True
        except OSError:
            if run.alive is not None:
                return True
    return False


def _read(runs: Iterable[PolledRun]) -> bool:
    """Read new events of each run; returns whether there are any."""
    news = False
    for run in runs:
        if run.folder is None:
            run.answer = {"path": run.path, "offset": 0, "alive": None, "reset": False, "best": None}
            continue
        reader = EventReader(run.folder / EVENTS, run.offset)
        alive = statuses.alive(run.folder)  # before reading: no events follow the end
        try:
            run.events = reader.read(_LIMIT)
            reset = reader.restarted
        except OSError:
            run.events, reset = [], False
        if run.kinds:
            run.events = [event for event in run.events if event["kind"] in run.kinds]
        news = news or reader.offset != run.offset or alive != run.alive
        best = statuses.best(run.folder) if has_epochs(run.events) else None
        run.answer = {"path": run.path, "offset": reader.offset, "alive": alive, "reset": reset, "best": best}
    return news


def pack_answer(runs: list[PolledRun]) -> bytes:
    """A header's length as little-endian uint32, the header as JSON, zeros up to a multiple of 4, then the columns.

    The header has for each run ``path``, ``offset``, ``alive``, ``reset`` (it restarted), ``best`` (the best value of each
    metric, if the events contain epochs), ``events`` and ``bytes``: the size of their columns (see
    `labdl.lab.widgets.binary_events`).
    """
    entries, buffers = [], []
    for run in runs:
        events, columns = pack(run.events)
        buffers += columns
        entries.append({**run.answer, "events": events, "bytes": sum(map(len, columns))})
    header = json.dumps(write(FollowAnswer, {"runs": entries}), default=json_default, allow_nan=False).encode()
    return b"".join([struct.pack("<I", len(header)), header, b"\0" * (-len(header) % 4), *buffers])
