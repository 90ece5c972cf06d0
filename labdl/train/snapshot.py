"""The last state of a training in which every number was finite, kept in memory."""

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
SMALL = 2**20  # copied after every epoch; larger ones only as often as that takes a fiftieth of the time


class Snapshot:
    """A copy of the state of a training, of its start or of the end of an epoch.

    It holds models that take up to 32 MiB with their optimizer; where epochs are short compared with copying, that of an
    earlier epoch. Larger models are not copied: for them a `Checkpoint` has the last good state, if there is one.
    """

    def __init__(self, context: TrainContext, state: TrainState, progress: Progress, checkpoint: Checkpoint | None):
        self._context, self._state, self._progress, self._checkpoint = context, state, progress, checkpoint
        self.cost, self.time = 0.0, 0.0
        self.values: dict[str, Any] | None = None
        # each parameter with two slots, as most optimizers have
        self.size = sum(p.size * 12 for p in context.model.parameters())
        self.take()

    def take(self) -> None:
        """Copy the current state, unless that would take too much of the time."""
        now, began = self._progress, time.perf_counter()
        if self.values is not None and self.size > SMALL and began - self.time < 50 * self.cost:
            return
        self.epoch, self.batch, self.step = now.epoch, now.batch, now.step
        self.values = state_dict(self._context, self._state) if self.size <= LARGEST else None
        self.time = time.perf_counter()
        self.cost = self.time - began

    def restore(self) -> bool:
        """Put the copied state back; without one, that of the latest checkpoint. Returns whether there was any."""
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
        """A sentence on the state that `restore` puts back."""
        if self.values is None:
            return "the model is as in the last checkpoint again"
        return (
            f"the model is as after epoch {self.epoch} again"
            if self.epoch
            else "the model is as before the training again"
        )
