"""The training loop: steps, epochs, validation and checkpoints, as a generator of events."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.data import Loader
from labdl.errors import ConfigError, FileFormatError, LabDLError, StateDictError
from labdl.train import checkpoint as checkpoints
from labdl.train import failures
from labdl.train.batch_norm_statistics import apply_swa
from labdl.train.binding import convert
from labdl.train.data_adapter import read, size_of
from labdl.train.directions import find_direction
from labdl.train.early_stopping import EarlyStopping
from labdl.train.events import Epoch, Event, NewCheckpoint, Start, Step, Validation
from labdl.train.learning_rate import LearningRate
from labdl.train.limits import Limits
from labdl.train.loaders import count_seen, dataset_of
from labdl.train.logged_values import means_of
from labdl.train.metrics.metric import check_number
from labdl.train.monitor.monitor import TrainingMonitor
from labdl.train.nonfinite import NonFiniteCheck
from labdl.train.progress import Progress
from labdl.train.schedules.base import Plan
from labdl.train.snapshot import Snapshot
from labdl.train.swa import SWA
from labdl.train.validating import Validator

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.context import TrainContext
    from labdl.train.progress import TrainingDocument
    from labdl.train.schedules import Schedule
    from labdl.train.state import TrainState


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
        limits: Limits | None = None,
        validation_batch_size: int | None = None,
    ):
        self.context, self.state = context, state
        self.limits = Limits.of(context.settings) if limits is None else limits
        self.validation, self.checkpoint, self.stopping = validation, checkpoint, stopping
        self.epoch_seconds: list[float] = []  # of each epoch of this loop
        self._stop_requested = False
        self._deadline: float | None = None  # of the clock of `time.monotonic`
        self._first_step = 0
        self.unfinished: dict[str, float] = {}  # values of a last epoch that `max_steps` ended before its end
        if document is not None and document.progress is not None:
            _check_same_training(context, progress, document.progress, set(document.metrics))
            progress = document.progress
        self.progress, self.epochs = progress, epochs
        self.own_loader = isinstance(train, Loader)
        self.loader = self.limits.loader(train, progress.batch_size, progress.shuffle, progress.seed)
        self.steps_per_epoch = self.limits.steps(self.loader)
        _check_counts(progress, self.loader, self.steps_per_epoch)
        schedule = context.schedule
        plan = schedule and self._plan(schedule, context.optimizer.learning_rate)
        same_schedule = _restore_schedule(plan, document)
        self.health = health  # see `Trainer.events`
        self.learning_rate = LearningRate(state.phases, plan, self._plan)
        if stopping is not None:
            stopping.reset()
            stopping.direction = find_direction(stopping.monitoring, context.metrics)
        state.progress, state.learning_rate = self.progress, self.learning_rate
        state.stopping, state.best = stopping, None
        interval = self.limits.validation_interval(self.steps_per_epoch)
        size = validation_batch_size or progress.batch_size // context.settings.accumulate
        data = self.limits.validation(validation, size)
        self.validator = Validator(
            context,
            state,
            data,
            progress,
            interval,
            self.steps_per_epoch,
            batch_size=validation_batch_size,
            validates=self.limits.validates,
        )
        self.monitor = None
        if health is not None:
            self.monitor = TrainingMonitor(context, state, progress, train=train, validation=data, share=float(health))
            self.validator.monitor = self.monitor
        if document is None and isinstance(context.settings.average, SWA) and state.averages is not None:
            state.averages.reset()  # those of a former training
        if document is not None:
            self.learning_rate.restore(document.features.rate, progress.step, same_schedule)
            self._restore_stopping(document.features.stopping)

    def _plan(self, schedule: Schedule, rate: float) -> Plan:
        """The learning rates of the training, which may end before its last epoch does."""
        schedule = schedule.with_direction(self.context.metrics)
        steps, most = self.steps_per_epoch, self.limits.max_steps
        if most is None or most >= self.epochs * steps or schedule.unit == "epoch":
            return schedule.plan(rate, steps, self.epochs)
        return Plan(schedule.bind(most, 1), rate, steps)

    def _restore_stopping(self, values: dict[str, Any] | None) -> None:
        if self.stopping is not None and values is not None:
            self.stopping.load_state_dict(values)
            best = values.get("state")
            if best is not None and not isinstance(best.get("parameters"), dict):
                raise StateDictError("the state of early stopping has no parameters of the best epoch")
            self.state.best = best

    @property
    def history(self) -> dict[str, list[float]]:
        """The values of all epochs, the last of which `max_steps` may have ended before its end."""
        history = {name: list(values) for name, values in self.progress.history.items()}
        for name, value in self.unfinished.items():
            history.setdefault(name, []).append(value)
        return history

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
        self.validator.small_batches = other.validator.small_batches

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
        """True after `request_stop`, early stopping, `max_steps` and `max_time`: there will be no further step."""
        early = self.stopping is not None and self.stopping.should_stop
        return self._stop_requested or early or self._at_most or self._out_of_time

    @property
    def _at_most(self) -> bool:
        return self.limits.max_steps is not None and self.progress.step >= self.limits.max_steps

    @property
    def _out_of_time(self) -> bool:
        return (
            self._deadline is not None and self.progress.step > self._first_step and time.monotonic() >= self._deadline
        )

    # -- events

    def events(self) -> Generator[Event, None, None]:
        """The events of the training; see `Trainer.events`."""
        context, now = self.context, self.progress
        if self.limits.max_time is not None:
            self._deadline, self._first_step = time.monotonic() + self.limits.max_time, now.step
        plan = self.learning_rate.plan
        settings = {
            "loss": context.loss_name,
            "optimizer": context.optimizer.label,
            "metrics": list(context.metrics),
            "seed": now.seed,
            "backend": context.model.backend,
            **context.optimizer.record(),
            **({"schedule": plan.schedule.kind} if plan else {}),
            **context.settings.non_default(),
        }
        history = {name: list(values) for name, values in now.history.items()}
        self._call("on_fit_start")
        yield Start(
            self.epochs,
            self.steps_per_epoch,
            now.batch_size,
            now.samples,
            settings,
            now.step,
            history,
            self.limits.max_steps,
        )
        self.snapshot = Snapshot(context, self.state, now, self.checkpoint)
        self._nonfinite = NonFiniteCheck(
            context,
            self.state,
            loader=self.loader,
            steps=self.steps_per_epoch,
            progress=now,
            learning_rate=self.learning_rate,
            snapshot=self.snapshot,
        )
        conversion = self.state.conversion
        assert conversion is not None  # the training is prepared
        conversion.checked = "preprocess" not in context.overridden and conversion.covers(dataset_of(self.loader))
        try:
            yield from self._epochs()
        except GeneratorExit:  # left by its consumer
            self._call("on_fit_end")
            raise
        except BaseException as error:
            self._call("on_exception", error)
            if self.monitor is not None and isinstance(error, LabDLError):
                yield from self.monitor.on_error(error)
            raise
        finally:
            conversion.checked = False
        self._restore_best()
        apply_swa(context, self.state, self.loader, self.steps_per_epoch)
        self._call("on_fit_end")
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
        context, now, monitor, length = self.context, self.progress, self.monitor, self.steps_per_epoch
        while now.epoch < self.epochs and not self.should_stop:
            for module in context.modules:
                module.train()
            if not now.batch:
                for metric in context.metrics.values():
                    metric.reset()
            began, before, complete = time.perf_counter(), now.seen, False
            self._call("on_train_epoch_start")
            yield from self._validate_within_epoch()  # of a checkpoint that was written before its validation
            # closed at once after an error, whose traceback would keep the workers
            with closing(read(self.loader, now.epoch, now.batch)) as batches:
                rest = batches if length == len(self.loader) else itertools.islice(batches, length - now.batch)
                if self.state.prefetch is not None and self.context.settings.accumulate == 1:
                    rest = self.state.prefetch.read(rest, self._convert)
                for batch in rest if monitor is None else monitor.time_batches(rest):
                    self._call("on_train_batch_start", batch, now.batch)
                    events = [self._step(batch)] if monitor is None else monitor.run_step(self._step, batch)
                    self._end_step(events[0], batch)
                    yield from events
                    if self.state.logged:
                        yield from self._logged_events()
                    yield from self._validate_within_epoch()
                    if self._stop_requested or (self.should_stop and now.batch < length):
                        break
                else:
                    complete = True
            seconds = time.perf_counter() - began
            rate = (now.seen - before) / max(seconds, 1e-9)
            if complete:
                self.epoch_seconds.append(seconds)
                event = self._end_epoch(rate)
                yield from [event] if monitor is None else monitor.on_epoch_end(event)
                yield from self._logged_events()
            elif self.should_stop and not self._stop_requested:
                self.unfinished = self._end_unfinished()
                yield Epoch(now.epoch + 1, now.step, self.unfinished, rate)
                yield from self._logged_events()

    def _convert(self, batch: Any) -> Any:
        """A batch of two arrays as the step will convert it, whose copy to the device begins before the step."""
        if "preprocess" in self.context.overridden or type(batch) is not tuple or len(batch) != 2:
            return batch
        return convert(self.context, self.state, *batch)

    def _validate_within_epoch(self) -> Iterator[Event]:
        """Validate after a step if that is due; early stopping and the best checkpoint go by the values."""
        if not self.validator.due:
            return
        event = Validation(self.progress.epoch + 1, self.progress.step, self.validator.within_epoch())
        self._observe_stopping(event)
        if self.checkpoint:
            with failures.explain_write_errors(self.checkpoint.folder):
                self._announce(self.checkpoint.save_if_better(self.context, self.state, event.values))
        yield event
        yield from self._logged_events()

    def _observe_stopping(self, event: Epoch | Validation) -> None:
        """Pass values to early stopping, and keep the parameters of the best ones."""
        if self.stopping is None:
            return
        self.stopping(event)
        if self.stopping.restore_best and self.stopping.improved:
            averages = self.state.averages
            self.state.best = {
                "parameters": self.context.model.state_dict(),
                "average": averages and averages.state_dict(),
            }

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
        return Step(now.step, values)

    def _end_step(self, event: Any, batch: Any) -> None:
        """Call the callbacks after a step, collect what was logged in it, and save a checkpoint if one is due."""
        now, logged = self.progress, self.state.values
        self._call("on_train_batch_end", event.values, batch, now.batch - 1)
        if self.state.callbacks is not None:
            self.state.callbacks.notify(event)
        event.values.update(logged.take(size_of(batch), now.logged))
        if self.checkpoint and (
            now.batch < self.steps_per_epoch or self._stop_requested
        ):  # else at the end of the epoch
            with failures.explain_write_errors(self.checkpoint.folder):
                self._announce(self.checkpoint.save_after_step(self.context, self.state))

    def _call(self, hook: str, *args: Any) -> None:
        if self.state.callbacks is not None:
            self.state.callbacks.call(hook, *args)

    def _end_epoch(self, rate: float) -> Epoch:
        """Validate, update the history, save; returns the event of the epoch, with ``rate`` samples per second."""
        context, state, now = self.context, self.state, self.progress
        validates = self.limits.validates(now.epoch + 1)
        means = self._values_of_epoch(validates)
        self._call("on_train_epoch_end", means)
        means.update(state.values.take(1))

        def has_monitored(part: Any) -> bool:  # else an epoch without validation
            monitor = getattr(part, "monitoring", None)
            return validates or self.validator.data is None or monitor is None or monitor.name in means

        if has_monitored(context.schedule):
            self.learning_rate.observe(means)
        if state.averages is not None:
            state.averages.end_epoch(now.epoch, self.epochs)
        for name, value in means.items():
            now.history.setdefault(name, []).append(float(value))
        if validates and self.validator.data is not None:
            now.validated_epochs.append(now.epoch + 1)
        now.epoch, now.batch, now.seen, now.sums, now.logged = now.epoch + 1, 0, 0, {}, {}
        event = Epoch(now.epoch, now.step, means, rate)
        if has_monitored(self.stopping):
            self._observe_stopping(event)
        if self.checkpoint:
            last = now.epoch >= self.epochs or self.should_stop
            values = means if has_monitored(self.checkpoint) else None
            with failures.explain_write_errors(self.checkpoint.folder):
                self._announce(self.checkpoint.save_after_epoch(context, state, values, last=last))
        self.snapshot.take()
        if state.callbacks is not None:
            state.callbacks.notify(event)
        for name, value in state.values.take(1).items():
            means[name] = value
            now.history.setdefault(name, []).append(value)
        return event

    def _values_of_epoch(self, validates: bool = True) -> dict[str, float]:
        """Means over the epoch so far, and the values of a validation unless the epoch is not validated."""
        now = self.progress
        self._nonfinite.check_parameters()
        means = {name: total / now.seen for name, total in now.sums.items()}
        means.update(means_of(now.logged))
        metrics = self.context.metrics
        means.update({name: check_number(name, m.compute()) for name, m in metrics.items() if m.has_data})
        return {**means, **self.validator.at_end(self.epochs)} if validates else means

    def _end_unfinished(self) -> dict[str, float]:
        """Save and validate after the last step, within an epoch; a training that resumes there goes on with the epoch."""
        newest = self.state.last_checkpoint
        step = f"step-{self.progress.step:08d}"
        if self.checkpoint and not (newest is not None and newest.name.startswith(step)):
            self._announce(self.save())
        return self._values_of_epoch()

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


def _check_counts(now: Progress, loader: Loader, length: int) -> None:
    """Raise FileFormatError if the counts of a progress are inconsistent with epochs of this length."""
    seen = count_seen(loader, now.batch)
    if (
        now.batch > length
        or now.step != now.epoch * length + now.batch
        or now.seen != (now.seen if seen is None else seen)
    ):
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
