"""Monitoring of a training: throughput, learning rate, alerts, layer statistics and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.train.events import Epoch, Event, Step
from labdl.train.monitor.anomalies import LONGEST, Alerts
from labdl.train.monitor.chance import ClassCounter
from labdl.train.monitor.layer_stats import LayerMonitor
from labdl.train.monitor.profiler import StepProfiler
from labdl.train.monitor.validation import ValidationMonitor

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState


class TrainingMonitor:
    """Monitors a training: throughput, learning rate and alerts, and with a ``share`` of the time layers and predictions."""

    def __init__(
        self,
        context: TrainContext,
        state: TrainState,
        progress: Progress,
        *,
        train: Any,
        validation: Any,
        share: float,
    ):
        self.state, self.progress = state, progress
        adversarial = len(state.phases) > 1 or "train_one_batch" in context.overridden
        self.alerts = Alerts(batch_size=progress.batch_size, resumed=progress.step > 0, adversarial=adversarial)
        self.class_counter = ClassCounter(context)
        self.profiler = StepProfiler(state.update_time, state.phases[0].optimizer, progress.step, self._samples)
        self.validation_monitor = None
        if share and validation is not None:
            share /= 2  # half for the validation, half for the layers
            self.validation_monitor = ValidationMonitor(context, train, validation, share)
        self.layer_monitor = LayerMonitor(context, state, share) if share else None
        self._validation_monitored = False

    def time_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, and measure the time of loading them."""
        return self.profiler.time_batches(batches)

    def run_step(self, run: Callable[[Any], Step], batch: Any) -> list[Event]:
        """Run the step of a batch; returns its event and those of the measurements after it."""
        layers, losses = self.layer_monitor, self.alerts.losses
        before = None if layers is None else layers.before_step()
        began = perf_counter()
        event = run(batch)
        ended = perf_counter()
        events: list[Event] = [event]
        if layers is not None:
            events += layers.after_step(event.step, ended - began, before)
        losses.append(event.values["loss"])
        if self.state.batch is not None:
            self.class_counter.add(self.state.batch[1])
        if self.profiler.record_step(began, ended, event.step):
            events += self._take_events(event.step)
        elif len(losses) >= LONGEST:
            events += self.alerts.check_losses(event.step)
        return events

    def _take_events(self, step: int) -> Iterator[Event]:
        for event in self.profiler.take_events(step, self._samples):
            yield event
            yield from self.alerts.check_event(event)
        yield from self.alerts.check_losses(step)

    @property
    def _samples(self) -> int:
        """Number of samples since the start of the training."""
        now = self.progress
        return now.epoch * now.samples + now.seen

    def monitor_validation(self, epochs: int) -> AbstractContextManager:
        """A context in which the validation is monitored if that is due; ``epochs`` is the number of epochs in total."""
        monitor, epoch = self.validation_monitor, self.progress.epoch + 1
        self._validation_monitored = monitor is not None and monitor.due(epoch, epochs, self.profiler.seconds)
        return self._install_monitor() if self._validation_monitored else nullcontext()

    @contextmanager
    def _install_monitor(self) -> Iterator[None]:
        self.state.validation_monitor = self.validation_monitor
        try:
            yield
        finally:
            self.state.validation_monitor = None

    def on_epoch_end(self, event: Epoch) -> Iterator[Event]:
        """Yield the event of an epoch and those of its validation."""
        yield event
        yield from self.alerts.check_event(event)
        yield from self._check_learning(epoch=event.epoch)
        if self._validation_monitored and self.validation_monitor is not None:
            self._validation_monitored = False
            yield from self.validation_monitor.take_events(event.epoch, event.step)

    def on_error(self, error: BaseException) -> Iterator[Event]:
        """Yield the last events of a training that ends with an error."""
        yield from self._take_events(self.progress.step)
        yield from self.alerts.check_error(error, self.progress.step)

    def on_train_end(self) -> Iterator[Event]:
        """Yield the events that have not been emitted yet."""
        yield from self._take_events(self.progress.step)
        yield from self._check_learning(ended=True)

    def _check_learning(self, **moment: Any) -> Iterator[Event]:
        rate = float(self.profiler.optimizer.learning_rate)
        return self.alerts.check_learning(self.progress.step, self.class_counter.chance(), rate, **moment)
