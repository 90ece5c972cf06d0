"""Changes of variables."""

import mindspore
from mindspore import Parameter, ops
from mindspore.ops import operations as P

_assign = P.Assign()


def assign(variable, value):
    """A tensor that is no Parameter keeps its value."""
    if variable.shape != value.shape:
        raise ValueError(f"assign wants a value of shape {variable.shape}, received {value.shape}")
    value = ops.cast(ops.stop_gradient(value), variable.dtype)
    if not isinstance(variable, Parameter):
        return value
    if variable.dtype is mindspore.bfloat16:  # the kernel does not know it
        variable.set_data(value)
        return value
    return _assign(variable, value)
