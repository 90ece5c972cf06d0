"""PyTorch implementations of neural operators that differ in name or meaning; the rest are found in torch by name."""

import torch
import torch.nn.functional as F


def linear(x, kernel, bias=None):
    # F.linear takes (out, in) and would leave a gradient in the wrong memory order, which slows the update
    if kernel.ndim != 2 or (bias is not None and (bias.ndim != 1 or bias.size(0) != kernel.size(1))):
        raise ValueError("wrong shapes, which torch would broadcast")
    if x.ndim == 2:
        return torch.mm(x, kernel) if bias is None else torch.addmm(bias, x, kernel)
    y = torch.matmul(x, kernel)
    return y if bias is None else y + bias


def gelu(x, approximate="none"):
    """oneDNN's kernel gives NaN at infinity."""
    return F.gelu(x, approximate=approximate)


def softplus(x, beta=1.0):
    return F.softplus(x, beta, threshold=88.0)  # torch leaves the curve at 20, which float64 notices


silu, elu, mish, selu, celu = F.silu, F.elu, F.mish, F.selu, F.celu
leaky_relu, hardswish, hardsigmoid, softsign = F.leaky_relu, F.hardswish, F.hardsigmoid, F.softsign


def hardtanh(x, low=-1.0, high=1.0):
    """torch refuses limits in the wrong order, where `clip` gives the upper one, and bounds integers by integers."""
    return F.hardtanh(x, low, high) if x.is_floating_point() and low <= high else NotImplemented


def relu6(x):
    return F.relu6(x) if x.is_floating_point() else NotImplemented


def softmax(x, axis=-1):
    return torch.softmax(x, axis)


def log_softmax(x, axis=-1):
    return torch.log_softmax(x, axis)


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """torch refuses one value for each channel in training: its deviation from the mean is 0, as is its variance."""
    if axis != 1:
        x = x.movedim(axis, 1)
    if training and x.numel() == x.shape[1]:
        with torch.no_grad():
            mean.lerp_(x.detach().reshape(-1).to(mean.dtype), momentum)
            variance.mul_(1 - momentum)
        y = F.batch_norm(x - x, torch.zeros_like(mean), torch.zeros_like(variance), scale, offset, False, 0.0, epsilon)
        return y if axis == 1 else y.movedim(1, axis)
    y = F.batch_norm(x, mean, variance, scale, offset, training, momentum, epsilon)
    return y if axis == 1 else y.movedim(1, axis)


def layer_norm(x, scale, offset, epsilon=1e-5):
    if epsilon < 0:  # which PyTorch takes
        raise ValueError("a negative epsilon")  # the declaration of the option says the rest
    return F.layer_norm(x, scale.shape, scale, offset, epsilon)


def dropout(x, rate, training=False):
    return F.dropout(x, rate, training)


def embedding(indices, table):
    if indices.dtype is torch.int64:
        return F.embedding(indices, table)
    if indices.dtype is torch.bool or indices.is_floating_point():
        raise TypeError("positions are integers")
    return F.embedding(indices.long(), table)


def group_norm(x, groups, scale=None, offset=None, *, epsilon=1e-5, axis=1):
    return NotImplemented if axis != 1 else F.group_norm(x, groups, scale, offset, epsilon)


def causal_mask(scores):
    shape = scores.shape[-2:]
    return scores.masked_fill(
        torch.ones(shape, dtype=torch.bool, device=scores.device).tril().logical_not(), -float("inf")
    )
