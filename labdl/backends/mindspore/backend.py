"""MindSpore as a backend: the members of `labdl.backends.protocol`, from the files of this folder."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportAttributeAccessIssue=false

from labdl.backends.mindspore import startup  # isort: skip  # first: imports MindSpore with its environment variables

import mindspore

from labdl.backends.mindspore import interrupts, operators
from labdl.backends.mindspore.array_api import array_members
from labdl.backends.mindspore.autograd import clear_gradients, gradients, is_trainable, set_trainable, with_gradient
from labdl.backends.mindspore.call_recorder import SOURCE, literal, recorder
from labdl.backends.mindspore.custom_operators import host_function
from labdl.backends.mindspore.datasets import native_dataset, native_source
from labdl.backends.mindspore.determinism import set_deterministic
from labdl.backends.mindspore.devices import current_device, device_of, devices, set_device, to_device
from labdl.backends.mindspore.facts import FACTS
from labdl.backends.mindspore.native_modules import is_native, native_call, native_module, native_parameters
from labdl.backends.mindspore.optimizers import optimizer
from labdl.backends.mindspore.random import (
    random_integers,
    random_normal,
    random_permutation,
    random_state,
    random_uniform,
    seed,
    set_random_state,
)
from labdl.backends.mindspore.tensors import (
    assign,
    copy,
    dtype,
    finite,
    from_dlpack,
    key_of,
    move_variable,
    spec_of,
    tensor,
    tensor_types,
    to_numpy,
    variable,
)
from labdl.backends.mindspore.threads import exclusive
from labdl.backends.mindspore.training import evaluate_function, gradient_function, train_function, update_function

interrupts.install()  # now: only the main thread may

name = FACTS.name
concurrent = False
namespaces = (mindspore.ops,)
strict: frozenset[str] = frozenset()
# kernels that silently accept invalid dtypes, which are checked before the call
lenient = frozenset(("conj", "histogram", "quantile", "real", "searchsorted", "topk"))
