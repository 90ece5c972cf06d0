"""Time budget of measurements during a training: a share of the training time, with a minimal interval."""

from __future__ import annotations

FIRST = 3  # step of the first measurement: earlier steps compile and fill caches
MIN_INTERVAL = 0.2  # seconds of training between two measurements
GROWTH = 500  # the interval is at least the time trained so far / GROWTH, so that recordings of long runs stay small


class Budget:
    """Allows measurements that take at most ``share`` of the training time, in seconds.

    The first measurement is always allowed, early in the training. A later one is allowed when the time spent so far plus
    its expected cost stays within the share; the expected cost is the largest one since the first. If a measurement costs
    more than expected, the next one waits until the excess is within the share again. Between two measurements there are at
    least ``min_interval`` seconds of training, and the time trained so far divided by ``growth``.
    """

    def __init__(self, share: float, min_interval: float | None = None, growth: float | None = None):
        self._min_interval, self._growth = min_interval, growth
        self.share, self.steps, self.trained, self.spent, self.count = share, 0, 0.0, 0.0, 0
        self._last, self._expected = 0.0, 0.0

    def allows(self) -> bool:
        """Return whether the next step may be measured."""
        if not self.count:
            return self.share > 0 and self.steps + 1 >= FIRST
        minimum = MIN_INTERVAL if self._min_interval is None else self._min_interval
        interval = max(minimum, self.trained / (self._growth or GROWTH))
        return self.trained >= self._last + interval and self.spent + self._expected <= self.share * self.trained

    def train(self, seconds: float) -> None:
        """Add the duration of a step. The first one is not counted: most of it is compilation."""
        self.steps += 1
        if self.steps > 1:
            self.trained += seconds

    def spend(self, seconds: float) -> None:
        """Add the duration of a measurement."""
        self.count += 1
        self.spent += seconds
        if self.count > 1:  # the first fills caches and is not representative
            self._expected = max(self._expected, seconds)
        self._last = self.trained
