"""The trainer: joins model, loss, optimizer and metrics, and trains as a generator of events."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ConfigError
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.train import checkpoint as checkpoints
from labdl.train import config, failures, losses
from labdl.train.callbacks import call_callbacks
from labdl.train.context import OVERRIDABLE, TrainContext
from labdl.train.data_adapter import as_dataset
from labdl.train.evaluation import evaluate, split_batch
from labdl.train.events import Event
from labdl.train.learning_rate import learning_rate, set_learning_rate
from labdl.train.loop import Loop, loop_for_epoch, start_loop
from labdl.train.optimizers import BoundOptimizer, Optimizer
from labdl.train.optimizers import optimizer as find_optimizer
from labdl.train.phases import Phase
from labdl.train.report import PerClass, Report
from labdl.train.run.groups import membership
from labdl.train.schedules import Schedule
from labdl.train.schedules import schedule as find_schedule
from labdl.train.state import TrainState
from labdl.train.state_dict import restore, state_dict
from labdl.train.train_step import batch_gradients, last_gradients, to_arrays, train_step

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.config import TrainerSettings
    from labdl.train.metrics import Metric
    from labdl.train.progress import Progress
    from labdl.train.run.run import Run


class Trainer:
    """Trains a model on the backend that holds its parameters.

    ``loss`` is a name, a layer such as ``nn.CrossEntropyLoss(label_smoothing=0.1)`` or a function (output, target); ``metrics``
    are names, objects such as ``labdl.train.metrics.TopKAccuracy(k=5)``, or functions (output, target); ``optimizer`` is a
    name or settings such as ``labdl.train.Adam(1e-3)``, ``schedule`` a name or an object such as ``labdl.train.CosineDecay()``
    by which its learning rate changes. Each may be a dictionary, as files have it: ``{"name": "adam", "learning_rate": 1e-3}``.
    ``compiled`` is None for the backend's own default, or True or False.

    ``accumulate=k`` makes an update of k batches, which is that of a batch k times as large: a step is then k batches.
    ``clip_norm`` and ``clip_value`` limit gradients, ``gradient_norm=True`` observes their norm, ``keep_gradients=True`` keeps
    those of the last update for `gradients`. ``precision`` "bfloat16" or "float16" is mixed precision
    (see `labdl.ops.precision.mixed`), the latter with a scaled loss. ``freeze`` names parameters that are not trained
    ("encoder/*"); ``average=EMA(0.999)`` averages them all; ``stopping=EarlyStopping()`` ends early.
    ``health`` is the share of its time that a run in the background may spend on measuring its layers
    (`labdl.train.Health`, `Histograms`) and on observing its validations (`Predictions`, `Confusion`, `Worst`), half of it
    each, which changes nothing in the training; 0 switches that off.
    ``train_dataset``, ``val_dataset``, ``epochs``, ``batch_size``, ``shuffle``, ``checkpoint`` and ``output_dir``, the folder
    of a run, are what `fit` and `start` take when nothing is given.

    The steps may be overridden: `preprocess`, `forward`, `loss`, `backward`, `update`, `postprocess`, `evaluate`, and `phases`.
    Raises ConfigError for a setting that does not exist or is out of range.
    """

    def __init__(
        self,
        model: Module | Graph,
        loss="cross_entropy",
        optimizer: str | Optimizer | Mapping = "adam",
        metrics=(),
        backend: str | None = None,
        compiled: bool | str | None = None,
        seed: int | None = None,
        schedule: str | Schedule | Mapping | None = None,
        **settings,
    ):
        module = model.to_module() if isinstance(model, Graph) else model
        if not isinstance(module, Module):
            raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
        chosen = config.settled(settings)
        config.check_place(backend, compiled, seed)
        loss_function = config.named(loss, losses.loss, "loss")
        own = type(self)
        self.context = TrainContext(
            model=module,
            loss_function=loss_function,
            loss_name=loss if isinstance(loss, str) else losses.loss_name(loss_function),
            optimizer=config.named(optimizer, find_optimizer, "optimizer"),
            metrics=losses.metrics(metrics),
            schedule=None if schedule is None else config.named(schedule, find_schedule, "schedule"),
            settings=chosen,
            backend=backend,
            compiled=compiled,
            seed=seed,
            methods=self,
            overridden=frozenset(name for name in OVERRIDABLE if getattr(own, name) is not getattr(Trainer, name)),
        )
        self.state = TrainState()
        self.loop: Loop | None = None  # the current training, or the last one
        self.last: dict[str, float] = {}  # values of the last batch
        self._tested: tuple[dict[str, float], PerClass] | None = None

    @classmethod
    def from_config(cls, model: Module | Graph, settings: Mapping[str, Any] | str | Path, **changes) -> Trainer:
        """A trainer from a dictionary of its settings, or from a .json, .yaml or .yml file of them.

        ``changes`` come before what stands there. A data set in a file is a name such as "digits" or an .npz of inputs and
        targets. Raises ConfigError, MissingFileError and FileFormatError.
        """
        return cls(model, **config.known(config.read(settings), changes))

    # -- the parts, which do not change

    @property
    def model(self) -> Module:
        return self.context.model

    @property
    def loss_function(self) -> Callable[[Any, Any], Any]:
        return self.context.loss_function

    @property
    def loss_name(self) -> str:
        """The name of the loss in curves and recordings."""
        return self.context.loss_name

    @property
    def optimizer(self) -> Optimizer:
        """The settings of the optimizer; they may be replaced before the first step."""
        return self.context.optimizer

    @optimizer.setter
    def optimizer(self, value: Optimizer) -> None:
        self.context = dataclasses.replace(self.context, optimizer=value)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return self.context.metrics

    @property
    def schedule(self) -> Schedule | None:
        """The schedule of the learning rate; it may be replaced before a training starts."""
        return self.context.schedule

    @schedule.setter
    def schedule(self, value: Schedule | None) -> None:
        self.context = dataclasses.replace(self.context, schedule=value)

    @property
    def settings(self) -> TrainerSettings:
        return self.context.settings

    @property
    def backend(self) -> str | None:
        """The backend that was asked for, None for the one that holds the model."""
        return self.context.backend

    @property
    def compiled(self) -> bool | str | None:
        return self.context.compiled

    @property
    def seed(self) -> int | None:
        return self.context.seed

    # -- methods that a subclass may override

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        """Inputs and targets from what the data set gives for a batch, as NumPy arrays, or tuples and dictionaries of them."""
        return batch if type(batch) is tuple and len(batch) == 2 else split_batch(batch, self.model)

    def forward(self, x):
        """Output of the model for a batch of inputs, as tensors; a tuple goes to a model of several inputs."""
        return self.model(*x) if type(x) is tuple else self.model(x)

    def loss(self, output, target):
        """The scalar to minimize, or a dictionary of several by name, whose sum is minimized."""
        return self.loss_function(output, target)

    def backward(self, gradients: dict[str, Any]) -> dict[str, Any]:
        """The gradients with which parameters are updated, from those of the loss: tensors by standard name, or None."""
        return gradients

    def update(self, gradients: dict[str, Any], optimizer: BoundOptimizer) -> None:
        """Update the parameters in place, from gradients by standard name; as `backward` in compiled steps too."""
        optimizer.update([gradients.get(name) for name in optimizer.names])

    def postprocess(self, output):
        """The output as metrics receive it, from the model's output as NumPy arrays."""
        return output

    def phases(self) -> list[Phase]:
        """The phases of a step, in order; by default one: the model's loss, on all parameters."""
        return [Phase("", self.loss_and_output)]

    def loss_and_output(self, x, y) -> tuple[Any, Any]:
        """Forward and loss of a batch of tensors."""
        output = self.forward(x)
        return self.loss(output, y), output

    # -- training as events

    def events(
        self,
        train=None,
        *,
        validation=None,
        epochs: int | None = None,
        batch_size: int | None = None,
        shuffle: bool | None = None,
        checkpoint: Checkpoint | None = None,
        resume: bool | str | Path | None = None,
        health: float | None = None,
        callbacks: Iterable[Callable[[Event], Any]] = (),
    ) -> Generator[Event, None, None]:
        """Train, yielding an event for the start, each step and each epoch. Leaving the loop stops training.

        ``train`` and ``validation`` are `ArrayDataset`, pairs (x, y), or objects with samples; what is left out is taken from
        the settings. ``checkpoint`` keeps the state of the training in a folder while it goes on. ``resume`` takes one up: True
        the latest of ``checkpoint``, or a new training where there is none yet, so that the same lines begin and go on; or the
        folder of a checkpoint, or one that holds some, the latest of which counts. It goes on to ``epochs`` in all, with the
        same data, batch size and settings, to the numbers of a training that was never interrupted. ``callbacks`` are
        called with each event; one that returns True ends the training, one that raises is logged and disabled.

        ``health`` enables the events that runs of `start` have by default: `Throughput`, `Rate` and `Alert`, and if it is above
        0, measurements in that share of the time: `Health` and `Histograms` of the layers, and `Samples`, `Predictions`,
        `Confusion` and `Worst` of the validation data. It does not change the training. Consumers should ignore events that
        they do not know.

        A sample that cannot be read is a DataError that names it. A loss, gradient or parameter that is not finite is raised
        as ModelError, GradientError or UpdateError, which name the step and the layer, and the model is back in the last good
        state: that of an epoch's end, kept in memory where it takes up to 32 MiB, or of the last checkpoint.
        """
        self.loop, listeners = start_loop(
            self.context,
            self.state,
            train,
            validation=validation,
            epochs=epochs,
            batch_size=batch_size,
            shuffle=shuffle,
            checkpoint=checkpoint,
            resume=resume,
            health=health,
            callbacks=callbacks,
        )
        events = self.loop.events()
        return call_callbacks(events, listeners, self.loop.ask_to_stop) if listeners else events

    def train_one_batch(self, *batch) -> dict[str, float]:
        """One update on a batch of NumPy arrays; returns its loss and metrics (T/AII 008-2023, table B.10)."""
        x, y = self.preprocess(batch[0] if len(batch) == 1 else batch)
        values, output = train_step(self.context, self.state, x, y)
        if self.context.metrics:
            if output is None:
                raise ConfigError("metrics want an output: let a phase give (loss, output)")
            array = self.postprocess(to_arrays(self.state.backend, output))
            for name, metric in self.context.metrics.items():
                statistics = metric.statistics(array, y)
                metric.add(statistics)
                if not metric.costly:
                    values[name] = metric.value(*statistics)
        self.last = values
        return values

    def train_one_epoch(self, index: int = 0, train=None) -> dict[str, float]:
        """Train the epoch of an index, from 0, with its data order and learning rates; returns its values (table B.11)."""
        self.loop = loop_for_epoch(self.context, self.state, self.loop, index, train)
        return self.loop.run_epoch()

    def evaluate(self, dataset, batch_size: int = 256, averaged: bool = False) -> dict[str, float]:
        """Mean loss over a data set and the metrics of all of it, in evaluation mode, of the averaged parameters if asked."""
        return evaluate(self.context, self.state, as_dataset(dataset), batch_size, averaged=averaged)

    def test(self, dataset, batch_size: int = 256) -> dict[str, float]:
        """`evaluate`, of the averaged parameters where there are any; `report` shows it, with a line for each class."""
        data, classes = as_dataset(dataset), PerClass(getattr(dataset, "classes", None))
        averaged = self.settings.average is not None
        values = evaluate(self.context, self.state, data, batch_size, averaged=averaged, classes=classes)
        self._tested = values, classes
        return values

    def gradients(self, *batch) -> dict[str, np.ndarray]:
        """Gradients by standard name as NumPy arrays in the standard layout: of the last update, or of a batch (x, y).

        Those of the last update, before clipping, want ``keep_gradients=True``; those of a batch update nothing.
        """
        return (
            batch_gradients(self.context, self.state, *self.preprocess(batch)) if batch else last_gradients(self.state)
        )

    def averaged(self) -> AbstractContextManager:
        """``with trainer.averaged():`` the model has the averages of its parameters, to be saved or used."""
        if self.settings.average is None:
            raise ConfigError("the trainer averages nothing: give it average=labdl.train.EMA(0.999)")
        return self.state.averaged()

    def report(self) -> Report:
        """Settings, epochs, the best of them, time and test of the training: to be printed, or shown by a notebook."""
        seconds = self.loop.epoch_seconds if self.loop else []
        return Report.build(self.context, self.state.progress, seconds, self._tested)

    # -- state

    @property
    def progress(self) -> Progress | None:
        """The progress of the training, or of the one that the next call resumes; None before any."""
        return self.state.progress

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update. It may be set at any time: see `Loop.set_learning_rate` for schedules."""
        return learning_rate(self.state.phases) if self.state.phases else self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if self.loop is not None:
            self.loop.set_learning_rate(value)
        elif self.state.phases:
            set_learning_rate(self.state.phases, value)
        else:
            self.optimizer = dataclasses.replace(self.optimizer, learning_rate=value)

    @property
    def bound_optimizer(self) -> BoundOptimizer | None:
        """The optimizer of the first phase, bound to its parameters; None before the model is built."""
        return self.state.phases[0].optimizer if self.state.phases else None

    def state_dict(self) -> dict[str, Any]:
        """The whole state of the training, as plain data and NumPy arrays that fit any backend.

        ``parameters`` and ``optimizer`` under standard names, and ``training``: the progress in the data, the history, what the
        schedule has observed, the random state.
        """
        return state_dict(self.context, self.state)

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state; the model has to be built. The next `fit`, `start` or `events` resumes its training.

        Raises FileFormatError for what is no state, StateDictError and ConfigError for that of another model or optimizer.
        Warns where the random numbers of another backend cannot be continued.
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
        """Write the state to a new checkpoint in the folder, as `Checkpoint` does, and return its path."""
        return checkpoints.save(self.context, self.state, folder)

    def load_checkpoint(self, path: str | Path) -> None:
        """Restore the state of a checkpoint: see `load_state_dict`, which raises the same errors."""
        self.state.resume_from(checkpoints.restore(self.context, self.state, path))
        self.loop = None

    # -- running

    def fit(self, train=None, y=None, *, progress: bool = True, **options) -> dict[str, list[float]]:
        """Train and wait, with a progress bar; returns the history, one list an epoch for each value.

        ``fit(dataset)`` or ``fit(x, y)``; the options are those of `events`. Ctrl-C stops after the step under way and leaves
        the model usable. Where memory or the disk does not suffice, MemoryError and OSError say what to do.
        """
        from labdl.train.progress_bar import follow

        with self._explain_errors(options.get("batch_size")):
            events = self.events(train if y is None else (train, y), **options)
            loop = self.loop
            assert loop is not None
            try:
                for _ in follow(events) if progress else events:
                    pass
            except KeyboardInterrupt:
                print("Stopped. The model keeps what it has learned so far.")
            finally:
                events.close()
                self.model.eval()
        return {name: list(values) for name, values in loop.progress.history.items()}

    def start(
        self,
        train=None,
        y=None,
        *,
        folder: str | Path | None = None,
        save_to: str | Path | None = None,
        group: str | None = None,
        params: Mapping[str, Any] | None = None,
        **options,
    ) -> Run:
        """Train in the background and return at once: a `Run` to watch, pause, resume and stop.

        The run is recorded in ``folder`` (``runs/<id>``, or the settings' ``output_dir``); ``save_to`` names an .npz that
        receives the parameters after each epoch and at the end. ``group`` names the runs that it belongs to and ``params`` what
        is tried in it, for tables that compare runs. The options are those of `events`; where ``health`` is not
        among them it is that of the settings.
        """
        from labdl.train.run.run import Run

        more = membership(group, params)
        with self._explain_errors(options.get("batch_size")):  # here, before the thread starts
            events = self.events(train if y is None else (train, y), **{"health": self.settings.health, **options})
        return Run(self, events, self.settings.output_dir if folder is None else folder, save_to, more)

    def _explain_errors(self, batch_size: int | None) -> AbstractContextManager:
        size = self.settings.batch_size if batch_size is None else batch_size
        return failures.explain_errors(size, self.settings.accumulate)
