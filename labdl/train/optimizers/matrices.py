"""Optimizers that see weights as matrices: Muon and SOAP."""

from __future__ import annotations

import math

import numpy as np

from labdl import ops
from labdl.nn.types import Count, Iterations, Rate
from labdl.settings import Amount
from labdl.train.optimizers.adam import adam_numbers, moments
from labdl.train.optimizers.base import Optimizer, register

__all__ = ["SOAP", "Muon"]

_QUINTIC = (3.4445, -4.7750, 2.0315)  # Jordan's coefficients, with the steepest slope at 0
_SHIFT = 1e-3  # of the power iteration, in mean eigenvalues


@register()
class Muon(Optimizer):
    """Muon: momentum orthogonalized by Newton-Schulz iterations, for the weight matrices of hidden layers.

    b = momentum · b + g; o is g + momentum · b (with ``nesterov``, else b) with singular values near 1, after ``iterations`` of
    the quintic Newton-Schulz iteration; parameter = (1 - rate · weight_decay) · parameter - rate · 0.2 · sqrt(max(rows,
    columns)) · o (Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024; with the scale of Liu et
    al., "Muon is Scalable for LLM Training", 2025, so that rates and weight decay of AdamW fit). As torch.optim.Muon with
    adjust_lr_fn="match_rms_adamw", in float32. A convolution kernel is the matrix of its first axis by all others. Parameters
    of fewer than two axes take AdamW's step, with ``beta_1`` and ``beta_2``. Embeddings and the last layer want AdamW too:
    ``Muon(2e-3, groups={"embedding/*": AdamW(3e-4), "head/*": AdamW(3e-4)})``.
    """

    learning_rate: Amount = 1e-3
    momentum: Rate = 0.95
    nesterov: bool = True
    iterations: Iterations = 5
    epsilon: Amount = 1e-7
    weight_decay: Amount = 0.1
    beta_1: Rate = 0.9
    beta_2: Rate = 0.95
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        return {name: (shape, 0.0) for name in (("mean", "square") if len(shape) < 2 else ("momentum",))}

    def numbers(self, step, rate):
        return adam_numbers(self, step, rate)

    def update(self, parameter, gradient, state, *, rate, corrected, epsilon):
        parameter = parameter - parameter * (rate * self.weight_decay)
        if gradient.ndim < 2:
            mean, square = moments(self, gradient, state)
            return parameter - mean / (ops.sqrt(square) + epsilon) * corrected, {"mean": mean, "square": square}
        momentum = state["momentum"] * self.momentum + gradient
        step = gradient + momentum * self.momentum if self.nesterov else momentum
        shape = tuple(parameter.shape)
        rows, columns = _sizes(shape)
        step = ops.reshape(self._orthogonalize(ops.reshape(step, (rows, columns))), shape)
        return parameter - step * (rate * (0.2 * max(rows, columns) ** 0.5)), {"momentum": momentum}

    def _orthogonalize(self, x):
        rows, columns = x.shape
        if rows > columns:
            return ops.matrix_transpose(self._orthogonalize(ops.matrix_transpose(x)))
        a, b, c = _QUINTIC
        x = x / ops.maximum(ops.sqrt(ops.sum(x * x)), self.epsilon)
        for _ in range(self.iterations):
            gram = x @ ops.matrix_transpose(x)
            x = x * a + (gram * b + gram @ gram * c) @ x
        return x


