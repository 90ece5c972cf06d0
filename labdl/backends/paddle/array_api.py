"""Members of Paddle's types for the Array API standard."""

import paddle

from labdl.backends.paddle.indexing import setitem


def array_members(shape_like) -> dict[type, dict]:
    sizes, native, place = shape_like(list), paddle.Tensor.shape, paddle.Tensor.__dlpack_device__

    def dlpack_device(self):
        kind, number = place(self)
        return kind, number or 0

    return {
        paddle.Tensor: {
            "shape": property(lambda self: sizes(native.__get__(self))),
            "__dlpack_device__": dlpack_device,
            # Paddle's own needs an axis and supports few dtypes
            "__setitem__": lambda self, index, value: paddle.assign(setitem(self, index, value), output=self),
        }
    }
