"""The state of a trainer between two steps: progress, learning rate, averages, and what a checkpoint holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError
from labdl.train import checkpoint as checkpoints
from labdl.train.learning_rate import learning_rate, set_learning_rate
from labdl.train.state_dict import restore, state_dict

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.loop import Loop
    from labdl.train.optimizers import BoundOptimizer
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState


class ResumableState:
    """The part of `labdl.Trainer` that reads, changes, saves and restores the state of a training."""

    context: TrainContext
    state: TrainState
    loop: Loop | None

    @property
    def progress(self) -> Progress | None:
        """Progress of the training, or of the one that the next call resumes; None before the first."""
        return self.state.progress

    @property
    def current_epoch(self) -> int:
        """Number of complete epochs, which is the index of the current one. As in Lightning."""
        return 0 if self.progress is None else self.progress.epoch

    @property
    def global_step(self) -> int:
        """Number of updates so far, over all epochs. As in Lightning."""
        return 0 if self.progress is None else self.progress.step

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update. It may be set at any time: see `Loop.set_learning_rate` for schedules."""
        return learning_rate(self.state.phases) if self.state.phases else self.context.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if self.loop is not None:
            self.loop.set_learning_rate(value)
        elif self.state.phases:
            set_learning_rate(self.state.phases, value)
        else:
            rule = dataclasses.replace(self.context.optimizer, learning_rate=value)
            self.context = dataclasses.replace(self.context, optimizer=rule)

    @property
    def should_stop(self) -> bool:
        """True if the training ends after the current step; set True, in a callback or a method, it does. As in Lightning."""
        return self.loop is not None and self.loop.should_stop

    @should_stop.setter
    def should_stop(self, value: bool) -> None:
        if self.loop is None or not value:
            raise ConfigError("should_stop is set to True while a training is active: write trainer.should_stop = True")
        self.loop.request_stop()

    @property
    def bound_optimizer(self) -> BoundOptimizer | None:
        """The optimizer of the first phase with its parameters; None before the model is built."""
        return self.state.phases[0].optimizer if self.state.phases else None

    def state_dict(self) -> dict[str, Any]:
        """The complete state of the training, as plain data and NumPy arrays for any backend.

        ``parameters`` and ``optimizer`` have standard names; ``training`` is the progress, the history, the state of the
        schedule and the random state.
        """
        return state_dict(self.context, self.state)

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state; the model has to be built. The next `fit`, `start` or `events` resumes its training.

        Raises FileFormatError for an invalid state, StateDictError and ConfigError for one of another model or optimizer. Warns
        if the random state of another backend cannot be restored.
        """
        document = restore(
            self.context,
            self.state,
            values,
            lambda model: model.load_state_dict(values.get("parameters", {})),
            "the state",
        )
        self.state.resume_from(document)
        self.loop = None

    def save_checkpoint(self, folder: str | Path) -> Path:
        """Write a checkpoint to the folder, as `Checkpoint` does, and return its path."""
        return checkpoints.save(self.context, self.state, folder)

    def load_checkpoint(self, path: str | Path) -> None:
        """Restore a checkpoint; raises the errors of `load_state_dict`."""
        self.state.resume_from(checkpoints.restore(self.context, self.state, path))
        self.loop = None

    def average_parameters(self) -> AbstractContextManager:
        """A context in which the model has the averages of its parameters: ``with trainer.average_parameters(): ...``."""
        if self.context.settings.average is None:
            raise ConfigError("the trainer has no averages: give it average=labdl.train.EMA(0.999)")
        return self.state.average_parameters()
