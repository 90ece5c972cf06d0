"""Profile of a training: time per step by part, and the learning rate, as events a few times per second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.train.events import Rate, Throughput

if TYPE_CHECKING:
    from labdl.train.optimizers import BoundOptimizer

MIN_INTERVAL = 0.2  # seconds of training between two events
GROWTH = 1000  # the interval is at least the time trained so far / GROWTH, so that recordings of long runs stay small
POINTS = 20  # largest number of learning rates in one event


class Stopwatch:
    """Number and total duration of the calls of a function."""

    __slots__ = ("calls", "seconds")

    def __init__(self):
        self.seconds, self.calls = 0.0, 0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls this one and counts its duration."""

        def run(*arguments):
            began = perf_counter()
            result = function(*arguments)
            self.seconds += perf_counter() - began
            self.calls += 1
            return result

        return run


class StepProfiler:
    """Measures the time of steps and of loading their data, and records changes of the learning rate.

    It does not synchronize with the device: see `Throughput`. A rate that changes at each step, as with most schedules, is
    sampled about ten times between two events; of isolated changes up to ten are recorded, each with its step.
    """

    def __init__(self, updates: Stopwatch, optimizer: BoundOptimizer, step: int = 0, samples: int = 0):
        self.updates, self.optimizer = updates, optimizer
        self.trained = self._data = self._busy = 0.0
        self._last_counts = step, samples, updates.calls, updates.seconds  # at the last event
        self._next_event = self._next_rate = 0.0  # times of the next event and of the next sample of the rate
        self._rate: float | None = None
        self._last_change = -1  # last step at which the rate changed
        self._pending: tuple[int, float] | None = None  # a change that is not in `_points` yet
        self._points: list[tuple[int, float]] = []

    def time_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, and measure the time of loading them."""
        began = perf_counter()
        for batch in batches:
            self._data += perf_counter() - began
            yield batch
            began = perf_counter()

    def record_step(self, began: float, ended: float, step: int) -> bool:
        """Record a step between two times; returns whether events are due. It runs after each step and has to be fast."""
        self._busy += ended - began
        rate = self.optimizer.learning_rate  # of the update just made
        if rate != self._rate:
            self._record_rate(step, rate, ended)
        return ended >= self._next_event

    def _record_rate(self, step: int, rate: float, now: float) -> None:
        isolated, self._last_change = self._last_change < step - 1, step
        self._rate, self._pending = rate, (step - 1, rate)
        few = len(self._points) < POINTS // 2
        if (isolated and few) or now >= self._next_rate:
            self._points.append(self._pending)
            self._pending, self._next_rate = None, now + self._interval() / (POINTS // 2 - 2)

    def take_events(self, step: int, samples: int) -> list[Throughput | Rate]:
        """Return the events since the last call, after a step; ``samples`` is the number of samples so far."""
        events: list[Throughput | Rate] = []
        if self._pending is not None:
            self._points.append(self._pending)
            self._pending = None
        if self._points:
            events.append(Rate(*map(tuple, zip(*self._points, strict=True))))  # type: ignore[arg-type]
            self._points = []
        last, self._last_counts = self._last_counts, (step, samples, self.updates.calls, self.updates.seconds)
        steps, seen, calls, seconds = (b - a for a, b in zip(last, self._last_counts, strict=True))
        if steps:
            # a batch of another size may run eagerly between steps that are compiled as a whole
            update = min(seconds, self._busy) if calls >= steps else None
            compute = self._busy - (update or 0.0)
            events.append(Throughput(step, steps, seen, self._data, compute, update))  # type: ignore[arg-type]
            self.trained += self._busy + self._data
            self._data = self._busy = 0.0
        self._next_event = perf_counter() + self._interval()
        return events

    @property
    def seconds(self) -> float:
        """Total time of all steps so far, including loading their data."""
        return self.trained + self._busy + self._data

    def _interval(self) -> float:
        return max(MIN_INTERVAL, self.trained / GROWTH)
