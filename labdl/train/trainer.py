"""The trainer: joins model, loss, optimiser and metrics, and trains as a generator of events (R6.1, D8)."""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labdl import dispatch
from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, ModelError, UpdateError
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.ops.infix import neutral
from labdl.spec import Spec, show
from labdl.train import objectives
from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.optimizers import BoundOptimizer, Optimizer
from labdl.train.optimizers import optimizer as find_optimizer
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

    # -- what a subclass may change

    def forward(self, x):
        """Output of the model for a batch of inputs."""
        return self.model(x)

    def loss(self, output, target):
        """The scalar that training makes smaller."""
        return self._loss(output, target)

    # -- training as events

    def events(
        self, train, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True
    ) -> Generator[Event, None, None]:
        """Train, yielding an event for the start, each step and each epoch. Leaving the loop stops training.

        Raises ModelError when the loss is not finite, UpdateError when an update broke a parameter; both name it.
        """
        train, validation = as_dataset(train), None if validation is None else as_dataset(validation)
        if not isinstance(epochs, int) or epochs < 1:
            raise ConfigError(f"epochs wants an integer at least 1, received {epochs!r}")
        seed = self.seed if self.seed is not None else dispatch.current_seed() or 0
        loader = Loader(train, batch_size, shuffle=shuffle, seed=seed)
        backend = self._check_data(train)
        settings = {"loss": self.loss_name, "optimizer": self.optimizer.kind, "metrics": list(self.metrics),
                    "seed": seed, "backend": backend.name, **self.optimizer.settings()}  # fmt: skip
        yield Started(epochs, len(loader), batch_size, len(train), settings)
        plan = self.schedule and self.schedule.plan(self.optimizer.learning_rate, len(loader), epochs)
        step = 0
        for epoch in range(epochs):
            self.model.train()
            for metric in self.metrics.values():
                metric.reset()
            sums, seen, started = {}, 0, time.perf_counter()
            for x, y in loader.epoch(epoch):
                if plan:
                    self._native_optimizer.learning_rate = plan(step)  # type: ignore[union-attr]
                step += 1
                values = self.train_one_batch(x, y)
                if not np.isfinite(values["loss"]):
                    self._explain(step, x, y)
                for name, value in values.items():
                    sums[name] = sums.get(name, 0.0) + value * len(x)
                seen += len(x)
                yield Step(step, values)
            spent = time.perf_counter() - started
            self._check_parameters(step)
            means = {name: total / seen for name, total in sums.items()}
            means.update({name: metric.compute() for name, metric in self.metrics.items() if metric.started})
            if validation is not None:
                means.update(
                    {f"val_{k}": v for k, v in self.evaluate(validation, batch_size=max(batch_size, 256)).items()}
                )
            if plan:
                plan.observe(means)
            yield Epoch(epoch + 1, step, means, seen / spent)

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

    # -- running

    def fit(self, train, y=None, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True,
            progress: bool = True) -> dict[str, list[float]]:  # fmt: skip
        """Train and wait, with a progress bar; returns the history, one list an epoch for each value.

        ``fit(dataset)`` or ``fit(x, y)``. Ctrl-C stops after the step under way and leaves the model usable.
        """
        from labdl.train.console import follow

        data = train if y is None else ArrayDataset(train, y)
        events = self.events(data, validation=validation, epochs=epochs, batch_size=batch_size, shuffle=shuffle)
        history: dict[str, list[float]] = {}
        try:
            for event in follow(events) if progress else events:
                if isinstance(event, Epoch):
                    for name, value in event.values.items():
                        history.setdefault(name, []).append(value)
        except KeyboardInterrupt:
            print("Stopped. The model keeps what it has learnt so far.")
        finally:
            events.close()
            self.model.eval()
        return history

    def start(self, train, y=None, *, validation=None, epochs: int = 1, batch_size: int = 32, shuffle: bool = True,
              folder: str | Path | None = None, save_to: str | Path | None = None) -> Run:  # fmt: skip
        """Train in the background and return at once: a `Run` to watch, pause, resume and stop.

        The run is recorded in ``folder`` (``runs/<id>`` when left out); ``save_to`` names an .npz that receives the
        parameters after each epoch and at the end.
        """
        from labdl.train.run import Run

        data = train if y is None else ArrayDataset(train, y)
        self._check_data(as_dataset(data))  # what cannot work is said here, not later in a thread
        events = self.events(data, validation=validation, epochs=epochs, batch_size=batch_size, shuffle=shuffle)
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
        elif self._step is None and self.backend not in (None, self.model.backend):
            self.model.to(self.backend)  # type: ignore[arg-type]
        backend = dispatch.get(self.model.backend)
        learnt = {name: p for name, p in self.model.named_parameters() if p.trainable}
        if not learnt:
            raise ModelError("the model has no trainable parameters")
        former = self._native_optimizer
        if former is None:
            self._native_optimizer = BoundOptimizer(self.optimizer, backend, learnt)
        elif [id(p.value) for p in learnt.values()] != [id(v) for v in former.variables]:
            former.rebind(learnt, backend)
        if self._step is None or self._home is not backend:
            self._home = backend
            self._make_functions(backend, targets)
        self._seen = Parameter.changes
        return backend

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

    def _explain(self, step: int, x: np.ndarray, y: np.ndarray) -> None:
        """The loss is not finite: say whether the data, a parameter or the model itself is the cause."""
        for what, array in (("inputs", x), ("targets", y)):
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ModelError(f"the loss is not finite at step {step}: the {what} of this batch have NaN or "
                                 "infinity")  # fmt: skip
        if step > 1:  # the first update has passed on the loss, so parameters tell nothing
            self._check_parameters(step - 1)
        raise ModelError(f"the loss is not finite at step {step}: the model's output for this batch has NaN or infinity; "
                         "look at the inputs, or try a smaller learning rate")  # fmt: skip

    def _check_parameters(self, step: int) -> None:
        named = list(self.model.named_parameters())
        bad = dispatch.get(self.model.backend).finite([p.value for _, p in named])
        if bad is not None:
            raise UpdateError(
                f"the update of step {step} made {named[bad][0]} NaN or infinite: try a smaller learning rate"
            )


def _fits(shape, wanted) -> bool:
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted, strict=True))


def as_dataset(value) -> ArrayDataset:
    """A data set from a data set or a pair (x, y)."""
    if isinstance(value, ArrayDataset):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        return ArrayDataset(*value)
    raise ConfigError(f"data wants an ArrayDataset or a pair (x, y), received {type(value).__name__}")
