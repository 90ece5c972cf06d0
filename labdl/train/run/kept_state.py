"""The state of a run that has no checkpoints of its own: kept while it trains, for a process that ends early."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from labdl.train import checkpoint as checkpoints

SECONDS = 10.0  # training that may be lost; shorter epochs are kept together
SHARE = 20  # training takes at least so many times as long as writing


class KeptState:
    """One checkpoint in the folder of a run, which the next one replaces, and which a finished run does not need.

    ``save`` writes a checkpoint and returns its path. A person's own checkpoints in the same folder stay.
    """

    def __init__(self, save: Callable[[], Path]):
        self._save = save
        self._path: Path | None = None
        self._wait, self._written = SECONDS, time.monotonic()

    def save_if_due(self) -> Path | None:
        """Write a checkpoint if enough time has passed since the last one, and return its path."""
        return self.save() if time.monotonic() - self._written >= self._wait else None

    def save(self) -> Path:
        """Write a checkpoint in place of the last one. Raises OSError, after which the last one is intact."""
        start = time.monotonic()
        try:
            former, self._path = self._path, self._save()
            _remove(former)
        finally:
            self._written = time.monotonic()
            self._wait = max(SECONDS, SHARE * (self._written - start))
        return self._path

    def remove(self) -> None:
        """Delete the checkpoint."""
        _remove(self._path)
        self._path = None


def _remove(path: Path | None) -> None:
    if path is not None and path.exists():
        checkpoints.remove(path)
