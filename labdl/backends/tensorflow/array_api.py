"""Members of TensorFlow's types for the Array API standard."""

import numpy as np
import tensorflow as tf

from labdl.backends.tensorflow.devices import to_device

_COMPARABLE = (tf.DType, str, int, type, np.dtype)
_equal = tf.DType.__eq__
_EAGER = tf.__internal__.EagerTensor  # computing here would start threads, which a fork does not survive
_capsule = _EAGER.__dlpack__  # pyright: ignore[reportAttributeAccessIssue]


def _same_dtype(self, other):
    """Whether two dtypes are one; TensorFlow fails for most other objects."""
    return isinstance(other, _COMPARABLE) and _equal(self, other)


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule of the memory; TensorFlow's own method refuses each device, this one's too, and copies."""
    if dl_device is not None and dl_device != self.__dlpack_device__():
        if dl_device != (1, 0) or copy is False:
            raise BufferError(f"a tensor on {self.device} is exported to the CPU by a copy only, not to {dl_device}")
        self, copy = to_device(self, "cpu"), None
    if copy:
        self = tf.raw_ops.DeepCopy(x=self)
    return _capsule(self, stream=stream)


def _set(self, index, value):
    raise TypeError(
        "TensorFlow's tensors do not support item assignment, for their memory never changes: "
        "labdl.ops.setitem(x, index, value) creates a new one"
    )


def array_members(shape_like) -> dict[type, dict]:
    sizes = shape_like(tf.TensorShape)
    return {
        tf.DType: {"__eq__": _same_dtype, "__ne__": lambda self, other: not _same_dtype(self, other)},
        # of eager tensors only: in a graph a size may be unknown
        _EAGER: {
            "shape": property(lambda self: sizes(self._shape_tuple())),
            "__dlpack__": _dlpack,
            "__setitem__": _set,
        },
    }


def array_device(name: str) -> str:
    return to_device(tf.zeros(()), name).device
