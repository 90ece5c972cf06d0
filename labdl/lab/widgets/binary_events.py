"""Encoding of events for the dashboard: JSON, and the columns of "steps" events in one float32 buffer.

JSON has no NaN and is slow for columns, so a packed steps event is
``{"kind": "steps", "time", "length", "base", "columns": ["loss", ...]}``; in the buffer it takes
(1 + columns) x length little-endian float32: first step - base, then each column.
Steps are relative to ``base`` because float32 holds whole numbers only up to 2**24.
labextension/src/runs/store/binary-events.ts decodes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from labdl.runs.reading.event_file import decode, encode


def pack(events: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """The events as JSON data, and the buffers (one, or none without steps) that go with them."""
    packed: list[dict[str, Any]] = []
    arrays: list[np.ndarray] = []
    for event in events:
        if event["kind"] != "steps":
            packed.append(decode(encode([event])) or {})  # as in the file
            continue
        steps = event["step"]
        names = [name for name in event if name not in ("kind", "time", "step")]
        base = int(steps[0]) if len(steps) else 0
        arrays.append((np.asarray(steps, "float64") - base).astype("<f4"))
        with np.errstate(over="ignore"):  # overflow to infinity is intended
            arrays += [np.asarray(event[name], "float64").astype("<f4") for name in names]  # None becomes NaN
        packed.append({"kind": "steps", "time": event["time"], "length": len(steps), "base": base, "columns": names})
    return packed, [np.concatenate(arrays).tobytes()] if arrays else []
