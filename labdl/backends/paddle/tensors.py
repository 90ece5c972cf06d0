"""PaddlePaddle tensors, data types and variables."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportPrivateImportUsage=false

import paddle

from labdl.backends.paddle.devices import to_device
from labdl.spec import DTYPES, Spec

TENSORS = (paddle.Tensor, paddle.pir.Value)  # eager, and symbolic inside paddle.jit.to_static


_NAMES = {getattr(paddle, n): n for n in DTYPES if n != "string"}


def dtype(name: str):
    return getattr(paddle, name)


def copy(value):
    return value.clone()


def from_dlpack(value, copy=None):
    return paddle.utils.dlpack.from_dlpack(value)


def dtype_name(value) -> str:
    return _NAMES[value.dtype]


def spec_of(value) -> Spec:
    return Spec(tuple(None if n < 0 else n for n in value.shape), _NAMES[value.dtype])


def key_of(value) -> tuple:
    return tuple(value.shape), value.dtype


def tensor(array):
    if _bfloat16(array):
        return paddle.to_tensor(array.astype("float32"), dtype="bfloat16")
    return paddle.to_tensor(array)


def _bfloat16(array) -> bool:
    """True for an array of bfloat16, which Paddle cannot read."""
    return getattr(getattr(array, "dtype", None), "kind", "") == "V"


def to_numpy(value):
    return (value.astype("float32") if value.dtype == paddle.bfloat16 else value).numpy()


def parameter(value):
    """A trainable variable with a tensor's values. Paddle chooses the name, which must be unique in a process."""
    # as EagerParamBase.from_tensor, which rejects the tuples that shapes are after `labdl.array_namespace`
    made = paddle.base.framework.EagerParamBase(list(value.shape), value.dtype)
    made._set_impl(value)
    return made


def variable(array, trainable: bool = True):
    value = tensor(array)
    return parameter(value) if trainable else value


def assign(target, array) -> None:
    with paddle.no_grad():
        values = array.astype("float32") if _bfloat16(array) else array
        target.set_value(paddle.to_tensor(values, dtype=target.dtype))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not paddle.isfinite(v).all()), None)


def move_variable(value, device: str):
    made = to_device(value.detach(), device)
    if not isinstance(value, paddle.base.framework.EagerParamBase):
        return made
    made = parameter(made)
    made.stop_gradient = value.stop_gradient
    return made
