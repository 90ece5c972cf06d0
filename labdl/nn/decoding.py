"""State of a decoder between the steps of a generation: positions, and the keys and values of earlier steps.

`labdl.generation` makes it current for a forward pass; attention and positions read it. Caches have a static size, so that the
program of a step is compiled once: a step writes its keys at its positions and masks those after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from labdl import ops


class DecodingState:
    """Caches of the attention layers of a decoder, in the order in which they are called.

    Without ``positions`` it is the pass over the prompt (N, steps), which begins at position 0: layers keep their keys and
    values, filled up to ``length``. With ``positions`` (N, 1) it is a step: layers add theirs to ``own``, those of
    self-attention, and read ``cross``, those of a context; each is a sequence of tensors (N, heads, keys, size), key and value
    by turns. ``new_own`` and ``new_cross`` collect what the layers keep.
    """

    def __init__(self, length: int, positions: Any = None, own: Sequence[Any] = (), cross: Sequence[Any] = ()):
        self.length, self.positions = length, positions
        self._own, self._cross = iter(own), iter(cross)
        self.new_own: list[Any] = []
        self.new_cross: list[Any] = []
        self._masks: dict[int | str | None, Any] = {}

    @property
    def is_step(self) -> bool:
        """Whether this is a step after the prompt."""
        return self.positions is not None

    def keep_context(self, key, value):
        """Keys and values of a context, which every step reads; in a step, those of the prompt."""
        if self.is_step:
            return next(self._cross), next(self._cross)
        self.new_cross += [key, value]
        return key, value

    def extend(self, key, value):
        """Keys and values of all steps so far, for those of this pass (N, heads, steps, size)."""
        if self.is_step:
            key, value = (ops.where(self._own_place(), new, next(self._own)) for new in (key, value))
            self.new_own += [key, value]
            return key, value
        missing = ((0, 0), (0, 0), (0, self.length - key.shape[2]), (0, 0))
        self.new_own += [ops.pad(key, missing), ops.pad(value, missing)]
        return key, value

    def mask(self, window: int | None):
        """Mask (N, 1, 1, length) of a step: true for keys up to its position, with ``window`` only the last so many."""
        if window not in self._masks:
            keys, own = self._places((1, 1, 1, self.length)), self._column((-1, 1, 1, 1))
            mask = ops.less_equal(keys, own)
            if window is not None:
                mask = ops.logical_and(mask, ops.greater(keys, ops.subtract(own, window)))
            self._masks[window] = mask
        return self._masks[window]

    def _own_place(self):
        """True (N, 1, length, 1) at the position of a step."""
        if "own" not in self._masks:
            self._masks["own"] = ops.equal(self._places((1, 1, self.length, 1)), self._column((-1, 1, 1, 1)))
        return self._masks["own"]

    def key_positions(self):
        """Positions (1, length) of the keys in a step."""
        return self._places((1, self.length))

    def _places(self, shape: tuple[int, ...]):
        return ops.tensor_like(self.positions, np.arange(self.length).reshape(shape), "int64")

    def _column(self, shape: tuple[int, ...]):
        return ops.reshape(self.positions, shape)


current: ContextVar[DecodingState | None] = ContextVar("decoding", default=None)


@contextmanager
def decoding(state: DecodingState) -> Iterator[DecodingState]:
    """Make a state current for the forward passes inside."""
    token = current.set(state)
    try:
        yield state
    finally:
        current.reset(token)
