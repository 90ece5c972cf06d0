"""Early stopping: ends a training when a monitored value stops improving."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from labdl.errors import StateDictError
from labdl.nn.types import Whole
from labdl.settings import Amount, check
from labdl.signature import show_plain_types
from labdl.train.aliases import STOPPING, accept_other_names
from labdl.train.directions import Direction, Mode, Monitor, find_direction, monitored_value
from labdl.train.events import Epoch, Event, Validation


@accept_other_names("setting of EarlyStopping", STOPPING)
@show_plain_types
@dataclasses.dataclass
class EarlyStopping:
    """Ends a training when a value of its epochs has not improved for ``patience`` epochs in a row.

    An improvement is a value below the best so far by more than ``min_delta``, or above it where higher is better; NaN is
    never one. ``mode`` says which, "min" or "max"; "auto" takes it from the metric: a loss is to be small, an accuracy large,
    and a value of your own wants "min" or "max". Without validation data the value of the training data is monitored.
    ``restore_best`` restores the parameters of the best epoch at the end. Pass it as ``Trainer(stopping=EarlyStopping())`` or
    ``fit(..., callbacks=[EarlyStopping()])``, or call it with each event: ``if stopping(event): break``. ``patience=0`` stops
    at the first epoch without an improvement. With ``val_check_interval`` of `Trainer` a monitored validation value counts
    after each validation, as in Lightning: ``patience`` is then a number of validations; epochs without a validation do not
    count. ``start_from_epoch`` epochs at the beginning do not count either. Improvements that do not exceed a ``baseline`` do
    not restart the count: after ``patience`` epochs the first one without an improvement ends the training (both as in
    Keras). A value at ``stopping_threshold`` or better ends the training at once (as in Lightning).
    """

    monitor: str = "val_loss"
    patience: Whole = 5
    mode: Mode = "auto"
    min_delta: Amount = 0.0
    restore_best: bool = False
    start_from_epoch: Whole = 0
    baseline: float | None = None
    stopping_threshold: float | None = None

    def __post_init__(self):
        check(self)
        self.direction: Direction | None = None if self.mode == "auto" else self.mode
        self.reset()

    def reset(self) -> None:
        """Forget all epochs."""
        self.best: float | None = None
        self.best_epoch: int | None = None
        self.improved = False  # by the last value
        self.wait_count = 0
        self.reached = False  # the threshold, by the last value

    def __call__(self, event: Event) -> bool:
        """Update with an event; returns True if the training should stop."""
        self.improved = False
        if isinstance(event, Epoch) or (isinstance(event, Validation) and self.monitor in event.values):
            value = float(monitored_value(self, self.monitor, event.values))
            if event.epoch > self.start_from_epoch:
                self._observe(value, event.epoch)
        return self.should_stop

    def _observe(self, value: float, epoch: int) -> None:
        first = self.best is None and not math.isnan(value)
        self.improved = first or self._is_better(value, self.best, self.min_delta)
        self.reached = self._is_better(value, self.stopping_threshold) or value == self.stopping_threshold
        if not self.improved:
            self.wait_count += 1
            return
        self.best, self.best_epoch = value, epoch
        if self.baseline is None or self._is_better(value, self.baseline, self.min_delta):
            self.wait_count = 0
        else:  # only an epoch without an improvement ends the training
            self.wait_count = min(self.wait_count + 1, max(self.patience - 1, 0))

    @property
    def should_stop(self) -> bool:
        """True if the value has not improved for ``patience`` epochs, or has reached the threshold."""
        return self.reached or (self.wait_count > 0 and self.wait_count >= self.patience)

    @property
    def monitoring(self) -> Monitor:
        """The value that is monitored, and in which mode."""
        return Monitor("EarlyStopping", self.monitor, self.mode)

    def _is_better(self, value: float, other: float | None, least: float = 0.0) -> bool:
        """Whether a value is better than another one by more than ``least``; False for NaN and without another one."""
        if other is None or math.isnan(value):
            return False
        self.direction = self.direction or find_direction(self.monitoring)
        return value < other - least if self.direction == "min" else value > other + least

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "best_epoch": self.best_epoch, "waited": self.wait_count}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state. Raises StateDictError for an invalid one."""
        best, epoch, count = (values.get(name) for name in ("best", "best_epoch", "waited"))
        if not isinstance(count, int) or not isinstance(best, float | None) or not isinstance(epoch, int | None):
            raise StateDictError(
                f"the state of early stopping wants best, best_epoch and waited, received {dict(values)!r:.80}"
            )
        self.best, self.best_epoch, self.wait_count = best, epoch, count
