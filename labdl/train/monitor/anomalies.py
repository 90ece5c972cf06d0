"""Alerts of a training: rules on its curves, and their messages."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from statistics import fmean, median

from labdl.train.events import Alert, Epoch, Event, Throughput
from labdl.train.monitor.alert_texts import AlertText, alert_text
from labdl.train.monitor.chance import Chance
from labdl.train.monitor.learning_checks import BATCH, EARLY, EPOCHS, LONG, ChanceLevel, Explosion, NoProgress
from labdl.train.monitor.loss_series import LossSeries
from labdl.train.monitor.noise import noise

BLOCK, LONGEST = 8, 512  # minimal size of a block of steps, and largest number of losses that are kept
BLOCKS = 8  # largest number of blocks per check
ABOVE = 3  # consecutive blocks that must be far above the best
RISE = 0.05  # of the validation loss above its best
FLAT, COMPARED = 10, 100  # epochs without improvement, and largest number of epochs that are compared
LEARNED = 0.1  # fraction of the first loss below which a training has converged well
STARVED, FED, SECONDS = 0.3, 0.2, 3.0  # fractions of waiting that raise and clear the alert, and the time window


class Divergence:
    """Alert: the training loss has risen far above its best value and stays there.

    Losses are compared in blocks of at least eight steps by their medians, so that single spikes do not count; three
    consecutive blocks must be far above the best one. "Far" is more than six times the noise (the median deviation within
    blocks, scaled to a standard deviation), and in addition a loss of four fifths of the improvement so far, or three times
    the best value and a tenth of the improvement; without any improvement, three times the best value. This is typical of a
    learning rate that is too high (Smith, "Cyclical learning rates for training neural networks", 2017, ends its range test
    there).
    """

    def __init__(self):
        self.first = self.best = math.nan
        self.best_step, self.noise, self.above, self.cleared = 0, 0.0, 0, False

    def update(self, losses: list[float], step: int) -> AlertText | None:
        """Add a block of losses; returns a message if the training diverges. ``cleared`` is True when it no longer does."""
        level = median(losses)
        spread = 1.4826 * median(abs(value - level) for value in losses)
        if math.isnan(self.best):
            self.first, self.noise = level, spread
        if math.isnan(self.best) or level < self.best:
            self.best, self.best_step = level, step
        far = self._far()
        self.above = self.above + 1 if level > self.best + far else 0
        self.cleared = level < self.best + far / 2
        if not self.above:  # the spread of a diverging loss is not noise
            self.noise += 0.2 * (spread - self.noise)
        if self.above < ABOVE:
            return None
        return alert_text("rise", level, self.best, self.best_step)

    def _far(self) -> float:
        learned, size = self.first - self.best, abs(self.best)
        rise = min(0.8 * learned, max(2 * size, 0.1 * learned)) if learned > 3 * self.noise else 2 * size
        return max(6 * self.noise, rise)


class Overfitting:
    """Alert: the validation loss has risen for three epochs or more while the training loss kept falling.

    The generalization loss of Prechelt ("Early stopping - but when?", 1998): the mean of the last three validation losses is
    more than 5 % above the lowest mean of three, and more than four times the noise, which is the median deviation of the
    changes from epoch to epoch. Means of three, because the lowest of many noisy values is low by chance.
    """

    def __init__(self):
        self.train: deque[float] = deque(maxlen=3)
        self.val: deque[float] = deque(maxlen=COMPARED)
        self.count = self.best_epoch = 0
        self.best = self.train_at_best = self.previous = math.inf
        self.cleared = False

    def update(self, train: float, val: float) -> AlertText | None:
        """Add the losses of an epoch; returns a message if the model overfits."""
        self.train.append(train)
        self.val.append(val)
        self.count += 1
        if self.count < 3:
            return None
        previous, now, train_mean = self.previous, fmean(list(self.val)[-3:]), fmean(self.train)
        self.previous = now
        if now < self.best:
            self.best, self.train_at_best, self.best_epoch = now, train_mean, self.count - 1
        rise = max(RISE * abs(self.best), 4 * noise(self.val))
        self.cleared = now < self.best + rise / 2
        rises, learns = now > self.best + rise and now >= previous, train_mean < self.train_at_best
        if self.count - 1 - self.best_epoch < 3 or not rises or not learns:
            return None
        return alert_text("overfitting", self.best, self.best_epoch, now, train)


class Plateau:
    """Alert: neither training nor validation loss has improved over the last ten epochs, or the last fifth of all epochs.

    The mean of the newer half of the window is compared with that of the older half. The gain counts as none if it is less
    than its standard error, estimated from the noise of the changes from epoch to epoch, and less than a thousandth of the
    loss (the patience of ten epochs is that of ReduceLROnPlateau in Keras and PyTorch). There is no alert for a loss below a
    tenth of that of the first epoch, which has converged well, or for one that rises by 5 %.
    """

    def __init__(self):
        self.curves: dict[str, deque[float]] = {}
        self.first: dict[str, float] = {}
        self.count, self.cleared = 0, False

    def update(self, losses: Mapping[str, float]) -> AlertText | None:
        """Add the losses of an epoch; returns a message if they do not improve."""
        self.count += 1
        for name, value in losses.items():
            self.first.setdefault(name, value)
            self.curves.setdefault(name, deque(maxlen=COMPARED)).append(value)
        window = min(max(FLAT, self.count // 5), COMPARED)
        flat = [
            len(curve) > window and self._flat(list(curve)[-window:], self.first[name])
            for name, curve in self.curves.items()
        ]
        self.cleared = not all(flat)
        if self.cleared:
            return None
        name, text = ("val_loss", "validation_plateau") if "val_loss" in self.curves else ("loss", "plateau")
        return alert_text(text, window, self.curves[name][-1])

    @staticmethod
    def _flat(last: list[float], first: float) -> bool:
        half = len(last) // 2
        older, newer = fmean(last[:half]), fmean(last[-half:])
        error = noise(last) * math.sqrt(2 / half)
        learned = first > 0 and newer < LEARNED * first
        gain = older - newer
        return not learned and -max(3 * error, RISE * abs(older)) < gain < max(error, 0.001 * abs(newer))


class Starvation:
    """Alert: more than 30 % of the time of the last seconds was spent waiting for data.

    Profilers call such a training input-bound: the device is idle meanwhile. The first step, which fills caches, does not
    count.
    """

    def __init__(self):
        self.times: deque[tuple[float, float]] = deque()  # (waiting, total) seconds
        self.cleared = self._started = False

    def update(self, event: Throughput) -> AlertText | None:
        """Add the time of the last steps; returns a message if they waited too long for data."""
        if not self._started:
            self._started = True
            return None
        self.times.append((event.data, event.data + event.compute + (event.update or 0.0)))
        total = sum(seconds for _, seconds in self.times)
        while len(self.times) > 1 and total - self.times[0][1] >= SECONDS:
            total -= self.times.popleft()[1]
        if total < SECONDS:
            return None
        share = sum(data for data, _ in self.times) / total
        self.cleared = share < FED
        if share <= STARVED:
            return None
        return alert_text("starvation", f"{share * 100:.0f}", f"{total:.0f}")


class Alerts:
    """Checks the events of a training and returns alerts; each is repeated only after it has been cleared.

    ``resumed`` is a training whose first losses are not known, and ``adversarial`` one whose loss is a sum of losses of
    several phases, which may rise because another one learns.
    """

    def __init__(self, *, batch_size: int = 1, resumed: bool = False, adversarial: bool = False):
        self.divergence, self.overfitting = Divergence(), Overfitting()
        self.plateau, self.starvation = Plateau(), Starvation()
        self.explosion, self.chance_level = Explosion(steady=batch_size >= BATCH and not adversarial), ChanceLevel()
        self.no_progress = None if resumed else NoProgress()
        self.adversarial = adversarial
        self.series = LossSeries()
        self.losses: list[float] = []  # of steps that have not been compared in blocks yet
        self._read = 0  # the number of them that other rules have read
        self._accuracy: float | None = None  # of the last epoch
        self._finite: set[str] = set()  # names of values that were finite once
        self._active: set[str] = set()

    def check_event(self, event: Event) -> Iterator[Alert]:
        """Alerts caused by an event; losses of steps are passed by ``losses.append`` and `check_losses`."""
        if isinstance(event, Throughput):
            message = self.starvation.update(event)
            yield from self._emit("starvation", "warning", event.step, message, self.starvation.cleared)
        elif isinstance(event, Epoch):
            yield from self._check_epoch(event)

    def check_losses(self, step: int) -> Iterator[Alert]:
        """Alerts caused by the losses since the last call, compared in a few blocks if there are enough of them."""
        yield from self._read_losses(step)
        losses = self.losses[:]
        if len(losses) < BLOCK:
            return
        self.losses.clear()
        self._read = 0
        size = max(BLOCK, -(-len(losses) // BLOCKS))
        for end in range(size, len(losses) + 1, size):
            at = step - len(losses) + end
            message = None if self.adversarial else self.divergence.update(losses[end - size : end], at)
            cleared = self.divergence.cleared and self.explosion.is_over
            yield from self._emit("divergence", "error", at, message, cleared)

    def _read_losses(self, step: int) -> Iterator[Alert]:
        count = len(self.losses)
        for place in range(self._read, count):
            loss = self.losses[place]
            self.series.add(loss)
            message = self.explosion.update(loss)
            if message is not None:
                yield from self._emit("divergence", "error", step - count + place + 1, message, False)
        self._read = count

    def check_learning(
        self, step: int, chance: Chance | None, rate: float, *, epoch: int = 0, ended: bool = False
    ) -> Iterator[Alert]:
        """Alerts about all steps so far, at the end of an epoch or of the training; ``rate`` is the learning rate."""
        yield from self._read_losses(step)
        if ended and self.series.steps:
            yield from self._emit("divergence", "error", step, self.explosion.at_end(), False)
        if self.adversarial or "divergence" in self._active:
            return
        due, message = ended or self.series.steps >= (EARLY if epoch >= EPOCHS else LONG), None
        if due and "no_progress" not in self._active:  # one cause, one alert
            message = self.chance_level.update(self.series, chance, self._accuracy, rate, ended=ended)
            yield from self._emit("chance_level", "warning", step, message, self.chance_level.cleared)
        if self.no_progress is not None and "chance_level" not in self._active:
            message = self.no_progress.update(self.series, rate) if due else None
            message = message or self.no_progress.update_epochs(self.series, rate)
            yield from self._emit("no_progress", "warning", step, message, self.no_progress.cleared)

    def check_error(self, error: BaseException, step: int) -> Iterator[Alert]:
        """Alert for a training that ended because a value was not finite."""
        if getattr(error, "place", None):
            rose = self.divergence.above >= ABOVE and "learning rate" not in str(error)
            text = alert_text("error_after_rise", str(error)) if rose else AlertText("%1", (str(error),))
            yield from self._emit("not_finite", "error", step, text, False)

    def _check_epoch(self, event: Epoch) -> Iterator[Alert]:
        finite = {name for name, value in event.values.items() if math.isfinite(value)}
        lost = sorted(name for name in event.values if name in self._finite and name not in finite)
        self._finite |= finite
        self._accuracy = event.values.get("accuracy")
        message = alert_text("not_finite", ", ".join(lost), event.epoch) if lost else None
        yield from self._emit("not_finite", "error", event.step, message, not lost)
        losses = {name: event.values[name] for name in ("loss", "val_loss") if name in finite}
        if self.adversarial or not losses or losses.keys() != event.values.keys() & {"loss", "val_loss"}:
            return
        if len(losses) == 2:
            message = self.overfitting.update(losses["loss"], losses["val_loss"])
            yield from self._emit("overfitting", "warning", event.step, message, self.overfitting.cleared)
        if "val_loss" in losses:
            yield from self._read_losses(event.step)
            message = self.explosion.update_validation(losses["val_loss"])
            yield from self._emit("divergence", "error", event.step, message, False)
        if "loss" in losses and self.no_progress is not None:
            self.no_progress.add_epoch(losses["loss"])
        message = self.plateau.update(losses)
        known = not self._active.isdisjoint(("no_progress", "chance_level"))
        yield from self._emit("plateau", "warning", event.step, None if known else message, self.plateau.cleared)

    def _emit(self, alert: str, level: str, step: int, message: AlertText | None, cleared: bool) -> Iterator[Alert]:
        if message is not None and alert not in self._active:
            self._active.add(alert)
            yield Alert(alert, level, step, str(message), message.template, message.values)
        elif message is None and cleared:
            self._active.discard(alert)
