"""A training that leaves nothing behind: to look for a learning rate, or to measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.ops.random.state import random_state, set_random_state
from labdl.train.config import TrainerSettings
from labdl.train.global_generators import generator_states, set_generator_states
from labdl.train.state import TrainState

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

_LEFT_OUT = (
    "average",
    "stopping",
    "checkpoint",
    "val_dataset",
    "val_check_interval",
    "limit_val_batches",
    "max_steps",
    "max_time",
)


@contextmanager
def temporary_training(
    trainer: Trainer, purpose: str, *, settings: dict[str, Any], **context: Any
) -> Iterator[Callable]:
    """A context in which the trainer has other settings and a state of its own.

    ``settings`` are those of `TrainerSettings`, ``context`` those of `TrainContext`; averages, checkpoints, validation and
    early stopping are left out. It yields a function that is called when the model is built: its parameters, buffers and random
    numbers at that time return at the end, as do those of NumPy and Python, the state of the training and its progress.
    """
    before = trainer.context, trainer.state, trainer.loop, trainer.last
    process, restorations = generator_states(), []
    trainer.context = dataclasses.replace(
        trainer.context,
        settings=dataclasses.replace(
            trainer.settings,
            **{
                **dict.fromkeys(_LEFT_OUT),
                "epochs": TrainerSettings.epochs,
                "fast_dev_run": False,
                "output_dir": None,
                **settings,
            },
        ),
        **context,
    )
    trainer.state = TrainState()
    try:
        yield lambda: restorations.append(_Restoration(trainer))
    finally:
        for restore in restorations[:1]:
            restore()
        trainer.context, trainer.state, trainer.loop, trainer.last = before
        set_generator_states(process, f"the state before {purpose}")


class _Restoration:
    """Restores the parameters, buffers and random numbers that there were when it was created."""

    def __init__(self, trainer: Trainer):
        self._model = trainer.model
        self._parameters = {name: np.array(value) for name, value in trainer.model.state_dict().items()}
        self._random = random_state(trainer.model.backend)

    def __call__(self) -> None:
        self._model.load_state_dict(self._parameters)
        set_random_state(self._random, self._model.backend)
