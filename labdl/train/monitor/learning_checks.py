"""Alerts for trainings that do not learn: an exploding loss, one that never falls, and one at the level of chance."""

from __future__ import annotations

import math
from statistics import fmean

from labdl.train.monitor.alert_texts import AlertText, alert_text
from labdl.train.monitor.chance import Chance
from labdl.train.monitor.loss_series import LossSeries

LEAP, TWICE = 1e6, 2  # factor above the first loss, for two consecutive steps
JUMP, START, THRICE = 100.0, 3, 3  # factor above the highest of the first three losses, for three consecutive steps
LAST, SHORT = 1e4, 24  # factor above the first loss of the last steps of a run with fewer steps
BATCH, HIGH, MANY = (
    8,
    10.0,
    8,
)  # factor above the first loss for eight consecutive steps, of batches of that many samples
STEPS, MEANS = 30, 16  # least numbers for a judgment on the whole run
EPOCHS, EARLY, LONG = 3, 100, 1000  # epochs with so many steps, or steps, after which a run in progress is judged
GAIN, CERTAIN = 0.005, 0.02  # parts of the loss: the least gain that counts, and the largest error of the estimate
BELOW, ABOVE = 0.97, 1.05  # factors around the loss of chance
BETTER = 0.05  # accuracy above that of chance which is no chance
STILL = 1e-6  # part of the loss below which the means of epochs are equal, apart from rounding
NEAR = (0.99, 1.02)  # factors around the loss of chance at the end of a training


class Explosion:
    """Alert: the loss of single steps is orders of magnitude above that of the first ones.

    It needs no more than two steps, while `Divergence` compares blocks of them. The reference is at least 1, because a
    training that starts with a loss near zero may meet samples with a loss of some units. The first loss of a batch of few
    samples may be low by chance, so that lower factors are for those of at least eight.
    """

    def __init__(self, *, steady: bool):
        self.steady = steady  # the first loss is a mean over enough samples
        self.first: list[float] = []
        self.count = 0
        self._leaps = self._jumps = self._high = 0
        self._last: list[float] = []
        self._far_validations = 0  # consecutive ones

    def update(self, loss: float) -> AlertText | None:
        """Add the loss of a step; returns a message at the step that is far above for long enough."""
        self.count += 1
        self._last = [*self._last[-1:], loss]
        if len(self.first) < START:
            self.first.append(abs(loss))
        self._leaps = self._leaps + 1 if loss > LEAP * max(self.first[0], 1.0) else 0
        self._jumps = self._jumps + 1 if loss > JUMP * max(*self.first, 1.0) else 0
        self._high = self._high + 1 if self.steady and loss > HIGH * max(self.first[0], 1.0) else 0
        far = self._leaps == TWICE or self._jumps == THRICE or self._high == MANY
        return self._message(loss) if far else None

    def update_validation(self, loss: float) -> AlertText | None:
        """Add a validation loss; returns a message if it is far above the first training losses."""
        if not self.first:
            return None
        reference = max(*self.first, 1.0)
        self._far_validations = self._far_validations + 1 if loss > LAST * reference else 0
        if loss <= LEAP * reference and self._far_validations < TWICE:
            return None
        return alert_text("validation_explosion", loss, f"{self.count:,}", self.first[0])

    def at_end(self) -> AlertText | None:
        """A message for a short run whose last steps are far above the first."""
        if not 1 < self.count < SHORT:
            return None
        both, last = min(self._last[-min(2, self.count - 1) :]), self._last[-1]
        reference = max(self.first[0], 1.0)
        far = last > LAST * reference if self.steady else both > LAST * reference
        return self._message(last) if far or (self.steady and both > HIGH * reference) else None

    @property
    def is_over(self) -> bool:
        """True unless the last loss of training or validation is far above the first."""
        return not self._far_validations and (not self._last or self._last[-1] <= HIGH * max(self.first[0], 1.0))

    def _message(self, loss: float) -> AlertText:
        return alert_text("explosion", self.first[0], loss, f"{self.count:,}")


class NoProgress:
    """Alert: the loss of the newer half of all steps is not below that of the first ones.

    There is none where the noise could hide a gain of two percent, nor for a gain of half a percent. Epochs see the same
    samples, so that means of three epochs that are equal apart from rounding are enough.
    """

    def __init__(self):
        self.cleared = False
        self._epochs: list[float] = []  # number, least and highest of their mean losses

    def add_epoch(self, loss: float) -> None:
        """Add the mean loss of an epoch."""
        count, low, high = self._epochs or (0, loss, loss)
        self._epochs = [count + 1, min(low, loss), max(high, loss)]

    def update_epochs(self, series: LossSeries, rate: float) -> AlertText | None:
        """Judge the means of the epochs so far; returns a message if they are equal."""
        if not self._epochs or self._epochs[0] < EPOCHS or series.steps < SHORT:
            return None
        _, low, high = self._epochs
        if not high - low <= STILL * max(abs(low), abs(high)):
            return None
        return alert_text("no_progress", high, low, f"{series.steps:,}", rate)

    def update(self, series: LossSeries, rate: float) -> AlertText | None:
        """Judge all steps so far; returns a message if the loss has not fallen."""
        if series.steps < STEPS or len(series.means) < MEANS:
            return None
        gain, error = series.gain()
        half = len(series.means) // 2
        start, now = fmean(series.means[:half]), fmean(series.means[half:])
        scale = max(abs(start), abs(now))
        self.cleared = gain > GAIN * scale
        if self.cleared or 2 * error > CERTAIN * scale:
            return None
        return alert_text("no_progress", series.means[0], now, f"{series.steps:,}", rate)


class ChanceLevel:
    """Alert: the loss of a classifier stays at the level of one that gives the same answer for every sample.

    That is the entropy of the frequencies of the classes, and the logarithm of their number for equal scores. The last three
    quarters of the training have to be there, without getting better. At the end of a training whose accuracy is that of
    chance too, it is enough that the last quarter is there.
    """

    cleared = False

    def update(
        self, series: LossSeries, chance: Chance | None, accuracy: float | None, rate: float, *, ended: bool = False
    ) -> AlertText | None:
        """Judge all steps so far; returns a message if the loss is at the level of chance."""
        if chance is None or series.steps < STEPS or len(series.means) < MEANS:
            return None
        quarters, (_, error) = series.quarters(), series.gain()
        low, high = BELOW * chance.loss, ABOVE * max(chance.uniform, chance.loss)
        better = accuracy is not None and accuracy > chance.accuracy + BETTER
        self.cleared = quarters[-1] < low or better
        # a quarter is half as long as the half that the error is of
        falls = quarters[0] - quarters[-1] > max(GAIN * chance.loss, 3 * math.sqrt(2) * error)
        certain = 2 * error <= CERTAIN * chance.loss
        stays = not better and not falls and all(low <= level <= high for level in quarters)
        near = NEAR[0] * chance.loss <= quarters[-1] <= NEAR[1] * chance.loss
        arrives = ended and series.steps >= EARLY and near and accuracy is not None and not better
        if not certain or not (stays or arrives):
            return None
        return alert_text("chance_level", quarters[-1], chance.loss, f"{chance.classes:,}", rate)
