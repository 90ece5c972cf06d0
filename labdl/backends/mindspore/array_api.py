"""What the Array API standard asks of MindSpore's own types."""

from mindspore import Tensor


def array_members(shape_like) -> dict[type, dict]:
    return {
        Tensor: {
            "__complex__": lambda self: complex(self.asnumpy()),
            # through the array, which lies in the tensor's own memory: MindSpore's capsules know no bool and no device
            "__dlpack__": lambda self, **options: self.asnumpy().__dlpack__(),
            "__dlpack_device__": lambda self: self.asnumpy().__dlpack_device__(),
        }
    }