@register()
class SOAP(Optimizer):
    """SOAP: Adam in the eigenbasis of Shampoo's preconditioner.

    L and R are running means of G Gᵀ and Gᵀ G, Q and P their eigenvectors, v the running mean of the square of Qᵀ G P; with
    the running mean M of G, parameter -= rate · Q (Qᵀ M P / (sqrt(v) + epsilon)) Pᵀ after the decay by 1 - rate ·
    weight_decay (Vyas et al., "SOAP: Improving and Stabilizing Shampoo using Adam", 2024, algorithm 3). The bases start as the
    identity, with which a step is Adam's, and are refined by a power iteration and a QR decomposition in each of the first
    ``frequency`` steps, then every ``frequency`` steps. The iteration is of L plus a thousandth of its mean eigenvalue, which
    has the same eigenvectors but defines them where the gradients had no component yet, so that results do not depend on the
    machine. A convolution kernel is the matrix of its first axis by all others; a side longer than ``largest`` is not
    rotated, and parameters of fewer than two axes take AdamW's step.
    """

    learning_rate: Amount = 3e-3
    beta_1: Rate = 0.95
    beta_2: Rate = 0.95
    epsilon: Amount = 1e-8
    weight_decay: Amount = 0.01
    frequency: Count = 10
    largest: Count = 10_000
    decay_norm_and_bias: bool = True

    def slots(self, shape):
        made = {"mean": (shape, 0.0), "square": (shape, 0.0)}
        if len(shape) >= 2:
            for side, size in zip(("left", "right"), _sizes(shape), strict=True):
                if size <= self.largest:
                    made |= {side: ((size, size), 0.0), f"{side}_basis": ((size, size), 0.0)}
        return made

    def numbers(self, step, rate):
        refreshes = step <= self.frequency or step % self.frequency == 0
        return {**adam_numbers(self, step, rate), "first": float(step == 1), "refresh": float(refreshes)}

    def update(self, parameter, gradient, state, *, rate, corrected, epsilon, first, refresh):
        parameter = parameter - parameter * (rate * self.weight_decay)
        if gradient.ndim < 2:
            mean, square = moments(self, gradient, state)
            return parameter - mean / (ops.sqrt(square) + epsilon) * corrected, {"mean": mean, "square": square}
        shape, sizes = tuple(parameter.shape), _sizes(parameter.shape)
        g, mean, square = (ops.reshape(x, sizes) for x in (gradient, state["mean"], state["square"]))
        bases = {
            side: state[f"{side}_basis"] + ops.tensor_like(g, np.eye(size)) * first
            for side, size in zip(("left", "right"), sizes, strict=True)
            if side in state
        }
        mean = mean * self.beta_1 + g * (1 - self.beta_1)
        rotated = _rotate(g, bases)
        square = square * self.beta_2 + rotated * rotated * (1 - self.beta_2)
        step = _rotate_back(_rotate(mean, bases) / (ops.sqrt(square) + epsilon), bases)
        grams = {"left": lambda: g @ ops.matrix_transpose(g), "right": lambda: ops.matrix_transpose(g) @ g}
        after = {side: state[side] * self.beta_2 + grams[side]() * (1 - self.beta_2) for side in bases}
        if bases:
            bases, square = ops.cond(refresh > 0, lambda: _refresh(after, bases, square), lambda: (bases, square))
        after |= {f"{side}_basis": basis for side, basis in bases.items()}
        after |= {"mean": ops.reshape(mean, shape), "square": ops.reshape(square, shape)}
        return parameter - ops.reshape(step, shape) * corrected, after


def _sizes(shape) -> tuple[int, int]:
    """Rows and columns of a weight as a matrix: the first axis, and all others."""
    return int(shape[0]), math.prod(map(int, shape[1:]))


def _rotate(x, bases):
    x = ops.matrix_transpose(bases["left"]) @ x if "left" in bases else x
    return x @ bases["right"] if "right" in bases else x


def _rotate_back(x, bases):
    x = bases["left"] @ x if "left" in bases else x
    return x @ ops.matrix_transpose(bases["right"]) if "right" in bases else x


def _refresh(grams, bases, square):
    """Bases after a power iteration, their columns from large to small eigenvalues, and the squares in that order."""
    made = {}
    for axis, side in enumerate(("left", "right")):
        if side not in bases:
            continue
        gram, basis = grams[side], bases[side]
        product = gram @ basis
        values = ops.sum(basis * product, axis=0)
        order = ops.argsort(values, descending=True)
        size = ops.maximum(ops.mean(values), 1e-30)
        q, r = ops.qr(ops.take(product / size + basis * _SHIFT, order, axis=1))
        made[side] = q * ops.where(ops.diagonal(r) < 0, -1.0, 1.0)  # one of the two signs that the decomposition has
        square = ops.take(square, order, axis=axis)
    return made, square
