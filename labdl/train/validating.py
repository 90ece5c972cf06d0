"""Validation during a training: at the end of each epoch, and within it at an interval of steps."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from labdl.train import failures

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from labdl.train.context import TrainContext
    from labdl.train.monitor.monitor import TrainingMonitor
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState

_LARGE = 256  # batch size of validation


class Validator:
    """Validates a model on data, None for a training without, every ``interval`` steps of epochs of ``steps`` steps.

    ``validates`` says whether an epoch, counted from 1, is validated. ``batch_size`` is that of a validation, None for large
    batches.
    """

    def __init__(
        self,
        context: TrainContext,
        state: TrainState,
        data: Any,
        progress: Progress,
        interval: int | None,
        steps: int,
        *,
        batch_size: int | None = None,
        validates: Callable[[int], bool] = lambda epoch: True,
    ):
        self.context, self.state, self.data, self.progress = context, state, data, progress
        self.interval, self.steps = interval, steps
        self.batch_size, self.validates = batch_size, validates
        self.monitor: TrainingMonitor | None = None
        self.small_batches = False  # True if validation has to use the batch size of the training

    @property
    def due(self) -> bool:
        """True within an epoch after a step whose validation is due and has not taken place."""
        now, interval = self.progress, self.interval
        if self.data is None or interval is None or not 0 < now.batch < self.steps or now.batch % interval:
            return False
        if not self.validates(now.epoch + 1):
            return False
        steps = now.validations.get("step")
        return not steps or steps[-1] < now.step

    def within_epoch(self) -> dict[str, float]:
        """Validate within an epoch, and record the values; named ``val_loss`` and so on."""
        values = self.values()
        for name, value in {"step": self.progress.step, **values}.items():
            self.progress.validations.setdefault(name, []).append(value)
        return values

    def at_end(self, epochs: int) -> dict[str, float]:
        """Validate at the end of the training, or of an epoch of ``epochs``, monitored if that is due; empty without data."""
        if self.data is None:
            return {}
        monitored: AbstractContextManager = nullcontext()
        if self.monitor is not None:
            monitored = self.monitor.monitor_validation(epochs)
        with monitored:
            return self.values()

    def values(self) -> dict[str, float]:
        """Evaluate with larger batches than those of the training, if there is enough memory."""
        callbacks = self.state.callbacks
        if callbacks is not None:
            callbacks.call("on_validation_start")
        values = {f"val_{name}": float(value) for name, value in self._evaluate().items()}
        if callbacks is not None:
            callbacks.call("on_validation_end", values)
        return values

    def _evaluate(self) -> dict[str, float]:
        context, evaluate = self.context, self.context.methods.evaluate
        rule, size = context.settings.average, self.progress.batch_size // context.settings.accumulate
        averaged = rule is not None and rule.evaluate
        if self.batch_size is not None:
            return evaluate(self.data, batch_size=self.batch_size, averaged=averaged)
        if not self.small_batches:
            try:
                return evaluate(self.data, batch_size=max(size, _LARGE), averaged=averaged)
            except Exception as error:
                if not failures.lacks_memory(error) or size >= _LARGE:
                    raise
            self.small_batches = True
        return evaluate(self.data, batch_size=size, averaged=averaged)
