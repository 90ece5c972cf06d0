"""PaddlePaddle as a backend: the members of `labdl.backends.protocol`, from the files of this folder."""

from labdl.backends.paddle import startup  # isort: skip  # first: imports PaddlePaddle without messages

import paddle

from labdl.backends.paddle import operators
from labdl.backends.paddle.array_api import array_members
from labdl.backends.paddle.autograd import clear_gradients, gradients, is_trainable, set_trainable, with_gradient
from labdl.backends.paddle.call_recorder import SOURCE, literal, recorder
from labdl.backends.paddle.custom_operators import host_function
from labdl.backends.paddle.datasets import native_dataset, native_source
from labdl.backends.paddle.determinism import set_deterministic
from labdl.backends.paddle.devices import current_device, device_of, devices, set_device, to_device
from labdl.backends.paddle.facts import FACTS
from labdl.backends.paddle.native_modules import is_native, native_call, native_module, native_parameters
from labdl.backends.paddle.optimizers import optimizer
from labdl.backends.paddle.random import (
    random_integers,
    random_normal,
    random_permutation,
    random_state,
    random_uniform,
    seed,
    set_random_state,
)
from labdl.backends.paddle.recompute import recompute
from labdl.backends.paddle.tensors import (
    TENSORS,
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
from labdl.backends.paddle.trace import trace
from labdl.backends.paddle.training import evaluate_function, gradient_function, train_function, update_function

name = FACTS.name
concurrent = True
namespaces = (paddle, paddle.nn.functional)
strict: frozenset[str] = frozenset()
# kernels that silently accept invalid dtypes, which are checked before the call
lenient = frozenset(
    (
        "var",
        "std",
        "quantile",
        "cumulative_max",
        "cumulative_min",
        "topk",
        "searchsorted",
        "histogram",
        "real",
        "conj",
        "scatter_nd",
    )
)


def tensor_types():
    return (*TENSORS, paddle.base.framework.EagerParamBase)
