"""The keywords of trainers and trainings for type checkers and editors; a test compares them with the signatures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from labdl import habits
from labdl.errors import ConfigError, suggest_name
from labdl.train import aliases

if TYPE_CHECKING:
    from labdl.train.callbacks import Callback
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.early_stopping import EarlyStopping
    from labdl.train.ema import EMA
    from labdl.train.events import Event
    from labdl.train.optimizers import Optimizer
    from labdl.train.schedules import Schedule
    from labdl.train.swa import SWA
    from labdl.train.time_limit import MaxTime
    from labdl.train.validation_split import ValidationFrom

ClassWeight = Mapping[int, float] | Mapping[str, float] | Sequence[float] | np.ndarray | Literal["balanced"]


class TrainingOptions(TypedDict, total=False):
    """Keywords of `Trainer.events`, `Trainer.fit` and `Trainer.start`: those of `start_loop`, with other names
    of some.
    """

    validation: Any
    validation_data: Any
    val_dataloaders: Any
    validation_split: float | None
    validation_from: ValidationFrom | None
    epochs: int | None
    batch_size: int | None
    shuffle: bool | None
    steps_per_epoch: int | None
    validation_steps: int | None
    validation_freq: int | Sequence[int] | None
    validation_batch_size: int | None
    class_weight: ClassWeight | None
    sample_weight: Any
    checkpoint: Checkpoint | str | Path | None
    resume: bool | str | Path | None
    ckpt_path: bool | str | Path | None
    health: float | None
    callbacks: Iterable[Callable[[Event], Any] | Callback]


class StepOptions(TypedDict, total=False):
    """Settings of `Trainer` about its steps, with the short names of some."""

    accumulate: int
    clip_norm: float | None
    clip_value: float | None
    gradient_norm: bool
    precision: Literal["float32", "bfloat16", "float16"]
    freeze: str | tuple[str, ...] | list[str]
    gradient_checkpointing: str | tuple[str, ...] | list[str]
    loss_weights: Mapping[str, float] | Sequence[float] | None
    average: EMA | SWA | Mapping[str, Any] | float | None
    health: float
    stopping: EarlyStopping | Mapping[str, Any] | str | None
    max_steps: int | None
    max_time: MaxTime | None
    check_val_every_n_epoch: int
    val_check_interval: int | float | None
    limit_train_batches: int | float | None
    limit_val_batches: int | float | None
    drop_last: bool
    fast_dev_run: bool | int
    lr: float
    accumulate_grad_batches: int
    gradient_clip_val: float | None


class TrainerOptions(StepOptions, total=False):
    """Keywords of `Trainer` besides its named arguments: the fields of `labdl.train.config.TrainerSettings`."""

    keep_gradients: bool
    epochs: int
    max_epochs: int
    batch_size: int
    shuffle: bool
    train_dataset: Any
    val_dataset: Any
    output_dir: str | Path | None
    checkpoint: Checkpoint | Mapping[str, Any] | str | Path | None


class RaceOptions(StepOptions, total=False):
    """Keywords of `labdl.train.race` besides its named arguments."""

    loss: Any
    optimizer: str | Optimizer | Mapping[str, Any]
    metrics: Any
    compiled: bool | str | None
    schedule: str | Schedule | Mapping[str, Any] | None
    learning_rate: float | None
    class_weight: ClassWeight | None
    validation_split: float | None
    validation_from: ValidationFrom | None


class SweepOptions(RaceOptions, total=False):
    """Keywords of `labdl.train.sweep` besides its named arguments."""

    keep_gradients: bool
    backend: str | None
    batch_size: int
    shuffle: bool
    steps_per_epoch: int | None
    validation_steps: int | None
    validation_freq: int | Sequence[int] | None
    validation_batch_size: int | None
    sample_weight: Any
    callbacks: Iterable[Callable[[Event], Any] | Callback]


_WITHOUT_TRAINING = ("evaluate", "test", "validate", "predict")


def training_options(method: str, given: Mapping[str, Any], own: Collection[str] = ()) -> dict[str, Any]:
    """The keywords of a training under their full names; ``own`` are the further ones of the method.

    Raises ConfigError that names the keywords of the method.
    """
    options = aliases.full_names(given, aliases.TRAINING)
    check_keywords(f"Trainer.{method}", options, [*own, *(TrainingOptions.__annotations__.keys() - aliases.TRAINING)])
    return options


def check_keywords(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise ConfigError for a keyword that a function does not have."""
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise ConfigError(f"{function} has the keywords {listed}, received {name!r}{_hint(function, name, known)}")


def _hint(function: str, name: str, known: Collection[str]) -> str:
    method = function.rpartition(".")[2]
    advice = habits.hint("keyword of evaluate" if method in _WITHOUT_TRAINING else "keyword of a training", name)
    if advice:
        return advice.format(method=method)
    settings = {*TrainerOptions.__annotations__, *RaceOptions.__annotations__, *StepOptions.__annotations__} - {*known}
    if name in settings:
        return f", a setting of Trainer: write Trainer(model, {name}=…)"
    advice = habits.hint("setting of Trainer", name)
    if advice:
        return f", a setting of Trainer{advice}"
    return suggest_name(name, known)
