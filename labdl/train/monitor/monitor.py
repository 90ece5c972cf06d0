"""Monitoring of a training: throughput, learning rate, alerts, layer statistics and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.train.events import Epoch, Event, Step
from labdl.train.monitor.anomalies import LONGEST, Alerts
from labdl.train.monitor.layer_stats import Meter
from labdl.train.monitor.profiler import Pacer
from labdl.train.monitor.validation import Onlooker

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState


class Observation:
    """Observes a training: its pace, rate and curves, and with a ``share`` of the time its layers and predictions."""

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
        self.state, self.progress, self.alerts = state, progress, Alerts()
        self.pacer = Pacer(state.update_time, state.phases[0].optimizer, progress.step, self._samples)
        self.onlooker = None
        if share and validation is not None:
            share /= 2  # for each
            self.onlooker = Onlooker(context, train, validation, share)
        self.meter = Meter(context, state, share) if share else None
        self._looked = False

    def waiting(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches, each with the time that it was waited for."""
        return self.pacer.waiting(batches)

    def step(self, make: Callable[[Any], Step], batch: Any) -> list[Event]:
        """The step of a batch, and behind it what there is to be told."""
        meter, losses = self.meter, self.alerts.losses
        before = None if meter is None else meter.before()
        began = perf_counter()
        event = make(batch)
        ended = perf_counter()
        told: list[Event] = [event]
        if meter is not None:
            told += meter.after(event.step, ended - began, before)
        losses.append(event.values["loss"])
        if self.pacer.stepped(began, ended, event.step):
            told += self._due(event.step)
        elif len(losses) >= LONGEST:
            told += self.alerts.judge(event.step)
        return told

    def _due(self, step: int) -> Iterator[Event]:
        for event in self.pacer.told(step, self._samples):
            yield event
            yield from self.alerts.hear(event)
        yield from self.alerts.judge(step)

    @property
    def _samples(self) -> int:
        """How many were seen since the beginning of the training."""
        now = self.progress
        return now.epoch * now.samples + now.seen

    def validating(self, epochs: int) -> AbstractContextManager:
        """A context in which a validation is observed if one is due; the training has so many epochs."""
        onlooker = self.onlooker
        self._looked = onlooker is not None and onlooker.due(self.progress.epoch + 1, epochs, self.pacer.seconds)
        return self._looking() if self._looked else nullcontext()

    @contextmanager
    def _looking(self) -> Iterator[None]:
        self.state.validation_monitor = self.onlooker
        try:
            yield
        finally:
            self.state.validation_monitor = None

    def epoch(self, event: Epoch) -> Iterator[Event]:
        """An epoch, and behind it what there is to be told."""
        yield event
        yield from self.alerts.hear(event)
        if self._looked and self.onlooker is not None:
            self._looked = False
            yield from self.onlooker.told(event.epoch, event.step)

    def failed(self, error: BaseException) -> Iterator[Event]:
        """Final events of a training that ends with an error."""
        yield from self._due(self.progress.step)
        yield from self.alerts.failed(error, self.progress.step)

    def ended(self) -> Iterator[Event]:
        """Events that have not been emitted yet."""
        return self._due(self.progress.step)
