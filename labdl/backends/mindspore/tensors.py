"""MindSpore tensors, data types and variables."""

import itertools

import mindspore
import numpy as np
from mindspore import Parameter, Tensor

from labdl.backends.mindspore.devices import to_device
from labdl.backends.mindspore.threads import exclusive
from labdl.spec import Spec

_DTYPES = {
    name: getattr(mindspore, name)
    for name in (
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
} | {"bool": mindspore.bool_}


_NAMES = {kind: name for name, kind in _DTYPES.items()}


_count = itertools.count()  # MindSpore identifies parameters by name


def tensor_types():
    return (Tensor, Parameter)


def dtype(name: str):
    return _DTYPES[name]


@exclusive
def copy(value):
    return value.copy()


def from_dlpack(value, copy=None):
    """MindSpore's reader needs a capsule, and supports neither bool nor complex numbers: the memory is copied."""
    if copy is False:
        raise ValueError("MindSpore reads the memory of other libraries with a copy only: copy=False is not possible")
    return value.copy() if isinstance(value, Tensor) else Tensor(np.from_dlpack(value))


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), _NAMES[value.dtype])


def key_of(value) -> tuple:
    return value.shape, value.dtype


def tensor(array):
    return Tensor(np.array(array))  # a copy: MindSpore reads the array's memory later


def to_numpy(value):
    if value.dtype == mindspore.bfloat16:
        value = _as_float32(value)
    return value.asnumpy().copy()  # asnumpy is a view of the tensor's memory


@exclusive
def _as_float32(value):
    return value.astype(mindspore.float32)


def variable(array, trainable: bool = True):
    value = array if isinstance(array, Tensor) else tensor(array)
    return Parameter(value, name=f"labdl.{next(_count)}", requires_grad=trainable)


@exclusive
def assign(target, array) -> None:
    target.copy_(Tensor(np.array(array), target.dtype))  # in place: compiled functions keep the memory


def finite(variables):
    return next((i for i, v in enumerate(variables) if not np.isfinite(v.asnumpy()).all()), None)


@exclusive
def move_variable(value, device: str):
    return Parameter(to_device(value, device), name=f"labdl.{next(_count)}", requires_grad=value.requires_grad)
