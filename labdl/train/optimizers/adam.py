"""Adam and its variants."""

from __future__ import annotations

from labdl import ops
from labdl.nn.types import Rate
from labdl.settings import Amount
from labdl.train.optimizers.base import Optimizer, apply_weight_decay, register

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


def moments(optimizer, gradient, state):
    """Update the running means of the gradient and of its square."""
    beta_1, beta_2 = optimizer.beta_1, optimizer.beta_2
    mean = state["mean"] * beta_1 + gradient * (1 - beta_1)
    return mean, state["square"] * beta_2 + gradient * gradient * (1 - beta_2)


def adam_numbers(optimizer, step, rate):
    """The rate, and with both bias corrections the rate and epsilon of Adam's step."""
    spread = (1 - optimizer.beta_2**step) ** 0.5
    # sqrt(v) / spread + epsilon = (sqrt(v) + epsilon · spread) / spread
    corrected = rate * spread / (1 - optimizer.beta_1**step)
    return {"rate": rate, "corrected": corrected, "epsilon": optimizer.epsilon * spread}


@register()
class Adam(Optimizer):
    """Adam: adaptive moment estimation.

    m and v are bias-corrected running means of g and g²; parameter -= rate · m / (sqrt(v) + epsilon)
    (Kingma & Ba, 2014). ``amsgrad`` uses the largest v so far (Reddi et al., 2018). Weight decay is added to the gradient. As
    torch.optim.Adam.
    """

    learning_rate: Amount = 1e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-8
    weight_decay: Amount = 0.0
    amsgrad: bool = False
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {name: (shape, 0.0) for name in ("mean", "square", *["largest"] * self.amsgrad)}

    def numbers(self, step, rate):
        return adam_numbers(self, step, rate)

    def update(self, parameter, gradient, state, *, rate, corrected, epsilon):
        return self._adam_step(
            parameter, apply_weight_decay(gradient, parameter, self.weight_decay), state, corrected, epsilon
        )

    def _adam_step(self, parameter, gradient, state, rate, epsilon):
        mean, square = moments(self, gradient, state)
        after, size = {"mean": mean, "square": square}, square
        if self.amsgrad:
            after["largest"] = size = ops.maximum(state["largest"], square)
        return parameter - mean / (ops.sqrt(size) + epsilon) * rate, after


@register()
class AdamW(Adam):
    """Adam with decoupled weight decay, common for Transformers.

    parameter = (1 - rate · weight_decay) · parameter before Adam's step (Loshchilov & Hutter, 2017). As torch.optim.AdamW.
    """

    weight_decay: Amount = 0.01

    def update(self, parameter, gradient, state, *, rate, corrected, epsilon):
        parameter = parameter - parameter * (rate * self.weight_decay)
        return self._adam_step(parameter, gradient, state, corrected, epsilon)


@register()
class Adamax(Optimizer):
    """Variant of Adam based on the infinity norm.

    u = max(beta_2 · u, |g| + epsilon); parameter -= rate · m / (1 - beta_1^t) / u (Kingma & Ba, 2014, section 7.1). As
    torch.optim.Adamax.
    """

    learning_rate: Amount = 2e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-8
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0), "largest": (shape, 0.0)}

    def numbers(self, step, rate):
        return {"rate": rate / (1 - self.beta_1**step)}

    def update(self, parameter, gradient, state, *, rate):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        mean = state["mean"] * self.beta_1 + gradient * (1 - self.beta_1)
        largest = ops.maximum(state["largest"] * self.beta_2, ops.abs(gradient) + self.epsilon)
        return parameter - mean / largest * rate, {"mean": mean, "largest": largest}


@register()
class NAdam(Optimizer):
    """Adam with Nesterov momentum.

    The momentum follows the schedule beta_1 · (1 - 0.96^(t · momentum_decay) / 2), whose cumulative product is the slot
    ``product`` (Dozat, 2016). As torch.optim.NAdam.
    """

    learning_rate: Amount = 2e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-8
    weight_decay: Amount = 0.0
    momentum_decay: Amount = 4e-3
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0), "square": (shape, 0.0), "product": ((), 1.0)}

    def numbers(self, step, rate):
        now, following = (self.beta_1 * (1 - 0.5 * 0.96 ** (t * self.momentum_decay)) for t in (step, step + 1))
        return {"rate": rate, "now": now, "following": following, "correction": 1 / (1 - self.beta_2**step)}

    def update(self, parameter, gradient, state, *, rate, now, following, correction):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        mean, square = moments(self, gradient, state)
        product = state["product"] * now
        ahead = mean * following / (product * following - 1) + gradient * (1 - now) / (
            product - 1
        )  # with opposite sign
        parameter = parameter + ahead / (ops.sqrt(square * correction) + self.epsilon) * rate
        return parameter, {"mean": mean, "square": square, "product": product}


@register()
class RAdam(Optimizer):
    """Rectified Adam, which needs no warm-up.

    While rho, the length of the approximated moving average, is at most 5, parameter -= rate · m; then Adam's step times a
    rectification factor that grows to 1 (Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020). As
    torch.optim.RAdam.
    """

    learning_rate: Amount = 1e-3
    beta_1: Rate = 0.9
    beta_2: Rate = 0.999
    epsilon: Amount = 1e-8
    weight_decay: Amount = 0.0
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {"mean": (shape, 0.0), "square": (shape, 0.0)}

    def numbers(self, step, rate):
        power = self.beta_2**step
        end = 2 / (1 - self.beta_2) - 1
        rho = end - 2 * step * power / (1 - power)
        rate = rate / (1 - self.beta_1**step)
        if rho <= 5:
            return {"plain": rate, "scaled": 0.0}
        factor = ((rho - 4) * (rho - 2) * end / ((end - 4) * (end - 2) * rho)) ** 0.5
        return {"plain": 0.0, "scaled": rate * factor * (1 - power) ** 0.5}

    def update(self, parameter, gradient, state, *, plain, scaled):
        gradient = apply_weight_decay(gradient, parameter, self.weight_decay)
        mean, square = moments(self, gradient, state)
        return parameter - (mean * plain + mean / (ops.sqrt(square) + self.epsilon) * scaled), {
            "mean": mean,
            "square": square,
        }
