"""How much time may be spent beside training: a share of it, and never more often than anybody looks."""

from __future__ import annotations

FIRST = 3  # steps before the first measurement: those before it compile, and fill caches
SELDOM = 0.2  # seconds of training from one measurement to the next, at least
THINNING = 500  # and the time trained so far over this, so that a recording does not grow with the length of a run


class Budget:
    """Allows measurements as long as they take no more than ``share`` of the time of the steps, in seconds.

    The first comes soon, whatever it costs, and is paid back before the next. From then on one is allowed when all that was
    spent, and once more the most that one has cost since the first, stays within the share. What a measurement costs is known
    when it has been made: one that is dearer than those before is paid back as the first one is. Between two there are
    ``seldom`` seconds at least, and the time trained so far over ``thinning``.
    """

    def __init__(self, share: float, seldom: float | None = None, thinning: float | None = None):
        self._pauses = seldom, thinning
        self.share, self.steps, self.trained, self.spent, self.count = share, 0, 0.0, 0.0, 0
        self._last, self._expected = 0.0, 0.0

    def allows(self) -> bool:
        """Whether the next step may be measured."""
        if not self.count:
            return self.share > 0 and self.steps + 1 >= FIRST
        seldom, thinning = self._pauses
        pause = max(SELDOM if seldom is None else seldom, self.trained / (thinning or THINNING))
        return self.trained >= self._last + pause and self.spent + self._expected <= self.share * self.trained

    def train(self, seconds: float) -> None:
        """A step took so long. What the first takes is not counted: most of it is compiling."""
        self.steps += 1
        if self.steps > 1:
            self.trained += seconds

    def spend(self, seconds: float) -> None:
        """A measurement took so long."""
        self.count += 1
        self.spent += seconds
        if self.count > 1:  # the first fills caches, and tells nothing of those to come
            self._expected = max(self._expected, seconds)
        self._last = self.trained
