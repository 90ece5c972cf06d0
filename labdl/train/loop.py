"""The training loop: steps, epochs, validation and checkpoints, as a generator of events."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.data import Loader
from labdl.errors import ConfigError, FileFormatError, LabDLError, StateDictError
from labdl.train import checkpoint as checkpoints
from labdl.train import failures
from labdl.train.binding import convert_dataset, set_batch_size
from labdl.train.callbacks import Callback, split_early_stopping
from labdl.train.class_names import name_text_labels
from labdl.train.config import TrainerSettings
from labdl.train.data_adapter import as_dataset, read, size_of
from labdl.train.early_stopping import EarlyStopping
from labdl.train.events import Epoch, Event, NewCheckpoint, Start, Step
from labdl.train.learning_rate import LearningRate
from labdl.train.metrics.metric import check_number
from labdl.train.monitor.monitor import TrainingMonitor
from labdl.train.nonfinite import NonFiniteCheck
from labdl.train.preparation import prepare_training
from labdl.train.progress import Progress
from labdl.train.snapshot import Snapshot
from labdl.train.validation_split import split_validation

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.context import TrainContext
    from labdl.train.options import ClassWeight
    from labdl.train.progress import TrainingDocument
    from labdl.train.schedules.base import Plan
    from labdl.train.state import TrainState

_VALIDATION = 256  # batch size of validation


def start_loop(
    context: TrainContext,
    state: TrainState,
    train: Any,
    *,
    validation: Any = None,
    validation_split: float | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    shuffle: bool | None = None,
    class_weight: ClassWeight | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
    resume: bool | str | Path | None = None,
    health: float | None = None,
    callbacks: Iterable[Callable[[Event], Any]] = (),
) -> tuple[Loop, list[Callback]]:
    """Create a loop that starts or resumes, and its callbacks without early stopping; arguments as in `Trainer.events`.

    With class weights the loop has another context, with the weighted loss.
    """
    settings = context.settings
    train = as_dataset(settings.train_dataset if train is None else train)
    if validation is not None and validation_split:
        raise ConfigError("validation and validation_split exclude each other: give one of them")
    kept = settings.checkpoint if checkpoint is None else TrainerSettings(checkpoint=checkpoint).checkpoint  # type: ignore[arg-type]
    if epochs is not None and (not isinstance(epochs, int) or isinstance(epochs, bool) or epochs < 1):
        raise ConfigError(f"epochs wants an integer at least 1, received {epochs!r}")
    if health is not None and (not isinstance(health, int | float) or health is True or not 0 <= health <= 1):
        raise ConfigError(f"health wants a share of the time from 0 to 1, received {health!r}")
    stopping, listeners = split_early_stopping(callbacks, settings.stopping)
    name_text_labels(context, train)
    if validation_split:
        train, validation = split_validation(train, validation_split)
    else:
        validation = settings.val_dataset if validation is None else as_dataset(validation, "validation")
    path = checkpoints.checkpoint_to_resume(resume, kept)
    former = checkpoints.read_progress(path) if path is not None else state.document and state.document.progress
    defaults = _default_options(settings, former)
    total: int = defaults["epochs"] if epochs is None else epochs
    batch_size = defaults["batch_size"] if batch_size is None else batch_size
    shuffle = defaults["shuffle"] if shuffle is None else shuffle
    progress = _initial_progress(context, state, train, batch_size, shuffle)  # type: ignore[arg-type]
    context, train = prepare_training(context, state, train, class_weight)
    validation = convert_dataset(context, state, validation, keep=True)
    if path is not None:
        state.resume_from(checkpoints.restore(context, state, path))
    document, state.document = state.document, None
    loop = Loop(
        context,
        state,
        train=train,
        validation=validation,
        epochs=total,
        progress=progress,
        document=document,
        checkpoint=kept,
        stopping=stopping,
        health=health,
    )
    if former is not None and former.epoch >= total:
        warnings.warn(
            f"nothing is left to train, because epochs={total} is the total and {former.epoch} are complete: give "
            f"a larger total, such as epochs={former.epoch + total}",
            stacklevel=4,
        )
    return loop, listeners


def loop_for_epoch(context: TrainContext, state: TrainState, loop: Loop | None, index: int, train: Any = None) -> Loop:
    """Return the given loop if its next epoch has this index, counted from 0, and the same data set; else a new loop."""
    settings = context.settings
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise ConfigError(f"train_one_epoch wants the index of an epoch, at least 0, received {index!r}")
    train = as_dataset(settings.train_dataset if train is None else train)
    name_text_labels(context, train)
    if loop is not None:
        train = convert_dataset(context, state, train, keep=True)
    if loop is None or (loop.progress.epoch, loop.progress.batch) != (index, 0) or loop.loader.dataset is not train:
        progress = _initial_progress(context, state, train, settings.batch_size, settings.shuffle)
        context, train = prepare_training(context, state, train)
        length = math.ceil(progress.samples / progress.batch_size)
        progress.epoch, progress.step = index, index * length
        epochs = max(settings.epochs, index + 1)
        loop = Loop(
            context,
            state,
            train=train,
            validation=convert_dataset(context, state, settings.val_dataset, keep=True),
            epochs=epochs,
            progress=progress,
            document=None,
        )
    loop.epochs = index + 1
    return loop


def _default_options(settings: TrainerSettings, former: Progress | None) -> dict[str, Any]:
    """Epochs, batch size and shuffling of the trainer; where it has not set them, those of the training to resume."""
    options = {name: getattr(settings, name) for name in ("epochs", "batch_size", "shuffle")}
    if former is None:
        return options
    before = {
        "epochs": former.epochs or settings.epochs,  # unknown to the first files
        "batch_size": max(1, former.batch_size // settings.accumulate),
        "shuffle": former.shuffle,
    }
    unset = {field.name: field.default for field in dataclasses.fields(settings)}
    return {name: before[name] if value == unset[name] else value for name, value in options.items()}


def _initial_progress(context: TrainContext, state: TrainState, train: Any, batch_size: int, shuffle: bool) -> Progress:
    """Progress at the start of a training. A step is an update: its batch consists of ``accumulate`` batches."""
    settings = context.settings
    seed = context.seed if context.seed is not None else dispatch.current_seed() or 0
    size = int(Loader(train, batch_size).batch_size)
    set_batch_size(state, min(size, len(train)))
    return Progress(len(train), size * settings.accumulate, bool(shuffle), int(seed))


class Loop:
    """The loop of a training: data, learning rate, progress, and the events of its steps and epochs.

    ``epochs`` may be changed during the training, and `request_stop` ends it after the current step.
    """

    def __init__(
        self,
        context: TrainContext,
        state: TrainState,
        *,
        train: Any,
        validation: Any,
        epochs: int,
        progress: Progress,
        document: TrainingDocument | None,
        checkpoint: Checkpoint | None = None,
        stopping: EarlyStopping | None = None,
        health: float | None = None,
    ):
        self.context, self.state = context, state
        self.validation, self.checkpoint, self.stopping = validation, checkpoint, stopping
        self.epoch_seconds: list[float] = []  # of each epoch of this loop
        self._stop_requested = False
        self._small_batches = False  # True if validation has to use the batch size of the training
        if document is not None and document.progress is not None:
            _check_same_training(context, progress, document.progress, set(document.metrics))
            progress = document.progress
        self.progress, self.epochs = progress, epochs
        self.loader = Loader(train, progress.batch_size, shuffle=progress.shuffle, seed=progress.seed)
        _check_counts(progress, len(self.loader))
        schedule = context.schedule
        plan = schedule and schedule.plan(context.optimizer.learning_rate, len(self.loader), epochs)
        same_schedule = _restore_schedule(plan, document)
        self.health = health  # see `Trainer.events`
        self.learning_rate = LearningRate(state.phases, plan)
        if stopping is not None:
            stopping.reset()
        state.progress, state.learning_rate = self.progress, self.learning_rate
        state.stopping, state.best = stopping, None
        self.monitor = None
        if health is not None:
            self.monitor = TrainingMonitor(
                context, state, progress, train=train, validation=validation, share=float(health)
            )
        if document is not None:
            self.learning_rate.restore(document.features.rate, progress.step, same_schedule)
            self._restore_stopping(document.features.stopping)

    def _restore_stopping(self, values: dict[str, Any] | None) -> None:
        if self.stopping is not None and values is not None:
            self.stopping.load_state_dict(values)
            best = values.get("state")
            if best is not None and not isinstance(best.get("parameters"), dict):
                raise StateDictError("the state of early stopping has no parameters of the best epoch")
            self.state.best = best

    # -- control

    @property
    def epochs(self) -> int:
        """The number of epochs in total, which is saved with the progress."""
        assert self.progress.epochs is not None
        return self.progress.epochs

    @epochs.setter
    def epochs(self, value: int) -> None:
        self.progress.epochs = value

    def copy_schedule(self, other: Loop) -> None:
        """Use the learning rates and the batch size of validation of another loop at the same step."""
        self.learning_rate.copy_from(other.learning_rate)
        self._small_batches = other._small_batches

    def request_stop(self) -> None:
        """End after the current step, as if all epochs were complete."""
        self._stop_requested = True

    def set_learning_rate(self, value: float) -> None:
        """Use this rate from the next step on: see `LearningRate.set` for schedules."""
        self.learning_rate.set(value, self.progress.step)

    def save(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint between two steps, to a folder or to that of the trainer's checkpoints."""
        if folder is not None:
            with failures.explain_write_errors(folder):
                return checkpoints.save(self.context, self.state, folder)
        if self.checkpoint is None:
            raise ConfigError("the training has no checkpoint=labdl.train.Checkpoint(folder): give a folder to save to")
        with failures.explain_write_errors(self.checkpoint.folder):
            return self.checkpoint.save(self.context, self.state)

    @property
    def should_stop(self) -> bool:
        """True after `request_stop` and early stopping: there will be no further step."""
        return self._stop_requested or (self.stopping is not None and self.stopping.should_stop)

    # -- events

    def events(self) -> Generator[Event, None, None]:
        """The events of the training; see `Trainer.events`."""
        context, now, loader = self.context, self.progress, self.loader
        plan = self.learning_rate.plan
        settings = {
            "loss": context.loss_name,
            "optimizer": context.optimizer.kind,
            "metrics": list(context.metrics),
            "seed": now.seed,
            "backend": context.model.backend,
            **context.optimizer.settings(),
            **({"schedule": plan.schedule.kind} if plan else {}),
            **context.settings.non_default(),
        }
        history = {name: list(values) for name, values in now.history.items()}
        yield Start(self.epochs, len(loader), now.batch_size, now.samples, settings, now.step, history)
        self.snapshot = Snapshot(context, self.state, now, self.checkpoint)
        self._nonfinite = NonFiniteCheck(
            context,
            self.state,
            loader=loader,
            progress=now,
            learning_rate=self.learning_rate,
            snapshot=self.snapshot,
        )
        try:
            yield from self._epochs()
        except LabDLError as error:
            if self.monitor is not None:
                yield from self.monitor.on_error(error)
            raise
        self._restore_best()
        if self.monitor is not None:
            yield from self.monitor.on_train_end()

    def run_epoch(self) -> dict[str, float]:
        """Train until the end of the next epoch; returns its values."""
        values: dict[str, float] = {}
        for event in self.events():
            if isinstance(event, Epoch):
                values = dict(event.values)
        return values

    def _epochs(self) -> Iterator[Event]:
        context, now, loader, monitor = self.context, self.progress, self.loader, self.monitor
        while now.epoch < self.epochs and not self.should_stop:
            for module in context.modules:
                module.train()
            if not now.batch:
                for metric in context.metrics.values():
                    metric.reset()
            began, before = time.perf_counter(), now.seen
            batches = read(loader, now.epoch, now.batch)
            for batch in batches if monitor is None else monitor.time_batches(batches):
                if monitor is None:
                    yield self._step(batch)
                else:
                    yield from monitor.run_step(self._step, batch)
                if self.state.logged:
                    yield from self._logged_events()
                if self._stop_requested:
                    break
            else:
                self.epoch_seconds.append(time.perf_counter() - began)
                rate = (now.seen - before) / max(self.epoch_seconds[-1], 1e-9)
                values = self._end_epoch()
                event = Epoch(now.epoch, now.step, values, rate)
                yield from [event] if monitor is None else monitor.on_epoch_end(event)
                yield from self._logged_events()

    def _logged_events(self) -> Iterator[Event]:
        """The events that methods of the trainer and callbacks have logged."""
        logged = self.state.logged
        while logged:
            yield logged.popleft()(self.progress.step)

    def _announce(self, checkpoint: Path | None) -> None:
        """Yield the event of a new checkpoint with the next events that methods have logged."""
        if checkpoint is not None:
            self.state.logged.append(functools.partial(NewCheckpoint, path=str(checkpoint)))

    def _step(self, batch: Any) -> Step:
        methods, now = self.context.methods, self.progress
        self.learning_rate.apply(now.step)
        values = methods.train_one_batch(*batch) if type(batch) is tuple else methods.train_one_batch(batch)
        if not math.isfinite(values["loss"]):
            raise self._nonfinite.explain_loss(batch, values["loss"])
        size = size_of(batch)
        for name, value in values.items():
            now.sums[name] = now.sums.get(name, 0.0) + _as_float(name, value) * size
        now.step, now.batch, now.seen = now.step + 1, now.batch + 1, now.seen + size
        if self.checkpoint and now.batch < len(self.loader):  # at the end of an epoch it is saved with its values
            with failures.explain_write_errors(self.checkpoint.folder):
                self._announce(self.checkpoint.save_after_step(self.context, self.state))
        return Step(now.step, values)

    def _end_epoch(self) -> dict[str, float]:
        """Validate, update the history, save; returns the values of the epoch."""
        context, state, now = self.context, self.state, self.progress
        self._nonfinite.check_parameters()
        means = {name: total / now.seen for name, total in now.sums.items()}
        means.update({name: check_number(name, m.compute()) for name, m in context.metrics.items() if m.has_data})
        if self.validation is not None:
            with nullcontext() if self.monitor is None else self.monitor.monitor_validation(self.epochs):
                values = self._validate()
            means.update({f"val_{name}": value for name, value in values.items()})
        self.learning_rate.observe(means)
        for name, value in means.items():
            now.history.setdefault(name, []).append(float(value))
        now.epoch, now.batch, now.seen, now.sums = now.epoch + 1, 0, 0, {}
        if self.stopping is not None:
            self.stopping(Epoch(now.epoch, now.step, means, 0.0))
            if self.stopping.restore_best and self.stopping.best_epoch == now.epoch:
                averages = state.averages
                state.best = {
                    "parameters": context.model.state_dict(),
                    "average": averages and averages.state_dict(),
                }
        if self.checkpoint:
            last = now.epoch >= self.epochs or self.should_stop
            with failures.explain_write_errors(self.checkpoint.folder):
                self._announce(self.checkpoint.save_after_epoch(context, state, means, last=last))
        self.snapshot.take()
        return means

    def _validate(self) -> dict[str, float]:
        """Evaluate with larger batches than those of the training, if there is enough memory."""
        context = self.context
        rule, size = context.settings.average, self.progress.batch_size // context.settings.accumulate
        averaged = rule is not None and rule.evaluate
        if not self._small_batches:
            try:
                return context.methods.evaluate(self.validation, batch_size=max(size, _VALIDATION), averaged=averaged)
            except Exception as error:
                if not failures.lacks_memory(error) or size >= _VALIDATION:
                    raise
            self._small_batches = True
        return context.methods.evaluate(self.validation, batch_size=size, averaged=averaged)

    def _restore_best(self) -> None:
        """Restore the parameters of the best epoch, if early stopping has stored them."""
        best = self.state.best
        if best is not None:
            self.context.model.load_state_dict(best["parameters"])
            if self.state.averages is not None and best.get("average"):
                self.state.averages.load_state_dict(best["average"])


