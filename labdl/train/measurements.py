"""Measurements with a trainer: its best learning rate, where its time goes, and gradients."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from labdl.train.binding import convert
from labdl.train.data_adapter import as_batch
from labdl.train.learning_rate_finder import LearningRateCurve, find_learning_rate
from labdl.train.overridable import OverridableMethods
from labdl.train.train_step import batch_gradients, last_gradients

if TYPE_CHECKING:
    from labdl.train.profiling import Profile
    from labdl.train.state import TrainState
    from labdl.train.trainer import Trainer


class Measurements(OverridableMethods):
    """The methods of `labdl.Trainer` that measure something and leave the training as it was."""

    state: TrainState

    def find_learning_rate(
        self,
        train=None,
        y=None,
        *,
        min_lr: float = 1e-8,
        max_lr: float = 1.0,
        num_training: int = 100,
        early_stop_threshold: float | None = 4.0,
        batch_size: int | None = None,
    ) -> LearningRateCurve:
        """Train ``num_training`` steps with a rate that grows exponentially, and return the loss over the rate.

        In a notebook the result shows itself as a plot; ``suggestion()`` is the rate at which the loss falls fastest. The steps
        end early where the averaged loss exceeds ``early_stop_threshold`` times its least value (None: never), or where it is
        not finite. Afterwards model, optimizer, training and random numbers are as before. Rates of groups grow in proportion;
        the schedule of the trainer is left out. ``train`` and ``batch_size`` are those of `fit`.

        Example: ``trainer.learning_rate = trainer.find_learning_rate(data).suggestion()``. As Tuner.lr_find of Lightning and
        lr_find of fastai; Smith, Cyclical learning rates for training neural networks (2017). Raises ConfigError for invalid
        settings and for a trainer of several phases.
        """
        return find_learning_rate(
            cast("Trainer", self),
            train if y is None else (train, y),
            min_lr=min_lr,
            max_lr=max_lr,
            num_training=num_training,
            early_stop_threshold=early_stop_threshold,
            batch_size=batch_size,
        )

    def profile(
        self,
        train=None,
        y=None,
        *,
        steps: int = 20,
        batch_size: int | None = None,
        trace: str | Path | None = None,
    ) -> Profile:
        """Measure where the time of a training goes: waiting for data, forward by layer, loss, backward and update.

        Trains ``steps`` steps as `fit` does, and as many that are not compiled, in parts; returns the medians as a `Profile`,
        which prints as a table and shows itself as a flame graph in a notebook. Model, optimizer, training and random numbers
        are afterwards as before. ``train`` and ``batch_size`` are those of `fit`. ``trace`` is a folder for the framework's own
        trace of five steps: of PyTorch and PaddlePaddle for chrome://tracing or Perfetto, of TensorFlow for TensorBoard.

        Example: ``print(trainer.profile(x, y, steps=50))``. As profiler= of Lightning's Trainer, by layer. Raises ConfigError
        for an invalid number of steps, and for ``trace`` with MindSpore.
        """
        from labdl.train.profiling.measure import measure

        return measure(
            cast("Trainer", self), train if y is None else (train, y), steps=steps, batch_size=batch_size, trace=trace
        )

    def gradients(self, *batch) -> dict[str, np.ndarray]:
        """Gradients by standard name as NumPy arrays in the standard layout: of the last update, or of a batch (x, y).

        Those of the last update, before clipping, require ``keep_gradients=True``; for a batch, nothing is updated.
        """
        if not batch:
            return last_gradients(self.state)
        return batch_gradients(
            self.context, self.state, *convert(self.context, self.state, *self.preprocess(as_batch(batch)))
        )
