"""PyTorch's random numbers."""

import torch

from labdl.backends.torch import runtime
from labdl.backends.torch.runtime import dtype


def random_uniform(shape, low, high, name):
    return torch.empty(shape, dtype=dtype(name), device=runtime._device).uniform_(low, high)


def random_normal(shape, mean, std, name):
    return torch.empty(shape, dtype=dtype(name), device=runtime._device).normal_(mean, std)


def random_integers(shape, low, high, name):
    return torch.randint(low, high, shape, dtype=dtype(name), device=runtime._device)


def random_permutation(n):
    return torch.randperm(n, device=runtime._device)


def random_uniform_like(x, low=0.0, high=1.0):
    return torch.empty_like(x).uniform_(low, high)


def random_normal_like(x, mean=0.0, std=1.0):
    return torch.empty_like(x).normal_(mean, std)
