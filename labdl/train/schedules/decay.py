"""Decaying schedules, some with warm-up."""

from __future__ import annotations

import bisect
import math
from typing import Annotated

from annotated_types import MinLen

from labdl.errors import ConfigError
from labdl.nn.types import Count, Positive, Whole
from labdl.settings import Amount
from labdl.train.schedules.base import Schedule, register

__all__ = [
    "Constant",
    "CosineDecay",
    "ExponentialDecay",
    "InverseSquareRoot",
    "Linear",
    "MultiStep",
    "Noam",
    "PolynomialDecay",
    "StepDecay",
    "WarmupCosine",
]


@register()
class Constant(Schedule):
    """Constant rate, times ``factor`` for the first ``steps``. As torch's ConstantLR."""

    factor: Amount = 1.0
    steps: Whole = 0

    def __call__(self, step, base_rate):
        return base_rate * (self.factor if step < self.steps else 1.0)


@register()
class Linear(Schedule):
    """Linear from factor ``start`` to ``end`` over ``steps``, then constant. As torch's LinearLR."""

    steps: Count | None = None
    start: Amount = 1 / 3
    end: Amount = 1.0

    def __call__(self, step, base_rate):
        steps = self.require_length(self.steps)
        return base_rate * (self.start + (self.end - self.start) * min(step, steps) / steps)


@register("step")
class StepDecay(Schedule):
    """Step decay by ``factor`` every ``every`` steps: base · factor^(step // every). As torch's StepLR."""

    every: Count = 30
    factor: Positive = 0.1

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** (step // self.every)


@register()
class MultiStep(Schedule):
    """Decay by ``factor`` at each of the steps in ``milestones``. As torch's MultiStepLR."""

    milestones: Annotated[tuple[Whole, ...], MinLen(1)]
    factor: Positive = 0.1

    def __post_init__(self):
        if isinstance(self.milestones, list):  # as in JSON
            self.milestones = tuple(self.milestones)
        super().__post_init__()

    def check(self):
        if list(self.milestones) != sorted(self.milestones):
            raise ConfigError(f"MultiStep: milestones wants ascending numbers, received {self.milestones!r}")

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** bisect.bisect_right(self.milestones, step)


@register("exponential")
class ExponentialDecay(Schedule):
    """Exponential decay: base · factor^(step / every). As torch's ExponentialLR for every = 1."""

    factor: Positive = 0.95
    every: Count = 1

    def __call__(self, step, base_rate):
        return base_rate * self.factor ** (step / self.every)


@register("polynomial")
class PolynomialDecay(Schedule):
    """Polynomial decay: end + (base - end) · (1 - step / steps)^power. As torch's PolynomialLR for end = 0."""

    steps: Count | None = None
    power: Positive = 1.0
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        left = 1 - min(step, self.require_length(self.steps)) / self.require_length(self.steps)
        return self.end + (base_rate - self.end) * left**self.power


@register("cosine")
class CosineDecay(Schedule):
    """Cosine decay to ``end`` in ``steps``, then constant.

    end + (base - end) · (1 + cos(pi · step / steps)) / 2 (Loshchilov & Hutter, 2016). As torch's CosineAnnealingLR up
    to its T_max.
    """

    steps: Count | None = None
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        return cosine(base_rate, self.end, step, self.require_length(self.steps))


@register()
class WarmupCosine(Schedule):
    """Linear warm-up from 0 over ``warmup`` steps, then cosine decay to ``end``; common for Transformers.

    ``steps`` is the total. As torch's LinearLR from 0 followed by CosineAnnealingLR.
    """

    warmup: Whole = 100
    steps: Count | None = None
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        if step < self.warmup:
            return base_rate * step / self.warmup
        return cosine(base_rate, self.end, step - self.warmup, max(self.require_length(self.steps) - self.warmup, 1))


@register()
class InverseSquareRoot(Schedule):
    """Linear warm-up over ``warmup`` steps to the base rate, then base · sqrt(warmup / step)."""

    warmup: Count = 4000

    def __call__(self, step, base_rate):
        return base_rate * min(step / self.warmup, (self.warmup / max(step, 1)) ** 0.5)


@register()
class Noam(Schedule):
    """Schedule of the original Transformer: base · features^-0.5 · min(n^-0.5, n · warmup^-1.5), n = step + 1.

    Vaswani et al., "Attention Is All You Need", 2017, section 5.3; for a base rate of about 1.
    """

    features: Count = 512
    warmup: Count = 4000

    def __call__(self, step, base_rate):
        n = step + 1
        return base_rate * self.features**-0.5 * min(n**-0.5, n * self.warmup**-1.5)


def cosine(high: float, low: float, step: int, steps: int) -> float:
    """Cosine interpolation from high to low."""
    return low + (high - low) * (1 + math.cos(math.pi * min(step, steps) / steps)) / 2
