"""Members of Paddle's types for the Array API standard."""

import paddle

from labdl.backends.paddle.indexing import setitem


def array_members(shape_like) -> dict[type, dict]:
    sizes, native = shape_like(list), paddle.Tensor.shape
    return {
        paddle.Tensor: {
            "shape": property(lambda self: sizes(native.__get__(self))),
            # Paddle's own needs an axis and supports few dtypes
            "__setitem__": lambda self, index, value: paddle.assign(setitem(self, index, value), output=self),
        }
    }
