"""The keywords of trainers and trainings for type checkers and editors; a test compares them with the signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.early_stopping import EarlyStopping
    from labdl.train.ema import EMA
    from labdl.train.events import Event
    from labdl.train.optimizers import Optimizer
    from labdl.train.schedules import Schedule

ClassWeight = Mapping[int, float] | Mapping[str, float] | Literal["balanced"]


class TrainingOptions(TypedDict, total=False):
    """Keywords of `Trainer.events`, `Trainer.fit` and `Trainer.start`: those of `labdl.train.loop.start_loop`."""

    validation: Any
    validation_split: float | None
    epochs: int | None
    batch_size: int | None
    shuffle: bool | None
    class_weight: ClassWeight | None
    checkpoint: Checkpoint | None
    resume: bool | str | Path | None
    health: float | None
    callbacks: Iterable[Callable[[Event], Any]]


class StepOptions(TypedDict, total=False):
    """Settings of `Trainer` about its steps, with the short names of some."""

    accumulate: int
    clip_norm: float | None
    clip_value: float | None
    gradient_norm: bool
    keep_gradients: bool
    precision: Literal["float32", "bfloat16", "float16"]
    freeze: str | tuple[str, ...] | list[str]
    average: EMA | Mapping[str, Any] | float | None
    health: float
    stopping: EarlyStopping | Mapping[str, Any] | str | None
    lr: float


class TrainerOptions(StepOptions, total=False):
    """Keywords of `Trainer` besides its named arguments: the fields of `labdl.train.config.TrainerSettings`."""

    epochs: int
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


class SweepOptions(RaceOptions, total=False):
    """Keywords of `labdl.train.sweep` besides its named arguments."""

    backend: str | None
    batch_size: int
    shuffle: bool
    callbacks: Iterable[Callable[[Event], Any]]
