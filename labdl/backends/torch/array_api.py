"""Members of PyTorch's types for the Array API standard."""

import torch

_sizes = torch.Tensor.size


class _Count(int):
    """The number of elements; called as a function it returns torch's sizes."""

    tensor: torch.Tensor

    def __call__(self, dim=None):
        return _sizes(self.tensor, dim)


def _count(tensor):
    count = _Count(tensor.numel())
    count.tensor = tensor
    return count


def array_members(shape_like) -> dict[type, dict]:
    return {torch.Tensor: {"size": property(_count)}}
