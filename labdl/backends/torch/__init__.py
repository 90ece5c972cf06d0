"""PyTorch as a LabDL backend."""

import torch

from labdl.backends.torch import operators
from labdl.backends.torch.runtime import *

name = "torch"
namespaces = (torch, torch.nn.functional, torch.special)


def tensor_types():
    return (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
