"""Gradients in PyTorch."""

import torch


def clear_gradients(variables) -> None:
    for v in variables:
        v.grad = None


def gradients(function, values):
    leaves = [v.detach().requires_grad_() if not isinstance(v, torch.nn.Parameter) else v for v in values]
    result = function(*leaves)
    if not result.requires_grad:  # it depends on none of them
        return result, tuple(map(torch.zeros_like, leaves))
    return result.detach(), torch.autograd.grad(result, leaves, allow_unused=True, materialize_grads=True)


def is_trainable(variable) -> bool:
    return variable.requires_grad


def set_trainable(variable, flag: bool) -> None:
    variable.requires_grad_(flag)
    variable.grad = None


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, functions, *tensors):
        results = functions[0](*tensors)
        ctx.pull = functions[1]
        ctx.save_for_backward(*tensors)
        return results

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.pull(gradients, ctx.saved_tensors)


def with_gradient(forward, pull):
    def call(*tensors):
        return _WithGradient.apply((forward, pull), *tensors)

    return call
