"""PyTorch's training steps."""

import torch
from torch.utils._pytree import tree_map_only

from labdl.backends.torch.runtime import clear_gradients


def gradient_function(objective, optimizer, compiled: bool | None = None):
    """Eager by default: on CPUs torch.compile makes training steps slower."""
    objective = torch.compile(objective) if compiled else objective

    def run(*batch):
        variables = optimizer.variables
        clear_gradients(variables)
        result = objective(*batch)
        result[0].backward()
        return tree_map_only(torch.Tensor, torch.Tensor.detach, result), [v.grad for v in variables]

    return run


def train_function(objective, optimizer, compiled: bool | None = None, update=None):
    """See `gradient_function`."""
    gradients = gradient_function(objective, optimizer, compiled)

    def step(*batch):
        result, found = gradients(*batch)
        optimizer.advance()
        with torch.no_grad():
            told = (update or optimizer.update)(found)
        return (*result, *(told or ()))

    return step


def update_function(optimizer, update, compiled: bool | None = None):
    """An update from gradients that were made before; gives what ``update(gradients)`` gives."""

    def apply(gradients):
        optimizer.advance()
        with torch.no_grad():
            return update(gradients)

    return apply


def evaluate_function(forward, compiled: bool | None = None):
    forward = torch.compile(forward) if compiled else forward

    def evaluate(*inputs):
        with torch.inference_mode():
            return forward(*inputs)

    return evaluate
