"""Changes of variables."""

from labdl.backends.paddle import kernels
from labdl.backends.paddle.arithmetic import stop_gradient
from labdl.backends.paddle.dtypes import cast


def assign(variable, value):
    if variable.shape != value.shape:
        raise ValueError(f"assign wants a value of shape {tuple(variable.shape)}, received {tuple(value.shape)}")
    value = cast(stop_gradient(value), variable.dtype)
    kernels.assign_out_(value, variable)
    return value
