"""Losses of all steps of a training as at most 128 means of equally many steps."""

from __future__ import annotations

import math
from statistics import fmean

from labdl.train.monitor.noise import noise

MEANS = 128


class LossSeries:
    """Means of the losses of equally many steps. When there are 128 of them, neighbors are merged."""

    def __init__(self):
        self.means: list[float] = []
        self.steps, self.size = 0, 1  # steps in total, and those of one mean
        self._sum, self._count = 0.0, 0

    def add(self, loss: float) -> None:
        """Add the loss of the next step."""
        self.steps += 1
        self._sum += loss
        self._count += 1
        if self._count < self.size:
            return
        self.means.append(self._sum / self.size)
        self._sum, self._count = 0.0, 0
        if len(self.means) == MEANS:
            self.means = [(a + b) / 2 for a, b in zip(self.means[::2], self.means[1::2], strict=True)]
            self.size *= 2

    def gain(self) -> tuple[float, float]:
        """How far the loss of the newer half lies below that of the start, and the standard error of the newer half.

        The start is the first mean, the first two, four …: the one where the gain is the clearest, since many trainings
        learn most in their first steps. The gain is zero where noise alone explains it.
        """
        half = len(self.means) // 2
        newer = self.means[half:]
        level, deviation = fmean(newer), noise(newer)
        best, count = 0.0, 1
        while count <= half:
            gain = fmean(self.means[:count]) - level
            if gain > 2 * deviation * math.sqrt(1 / count + 1 / len(newer)):
                best = max(best, gain)
            count *= 2
        return best, deviation * math.sqrt(2 / len(newer))

    def quarters(self) -> list[float]:
        """The mean losses of the last three quarters."""
        size = len(self.means) // 4
        return [
            fmean(self.means[-3 * size : -2 * size]),
            fmean(self.means[-2 * size : -size]),
            fmean(self.means[-size:]),
        ]
