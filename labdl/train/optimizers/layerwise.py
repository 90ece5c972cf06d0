"""Optimizers with layerwise adaptive rates, for large batches."""

from __future__ import annotations

from labdl import ops
from labdl.nn.types import Positive, Rate
from labdl.settings import Amount
from labdl.train.optimizers.adam import moments
from labdl.train.optimizers.base import Optimizer, apply_weight_decay, register

__all__ = ["LAMB", "LARS"]


def _norm(x):
    return ops.sqrt(ops.sum(x * x))


def _ratio(above, below, more=0.0):
    """above / (below + more), and 1 where above or below is 0."""
    known = ops.logical_and(above > 0, below > 0)
    one = ops.ones_like(above)
    return ops.where(known, above / ops.where(known, below + more, one), one)


@register()
class LARS(Optimizer):
    """LARS: SGD with momentum and layerwise adaptive rates, for large batches of images.

    v = momentum · v + rate · trust · |w| / (|g| + weight_decay · |w|) · (g + weight_decay · w); parameter w -= v, with the
    factor 1 where |w| or |g| is 0 (You et al., "Large Batch Training of Convolutional Networks", 2017).
    """

    learning_rate: Amount = 0.1
    momentum: Rate = 0.9
    trust: Positive = 1e-3
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"momentum": (shape, 0.0)}

    def update(self, parameter, gradient, state, *, rate):
        size, slope = _norm(parameter), _norm(gradient)
        local = _ratio(size * self.trust, slope, size * self.weight_decay)
        step = apply_weight_decay(gradient, parameter, self.weight_decay)
        momentum = state["momentum"] * self.momentum + step * (local * rate)
        return parameter - momentum, {"momentum": momentum}


@register()
class LAMB(Optimizer):
    """LAMB: Adam with layerwise adaptive rates, for large batches of text.

    r = Adam's step + weight_decay · w; parameter w -= rate · |w| / |r| · r, with the factor 1 where |w| or |r| is 0 (You et
    al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes", 2020, algorithm 2).
    """

    learning_rate: Amount = 1e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-6
    weight_decay: Amount = 0.01
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0), "square": (shape, 0.0)}

    def numbers(self, step, rate):
        return {"rate": rate, "first": 1 / (1 - self.beta_1**step), "second": 1 / (1 - self.beta_2**step)}

    def update(self, parameter, gradient, state, *, rate, first, second):
        mean, square = moments(self, gradient, state)
        step = mean * first / (ops.sqrt(square * second) + self.epsilon)
        step = apply_weight_decay(step, parameter, self.weight_decay)
        ratio = _ratio(_norm(parameter), _norm(step))
        return parameter - step * (ratio * rate), {"mean": mean, "square": square}
