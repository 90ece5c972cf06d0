"""What is told of a training beside its steps and epochs: pace, rate, alerts, the health of layers, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.train.alerts import LONGEST, Alerts
from labdl.train.events import Epoch, Event, Step
from labdl.train.health import Meter
from labdl.train.observing import Onlooker
from labdl.train.pace import Pacer

if TYPE_CHECKING:
    from labdl.train.loop import Loop


class Observation:
    """Looks on at a `Loop`: at its pace, rate and curves, and with a ``share`` of the time at layers and predictions."""

    def __init__(self, loop: Loop, share: float):
        engine = loop.trainer.engine
        self.loop, self.alerts = loop, Alerts()
        self.pacer = Pacer(engine.updates, engine.works[0].optimizer, loop.progress.step, self._samples)
        self.onlooker = None
        if share and loop.validation is not None:
            share /= 2  # for each
            self.onlooker = Onlooker(loop.trainer, loop.loader.dataset, loop.validation, share)
        self.meter = Meter(loop.trainer, share) if share else None
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
        now = self.loop.progress
        return now.epoch * now.samples + now.seen

    def validating(self) -> AbstractContextManager:
        """While it lasts, a validation is looked at if it is its turn."""
        onlooker, progress = self.onlooker, self.loop.progress
        self._looked = onlooker is not None and onlooker.due(progress.epoch + 1, self.loop.epochs, self.pacer.seconds)
        return self._looking() if self._looked else nullcontext()

    @contextmanager
    def _looking(self) -> Iterator[None]:
        self.loop.trainer.onlooker = self.onlooker
        try:
            yield
        finally:
            self.loop.trainer.onlooker = None

    def epoch(self, event: Epoch) -> Iterator[Event]:
        """An epoch, and behind it what there is to be told."""
        yield event
        yield from self.alerts.hear(event)
        if self._looked and self.onlooker is not None:
            self._looked = False
            yield from self.onlooker.told(event.epoch, event.step)

    def failed(self, error: BaseException) -> Iterator[Event]:
        """What there is to be told where an error ends the training."""
        yield from self._due(self.loop.progress.step)
        yield from self.alerts.failed(error, self.loop.progress.step)

    def ended(self) -> Iterator[Event]:
        """What was not told yet."""
        return self._due(self.loop.progress.step)
