"""Early stopping: an end to a training whose figure gets no better."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal

from labdl.errors import StateDictError
from labdl.nn.types import Whole
from labdl.settings import Amount, check
from labdl.train.events import Epoch, Event
from labdl.train.schedules.base import monitored_value


@dataclasses.dataclass
class EarlyStopping:
    """Ends a training when a figure of its epochs has not got better for ``patience`` epochs in a row.

    Better is below the best so far by more than ``min_delta``, or above it with ``mode="max"``; NaN never is. Without
    validation the figure of the training data counts. With ``restore_best`` the model has the parameters of its best epoch
    in the end. It consumes events: ``Trainer(stopping=EarlyStopping())``, ``fit(..., callbacks=[EarlyStopping()])``, or by
    hand ``if stopping(event): break``. ``patience=0`` ends with the first epoch that is no better.
    """

    monitor: str = "val_loss"
    patience: Whole = 5
    mode: Literal["min", "max"] = "min"
    min_delta: Amount = 0.0
    restore_best: bool = False

    def __post_init__(self):
        check(self)
        self.begin()

    def begin(self) -> None:
        """Forget the epochs before."""
        self.best: float | None = None
        self.best_epoch: int | None = None
        self.waited = 0

    def __call__(self, event: Event) -> bool:
        """Take an event into account; whether the training is to end."""
        if isinstance(event, Epoch):
            value = float(monitored_value(self, self.monitor, event.values))
            if self._better(value):
                self.best, self.best_epoch, self.waited = value, event.epoch, 0
            else:
                self.waited += 1
        return self.done

    @property
    def done(self) -> bool:
        """Whether the figure has stood still for long enough."""
        return self.waited > 0 and self.waited >= self.patience

    def _better(self, value: float) -> bool:
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        return value < self.best - self.min_delta if self.mode == "min" else value > self.best + self.min_delta

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "best_epoch": self.best_epoch, "waited": self.waited}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Go on from a state. Raises StateDictError for what is none."""
        best, epoch, waited = (values.get(name) for name in ("best", "best_epoch", "waited"))
        if not isinstance(waited, int) or not isinstance(best, float | None) or not isinstance(epoch, int | None):
            raise StateDictError(
                f"the state of early stopping wants best, best_epoch and waited, received {dict(values)!r:.80}"
            )
        self.best, self.best_epoch, self.waited = best, epoch, waited
