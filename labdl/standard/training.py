"""Annex B.4: trainers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, GradientError, ModelError, UpdateError
from labdl.nn import Module
from labdl.standard import optimizers, validation
from labdl.standard.modules import check_model
from labdl.train import Trainer, config
from labdl.train.data_validation import check_batch


def construct_trainer(model: Module, trainer_config: Mapping[str, Any] | str | Path) -> Trainer:
    """A trainer of a model (B.4.1, table B.9).

    ``trainer_config`` may have ``optimizer`` (a name, an optimizer_config of table B.6, settings such as
    ``labdl.train.Adam(1e-3)``, or a result of `construct_optimizer`, whose settings are used), ``train_dataset``, ``epochs``,
    ``val_dataset`` (evaluated after each epoch), ``metrics``, ``loss``, ``output_dir`` (receives the recording and the
    parameters), and all other settings of `labdl.Trainer`; it may also be a file of them. Raises ConfigError for unknown
    and invalid settings, ModelError for an invalid model.
    """
    check_model(model, "construct_trainer")
    given = config.read(trainer_config)
    if "optimizer" in given:
        given["optimizer"] = _optimizer(given["optimizer"])
    return Trainer.from_config(model, given)


def _optimizer(value: Any) -> Any:
    if isinstance(value, optimizers.Optimizer):
        return value.rule
    if isinstance(value, Mapping) and "name" not in value:
        return optimizers.rule(value, "trainer_config: optimizer")
    return value.lower() if isinstance(value, str) else value


def train_one_batch(trainer: Trainer, data_batch: Mapping[str, Any]) -> float:
    """One update on a batch ``{"X": inputs, "Y": targets}``, and its loss (B.4.2, table B.10).

    Arrays and tensors are accepted. Raises GradientError if the gradients could not be computed because the loss is not
    finite or the model does not fit, and UpdateError if the update made a parameter NaN or infinite.
    """
    validation.check_instance(trainer, Trainer, "train_one_batch", "construct_trainer")
    batch = validation.read(data_batch, "data_batch", needed=("X", "Y"), allowed=())
    x, y = _arrays(batch["X"]), _arrays(batch["Y"])
    with _gradient_errors(ConfigError):
        check_batch(trainer.context, trainer.state, x, y)
    with _gradient_errors():
        loss = trainer.train_one_batch(x, y)["loss"]
    if not np.isfinite(loss):
        raise GradientError(
            "the loss of this batch is NaN or infinite, so its gradients are too: check the data, or try a "
            "smaller learning rate"
        )
    named = list(trainer.model.named_parameters())
    bad = dispatch.get(trainer.model.backend).finite([p.value for _, p in named])
    if bad is not None:
        raise UpdateError(f"the update made {named[bad][0]} NaN or infinite: try a smaller learning rate")
    return loss


def train_one_epoch(trainer: Trainer, epoch_index: int) -> float:
    """An epoch on the train_dataset of the configuration, counted from 0, and its mean loss (B.4.3, table B.11).

    The order of the data and the learning rate are those of this epoch in `train`. Raises as `train_one_batch`, and names the
    step and the layer; the model is then restored to its last finite state.
    """
    _need_data(trainer, "train_one_epoch")
    with _gradient_errors():
        return trainer.train_one_epoch(epoch_index)["loss"]


def train(trainer: Trainer) -> dict[str, list[float]]:
    """Train all epochs of the configuration, with its evaluation and saving (B.4.4).

    The standard defines no result; returns the history, a list over epochs for each value. Raises as `train_one_epoch`. It
    prints nothing: `Trainer.fit` shows its progress, `Trainer.start` does not wait.
    """
    _need_data(trainer, "train")
    folder = trainer.settings.output_dir
    with _gradient_errors():
        if folder is None:
            return trainer.fit(progress=False)
        run = trainer.start(save_to=Path(folder) / "parameters.npz").wait()
    return {name: list(values) for name, values in run.history.items()}


@contextmanager
def _gradient_errors(*others: type[Exception]) -> Iterator[None]:
    """Convert ModelError, and ``others``, to GradientError, the standard's error for gradients that cannot be computed."""
    try:
        yield
    except (ModelError, *others) as error:
        raise GradientError(str(error)) from error


def _need_data(trainer: Trainer, name: str) -> None:
    validation.check_instance(trainer, Trainer, name, "construct_trainer")
    if trainer.settings.train_dataset is None:
        raise ConfigError("trainer_config has no train_dataset: give it one, or train with train_one_batch")


def _arrays(value: Any) -> Any:
    """NumPy arrays of tensors, also of several in a tuple or a dictionary."""
    if isinstance(value, tuple):
        return tuple(map(_arrays, value))
    if isinstance(value, Mapping):
        return {name: _arrays(part) for name, part in value.items()}
    owner = dispatch.owner_of_type(type(value))
    return np.asarray(value if owner is None else owner.to_numpy(value))
