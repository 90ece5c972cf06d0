"""Random numbers of runs that go on side by side: who has a stream of its own draws as if it were alone."""

from __future__ import annotations

from typing import Any

from labdl.ops.random.state import random_state, set_random_state
from labdl.train.run.locks import turns


class Stream:
    """Random number stream of a run; ``backend`` is its backend, None for the stream shared by all other runs.

    `enter` is called at the beginning of each turn, with the turn: where somebody else has drawn in between, the state that
    this stream was left in is put back.
    """

    def __init__(self, backend: str | None):
        self.backend = backend
        self._states: dict[str, dict[str, Any]] = {}

    @classmethod
    def beginning(cls, backend: str) -> Stream:
        """One of its own that begins with what would be drawn next."""
        made = cls(backend)
        made._states[backend] = random_state(backend)
        return made

    def own(self, backend: str) -> Stream:
        """This one, or in the place of the shared one another that goes on from here, with the turn."""
        if self is not shared:
            return self
        made = Stream(backend)
        made.enter()
        return made

    def leave(self) -> None:
        """Nothing more will be drawn here: what others share goes on where it was."""
        if self is not shared:
            with turns:
                shared.enter()

    def enter(self) -> None:
        """Draw from this stream from now on."""
        global _entered
        last = _entered
        if last is self:
            return
        _entered = self
        for backend in {s.backend for s in (last, self) if s.backend is not None}:
            last._states[backend] = random_state(backend)
        for backend, state in self._states.items():
            set_random_state(state, backend)


shared = Stream(None)
_entered = shared
