"""Snapshot in memory of the last state of a training in which all values were finite."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from labdl.train.checkpoint import restore as restore_checkpoint
from labdl.train.state_dict import restore, state_dict

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.context import TrainContext
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState

LARGEST = 2**25  # bytes of parameters and slots; larger models are not copied
SMALL = 2**20  # bytes; smaller models are copied after every epoch, larger ones within a fiftieth of the time


class Snapshot:
    """A copy of the state of a training at its start or at the end of an epoch.

    Models of up to 32 MiB, including the optimizer, are copied; if epochs are short compared with copying, not after each
    epoch. Larger models are restored from the latest `Checkpoint`, if there is one.
    """

    def __init__(self, context: TrainContext, state: TrainState, progress: Progress, checkpoint: Checkpoint | None):
        self._context, self._state, self._progress, self._checkpoint = context, state, progress, checkpoint
        self.cost, self.time = 0.0, 0.0
        self.values: dict[str, Any] | None = None
        # float32 with two slots, as most optimizers have
        self.size = sum(p.size * 12 for p in context.model.parameters())
        self.take()

    def take(self) -> None:
        """Copy the current state, unless copying takes too large a share of the time."""
        now, began = self._progress, time.perf_counter()
        if self.values is not None and self.size > SMALL and began - self.time < 50 * self.cost:
            return
        self.epoch, self.batch, self.step = now.epoch, now.batch, now.step
        self.values = state_dict(self._context, self._state, process=False) if self.size <= LARGEST else None
        self.time = time.perf_counter()
        self.cost = self.time - began

    def restore(self) -> bool:
        """Restore the copied state, or that of the latest checkpoint. Returns False if there is neither."""
        if self.values is not None:
            parameters = self.values["parameters"]
            restore(
                self._context,
                self._state,
                self.values,
                lambda model: model.load_state_dict(parameters),
                "the last finite state",
            )
            return True
        newest = self._checkpoint and self._checkpoint.latest
        if newest is None:
            return False
        restore_checkpoint(self._context, self._state, newest)
        return True

    def describe(self) -> str:
        """Describe the state that `restore` restores, for error messages."""
        if self.values is None:
            return "the model is restored from the last checkpoint"
        return (
            f"the model is restored to the state after epoch {self.epoch}"
            if self.epoch
            else "the model is restored to the state before the training"
        )
