"""Members of TensorFlow's types for the Array API standard."""

import numpy as np
import tensorflow as tf

_COMPARABLE = (tf.DType, str, int, type, np.dtype)
_equal = tf.DType.__eq__


def _same_dtype(self, other):
    """Whether two dtypes are one; TensorFlow fails for most other objects."""
    return isinstance(other, _COMPARABLE) and _equal(self, other)


def array_members(shape_like) -> dict[type, dict]:
    sizes = shape_like(tf.TensorShape)
    return {
        tf.DType: {"__eq__": _same_dtype, "__ne__": lambda self, other: not _same_dtype(self, other)},
        # of eager tensors only: in a graph a size may be unknown
        type(tf.constant(0)): {"shape": property(lambda self: sizes(self._shape_tuple()))},
    }
