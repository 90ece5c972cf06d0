"""Members of MindSpore's types for the Array API standard."""

import operator

from mindspore import Tensor

from labdl.backends.mindspore.devices import device_of
from labdl.backends.mindspore.indexing import setitem

_IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul")


def _binary_method(short):
    """Returns a new tensor instead of modifying one: MindSpore's methods accept few operands and dtypes."""
    function = getattr(operator, f"__{short}__")
    return lambda self, other: function(self, other)


def _set(self, index, value):
    self.assign_value(setitem(self, index, value))


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    # through the array, which shares memory with the tensor: MindSpore's capsules lack bool and devices
    return self.asnumpy().__dlpack__()


def array_members(shape_like) -> dict[type, dict]:
    return {
        Tensor: {
            **{f"__i{short}__": _binary_method(short) for short in _IN_PLACE},
            "__setitem__": _set,
            "device": property(device_of),
            "__complex__": lambda self: complex(self.asnumpy()),
            "__dlpack__": _dlpack,
            "__dlpack_device__": lambda self: self.asnumpy().__dlpack_device__(),
        }
    }
