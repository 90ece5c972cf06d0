"""Gradient descent and sign-based optimizers."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Lt

from labdl import ops
from labdl.errors import ConfigError
from labdl.nn.types import Positive, Rate
from labdl.settings import Amount
from labdl.train.optimizers.base import Optimizer, apply_weight_decay, register

__all__ = ["ASGD", "SGD", "Lion", "Rprop"]


@register(momentum={"momentum": 0.9}, nesterov={"momentum": 0.9, "nesterov": True})
class SGD(Optimizer):
    """Stochastic gradient descent with optional momentum.

    v = momentum · v + g; parameter -= rate · v, or with Nesterov momentum rate · (g + momentum · v). Weight decay is added to
    the gradient g. As torch.optim.SGD without dampening.
    """

    learning_rate: Amount = 1e-2
    momentum: Rate = 0.0
    nesterov: bool = False
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def check(self):
        if self.nesterov and not self.momentum:
            raise ConfigError("SGD: nesterov=True wants a momentum above 0")

    def slots(self, shape):
        return {"momentum": (shape, 0.0)} if self.momentum else {}

    def update(self, parameter, gradient, state, *, rate):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        if not self.momentum:
            return parameter - gradient * rate, {}
        momentum = state["momentum"] * self.momentum + gradient
        step = gradient + momentum * self.momentum if self.nesterov else momentum
        return parameter - step * rate, {"momentum": momentum}


@register()
class ASGD(Optimizer):
    """Averaged stochastic gradient descent.

    parameter = (1 - decay · e) · parameter - e · g with e = rate / (1 + decay · rate · t)^alpha, t counted from 0; from step
    ``start`` on, the slot ``average`` is the mean of the weights (Polyak & Juditsky, 1992). As torch.optim.ASGD.
    """

    learning_rate: Amount = 1e-2
    decay: Amount = 1e-4
    alpha: Amount = 0.75
    start: Annotated[float, Ge(0)] = 1e6
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"average": (shape, 0.0)}

    def numbers(self, step, rate):
        done = step - 1
        rate = rate / (1 + self.decay * rate * done) ** self.alpha
        return {"rate": rate, "kept": 1 - self.decay * rate, "share": 1 / max(1.0, done - self.start)}

    def update(self, parameter, gradient, state, *, rate, kept, share):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        parameter = parameter * kept - gradient * rate
        return parameter, {"average": state["average"] + (parameter - state["average"]) * share}


@register()
class Rprop(Optimizer):
    """Resilient backpropagation: steps by the sign of the gradient, with a step size per element.

    The step size grows while the sign is the same; where it changed, it shrinks and the element is not updated (Riedmiller &
    Braun, 1993). For gradients of the whole data set. ``learning_rate`` is the initial step size, and later changes of it
    have no effect. As torch.optim.Rprop.
    """

    learning_rate: Amount = 1e-2
    shrink: Annotated[float, Gt(0), Lt(1)] = 0.5
    grow: Annotated[float, Gt(1)] = 1.2
    smallest: Amount = 1e-6
    largest: Positive = 50.0

    def slots(self, shape):
        return {"previous": (shape, 0.0), "step_size": (shape, self.learning_rate)}

    def update(self, parameter, gradient, state, *, rate):
        direction = ops.sign(gradient) * ops.sign(state["previous"])
        turned = direction < 0
        one = ops.ones_like(gradient)
        factor = ops.where(turned, one * self.shrink, ops.where(direction > 0, one * self.grow, one))
        step_size = ops.clip(state["step_size"] * factor, self.smallest, self.largest)
        gradient = ops.where(turned, ops.zeros_like(gradient), gradient)
        return parameter - ops.sign(gradient) * step_size, {"previous": gradient, "step_size": step_size}


@register()
class Lion(Optimizer):
    """Lion: steps by the sign of the momentum, with a learning rate 3 to 10 times smaller than that of Adam.

    parameter -= rate · (sign(beta_1 · m + (1 - beta_1) · g) + weight_decay · parameter), then
    m = beta_2 · m + (1 - beta_2) · g (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023).
    """

    learning_rate: Amount = 1e-4
    beta_1: Rate = 0.9
    beta_2: Rate = 0.99
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0)}

    def update(self, parameter, gradient, state, *, rate):
        mean = state["mean"]
        step = ops.sign(mean * self.beta_1 + gradient * (1 - self.beta_1))
        step = apply_weight_decay(step, parameter, self.weight_decay)
        return parameter - step * rate, {"mean": mean * self.beta_2 + gradient * (1 - self.beta_2)}
