"""Runs followed by a page: one request for all of them, answered when one has something new (docs/runs.md)."""

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

from labdl.lab.packing import pack
from labdl.runs.eventfile import EVENTS, EventReader
from labdl.runs.folder import Standing

LONGEST = 20.0  # seconds a page waits for an answer; proxies give up after 30 or more
MOST = 64  # runs that a page follows
_EVERY = 0.1  # seconds between two looks at the files, and from a question to its answer at least
_ALIVE_EVERY = 1.0  # between two looks whether the processes are still there
_LIMIT = 4 * 1024 * 1024  # bytes of a run's file in an answer
_KEPT = 256  # runs of which it is remembered how they stand


@dataclass
class Followed:
    """A run of which a page knows the first ``offset`` bytes, and whether it was ``alive`` (None: there was none)."""

    path: str
    folder: Path | None  # None where no run can be
    offset: int = 0
    alive: bool | None = None
    kinds: tuple[str, ...] = ()  # that it wants to hear of, all if none are named
    answer: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


class Standings:
    """How runs stand, remembered between two questions so that what was read once is not read again."""

    def __init__(self):
        self._known: OrderedDict[Path, Standing] = OrderedDict()

    def alive(self, folder: Path) -> bool | None:
        """Whether somebody works in the folder of a run; None if there is no run."""
        standing = self._known.pop(folder, None) or Standing(folder)
        try:
            alive = standing.alive()
        except OSError:
            return None
        self._known[folder] = standing
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return alive


standings = Standings()


async def follow(runs: list[Followed], wait: float) -> bytes:
    """The packed answer for these runs, as soon as one has something new, or after ``wait`` seconds."""
    ends, looked = time.monotonic() + min(wait, LONGEST), 0.0
    if wait:
        await asyncio.sleep(_EVERY)  # what comes together is answered together
    while True:
        now = time.monotonic()
        grown = await asyncio.to_thread(_grown, runs)
        if now - looked >= _ALIVE_EVERY or grown:
            looked = now
            grown = await asyncio.to_thread(_look, runs) or grown
        if grown or now >= ends:
            return await asyncio.to_thread(packed, runs)
        await asyncio.sleep(_EVERY)


def _grown(runs: Iterable[Followed]) -> bool:
    """Whether a file is not as long as the page knows it."""
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


def _look(runs: Iterable[Followed]) -> bool:
    """Read what is new of each; whether that is anything."""
    news = False
    for run in runs:
        if run.folder is None:
            run.answer = {"path": run.path, "offset": 0, "alive": None, "reset": False}
            continue
        reader = EventReader(run.folder / EVENTS, run.offset)
        alive = standings.alive(run.folder)  # before reading: nothing comes after the end
        try:
            run.events = reader.read(_LIMIT)
            reset = reader.began_anew
        except OSError:
            run.events, reset = [], False
        if run.kinds:
            run.events = [event for event in run.events if event["kind"] in run.kinds]
        news = news or reader.offset != run.offset or alive != run.alive
        run.answer = {"path": run.path, "offset": reader.offset, "alive": alive, "reset": reset}
    return news


def packed(runs: list[Followed]) -> bytes:
    """A header's length as little-endian uint32, the header as JSON, zeros up to a multiple of 4, then the columns.

    The header has for each run ``path``, ``offset``, ``alive``, ``reset`` (it began anew), ``events`` and ``bytes``: how much
    of what follows is of these (see `labdl.lab.packing`).
    """
    told, buffers = [], []
    for run in runs:
        events, columns = pack(run.events)
        buffers += columns
        told.append({**run.answer, "events": events, "bytes": sum(map(len, columns))})
    header = json.dumps({"runs": told}, default=json_default, allow_nan=False).encode()
    return b"".join([struct.pack("<I", len(header)), header, b"\0" * (-len(header) % 4), *buffers])
