"""Optimizers with adaptive learning rates."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Le

from labdl import ops
from labdl.nn.types import Positive, Rate
from labdl.settings import Amount
from labdl.train.optimizers.base import Optimizer, apply_weight_decay, register

__all__ = ["FTRL", "AdaBelief", "Adadelta", "Adafactor", "Adagrad", "RMSprop"]


@register()
class Adagrad(Optimizer):
    """Adagrad: steps are scaled by the sum of squared gradients; for sparse data.

    n += g²; parameter -= rate / (1 + t · rate_decay) · g / (sqrt(n) + epsilon), t counted from 0 (Duchi et al., 2011). As
    torch.optim.Adagrad.
    """

    learning_rate: Amount = 1e-2
    rate_decay: Amount = 0.0
    initial: Amount = 0.0
    epsilon: Amount = 1e-10
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"sum": (shape, self.initial)}

    def numbers(self, step, rate):
        return {"rate": rate / (1 + (step - 1) * self.rate_decay)}

    def update(self, parameter, gradient, state, *, rate):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        total = state["sum"] + gradient * gradient
        return parameter - gradient / (ops.sqrt(total) + self.epsilon) * rate, {"sum": total}


@register()
class Adadelta(Optimizer):
    """Adadelta: steps are scaled by running averages of squared gradients and updates.

    v = rho · v + (1 - rho) · g²; d = sqrt(u + epsilon) / sqrt(v + epsilon) · g; u = rho · u + (1 - rho) · d²;
    parameter -= rate · d (Zeiler, 2012). As torch.optim.Adadelta.
    """

    learning_rate: Amount = 1.0
    rho: Rate = 0.9
    epsilon: Amount = 1e-6
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"square": (shape, 0.0), "moved": (shape, 0.0)}

    def update(self, parameter, gradient, state, *, rate):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        square = state["square"] * self.rho + gradient * gradient * (1 - self.rho)
        step = ops.sqrt(state["moved"] + self.epsilon) / ops.sqrt(square + self.epsilon) * gradient
        moved = state["moved"] * self.rho + step * step * (1 - self.rho)
        return parameter - step * rate, {"square": square, "moved": moved}


@register()
class RMSprop(Optimizer):
    """RMSprop: the gradient divided by its running root mean square.

    v = rho · v + (1 - rho) · g², less the square of the running mean of g if ``centered``; d = g / (sqrt(v) + epsilon),
    optionally with momentum; parameter -= rate · d (Tieleman & Hinton, 2012; Graves, 2013). As torch.optim.RMSprop with
    alpha=rho.
    """

    learning_rate: Amount = 1e-2
    rho: Rate = 0.99
    epsilon: Amount = 1e-8
    momentum: Rate = 0.0
    centered: bool = False
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        names = ("square", *["mean"] * self.centered, *["momentum"] * bool(self.momentum))
        return {name: (shape, 0.0) for name in names}

    def update(self, parameter, gradient, state, *, rate):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        size = square = state["square"] * self.rho + gradient * gradient * (1 - self.rho)
        after = {"square": square}
        if self.centered:
            mean = after["mean"] = state["mean"] * self.rho + gradient * (1 - self.rho)
            size = ops.maximum(square - mean * mean, 0.0)  # of a constant gradient it may round to less
        step = gradient / (ops.sqrt(size) + self.epsilon)
        if self.momentum:
            step = after["momentum"] = state["momentum"] * self.momentum + step
        return parameter - step * rate, after


@register()
class Adafactor(Optimizer):
    """Adafactor: adaptive learning rates with sublinear memory, from row and column means of squared gradients.

    The root mean square of the step is limited to ``clip``, and scaled by that of the parameter, at least ``epsilon_2``; the
    rate is at most 1 / sqrt(t) (Shazeer & Stern, 2018). As torch.optim.Adafactor.
    """

    learning_rate: Amount = 1e-2
    decay: Annotated[float, Le(0)] = -0.8
    epsilon_1: Amount = 2.0**-23
    epsilon_2: Amount = 1e-3
    clip: Positive = 1.0
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        if len(shape) < 2:
            return {"square": (shape, 0.0)}
        return {"row": ((*shape[:-1], 1), 0.0), "column": ((*shape[:-2], 1, shape[-1]), 0.0)}

    def numbers(self, step, rate):
        fresh = step**self.decay
        return {"rate": min(rate, step**-0.5), "kept": 1 - rate * self.weight_decay, "fresh": fresh, "old": 1 - fresh}

    def update(self, parameter, gradient, state, *, rate, kept, fresh, old):
        size = ops.maximum(_root_mean_square(parameter), self.epsilon_2)
        squares = gradient * gradient
        if gradient.ndim < 2:
            square = state["square"] * old + squares * fresh
            after = {"square": square}
        else:
            row = state["row"] * old + ops.mean(squares, axis=-1, keepdims=True) * fresh
            column = state["column"] * old + ops.mean(squares, axis=-2, keepdims=True) * fresh
            after = {"row": row, "column": column}
            square = row * column / ops.maximum(ops.mean(row, axis=-2, keepdims=True), self.epsilon_1)
        step = gradient / ops.sqrt(ops.maximum(square, self.epsilon_1**2))
        limit = ops.maximum(_root_mean_square(step) / self.clip, 1.0)
        return parameter * kept - step * (size / limit * rate), after


def _root_mean_square(x):
    return ops.sqrt(ops.mean(x * x))


@register()
class AdaBelief(Optimizer):
    """AdaBelief: steps are large where the gradient is close to its running mean, the prediction.

    m is the running mean of g, s that of (g - m)² + epsilon, both bias-corrected; parameter = (1 - rate · weight_decay) ·
    parameter - rate · m / (sqrt(s) + epsilon) (Zhuang et al., "AdaBelief Optimizer", 2020, algorithm 2).
    """

    learning_rate: Amount = 1e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-16
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0), "variance": (shape, 0.0)}

    def numbers(self, step, rate):
        spread = (1 - self.beta_2**step) ** 0.5
        return {
            "kept": 1 - rate * self.weight_decay,
            "rate": rate * spread / (1 - self.beta_1**step),
            "epsilon": self.epsilon * spread,
        }

    def update(self, parameter, gradient, state, *, kept, rate, epsilon):
        mean = state["mean"] * self.beta_1 + gradient * (1 - self.beta_1)
        gap = gradient - mean
        variance = state["variance"] * self.beta_2 + gap * gap * (1 - self.beta_2) + self.epsilon
        step = mean / (ops.sqrt(variance) + epsilon)
        return parameter * kept - step * rate, {"mean": mean, "variance": variance}


@register()
class FTRL(Optimizer):
    """FTRL-Proximal (follow the regularized leader), which gives sparse weights; for linear models.

    s = (sqrt(n + g²) - sqrt(n)) / rate; z += g - s · parameter; n += g²; the parameter is 0 where |z| <= l1, else
    -(z - sign(z) · l1) / ((beta + sqrt(n)) / rate + l2) (McMahan et al., "Ad Click Prediction", 2013, algorithm 1). The
    initial value of the parameter vanishes in the first steps.
    """

    learning_rate: Amount = 0.1
    beta: Amount = 1.0
    l1: Amount = 0.0
    l2: Amount = 0.0
    initial: Amount = 0.0

    def slots(self, shape):
        return {"sum": (shape, self.initial), "linear": (shape, 0.0)}

    def numbers(self, step, rate):
        return {"inverse": 1 / max(rate, 1e-12)}  # a schedule may start at 0

    def update(self, parameter, gradient, state, *, inverse):
        total = state["sum"] + gradient * gradient
        root = ops.sqrt(total)
        linear = state["linear"] + gradient - (root - ops.sqrt(state["sum"])) * parameter * inverse
        shrunk = ops.sign(linear) * ops.maximum(ops.abs(linear) - self.l1, 0.0)
        # where no gradient was seen yet, size and shrunk are 0
        size = ops.maximum((root + self.beta) * inverse + self.l2, 1e-30)
        return -shrunk / size, {"sum": total, "linear": linear}
