"""Cyclic schedules."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

from labdl.nn.types import Count, Positive
from labdl.settings import Amount
from labdl.train.schedules.base import Schedule, register
from labdl.train.schedules.decay import cosine

__all__ = ["CosineRestarts", "Cyclic", "OneCycle"]


@register("sgdr")
class CosineRestarts(Schedule):
    """Cosine decay with warm restarts, each cycle ``multiplier`` times as long as the one before.

    "SGDR: Stochastic Gradient Descent with Warm Restarts" (Loshchilov & Hutter, 2016). As torch's CosineAnnealingWarmRestarts.
    """

    first: Count = 10
    multiplier: Count = 1
    end: Amount = 0.0

    def __call__(self, step, base_rate):
        if self.multiplier == 1:
            return cosine(base_rate, self.end, step % self.first, self.first)
        length = self.first
        while step >= length:
            step, length = step - length, length * self.multiplier
        return cosine(base_rate, self.end, step, length)


@register()
class OneCycle(Schedule):
    """One-cycle policy: a rise to the base rate and a longer decay, over the whole training.

    From base / start to base in the fraction ``rise`` of the steps, then down to base / start / end (Smith & Topin,
    "Super-Convergence", 2018). As torch's OneCycleLR, the base rate its max_lr.
    """

    steps: Annotated[int, Ge(2)] | None = None
    rise: Annotated[float, Gt(0), Lt(1)] = 0.3
    start: Positive = 25.0
    end: Positive = 1e4
    shape: Literal["cosine", "linear"] = "cosine"

    def __call__(self, step, base_rate):
        last = self.require_length(self.steps) - 1
        top = self.rise * self.require_length(self.steps) - 1
        low = base_rate / self.start
        step = min(step, last)
        if step <= top:
            return self._between(low, base_rate, step / top if top else 1.0)
        return self._between(base_rate, low / self.end, (step - top) / (last - top))

    def _between(self, start, end, share):
        if self.shape == "linear":
            return start + (end - start) * share
        return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


@register("triangular")
class Cyclic(Schedule):
    """Triangular cycles: linearly up to ``peak`` times the base rate in ``up`` steps and down again in ``down``.

    ``fade`` halves the amplitude each cycle ("halving"), or multiplies it by ``factor`` each step ("exponential") (Smith,
    "Cyclical Learning Rates", 2017). As torch's CyclicLR.
    """

    up: Count = 2000
    down: Count | None = None
    peak: Annotated[float, Ge(1)] = 10.0
    fade: Literal["none", "halving", "exponential"] = "none"
    factor: Positive = 1.0

    def __call__(self, step, base_rate):
        cycle, at = divmod(step, self.up + (self.down or self.up))
        height = at / self.up if at <= self.up else 1 - (at - self.up) / (self.down or self.up)
        scale = {"none": 1.0, "halving": 0.5**cycle, "exponential": self.factor**step}[self.fade]
        return base_rate * (1 + (self.peak - 1) * height * scale)
