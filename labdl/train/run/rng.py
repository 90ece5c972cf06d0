"""Random number streams of concurrent runs: a run with its own stream is not affected by other runs."""

from __future__ import annotations

from typing import Any

from labdl.ops.random.state import random_state, set_random_state
from labdl.train.run.locks import compute_lock


class Stream:
    """Random number stream of a run on ``backend``; None for the stream shared by all runs without their own.

    `activate` is called before each step, with the compute lock held: if another stream has been active in between, the
    state of this one is restored.
    """

    def __init__(self, backend: str | None):
        self.backend = backend
        self._states: dict[str, dict[str, Any]] = {}

    @classmethod
    def from_current_state(cls, backend: str) -> Stream:
        """Create a stream that starts with the current random state."""
        stream = cls(backend)
        stream._states[backend] = random_state(backend)
        return stream

    def separate(self, backend: str) -> Stream:
        """Return this stream, or for the shared one a separate stream that continues from it; needs the compute lock."""
        if self is not shared:
            return self
        stream = Stream(backend)
        stream.activate()
        return stream

    def close(self) -> None:
        """Activate the shared stream again, if this is a separate one."""
        if self is not shared:
            with compute_lock:
                shared.activate()

    def activate(self) -> None:
        """Draw random numbers from this stream from now on."""
        global _active
        last = _active
        if last is self:
            return
        _active = self
        for backend in {s.backend for s in (last, self) if s.backend is not None}:
            last._states[backend] = random_state(backend)
        for backend, state in self._states.items():
            set_random_state(state, backend)


shared = Stream(None)
_active = shared
