"""What the Array API standard asks of PyTorch's own types."""

import torch

_sizes = torch.Tensor.size


class _Count(int):
    """The number of a tensor's elements, which as a function still gives torch's sizes."""

    def __call__(self, dim=None):
        return _sizes(self.tensor, dim)


def _count(tensor):
    count = _Count(tensor.numel())
    count.tensor = tensor
    return count


def array_members(shape_like) -> dict[type, dict]:
    return {torch.Tensor: {"size": property(_count)}}