def _as_float(name: str, value: Any) -> float:
    return value if type(value) is float else float(check_number(name, value))


def _check_same_training(context: TrainContext, now: Progress, former: Progress, metrics: set[str]) -> None:
    """Raise ConfigError if a training cannot be resumed with these settings."""
    for name, value in former.order.items():
        if name != "seed" and value != getattr(now, name):
            raise ConfigError(
                f"the training was started with {name}={value!r} and cannot be resumed with {getattr(now, name)!r}, "
                "which changes the count of steps: give it the same value"
            )
    if former.batch and metrics != set(context.metrics):
        raise ConfigError(
            f"the current epoch was started with the metrics {', '.join(sorted(metrics)) or 'none'}, the trainer "
            f"has {', '.join(context.metrics) or 'none'}: give it the same metrics"
        )


def _check_counts(now: Progress, length: int) -> None:
    """Raise FileFormatError if the counts of a progress are inconsistent; an epoch has ``length`` steps."""
    expected = (now.epoch * length + now.batch, min(now.batch * now.batch_size, now.samples))
    if now.batch > length or (now.step, now.seen) != expected:
        raise FileFormatError(
            f"the state counts {now.step} steps, which are not {now.epoch} epochs of {length} and "
            f"{now.batch} of the next with {now.seen} samples"
        )


def _restore_schedule(plan: Plan | None, document: TrainingDocument | None) -> bool:
    """Restore the state of a schedule; returns True if the document has the same schedule. Raises StateDictError."""
    if plan is None or document is None or document.schedule is None:
        return False
    same = document.schedule == plan.schedule.kind
    if not same and document.memory:
        raise StateDictError(
            f"the checkpoint has the state of the schedule {document.schedule}, the trainer has "
            f"{plan.schedule.kind}: give it the same schedule"
        )
    if same:
        plan.schedule.load_state_dict(document.memory)
    return same
