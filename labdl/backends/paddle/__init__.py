"""PaddlePaddle as a LabDL backend."""

import os
import warnings

# glog reads these once, while Paddle loads. GLOG_v=3 means "errors only" to MindSpore and "talk much" to Paddle.
_LEVEL, _VERBOSITY = "GLOG_minloglevel", "GLOG_v"
_before = {key: os.environ.pop(key, None) for key in (_LEVEL, _VERBOSITY)}
os.environ[_LEVEL] = _before[_LEVEL] or "2"  # Paddle warns at each promotion of a dtype
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # "No ccache found"
    import paddle
del os.environ[_LEVEL]
os.environ.update({key: value for key, value in _before.items() if value is not None})

from labdl.backends.paddle import operators  # noqa: E402
from labdl.backends.paddle.array_api import array_members  # noqa: E402
from labdl.backends.paddle.custom import host_function  # noqa: E402
from labdl.backends.paddle.native import is_native, native_call, native_module, native_parameters  # noqa: E402
from labdl.backends.paddle.optimizer import optimizer  # noqa: E402
from labdl.backends.paddle.random import *  # noqa: E402
from labdl.backends.paddle.recorder import SOURCE, literal, recorder  # noqa: E402
from labdl.backends.paddle.runtime import *  # noqa: E402
from labdl.backends.paddle.training import evaluate_function, gradient_function, train_function, update_function  # noqa: E402

name = "paddle"
concurrent = True
namespaces = (paddle, paddle.nn.functional)
# kernels that take, in silence, dtypes that make no sense for them: checked before
lenient = frozenset((
    "var", "std", "quantile", "cumulative_max", "cumulative_min", "topk", "searchsorted", "histogram", "real", "conj",
    "scatter_nd",
))  # fmt: skip


def tensor_types():
    return (*TENSORS, paddle.base.framework.EagerParamBase)
