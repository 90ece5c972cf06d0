"""PyTorch as a LabDL backend."""

import torch

from labdl.backends.torch import operators
from labdl.backends.torch.runtime import (
    assign,
    evaluate_function,
    finite,
    gradients,
    optimizer,
    seed,
    spec_of,
    tensor,
    to_numpy,
    train_function,
    variable,
)  # fmt: skip

name = "torch"
namespaces = (torch, torch.nn.functional, torch.special)


def tensor_types():
    return (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


__all__ = [
    "assign", "evaluate_function", "finite", "gradients", "name", "namespaces", "operators", "optimizer", "seed",
    "spec_of", "tensor", "tensor_types", "to_numpy", "train_function", "variable",
]  # fmt: skip
