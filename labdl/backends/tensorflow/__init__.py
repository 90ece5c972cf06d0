"""TensorFlow as a LabDL backend."""

import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import, or its C++ side has read it already


def _import_quietly():
    """Import TensorFlow without the line about oneDNN that its C++ side writes before it has read any log level."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as lines:
        os.dup2(lines.fileno(), 2)
        try:
            import tensorflow
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            lines.seek(0)
            for line in lines:
                if b"oneDNN custom operations" not in line and b"absl::InitializeLog" not in line:
                    os.write(2, line)
    return tensorflow


tf = _import_quietly()

# ruff: noqa: E402 - our own files import TensorFlow too, so it has to come first
from labdl.backends.tensorflow import layout, operators
from labdl.backends.tensorflow.array_api import array_members
from labdl.backends.tensorflow.custom import each_time, host_function
from labdl.backends.tensorflow.native import is_native, native_call, native_module, native_parameters
from labdl.backends.tensorflow.optimizer import optimizer
from labdl.backends.tensorflow.random import *
from labdl.backends.tensorflow.recorder import SOURCE, literal, recorder
from labdl.backends.tensorflow.runtime import *
from labdl.backends.tensorflow.training import evaluate_function, gradient_function, train_function, update_function

name = "tensorflow"
concurrent = True
namespaces = (tf, tf.math, tf.nn)
# kernels that take, in silence, dtypes that make no sense for them: checked before
lenient: frozenset[str] = frozenset()


def tensor_types():
    # eager and symbolic tensors are both subclasses of tf.Tensor, the resource variables of tf.Variable
    return (tf.Tensor, tf.Variable)
