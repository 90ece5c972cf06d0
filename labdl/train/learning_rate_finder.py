"""Learning-rate finder: the loss over a learning rate that grows from step to step."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ConfigError, GradientError, ModelError, UpdateError
from labdl.train.events import Start, Step
from labdl.train.learning_rate_plot import render_plot
from labdl.train.schedules.composite import Lambda
from labdl.train.temporary_training import temporary_training

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

_SMOOTHING = 0.98  # of the moving average of the loss, as in Lightning and fastai


@dataclasses.dataclass(frozen=True, eq=False)
class LearningRateCurve:
    """The result of `Trainer.find_learning_rate`, which shows itself as a plot in a notebook.

    ``learning_rates`` (steps,) of the steps that were trained, and ``losses`` (steps,), their moving average with the weight
    0.98 of the past, corrected for its start at zero.
    """

    learning_rates: np.ndarray
    losses: np.ndarray

    def suggestion(self, skip_begin: int = 10, skip_end: int = 1) -> float | None:
        """The rate at which the loss falls fastest over the logarithm of the rate, or None if it falls nowhere.

        The first ``skip_begin`` and the last ``skip_end`` steps do not count. As ``lr_find().suggestion()`` of Lightning.
        """
        end = len(self.losses) - skip_end
        rates, losses = self.learning_rates[skip_begin:end], self.losses[skip_begin:end]
        if len(losses) < 2:
            return None
        slope = np.gradient(losses, np.log10(rates))
        steepest = int(np.argmin(slope))
        return float(rates[steepest]) if slope[steepest] < 0 else None

    def to_svg(self) -> str:
        """The plot, with a logarithmic axis of rates and a mark at `suggestion`."""
        return render_plot(self.learning_rates, self.losses, self.suggestion())

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        best = self.suggestion()
        return (
            f"LearningRateCurve({len(self.losses)} steps from {self.learning_rates[0]:.3g} to {self.learning_rates[-1]:.3g}, "
            f"suggestion {'none' if best is None else format(best, '.3g')})"
        )


def find_learning_rate(
    trainer: Trainer,
    train: Any = None,
    *,
    min_lr: float = 1e-8,
    max_lr: float = 1.0,
    num_training: int = 100,
    early_stop_threshold: float | None = 4.0,
    batch_size: int | None = None,
) -> LearningRateCurve:
    """See `Trainer.find_learning_rate`."""
    _check(min_lr, max_lr, num_training, early_stop_threshold)
    if "phases" in trainer.context.overridden:
        raise ConfigError("find_learning_rate wants one phase, the trainer overrides phases: set their rates by hand")
    base = trainer.optimizer.learning_rate
    if not base:
        raise ConfigError("find_learning_rate scales the rate of the optimizer, which is 0: give it another one")
    growth = (max_lr / min_lr) ** (1 / (num_training - 1))
    schedule = Lambda(lambda step: min_lr * growth ** min(step, num_training - 1) / base)
    rates: list[float] = []
    losses: list[float] = []
    average, best = 0.0, math.inf
    with temporary_training(
        trainer, "find_learning_rate", settings={"max_steps": num_training}, schedule=schedule, metrics={}
    ) as remember:
        events = trainer.events(train, health=0, batch_size=batch_size)
        try:
            for event in events:
                if isinstance(event, Start):  # the model is built
                    remember()
                if not isinstance(event, Step):
                    continue
                average = _SMOOTHING * average + (1 - _SMOOTHING) * event.values["loss"]
                loss = average / (1 - _SMOOTHING ** (len(losses) + 1))
                rates.append(min_lr * growth ** len(losses))
                losses.append(loss)
                best = min(best, loss)
                if early_stop_threshold is not None and len(losses) > 1 and loss > early_stop_threshold * best:
                    break
        except (ModelError, GradientError, UpdateError):  # the loss is not finite any more: the rate is too high
            if not losses:
                raise
        finally:
            events.close()
    return LearningRateCurve(np.array(rates), np.array(losses))


def _check(min_lr: Any, max_lr: Any, num_training: Any, threshold: Any) -> None:
    for name, value in (("min_lr", min_lr), ("max_lr", max_lr)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ConfigError(f"{name} wants a number above 0, received {value!r:.60}")
    if min_lr >= max_lr:
        raise ConfigError(f"min_lr wants a number below max_lr, received {min_lr} and {max_lr}")
    if isinstance(num_training, bool) or not isinstance(num_training, int) or not 2 <= num_training <= 1_000_000:
        raise ConfigError(f"num_training wants a number of steps from 2 to 1,000,000, received {num_training!r:.60}")
    valid = isinstance(threshold, int | float) and not isinstance(threshold, bool) and threshold > 1
    if threshold is not None and not valid:
        raise ConfigError(f"early_stop_threshold wants a factor above 1 or None, received {threshold!r:.60}")
