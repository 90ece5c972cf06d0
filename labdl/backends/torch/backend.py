"""PyTorch as a backend: the members of `labdl.backends.protocol`, from the files of this folder."""

import torch

from labdl.backends.torch import control_flow, operators
from labdl.backends.torch.array_api import array_device, array_members
from labdl.backends.torch.autograd import clear_gradients, gradients, is_trainable, set_trainable, with_gradient
from labdl.backends.torch.call_recorder import SOURCE, literal, recorder
from labdl.backends.torch.copy_ahead import copy_ahead
from labdl.backends.torch.custom_operators import host_function
from labdl.backends.torch.datasets import native_dataset, native_source
from labdl.backends.torch.determinism import set_deterministic
from labdl.backends.torch.devices import current_device, device_of, devices, set_device, to_device
from labdl.backends.torch.facts import FACTS
from labdl.backends.torch.native_modules import is_native, native_call, native_module, native_parameters
from labdl.backends.torch.optimizers import optimizer
from labdl.backends.torch.random import (
    random_integers,
    random_normal,
    random_permutation,
    random_state,
    random_uniform,
    seed,
    set_random_state,
)
from labdl.backends.torch.recompute import recompute
from labdl.backends.torch.tensors import (
    assign,
    copy,
    dtype,
    finite,
    from_dlpack,
    key_of,
    move_variable,
    spec_of,
    tensor,
    to_numpy,
    variable,
)
from labdl.backends.torch.threads import rest_threads
from labdl.backends.torch.trace import trace
from labdl.backends.torch.training import evaluate_function, gradient_function, train_function, update_function

name = FACTS.name
concurrent = True
namespaces = (torch, torch.nn.functional, torch.special)
# fast functions that refuse what the rule refuses, and tensors of other frameworks
strict = frozenset(
    (
        "argmax",
        "argmin",
        "dropout",
        "elu",
        "embedding",
        "flip",
        "gelu",
        "layer_norm",
        "leaky_relu",
        "linear",
        "max",
        "min",
        "permute_dims",
        "roll",
        "topk",
    )
)
# kernels that silently accept invalid dtypes, which are checked before the call
lenient = frozenset(
    (
        "isfinite",
        "isinf",
        "isnan",
        "atan2",
        "divide",
        "maximum",
        "minimum",
        "sign",
        "square",
        "clip",
        "exp2",
        "logaddexp",
        "var",
        "std",
        "quantile",
        "cumulative_max",
        "cumulative_min",
        "histogram",
        "real",
        "conj",
        "scatter_nd",
    )
)


def tensor_types():
    return (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
