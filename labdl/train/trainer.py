"""The trainer: joins model, loss, optimiser and metrics, and trains as a generator of events (R6.1, D8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ConfigError
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.train import config, failures, objectives, state
from labdl.train.batches import as_dataset
from labdl.train.callbacks import telling
from labdl.train.checkpoint import Checkpoint
from labdl.train.engine import Engine
from labdl.train.events import Event
from labdl.train.grouping import membership
from labdl.train.loop import Loop, begun, one_epoch
from labdl.train.measuring import measured, pair_of
from labdl.train.optimizers import BoundOptimizer, Optimizer
from labdl.train.optimizers import optimizer as find_optimizer
from labdl.train.phases import Phase
from labdl.train.progress import Document, Progress
from labdl.train.report import PerClass, Report
from labdl.train.schedules import Schedule
from labdl.train.schedules import schedule as find_schedule

if TYPE_CHECKING:
    from labdl.train.observing import Onlooker
    from labdl.train.run import Run


class Trainer:
    """Trains a model on the backend that holds its parameters.

    ``loss`` is a name, a layer such as ``nn.CrossEntropyLoss(label_smoothing=0.1)`` or a function (output, target); ``metrics``
    are names, objects such as ``labdl.train.metrics.TopKAccuracy(k=5)``, or functions (output, target); ``optimizer`` is a
    name or settings such as ``labdl.train.Adam(1e-3)``, ``schedule`` a name or an object such as ``labdl.train.CosineDecay()``
    by which its learning rate changes. Each may be a dictionary, as files have it: ``{"name": "adam", "learning_rate": 1e-3}``.
    ``compiled`` is None for the backend's own default, or True or False.

    ``accumulate=k`` makes an update of k batches, which is that of a batch k times as large: a step is then k batches.
    ``clip_norm`` and ``clip_value`` limit gradients, ``gradient_norm=True`` observes their norm, ``keep_gradients=True`` keeps
    those of the last update for `gradients`. ``precision`` "bfloat16" or "float16" is mixed precision (see `labdl.ops.mixed`),
    the latter with a scaled loss. ``freeze`` names parameters that do not learn ("encoder/*"); ``average=EMA(0.999)`` averages
    them all; ``stopping=EarlyStopping()`` ends early. ``health`` is the share of its time that a run in the background may
    spend on measuring its layers (`labdl.train.Health`, `Histograms`) and on looking at its validations (`Predictions`,
    `Confusion`, `Worst`), half of it each, which changes nothing in the training; 0 switches that off.
    ``train_dataset``, ``val_dataset``, ``epochs``, ``batch_size``, ``shuffle``, ``checkpoint`` and ``output_dir``, the folder
    of a run, are what `fit` and `start` take when nothing is given.

    The steps may be overridden: `preprocess`, `forward`, `loss`, `backward`, `update`, `postprocess`, `evaluate`, and `phases`.
    Raises ConfigError for a setting that does not exist or is out of range.
    """

    def __init__(self, model: Module | Graph, loss="cross_entropy", optimizer: str | Optimizer | Mapping = "adam", metrics=(),
                 backend: str | None = None, compiled: bool | str | None = None, seed: int | None = None,
                 schedule: str | Schedule | Mapping | None = None, **settings):  # fmt: skip
        self.model = model.to_module() if isinstance(model, Graph) else model
        if not isinstance(self.model, Module):
            raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
        self.settings = config.settled(settings)
        config.check_place(backend, compiled, seed)
        self.loss_function = config.named(loss, objectives.loss, "loss")
        self.loss_name = loss if isinstance(loss, str) else objectives.loss_name(self.loss_function)
        self.optimizer = config.named(optimizer, find_optimizer, "optimizer")
        self.metrics = objectives.metrics(metrics)
        self.backend, self.compiled, self.seed = backend, compiled, seed
        self.schedule = None if schedule is None else config.named(schedule, find_schedule, "schedule")
        self.engine = Engine(self)
        self.onlooker: Onlooker | None = None  # who looks at the validation that goes on, in a run
        self.loop: Loop | None = None  # the training under way, or the last one
        self.former: Document | None = None  # what the next training goes on from
        self.last: dict[str, float] = {}  # figures of the last batch
        self.structure: tuple[int, bytes | None] | None = None  # the structure file that checkpoints hold
        self._tested: tuple[dict[str, float], PerClass] | None = None

    @classmethod
    def from_config(cls, model: Module | Graph, settings: Mapping[str, Any] | str | Path, **changes) -> Trainer:
        """A trainer from a dictionary of its settings, or from a .json, .yaml or .yml file of them.

        ``changes`` come before what stands there. A data set in a file is a name such as "digits" or an .npz of inputs and
        targets. Raises ConfigError, MissingFileError and FileFormatError.
        """
        return cls(model, **config.known(config.read(settings), changes))

    # -- what a subclass may change

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        """Inputs and targets from what the data set gives for a batch, as NumPy arrays, or tuples and dictionaries of them."""
        return batch if type(batch) is tuple and len(batch) == 2 else pair_of(batch, self.model)

    def forward(self, x):
        """Output of the model for a batch of inputs, as tensors; a tuple goes to a model of several inputs."""
        return self.model(*x) if type(x) is tuple else self.model(x)

    def loss(self, output, target):
        """The scalar that training makes smaller, or a dictionary of several by name, whose sum it is."""
        return self.loss_function(output, target)

    def backward(self, gradients: dict[str, Any]) -> dict[str, Any]:
        """The gradients with which parameters are updated, from those of the loss: tensors by standard name, or None."""
        return gradients

    def update(self, gradients: dict[str, Any], optimizer: BoundOptimizer) -> None:
        """Update the parameters in place, from gradients by standard name; as `backward` in compiled steps too."""
        optimizer.update([gradients.get(name) for name in optimizer.names])

    def postprocess(self, output):
        """What metrics see of the output, as NumPy arrays."""
        return output

    def phases(self) -> list[Phase]:
        """What is updated by which loss, in order; one phase of the model's loss on all parameters, unless overridden."""
        return [Phase("", self.loss_and_output)]

    def loss_and_output(self, x, y) -> tuple[Any, Any]:
        """Forward and loss of a batch of tensors."""
        output = self.forward(x)
        return self.loss(output, y), output

    @property
    def plain(self) -> bool:
        """Whether the model's output and the loss are what they are without overriding."""
        own = type(self)
        return (own.forward, own.loss, own.phases) == (Trainer.forward, Trainer.loss, Trainer.phases)

    # -- training as events

    def events(self, train=None, *, validation=None, epochs: int | None = None, batch_size: int | None = None,
               shuffle: bool | None = None, checkpoint: Checkpoint | None = None, resume: bool | str | Path | None = None,
               health: float | None = None, callbacks: Iterable[Callable[[Event], Any]] = (),
               ) -> Generator[Event, None, None]:  # fmt: skip
        """Train, yielding an event for the start, each step and each epoch. Leaving the loop stops training.

        ``train`` and ``validation`` are `ArrayDataset`, pairs (x, y), or objects with samples; what is left out is taken from
        the settings. ``checkpoint`` keeps the state of the training in a folder while it goes on. ``resume`` takes one up: True
        the latest of ``checkpoint``, or a new training where there is none yet, so that the same lines begin and go on; or the
        folder of a checkpoint, or one that holds some, the latest of which counts. It goes on to ``epochs`` in all, with the
        same data, batch size and settings, to the numbers of a training that was never interrupted. ``callbacks`` hear each
        event; one that returns True ends the training, one that fails is named in the log and hears no more.

        ``health`` asks for the events of a run in the background, which `start` has by itself: `Pace`, `Rate` and `Alert`, and
        where it is above 0 what is measured in that share of the time: `Health` and `Histograms` of the layers, and of the
        validation data `Samples`, `Predictions`, `Confusion` and `Worst`. Nothing else changes by it; whoever reads events
        passes over those that it does not know.

        A sample that cannot be read is a DataError that names it. A loss, gradient or parameter that is not finite is raised
        as ModelError, GradientError or UpdateError, which name the step and the layer, and the model is back in the last good
        state: that of an epoch's end, kept in memory where it takes up to 32 MiB, or of the last checkpoint.
        """
        self.loop, listeners = begun(self, train, validation=validation, epochs=epochs, batch_size=batch_size,
                                     shuffle=shuffle, checkpoint=checkpoint, resume=resume, health=health,
                                     callbacks=callbacks)  # fmt: skip
        return telling(self.loop, listeners) if listeners else self.loop.events()

    def train_one_batch(self, *batch) -> dict[str, float]:
        """One update on a batch of NumPy arrays; returns its loss and metrics (T/AII 008-2023, table B.10)."""
        x, y = self.preprocess(batch[0] if len(batch) == 1 else batch)
        values, output = self.engine.step(x, y)
        if self.metrics:
            if output is None:
                raise ConfigError("metrics want an output: let a phase give (loss, output)")
            array = self.postprocess(self.engine.arrays(output))
            for name, metric in self.metrics.items():
                statistics = metric.statistics(array, y)
                metric.add(statistics)
                if not metric.costly:
                    values[name] = metric.value(*statistics)
        self.last = values
        return values

    def train_one_epoch(self, index: int = 0, train=None) -> dict[str, float]:
        """The epoch of a number, from 0, with its order of data and its learning rates; returns its figures (table B.11)."""
        return one_epoch(self, index, train)

    def evaluate(self, dataset, batch_size: int = 256, averaged: bool = False) -> dict[str, float]:
        """Mean loss over a data set and the metrics of all of it, in evaluation mode, of the averaged parameters if asked."""
        return measured(self, as_dataset(dataset), batch_size, averaged)

    def test(self, dataset, batch_size: int = 256) -> dict[str, float]:
        """`evaluate`, of the averaged parameters where there are any; `report` shows it, with a line for each class."""
        data, classes = as_dataset(dataset), PerClass(getattr(dataset, "classes", None))
        found = measured(self, data, batch_size, self.settings.average is not None, classes)
        self._tested = found, classes
        return found

    def gradients(self, *batch) -> dict[str, np.ndarray]:
        """Gradients by standard name as NumPy arrays in the standard layout: of the last update, or of a batch (x, y).

        Those of the last update, before clipping, want ``keep_gradients=True``; those of a batch update nothing.
        """
        return self.engine.gradients(*self.preprocess(batch)) if batch else self.engine.kept()

    def averaged(self):
        """``with trainer.averaged():`` the model has the averages of its parameters, to be saved or used."""
        if self.settings.average is None:
            raise ConfigError("the trainer averages nothing: give it average=labdl.train.EMA(0.999)")
        return self.engine.averaged()

    def report(self) -> Report:
        """Settings, epochs, the best of them, time and test of the training: to be printed, or shown by a notebook."""
        return Report.of(self, self._tested)

    # -- state

    @property
    def progress(self) -> Progress | None:
        """How far the training is, or the one that the next call goes on with; None before any."""
        training = self.loop or self.former
        return training and training.progress

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update. It may be set at any time: see `Loop.set_learning_rate` for schedules."""
        return self.engine.learning_rate if self.engine.works else self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if self.loop is not None:
            self.loop.set_learning_rate(value)
        elif self.engine.works:
            self.engine.learning_rate = value
        else:
            self.optimizer = dataclasses.replace(self.optimizer, learning_rate=value)

    @property
    def bound(self) -> BoundOptimizer | None:
        """The optimiser at work, that of the first phase; None before it has parameters to work on."""
        return self.engine.works[0].optimizer if self.engine.works else None

    def state_dict(self) -> dict[str, Any]:
        """All that a training goes on from, as plain data and NumPy arrays that fit any backend.

        ``parameters`` and ``optimizer`` under standard names, and ``training``: how far it is in the data, its figures so far,
        what the schedule has observed, the random state.
        """
        return {**state.collect(self), "parameters": self.model.state_dict()}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Take up a training, the model being built: the next `fit`, `start` or `events` goes on with it.

        Raises FileFormatError for what is no state, StateDictError and ConfigError for that of another model or optimiser.
        Warns where the random numbers of another backend cannot be taken over.
        """
        state.restore(self, values, lambda model: model.load_state_dict(values.get("parameters", {})), "the state")

    # -- running

    def fit(self, train=None, y=None, *, progress: bool = True, **options) -> dict[str, list[float]]:
        """Train and wait, with a progress bar; returns the history, one list an epoch for each value.

        ``fit(dataset)`` or ``fit(x, y)``; the options are those of `events`. Ctrl-C stops after the step under way and leaves
        the model usable. Where memory or the disk does not suffice, MemoryError and OSError say what to do.
        """
        from labdl.train.console import follow

        with failures.explaining(self, options.get("batch_size")):
            events = self.events(train if y is None else (train, y), **options)
            loop = self.loop
            assert loop is not None
            try:
                for _ in follow(events) if progress else events:
                    pass
            except KeyboardInterrupt:
                print("Stopped. The model keeps what it has learnt so far.")
            finally:
                events.close()
                self.model.eval()
        return {name: list(values) for name, values in loop.progress.history.items()}

    def start(self, train=None, y=None, *, folder: str | Path | None = None, save_to: str | Path | None = None,
              group: str | None = None, params: Mapping[str, Any] | None = None, **options) -> Run:  # fmt: skip
        """Train in the background and return at once: a `Run` to watch, pause, resume and stop.

        The run is recorded in ``folder`` (``runs/<id>``, or the settings' ``output_dir``); ``save_to`` names an .npz that
        receives the parameters after each epoch and at the end. ``group`` names the runs that it belongs to and ``params`` what
        is tried in it, for tables that compare runs. The options are those of `events`; where ``health`` is not
        among them it is that of the settings.
        """
        from labdl.train.run import Run

        more = membership(group, params)
        with failures.explaining(self, options.get("batch_size")):  # what cannot work is said here, not in a thread
            events = self.events(train if y is None else (train, y), **{"health": self.settings.health, **options})
        return Run(self, events, self.settings.output_dir if folder is None else folder, save_to, more)
