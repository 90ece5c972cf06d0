"""PyTorch as a LabDL backend."""

import torch

from labdl.backends.torch import operators
from labdl.backends.torch.array_api import array_members
from labdl.backends.torch.custom import host_function
from labdl.backends.torch.native import is_native, native_call, native_module, native_parameters
from labdl.backends.torch.optimizer import optimizer
from labdl.backends.torch.random import *
from labdl.backends.torch.recorder import SOURCE, literal, recorder
from labdl.backends.torch.runtime import *
from labdl.backends.torch.threads import rest_threads
from labdl.backends.torch.training import evaluate_function, gradient_function, train_function, update_function

name = "torch"
concurrent = True
namespaces = (torch, torch.nn.functional, torch.special)
# kernels that take, in silence, dtypes that make no sense for them: checked before
lenient = frozenset((
    "isfinite", "isinf", "isnan", "atan2", "divide", "maximum", "minimum", "sign", "square", "clip", "exp2",
    "logaddexp", "var", "std", "quantile", "cumulative_max", "cumulative_min", "histogram", "real", "conj", "scatter_nd",
))  # fmt: skip


def tensor_types():
    return (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
