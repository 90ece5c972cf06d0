"""The loop of a training: steps, epochs, validation and checkpoints, as a generator of events (D8)."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.data import Loader
from labdl.errors import ConfigError, FileFormatError, LabDLError, StateDictError
from labdl.train import failures, finite
from labdl.train.batches import as_dataset, read, size_of
from labdl.train.callbacks import divided
from labdl.train.checkpoint import load, save, source
from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.fitting import check_data
from labdl.train.measuring import ready
from labdl.train.observation import Observation
from labdl.train.progress import Progress
from labdl.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.progress import Document, Features
    from labdl.train.trainer import Trainer

_VALIDATION = 256  # samples at a time


def begun(trainer: Trainer, train: Any, *, validation: Any = None, epochs: int | None = None, batch_size: int | None = None,
          shuffle: bool | None = None, checkpoint: Any = None, resume: Any = None, health: float | None = None,
          callbacks: Iterable[Callable[[Event], Any]] = ()) -> tuple[Loop, list[Callable[[Event], Any]]]:  # fmt: skip
    """A training that begins or goes on, and its callbacks but for early stopping; see `Trainer.events`."""
    settings = trainer.settings
    train = as_dataset(settings.train_dataset if train is None else train)
    validation = settings.val_dataset if validation is None else as_dataset(validation)
    epochs = settings.epochs if epochs is None else epochs
    checkpoint = settings.checkpoint if checkpoint is None else checkpoint
    if not isinstance(epochs, int) or isinstance(epochs, bool) or epochs < 1:
        raise ConfigError(f"epochs wants an integer at least 1, received {epochs!r}")
    if health is not None and (not isinstance(health, int | float) or health is True or not 0 <= health <= 1):
        raise ConfigError(f"health wants a share of the time from 0 to 1, received {health!r}")
    stopping, listeners = divided(callbacks, settings.stopping)
    start = _start(trainer, train, batch_size, shuffle)
    found = source(resume, checkpoint)
    ready(trainer, train)
    check_data(trainer, train)
    if found is not None:
        load(trainer, found)
    former, trainer.former = trainer.former, None
    return Loop(trainer, train, validation, epochs, start, former, checkpoint, stopping, health), listeners


def _start(trainer: Trainer, train: Any, batch_size: int | None, shuffle: bool | None) -> Progress:
    """The beginning of a training. A step is an update, so that of several batches counts as one that is as large."""
    settings = trainer.settings
    seed = trainer.seed if trainer.seed is not None else dispatch.current_seed() or 0
    size = int(Loader(train, settings.batch_size if batch_size is None else batch_size).batch_size)
    trainer.engine.expect(min(size, len(train)))
    return Progress(
        len(train), size * settings.accumulate, bool(settings.shuffle if shuffle is None else shuffle), int(seed)
    )


def one_epoch(trainer: Trainer, index: int, train: Any = None) -> dict[str, float]:
    """See `Trainer.train_one_epoch`."""
    settings, loop = trainer.settings, trainer.loop
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise ConfigError(f"train_one_epoch wants the number of an epoch, at least 0, received {index!r}")
    train = as_dataset(settings.train_dataset if train is None else train)
    if loop is None or (loop.progress.epoch, loop.progress.batch) != (index, 0) or loop.loader.dataset is not train:
        start = _start(trainer, train, None, None)
        ready(trainer, train)
        check_data(trainer, train)
        length = math.ceil(start.samples / start.batch_size)
        start.epoch, start.step = index, index * length
        loop = Loop(trainer, train, settings.val_dataset, max(settings.epochs, index + 1), start, None, None)
        trainer.loop = loop
    loop.epochs = index + 1
    figures: dict[str, float] = {}
    for event in loop.events():
        if isinstance(event, Epoch):
            figures = dict(event.values)
    return figures


class Loop:
    """One training of a `Trainer`: its data, its learning rates, and how far it is.

    ``epochs`` may be changed while it goes on, and `ask_to_stop` ends it after the step under way.
    """

    def __init__(self, trainer: Trainer, train: Any, validation: Any, epochs: int, start: Progress, former: Document | None,
                 checkpoint: Checkpoint | None, stopping: EarlyStopping | None = None,
                 health: float | None = None):  # fmt: skip
        self.trainer, self.validation, self.epochs, self.checkpoint = trainer, validation, epochs, checkpoint
        self.progress, self.factor, self.stopping = start, 1.0, stopping
        self.seconds: list[float] = []  # of each epoch since the start
        self._asked = False
        self._tight = False  # whether validation must do with the batches of the training
        self._held = False  # whether a rate set by hand holds, the schedule being at 0
        self._best: dict[str, Any] | None = None
        if former is not None and former.progress is not None:
            self._go_on(former.progress, set(former.metrics))
        self.loader = Loader(train, start.batch_size, shuffle=start.shuffle, seed=self.progress.seed)
        now, length = self.progress, len(self.loader)
        done = (now.epoch * length + now.batch, min(now.batch * now.batch_size, now.samples))
        if now.batch > length or (now.step, now.seen) != done:
            raise FileFormatError(f"the state counts {now.step} steps, which are not {now.epoch} epochs of {length} and "
                                  f"{now.batch} of the next with {now.seen} samples")  # fmt: skip
        schedule = trainer.schedule
        self.plan = schedule and schedule.plan(trainer.optimizer.learning_rate, len(self.loader), epochs)
        if former is not None and former.schedule is not None and self.plan:
            if former.schedule != self.plan.schedule.kind and former.memory:
                raise StateDictError(f"the checkpoint remembers what {former.schedule} has observed, the trainer's schedule is "
                                     f"{self.plan.schedule.kind}: give the trainer the schedule it began with")  # fmt: skip
            if former.schedule == self.plan.schedule.kind:
                self.plan.schedule.load_state_dict(former.memory)
        self.health = health  # see `Trainer.events`
        self.observation = None if health is None else Observation(self, float(health))
        if stopping is not None:
            stopping.begin()
        if former is not None:
            self._take_up(former.features, self.plan is not None and former.schedule == self.plan.schedule.kind)

    def _go_on(self, former: Progress, metrics: set[str]) -> None:
        now = self.progress
        for name, value in former.order.items():
            if name != "seed" and value != getattr(now, name):
                raise ConfigError(f"the training began with {name}={value!r} and cannot go on with {getattr(now, name)!r}: "
                                  "steps would count differently; give it what it began with")  # fmt: skip
        if former.batch and metrics != set(self.trainer.metrics):
            raise ConfigError(f"the epoch under way began with the metrics {', '.join(sorted(metrics)) or 'none'}, the trainer "
                              f"has {', '.join(self.trainer.metrics) or 'none'}")  # fmt: skip
        self.progress = former

    def _take_up(self, features: Features, known: bool) -> None:
        self.factor = 1.0 if features.rate is None else features.rate
        step = self.progress.step
        if (
            self.plan and known and not self.plan(step)
        ):  # the optimiser has the last step's rate, if no other was set since
            last = self.plan(step - 1) * self.factor if step else self.plan.base_rate
            self._held = not math.isclose(self.trainer.engine.learning_rate, last, rel_tol=1e-6)
        if self.stopping is not None and features.stopping is not None:
            self.stopping.load_state_dict(features.stopping)
            self._best = features.stopping.get("state")
            if self._best is not None and not isinstance(self._best.get("parameters"), dict):
                raise StateDictError("the state of early stopping has no parameters of its best epoch")

    def memory(self) -> tuple[dict[str, Any] | None, float | None]:
        """What the next step must know besides the progress: of early stopping, and the factor of the learning rate."""
        stopping = self.stopping and {**self.stopping.state_dict(), "state": self._best}
        return stopping, None if self.factor == 1.0 else self.factor

    # -- from outside

    def take_course(self, other: Loop) -> None:
        """Learn at the rates at which another loop, which is as far, would go on."""
        self.plan, self.factor, self._held = copy.deepcopy(other.plan), other.factor, other._held
        self._tight = other._tight

    def ask_to_stop(self) -> None:
        """End after the step under way, as if the epochs were over; the model keeps what it has learnt."""
        self._asked = True

    def set_learning_rate(self, value: float) -> None:
        """Learn at this rate from the next step on; a schedule keeps its shape and is multiplied to meet it.

        So do torch's chainable schedulers when the rate of a parameter group is changed. Where the schedule is at 0, as at the
        first step of a warm-up or behind its end, no factor meets the rate: it holds as long as the schedule stays there,
        and after that counts as the base rate in place of the optimiser's own.
        """
        if self.plan:
            planned = self.plan(self.progress.step)
            self._held = not planned
            if reference := planned or self.plan.base_rate:
                self.factor = value / reference
        self.trainer.engine.learning_rate = value

    def save(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint now, between two steps: to a folder, or to that of the training's own checkpoints."""
        if folder is not None:
            with failures.keeping(folder):
                return save(self.trainer, folder)
        if self.checkpoint is None:
            raise ConfigError("the training has no checkpoint=labdl.train.Checkpoint(folder): give a folder to save to")
        with failures.keeping(self.checkpoint.folder):
            return self.checkpoint.save(self.trainer)

    # -- events

    def events(self) -> Generator[Event, None, None]:
        """See `Trainer.events`."""
        trainer, now, loader = self.trainer, self.progress, self.loader
        settings = {"loss": trainer.loss_name, "optimizer": trainer.optimizer.kind, "metrics": list(trainer.metrics),
                    "seed": now.seed, "backend": trainer.model.backend, **trainer.optimizer.settings(),
                    **({"schedule": self.plan.schedule.kind} if self.plan else {}),
                    **trainer.settings.told()}  # fmt: skip
        history = {name: list(values) for name, values in now.history.items()}
        yield Started(self.epochs, len(loader), now.batch_size, now.samples, settings, now.step, history)
        self.good = finite.Good(self)
        try:
            yield from self._epochs()
        except LabDLError as error:
            if self.observation is not None:
                yield from self.observation.failed(error)
            raise
        if self._best is not None:
            self._put_best()
        if self.observation is not None:
            yield from self.observation.ended()

    def _epochs(self) -> Iterator[Event]:
        trainer, now, loader, observation = self.trainer, self.progress, self.loader, self.observation
        while now.epoch < self.epochs and not self._over:
            trainer.model.train()
            if not now.batch:
                for metric in trainer.metrics.values():
                    metric.reset()
            began, before = time.perf_counter(), now.seen
            batches = read(loader, now.epoch, now.batch)
            for batch in batches if observation is None else observation.waiting(batches):
                if observation is None:
                    yield self._step(batch)
                else:
                    yield from observation.step(self._step, batch)
                if self._asked:
                    break
            else:
                self.seconds.append(time.perf_counter() - began)
                rate = (now.seen - before) / max(self.seconds[-1], 1e-9)
                means = self._ended()
                event = Epoch(now.epoch, now.step, means, rate)
                yield from [event] if observation is None else observation.epoch(event)

    @property
    def _over(self) -> bool:
        return self._asked or (self.stopping is not None and self.stopping.done)

    def _step(self, batch: Any) -> Step:
        trainer, now = self.trainer, self.progress
        if self.plan:
            planned = self.plan(now.step)
            self._held = self._held and not planned
            if not self._held:
                trainer.engine.learning_rate = planned * self.factor
        values = trainer.train_one_batch(*batch) if type(batch) is tuple else trainer.train_one_batch(batch)
        if not math.isfinite(values["loss"]):
            raise finite.explained(self, batch, values["loss"])
        size = size_of(batch)
        for name, value in values.items():
            now.sums[name] = now.sums.get(name, 0.0) + float(value) * size
        now.step, now.batch, now.seen = now.step + 1, now.batch + 1, now.seen + size
        if self.checkpoint and now.batch < len(self.loader):  # at the end of an epoch its figures belong to it
            with failures.keeping(self.checkpoint.folder):
                self.checkpoint.stepped(trainer)
        return Step(now.step, values)

    def _ended(self) -> dict[str, float]:
        """The figures of the epoch that ends."""
        trainer, now = self.trainer, self.progress
        finite.check_parameters(self)
        means = {name: total / now.seen for name, total in now.sums.items()}
        means.update({name: metric.compute() for name, metric in trainer.metrics.items() if metric.started})
        if self.validation is not None:
            with nullcontext() if self.observation is None else self.observation.validating():
                found = self._validated()
            means.update({f"val_{name}": value for name, value in found.items()})
        if self.plan:
            self.plan.observe(means)
        for name, value in means.items():
            now.history.setdefault(name, []).append(float(value))
        now.epoch, now.batch, now.seen, now.sums = now.epoch + 1, 0, 0, {}
        if self.stopping is not None:
            self.stopping(Epoch(now.epoch, now.step, means, 0.0))
            if self.stopping.restore_best and self.stopping.best_epoch == now.epoch:
                averages = trainer.engine.averages
                self._best = {"parameters": trainer.model.state_dict(), "average": averages and averages.state_dict()}
        if self.checkpoint:
            with failures.keeping(self.checkpoint.folder):
                self.checkpoint.ended(trainer, means, last=now.epoch >= self.epochs or self._over)
        self.good.take()
        return means

    def _validated(self) -> dict[str, float]:
        """Larger batches than those of the training are faster, where there is the memory for them."""
        rule, part = self.trainer.settings.average, self.progress.batch_size // self.trainer.settings.accumulate
        averaged = rule is not None and rule.evaluate
        if not self._tight:
            try:
                return self.trainer.evaluate(self.validation, max(part, _VALIDATION), averaged)
            except Exception as error:
                if not failures.lacks_memory(error) or part >= _VALIDATION:
                    raise
            self._tight = True
        return self.trainer.evaluate(self.validation, part, averaged)

    def _put_best(self) -> None:
        """Give the model the parameters of its best epoch."""
        assert self._best is not None
        self.trainer.model.load_state_dict(self._best["parameters"])
        if self.trainer.engine.averages is not None and self._best.get("average"):
            self.trainer.engine.averages.load_state_dict(self._best["average"])
