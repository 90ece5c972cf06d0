"""TensorFlow as a backend: the members of `labdl.backends.protocol`, from the files of this folder."""

from labdl.backends.tensorflow import startup  # isort: skip  # first: imports TensorFlow without messages

import tensorflow as tf

from labdl.backends.tensorflow import control_flow, layout, operators
from labdl.backends.tensorflow.array_api import array_device, array_members
from labdl.backends.tensorflow.autograd import clear_gradients, gradients, is_trainable, set_trainable, with_gradient
from labdl.backends.tensorflow.call_recorder import SOURCE, literal, recorder
from labdl.backends.tensorflow.custom_operators import each_time, host_function
from labdl.backends.tensorflow.datasets import native_dataset, native_source
from labdl.backends.tensorflow.determinism import set_deterministic
from labdl.backends.tensorflow.devices import current_device, device_of, devices, set_device, to_device
from labdl.backends.tensorflow.facts import FACTS
from labdl.backends.tensorflow.native_modules import is_native, native_call, native_module, native_parameters
from labdl.backends.tensorflow.optimizers import optimizer
from labdl.backends.tensorflow.random import (
    random_integers,
    random_normal,
    random_permutation,
    random_state,
    random_uniform,
    seed,
    set_random_state,
)
from labdl.backends.tensorflow.tensors import (
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
from labdl.backends.tensorflow.trace import trace
from labdl.backends.tensorflow.training import evaluate_function, gradient_function, train_function, update_function

name = FACTS.name
concurrent = True
namespaces = (tf, tf.math, tf.nn)
strict: frozenset[str] = frozenset()
# kernels that silently accept invalid dtypes, which are checked before the call
lenient: frozenset[str] = frozenset()


def tensor_types():
    # eager and symbolic tensors are both subclasses of tf.Tensor, the resource variables of tf.Variable
    return (tf.Tensor, tf.Variable)
