"""Where the time of a training goes, and at which rate it learns: summed over steps, and told a few times a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.train.events import Pace, Rate

if TYPE_CHECKING:
    from labdl.train.optimizers import BoundOptimizer

SELDOM = 0.2  # seconds of training from one event to the next, at least
THINNING = 1000  # and the time trained so far over this, so that a recording does not grow with the length of a run
POINTS = 20  # of the learning rate between two events


class Stopwatch:
    """The seconds that the calls of a function have taken, all together, and how many there were."""

    __slots__ = ("calls", "seconds")

    def __init__(self):
        self.seconds, self.calls = 0.0, 0

    def timed(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function with its time taken."""

        def run(argument):
            began = perf_counter()
            found = function(argument)
            self.seconds += perf_counter() - began
            self.calls += 1
            return found

        return run


class Pacer:
    """Takes the time of steps and of what they wait for, and looks at their learning rate.

    Nothing waits for a device on account of it: see `Pace`. Where the rate changes with each step, as by most schedules, it is
    told some ten times between two events; of changes that stand alone as many are told, each with its step.
    """

    def __init__(self, updates: Stopwatch, optimizer: BoundOptimizer, step: int = 0, samples: int = 0):
        self.updates, self.optimizer = updates, optimizer
        self.trained = self._data = self._busy = 0.0
        self._before = step, samples, updates.calls, updates.seconds  # at the last event
        self._due = self._pointed = 0.0  # when to tell, and when the rate may be told again
        self._rate: float | None = None
        self._changed = -1  # the last step with another rate than the one before
        self._open: tuple[int, float] | None = None  # a change that is not told yet
        self._points: list[tuple[int, float]] = []

    def waiting(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; how long each was waited for is remembered."""
        began = perf_counter()
        for batch in batches:
            self._data += perf_counter() - began
            yield batch
            began = perf_counter()

    def stepped(self, began: float, ended: float, step: int) -> bool:
        """A step was made between two times; whether there is something to be told. All steps come here: it has to be quick."""
        self._busy += ended - began
        rate = self.optimizer.learning_rate  # that of the update which was just made
        if rate != self._rate:
            self._turned(step, rate, ended)
        return ended >= self._due

    def _turned(self, step: int, rate: float, now: float) -> None:
        alone, self._changed = self._changed < step - 1, step
        self._rate, self._open = rate, (step - 1, rate)
        few = len(self._points) < POINTS // 2
        if (alone and few) or now >= self._pointed:
            self._points.append(self._open)
            self._open, self._pointed = None, now + self._pause() / (POINTS // 2 - 2)

    def told(self, step: int, samples: int) -> list[Pace | Rate]:
        """Events that are due after a step, with the number of samples so far."""
        found: list[Pace | Rate] = []
        if self._open is not None:
            self._points.append(self._open)
            self._open = None
        if self._points:
            found.append(Rate(*map(tuple, zip(*self._points, strict=True))))  # type: ignore[arg-type]
            self._points = []
        before, self._before = self._before, (step, samples, self.updates.calls, self.updates.seconds)
        steps, seen, calls, seconds = (b - a for a, b in zip(before, self._before, strict=True))
        if steps:
            # a batch of another size may be computed step by step between those that are compiled as one
            update = min(seconds, self._busy) if calls >= steps else None
            found.append(Pace(step, steps, seen, self._data, self._busy - (update or 0.0), update))  # type: ignore[arg-type]
            self.trained += self._busy + self._data
            self._data = self._busy = 0.0
        self._due = perf_counter() + self._pause()
        return found

    @property
    def seconds(self) -> float:
        """Total time of all steps so far, and the part spent waiting for data."""
        return self.trained + self._busy + self._data

    def _pause(self) -> float:
        return max(SELDOM, self.trained / THINNING)
