"""Members of PyTorch's types for the Array API standard."""

import operator

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


def _in_place(short):
    """Writes the values of the infix operator; torch's own method refuses other dtypes and shapes."""
    function, native = getattr(operator, short), getattr(torch.Tensor, f"__i{short}__")

    def call(self, other):
        result = function(self, other)
        if result.dtype is not self.dtype or result.shape != self.shape:
            return native(self, other)
        return self.copy_(result)

    return call


def array_members(shape_like) -> dict[type, dict]:
    in_place = {f"__i{short}__": _in_place(short) for short in ("floordiv", "mod")}
    return {torch.Tensor: {"size": property(_count), **in_place}}


def array_device(name: str) -> torch.device:
    return torch.device("mps", 0) if name == "mps" else torch.device(name)
