"""MindSpore as a LabDL backend."""

from labdl.backends.mindspore import runtime  # isort: skip  # first: it prepares the environment MindSpore reads

import mindspore

from labdl.backends.mindspore import interrupts, operators
from labdl.backends.mindspore.array_api import array_members
from labdl.backends.mindspore.custom import host_function
from labdl.backends.mindspore.native import is_native, native_call, native_module, native_parameters
from labdl.backends.mindspore.optimizer import optimizer
from labdl.backends.mindspore.random import *
from labdl.backends.mindspore.recorder import SOURCE, literal, recorder
from labdl.backends.mindspore.runtime import *
from labdl.backends.mindspore.training import evaluate_function, gradient_function, train_function, update_function

interrupts.install()  # now, for a run's thread may not

name = "mindspore"
namespaces = (mindspore.ops,)
# kernels that take, in silence, dtypes that make no sense for them: checked before
lenient = frozenset(("conj", "histogram", "quantile", "real", "searchsorted", "topk"))
tensor_types = runtime.tensor_types
