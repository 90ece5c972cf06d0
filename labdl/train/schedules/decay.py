"""Learning rates that fall, some after a rise at the start."""

from __future__ import annotations

import bisect
import math
from typing import Annotated

from annotated_types import MinLen

from labdl.errors import ConfigError
from labdl.nn.types import Count, Positive, Whole
from labdl.train.schedules.base import Schedule, registered
from labdl.train.settings import Amount


@registered()
class Constant(Schedule):
    """The same rate all the time; for the first ``steps`` times ``factor``. As torch's ConstantLR."""

    factor: Amount = 1.0
    steps: Whole = 0

    def __call__(self, step, base_rate):
        return base_rate * (self.factor if step < self.steps else 1.0)


@registered()
class Linear(Schedule):
    """In a straight line from a factor to another over ``steps``, then as it is. As torch's LinearLR."""

    steps: Count | None = None
    start: Amount = 1 / 3
    end: Amount = 1.0

    def __call__(self, step, base_rate):
        steps = self.known(self.steps)
        return base_rate * (self.start + (self.end - self.start) * min(step, steps) / steps)


@registered("step")
class StepDecay(Schedule):
    """Times ``factor`` after ``every`` steps: base · factor^(step // every). As torch's StepLR."""

    every: Count = 30
    factor: Positive = 0.1

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** (step // self.every)


@registered()
class MultiStep(Schedule):
    """Times ``factor`` at each of the steps in ``milestones``. As torch's MultiStepLR."""

    milestones: Annotated[tuple[Whole, ...], MinLen(1)]
    factor: Positive = 0.1

    def __post_init__(self):
        if isinstance(self.milestones, list):  # as JSON has them
            self.milestones = tuple(self.milestones)
        super().__post_init__()

    def check(self):
        if list(self.milestones) != sorted(self.milestones):
            raise ConfigError(f"MultiStep: milestones wants rising numbers, received {self.milestones!r}")

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** bisect.bisect_right(self.milestones, step)


@registered("exponential")
class ExponentialDecay(Schedule):
    """Smoothly times ``factor`` in ``every`` steps: base · factor^(step / every). As torch's ExponentialLR for every = 1."""

    factor: Positive = 0.95
    every: Count = 1

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** (step / self.every)


@registered("polynomial")
class PolynomialDecay(Schedule):
    """Down to ``end`` in ``steps``: end + (base - end) · (1 - step / steps)^power. As torch's PolynomialLR for end = 0."""

    steps: Count | None = None
    power: Positive = 1.0
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        left = 1 - min(step, self.known(self.steps)) / self.known(self.steps)
        return self.end + (base_rate - self.end) * left**self.power


@registered("cosine")
class CosineDecay(Schedule):
    """Half a wave of the cosine down to ``end`` in ``steps``, and there it stays.

    end + (base - end) · (1 + cos(pi · step / steps)) / 2 (Loshchilov & Hutter, 2016). As torch's CosineAnnealingLR up
    to its T_max.
    """

    steps: Count | None = None
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        return half_wave(base_rate, self.end, step, self.known(self.steps))


@registered()
class WarmupCosine(Schedule):
    """A straight rise from 0 over ``warmup`` steps, then half a wave of the cosine down to ``end``: usual for Transformers.

    ``steps`` counts both. As torch's LinearLR followed by CosineAnnealingLR, the rise from 0.
    """

    warmup: Whole = 100
    steps: Count | None = None
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        if step < self.warmup:
            return base_rate * step / self.warmup
        return half_wave(base_rate, self.end, step - self.warmup, max(self.known(self.steps) - self.warmup, 1))


@registered()
class InverseSquareRoot(Schedule):
    """A straight rise over ``warmup`` steps to the base rate, then base · sqrt(warmup / step)."""

    warmup: Count = 4000

    def __call__(self, step, base_rate):
        return base_rate * min(step / self.warmup, (self.warmup / max(step, 1)) ** 0.5)


@registered()
class Noam(Schedule):
    """The schedule of the first Transformer: base · features^-0.5 · min(n^-0.5, n · warmup^-1.5), n = step + 1.

    Vaswani et al., "Attention Is All You Need", 2017, section 5.3; meant for a base rate of about 1.
    """

    features: Count = 512
    warmup: Count = 4000

    def __call__(self, step, base_rate):
        n = step + 1
        return base_rate * self.features**-0.5 * min(n**-0.5, n * self.warmup**-1.5)


def half_wave(high: float, low: float, step: int, steps: int) -> float:
    """From high to low on half a wave of the cosine."""
    return low + (high - low) * (1 + math.cos(math.pi * min(step, steps) / steps)) / 2
