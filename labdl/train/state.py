"""The mutable part of a training: progress, optimizers, loss scales, averages, and compiled steps."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.train.logged_values import LoggedValues
from labdl.train.monitor.profiler import Stopwatch

if TYPE_CHECKING:
    from pathlib import Path

    from labdl.train.callbacks import Callbacks
    from labdl.train.conversion import Conversion
    from labdl.train.data_adapter import Structure
    from labdl.train.device_prefetch import DevicePrefetch
    from labdl.train.early_stopping import EarlyStopping
    from labdl.train.ema import Averages
    from labdl.train.events import Event
    from labdl.train.learning_rate import LearningRate
    from labdl.train.monitor.validation import ValidationMonitor
    from labdl.train.optimizers import BoundOptimizer
    from labdl.train.phases import Phase
    from labdl.train.precision import LossScaler
    from labdl.train.progress import Progress, TrainingDocument

MAX_LOGGED = 100  # events between two steps


@dataclasses.dataclass(eq=False)
class PhaseState:
    """The optimizer and the loss scale of a phase, the gradients of its last update, and its compiled steps."""

    phase: Phase
    optimizer: BoundOptimizer
    scaler: LossScaler | None = None
    gradients: list[Any] | None = None
    steps: dict[Structure, Callable[[Any, Any], tuple[dict[str, float], Any]]] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.phase.name

    def to_arrays(self, gradients: list[Any]) -> dict[str, np.ndarray]:
        """Gradients as NumPy arrays by standard name, in the layout of `state_dict`; zeros for None."""
        arrays = {}
        for (name, p), g in zip(self.optimizer.parameters.items(), gradients, strict=True):
            array = np.zeros(p.shape, "float32") if g is None else np.array(self.optimizer.backend.to_numpy(g))
            arrays[name] = p.to_standard(array)
        return arrays


@dataclasses.dataclass(eq=False)
class TrainState:
    """Mutable state of a training.

    ``batch_size`` is the size of the batches, or of their parts with ``accumulate``; None if it is unknown. ``batch`` is the
    last batch, as arrays. ``logged`` are the last ``MAX_LOGGED`` events of methods and callbacks, which the loop yields with
    the number of the step. ``document`` is a loaded state from which the next training resumes.
    """

    phases: list[PhaseState] = dataclasses.field(default_factory=list)
    averages: Averages | None = None
    backend: Any = None
    batch_size: int | None = None
    batch: tuple[Any, Any] | None = None

    progress: Progress | None = None
    learning_rate: LearningRate | None = None
    stopping: EarlyStopping | None = None
    best: dict[str, Any] | None = None  # parameters and averages of the best epoch
    document: TrainingDocument | None = None
    last_checkpoint: Path | None = None  # that this training has written

    callbacks: Callbacks | None = None  # of the current training, or the last one
    values: LoggedValues = dataclasses.field(default_factory=LoggedValues)  # logged since the last step
    logged: deque[Callable[[int], Event]] = dataclasses.field(default_factory=lambda: deque(maxlen=MAX_LOGGED))

    update_time: Stopwatch = dataclasses.field(default_factory=Stopwatch)  # of optimizers that are called separately
    validation_monitor: ValidationMonitor | None = None  # during a monitored validation
    evaluations: dict[Structure, Any] = dataclasses.field(default_factory=dict)  # compiled, by the structure of a batch
    bound_to: tuple[int, bool] | None = None  # see `labdl.train.binding.binding_key`
    prefetch: DevicePrefetch | None = None  # of batches, if the device is not the CPU
    compiled_parts: list[Any] = dataclasses.field(default_factory=list)  # modules that compiled steps refer to
    loss_built: bool = False
    conversion: Conversion | None = None  # of the batches of the bound model and loss
    converted: list[tuple[Any, Any, Any]] = dataclasses.field(default_factory=list)  # see `binding.convert_dataset`
    structure: tuple[int, bytes | None] | None = None  # `Parameter.changes` at the time, and the model's structure file

    def average_parameters(self) -> AbstractContextManager:
        """A context in which the parameters have the values of their averages, if there are averages."""
        return nullcontext() if self.averages is None else self.averages.apply()

    def clear_steps(self) -> None:
        """Discard the compiled steps; they are compiled again on their next use."""
        for phase in self.phases:
            phase.steps.clear()

    def resume_from(self, document: TrainingDocument) -> None:
        """Resume the next training from a document whose parameters and slots have been restored."""
        self.document, self.progress = document, document.progress
        self.learning_rate = self.stopping = self.best = self.callbacks = None
