"""Alerts: rules on the curves of a training and their messages."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean, median

from labdl.train.events import Alert, Epoch, Event, Pace

BLOCK, LONGEST = 8, 512  # steps whose losses are judged together at least, and that are kept at most
BLOCKS = 8  # that are judged at once, at most
ABOVE = 3  # blocks one behind the other that must stand far above the best
RISE = 0.05  # of the validation loss above its best
FLAT, LONG = 10, 100  # epochs without a gain, and as many as are looked at
LEARNED = 0.1  # of the first loss: what has come below it is a good convergence
STARVED, FED, SECONDS = 0.3, 0.2, 3.0  # shares of the time that data were waited for, and the seconds looked at


class Divergence:
    """The training loss stands far above its best, and stays there.

    Losses are judged in blocks of at least eight steps by their medians, so that single spikes do not count; three blocks one
    behind the other must stand far above the best one. Far is: more than six times the noise (the median deviation inside
    of blocks, as a standard deviation), and back by four fifths of what had been learned, or three times the best and back by
    a tenth; where nothing had been learned yet, three times the best. In practice a learning rate that is too high shows so
    (Smith, "Cyclical learning rates for training neural networks", 2017, ends its range test there).
    """

    def __init__(self):
        self.first = self.best = math.nan
        self.best_step, self.noise, self.above, self.gone = 0, 0.0, 0, False

    def block(self, losses: list[float], step: int) -> str | None:
        """The sentence where it is so after these steps; ``gone`` says whether it has passed."""
        level = median(losses)
        spread = 1.4826 * median(abs(value - level) for value in losses)
        if math.isnan(self.best):
            self.first, self.noise = level, spread
        if math.isnan(self.best) or level < self.best:
            self.best, self.best_step = level, step
        far = self._far()
        self.above = self.above + 1 if level > self.best + far else 0
        self.gone = level < self.best + far / 2
        if not self.above:  # what has run away is no noise
            self.noise += 0.2 * (spread - self.noise)
        if self.above < ABOVE:
            return None
        return (
            f"The training loss has risen to {level:.4g} and stays there; its best was {self.best:.4g} at step "
            f"{self.best_step}. A smaller learning rate, a warm-up or clip_norm=1.0 may help."
        )

    def _far(self) -> float:
        learned, size = self.first - self.best, abs(self.best)
        rise = min(0.8 * learned, max(2 * size, 0.1 * learned)) if learned > 3 * self.noise else 2 * size
        return max(6 * self.noise, rise)


class Overfitting:
    """The validation loss rises over three epochs or more while that of the training goes on falling.

    The generalization loss of Prechelt ("Early stopping - but when?", 1998): the mean of the last three validation losses is
    more than 5 % above the lowest mean of three, and more than four times the noise, which is the median deviation of the
    changes from epoch to epoch. Means of three, because the lowest of many noisy values is low by chance.
    """

    def __init__(self):
        self.train: deque[float] = deque(maxlen=3)
        self.val: deque[float] = deque(maxlen=LONG)
        self.count = self.best_epoch = 0
        self.best = self.train_then = self.before = math.inf
        self.gone = False

    def epoch(self, train: float, val: float) -> str | None:
        """The sentence where it is so after this epoch."""
        self.train.append(train)
        self.val.append(val)
        self.count += 1
        if self.count < 3:
            return None
        before, now, falling = self.before, fmean(list(self.val)[-3:]), fmean(self.train)
        self.before = now
        if now < self.best:
            self.best, self.train_then, self.best_epoch = now, falling, self.count - 1
        rise = max(RISE * abs(self.best), 4 * noise(self.val))
        self.gone = now < self.best + rise / 2
        rises, learns = now > self.best + rise and now >= before, falling < self.train_then
        if self.count - 1 - self.best_epoch < 3 or not rises or not learns:
            return None
        return (
            f"The validation loss has risen from {self.best:.4g} around epoch {self.best_epoch} to {now:.4g} while the "
            f"training loss fell to {train:.4g}: the model learns its training data by heart. Early stopping, more data, "
            "augmentation, dropout or weight decay may help."
        )


class Plateau:
    """Neither the loss of the training nor that of the validation has improved over the last ten epochs, or a fifth of all.

    The mean of the younger half of the window is compared with that of the older half: there is no gain where it is less
    than its own standard error, from the noise of the changes from epoch to epoch, and less than a thousandth of the
    loss (the patience of ten epochs is that of ReduceLROnPlateau in Keras and PyTorch). A loss that has come below a tenth of
    that of the first epoch has converged well, and one that rises by 5 % is another matter.
    """

    def __init__(self):
        self.curves: dict[str, deque[float]] = {}
        self.first: dict[str, float] = {}
        self.count, self.gone = 0, False

    def epoch(self, figures: Mapping[str, float]) -> str | None:
        """The sentence where it is so after this epoch."""
        self.count += 1
        for name, value in figures.items():
            self.first.setdefault(name, value)
            self.curves.setdefault(name, deque(maxlen=LONG)).append(value)
        window = min(max(FLAT, self.count // 5), LONG)
        flat = [
            len(curve) > window and self._flat(list(curve)[-window:], self.first[name])
            for name, curve in self.curves.items()
        ]
        self.gone = not all(flat)
        if self.gone:
            return None
        name = "val_loss" if "val_loss" in self.curves else "loss"
        words = "validation" if name == "val_loss" else "training"
        return (
            f"The {words} loss has not improved over the last {window} epochs: it stays at {self.curves[name][-1]:.4g}. "
            "Another learning rate or a schedule, a larger model or other inputs may help; or it is done."
        )

    @staticmethod
    def _flat(last: list[float], first: float) -> bool:
        half = len(last) // 2
        older, younger = fmean(last[:half]), fmean(last[-half:])
        error = noise(last) * math.sqrt(2 / half)
        learned = first > 0 and younger < LEARNED * first
        gain = older - younger
        return not learned and -max(3 * error, RISE * abs(older)) < gain < max(error, 0.001 * abs(younger))


class Starvation:
    """More than three tenths of the time of the last seconds was spent on waiting for data.

    The device idles meanwhile; profilers of the frameworks call such a training bound by its input. The first step, which
    fills caches, does not count.
    """

    def __init__(self):
        self.paces: deque[tuple[float, float]] = deque()
        self.gone = self._begun = False

    def pace(self, event: Pace) -> str | None:
        """The sentence where it is so after these steps."""
        if not self._begun:
            self._begun = True
            return None
        self.paces.append((event.data, event.data + event.compute + (event.update or 0.0)))
        total = sum(seconds for _, seconds in self.paces)
        while len(self.paces) > 1 and total - self.paces[0][1] >= SECONDS:
            total -= self.paces.popleft()[1]
        if total < SECONDS:
            return None
        share = sum(data for data, _ in self.paces) / total
        self.gone = share < FED
        if share <= STARVED:
            return None
        return (
            f"{share:.0%} of the time of the last {total:.0f} s was spent on waiting for data. Decoded samples kept in "
            "memory or in an .npz, cheaper transformations, faster storage or reading ahead may help."
        )


def noise(curve: Iterable[float]) -> float:
    """The standard deviation of single values around a smooth curve, from the changes between neighbors, robustly."""
    changes = [b - a for a, b in itertools.pairwise(curve)]
    if not changes:
        return 0.0
    middle = median(changes)
    return 1.4826 * median(abs(change - middle) for change in changes) / math.sqrt(2)


class Alerts:
    """Hears the events of a training and gives alerts: each once, and again when it had gone away and has come back."""

    def __init__(self):
        self.divergence, self.overfitting = Divergence(), Overfitting()
        self.plateau, self.starvation = Plateau(), Starvation()
        self.losses: list[float] = []  # of steps that are not judged yet
        self._finite: set[str] = set()  # figures that were finite once
        self._active: set[str] = set()

    def hear(self, event: Event) -> Iterator[Alert]:
        """Alerts caused by an event; losses of single steps are passed through ``losses.append`` and `judge`."""
        if isinstance(event, Pace):
            sentence = self.starvation.pace(event)
            yield from self._told("starvation", "warning", event.step, sentence, self.starvation.gone)
        elif isinstance(event, Epoch):
            yield from self._epoch(event)

    def judge(self, step: int) -> Iterator[Alert]:
        """Look at the losses of the steps since the last time, if there are enough, in a few blocks."""
        losses = self.losses[:]
        if len(losses) < BLOCK:
            return
        self.losses.clear()
        size = max(BLOCK, -(-len(losses) // BLOCKS))
        for end in range(size, len(losses) + 1, size):
            at = step - len(losses) + end
            sentence = self.divergence.block(losses[end - size : end], at)
            yield from self._told("divergence", "error", at, sentence, self.divergence.gone)

    def failed(self, error: BaseException, step: int) -> Iterator[Alert]:
        """Alert for a training that ended because a value was not finite."""
        if getattr(error, "place", None):
            sentence, rose = str(error), self.divergence.above >= ABOVE and "learning rate" not in str(error)
            sentence += "; the loss had been rising before: a smaller learning rate may help" if rose else ""
            yield from self._told("not_finite", "error", step, sentence, False)

    def _epoch(self, event: Epoch) -> Iterator[Alert]:
        finite = {name for name, value in event.values.items() if math.isfinite(value)}
        lost = sorted(name for name in event.values if name in self._finite and name not in finite)
        self._finite |= finite
        sentence = None
        if lost:
            names = " and ".join([", ".join(lost[:-1]), lost[-1]]) if len(lost) > 1 else lost[0]
            sentence = (
                f"{names} {'are' if len(lost) > 1 else 'is'} not finite any more after epoch {event.epoch}: a smaller "
                "learning rate may help, or a look at the samples and at what the figure divides by."
            )
        yield from self._told("not_finite", "error", event.step, sentence, not lost)
        losses = {name: event.values[name] for name in ("loss", "val_loss") if name in finite}
        if not losses or losses.keys() != event.values.keys() & {"loss", "val_loss"}:
            return
        if len(losses) == 2:
            sentence = self.overfitting.epoch(losses["loss"], losses["val_loss"])
            yield from self._told("overfitting", "warning", event.step, sentence, self.overfitting.gone)
        yield from self._told("plateau", "warning", event.step, self.plateau.epoch(losses), self.plateau.gone)

    def _told(self, alert: str, level: str, step: int, sentence: str | None, gone: bool) -> Iterator[Alert]:
        if sentence is not None and alert not in self._active:
            self._active.add(alert)
            yield Alert(alert, level, step, sentence)
        elif sentence is None and gone:
            self._active.discard(alert)
