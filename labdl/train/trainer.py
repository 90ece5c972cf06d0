"""The trainer: joins model, loss, optimiser and metrics, and trains as a generator of events (R6.1, D8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.ops.infix import neutral
from labdl.spec import Spec, show
from labdl.train import objectives, state
from labdl.train.checkpoint import Checkpoint, load, source
from labdl.train.events import Event
from labdl.train.loop import Loop
from labdl.train.optimizers import BoundOptimizer, Optimizer
from labdl.train.optimizers import optimizer as find_optimizer
from labdl.train.progress import Document, Progress
from labdl.train.schedules import Schedule
from labdl.train.schedules import schedule as find_schedule

if TYPE_CHECKING:
    from labdl.train.run import Run


class Trainer:
    """Trains a model on the backend that holds its parameters.

    ``loss`` is a name, a layer such as ``nn.CrossEntropyLoss(label_smoothing=0.1)`` or a function (output, target); ``metrics``
    are names, objects such as ``labdl.train.metrics.TopKAccuracy(k=5)``, or functions (output, target); ``optimizer`` is a
    name or settings such as ``labdl.train.Adam(1e-3)``, ``schedule`` a name or an object such as
    ``labdl.train.CosineDecay()`` by which its learning rate changes. ``compiled`` is None for the backend's own default, or
    True or False. `forward` and `loss` may be overridden. Raises ConfigError for a setting that does not exist.
    """

    def __init__(self, model: Module | Graph, loss="cross_entropy", optimizer: str | Optimizer = "adam", metrics=(),
                 backend: str | None = None, compiled: bool | None = None, seed: int | None = None,
                 schedule: str | Schedule | None = None):  # fmt: skip
        self.model = model.to_module() if isinstance(model, Graph) else model
        if not isinstance(self.model, Module):
            raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
        self._loss = objectives.loss(loss)
        self.loss_name = loss if isinstance(loss, str) else objectives.loss_name(loss)
        self.optimizer = find_optimizer(optimizer)
        self.metrics = objectives.metrics(metrics)
        self.backend, self.compiled, self.seed = backend, compiled, seed
        self.schedule = None if schedule is None else find_schedule(schedule)
        self._native_optimizer = self._step = self._evaluate = self._home = None
        self._seen = -1
        self._loop: Loop | None = None
        self._structure: tuple[int, bytes | None] | None = None  # the structure file that checkpoints hold
        self._former: Document | None = None  # what the next training goes on from

    # -- what a subclass may change

    def forward(self, x):
        """Output of the model for a batch of inputs."""
        return self.model(x)

    def loss(self, output, target):
        """The scalar that training makes smaller."""
        return self._loss(output, target)

    # -- training as events

    def events(self, train, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True,
               checkpoint: Checkpoint | None = None,
               resume: bool | str | Path | None = None) -> Generator[Event, None, None]:  # fmt: skip
        """Train, yielding an event for the start, each step and each epoch. Leaving the loop stops training.

        ``checkpoint`` keeps the state of the training in a folder while it goes on. ``resume`` takes one up: True the latest of
        ``checkpoint``, or a new training where there is none yet, so that the same lines begin and go on; or the folder of a
        checkpoint, or one that holds some, the latest of which counts. It goes on to ``epochs`` in all, with the same data,
        batch size and settings, to the numbers of a training that was never interrupted.

        Raises ModelError when the loss is not finite, UpdateError when an update broke a parameter; both name it.
        """
        train, validation = as_dataset(train), None if validation is None else as_dataset(validation)
        if not isinstance(epochs, int) or epochs < 1:
            raise ConfigError(f"epochs wants an integer at least 1, received {epochs!r}")
        seed = self.seed if self.seed is not None else dispatch.current_seed() or 0
        start = Progress(len(train), int(Loader(train, batch_size).batch_size), bool(shuffle), int(seed))
        found = source(resume, checkpoint)
        self._check_data(train)
        if found is not None:
            load(self, found)
        former, self._former = self._former, None
        self._loop = Loop(self, train, validation, epochs, start, former, checkpoint)
        return self._loop.events()

    def train_one_batch(self, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
        """One update on a batch of NumPy arrays; returns its loss and metrics (T/AII 008-2023, table B.10)."""
        backend = self._prepare(x, y)
        loss, output = self._step(backend.tensor(x), backend.tensor(y))  # type: ignore[misc]
        values = {"loss": float(backend.to_numpy(loss))}
        if self.metrics:
            array = backend.to_numpy(output)
            for name, metric in self.metrics.items():
                statistics = metric.statistics(array, y)
                metric.add(statistics)
                if not metric.costly:
                    values[name] = metric.value(*statistics)
        return values

    def evaluate(self, dataset, batch_size: int = 256) -> dict[str, float]:
        """Mean loss over a data set and the metrics of all of it, in evaluation mode."""
        dataset = as_dataset(dataset)
        backend = self._prepare(dataset)
        was_training = self.model.training
        self.model.eval()
        metrics = {name: metric.fresh() for name, metric in self.metrics.items()}  # training's own may be under way
        total, seen = 0.0, 0
        try:
            for x, y in Loader(dataset, batch_size):
                loss, output = self._evaluate(backend.tensor(x), backend.tensor(y))  # type: ignore[misc]
                array = backend.to_numpy(output)
                total += float(backend.to_numpy(loss)) * len(x)
                for metric in metrics.values():
                    metric.update(array, y)
                seen += len(x)
        finally:
            self.model.train(was_training)
        return {"loss": total / seen, **{name: metric.compute() for name, metric in metrics.items()}}

    # -- state

    @property
    def progress(self) -> Progress | None:
        """How far the training is, or the one that the next call goes on with; None before any."""
        training = self._loop or self._former
        return training and training.progress

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update; where there is no schedule, it may be set at any time."""
        return self.optimizer.learning_rate if self._native_optimizer is None else self._native_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if self._native_optimizer is None:
            self.optimizer = dataclasses.replace(self.optimizer, learning_rate=value)
        else:
            self._native_optimizer.learning_rate = value

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

    def fit(self, train, y=None, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True,
            progress: bool = True, checkpoint: Checkpoint | None = None,
            resume: bool | str | Path | None = None) -> dict[str, list[float]]:  # fmt: skip
        """Train and wait, with a progress bar; returns the history, one list an epoch for each value.

        ``fit(dataset)`` or ``fit(x, y)``; ``checkpoint`` and ``resume`` are those of `events`. Ctrl-C stops after the step
        under way and leaves the model usable.
        """
        from labdl.train.console import follow

        data = train if y is None else ArrayDataset(train, y)
        events = self.events(data, validation=validation, epochs=epochs, batch_size=batch_size, shuffle=shuffle,
                             checkpoint=checkpoint, resume=resume)  # fmt: skip
        loop = self._loop
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

    def start(self, train, y=None, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True,
              folder: str | Path | None = None, save_to: str | Path | None = None, checkpoint: Checkpoint | None = None,
              resume: bool | str | Path | None = None) -> Run:  # fmt: skip
        """Train in the background and return at once: a `Run` to watch, pause, resume and stop.

        The run is recorded in ``folder`` (``runs/<id>`` when left out); ``save_to`` names an .npz that receives the
        parameters after each epoch and at the end; ``checkpoint`` and ``resume`` are those of `events`.
        """
        from labdl.train.run import Run

        data = train if y is None else ArrayDataset(train, y)  # what cannot work is said here, not later in a thread
        events = self.events(data, validation=validation, epochs=epochs, batch_size=batch_size, shuffle=shuffle,
                             checkpoint=checkpoint, resume=resume)  # fmt: skip
        return Run(self, events, folder, save_to)

    # -- inside

    def _prepare(self, data, *targets):
        """The backend, with model and loss built for these data, and the step and evaluation functions made.

        A model may change while it is trained: parts are frozen, layers replaced, all of it moved elsewhere.
        """
        if self._step is not None and self._seen == Parameter.changes:
            return dispatch.get(self.model.backend)
        sample, *targets = data[np.zeros(1, int)] if isinstance(data, ArrayDataset) else (data, *targets)
        if self.model.unbuilt:
            self.model.build(Spec((None, *sample.shape[1:]), str(sample.dtype)), backend=self.backend, seed=self.seed)
        self._bind()
        backend = dispatch.get(self.model.backend)
        if self._step is None or self._home is not backend:
            self._home = backend
            self._make_functions(backend, targets)
        self._seen = Parameter.changes
        return backend

    def _bind(self) -> BoundOptimizer:
        """The optimiser at work on the parameters of the model, which is built."""
        self.model._need_build()
        if self._step is None and self.backend not in (None, self.model.backend):
            self.model.to(self.backend)  # type: ignore[arg-type]
        learnt = {name: p for name, p in self.model.named_parameters() if p.trainable}
        if not learnt:
            raise ModelError("the model has no trainable parameters")
        backend, bound = dispatch.get(self.model.backend), self._native_optimizer
        if bound is None:
            bound = self._native_optimizer = BoundOptimizer(self.optimizer, backend, learnt)
        elif [id(p.value) for p in learnt.values()] != [id(v) for v in bound.variables]:
            bound.rebind(learnt, backend)
        return bound

    def _make_functions(self, backend, targets) -> None:
        @neutral
        def objective(x, y):
            output = self.forward(x)
            return self.loss(output, y), output

        self._build_loss(backend, targets)
        self._step = backend.train_function(objective, self._native_optimizer, compiled=self.compiled)
        self._evaluate = backend.evaluate_function(objective, compiled=self.compiled)

    def _build_loss(self, backend, targets) -> None:
        """A loss may hold weights of classes: they are on the backend before a compiler sees it."""
        own = type(self)
        plain = own.forward is Trainer.forward and own.loss is Trainer.loss
        if plain and len(targets) == 1 and isinstance(self._loss, Module) and isinstance(self.model.output_specs, Spec):
            spec = dispatch.spec_of(backend.tensor(targets[0]))
            self._loss.build(self.model.output_specs, Spec((None, *spec.shape[1:]), spec.dtype), backend=backend.name)

    def _check_data(self, data: ArrayDataset):
        """`_prepare`, and the sentence for data that do not fit the model before a framework says it in its own way."""
        backend = self._prepare(data)
        if type(self).forward is not Trainer.forward or len(data.arrays) != 2:
            return backend
        (x, y), wanted = data.arrays, self.model.input_specs
        first = wanted[0] if len(wanted) == 1 else None
        if first is not None and not _fits(x.shape[1:], first.shape[1:]):
            raise ConfigError(f"the data have samples of shape {show(x.shape[1:])}, the model was built for "
                              f"{show(first.shape[1:])}: give its Input the shape of the data")  # fmt: skip
        output = self.model.output_specs
        if self.loss_name == "cross_entropy" and y.dtype.kind in "iu" and isinstance(output, Spec):
            classes = output.shape[-1]
            y = y[y != getattr(self._loss, "ignore_index", classes)]
            if y.size and classes is not None and not 0 <= y.min() <= y.max() < classes:
                raise ConfigError(f"the data have classes from {y.min()} to {y.max()}, the model's output has room for "
                                  f"{classes}, numbered from 0")  # fmt: skip
        return backend


def _fits(shape, wanted) -> bool:
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted, strict=True))


def as_dataset(value) -> ArrayDataset:
    """A data set from a data set or a pair (x, y)."""
    if isinstance(value, ArrayDataset):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        return ArrayDataset(*value)
    raise ConfigError(f"data wants an ArrayDataset or a pair (x, y), received {type(value).__name__}")
