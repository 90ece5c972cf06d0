"""What the Array API standard asks of Paddle's own types."""

import paddle


def array_members(shape_like) -> dict[type, dict]:
    sizes, native = shape_like(list), paddle.Tensor.shape
    return {paddle.Tensor: {"shape": property(lambda self: sizes(native.__get__(self)))}}
