"""What the standard asks of an array and a framework's tensors lack: attributes and methods, added when they are asked for."""

from __future__ import annotations

import math

from labdl import dispatch, ops
from labdl.ops import infix


def _transposed(self):
    if len(self.shape) != 2:
        raise ValueError(f"T wants 2 axes, received {tuple(self.shape)}: use mT or permute_dims")
    return ops.permute_dims(self, (1, 0))


def _size(self):
    sizes = tuple(self.shape)
    return None if None in sizes else math.prod(sizes)


def teach(namespace) -> None:
    """Give the framework's tensor types what they lack; what they have keeps its native meaning."""
    backend = namespace._backend
    lacking = {
        "T": property(_transposed),
        "mT": property(ops.matrix_transpose),
        "ndim": property(lambda self: len(self.shape)),
        "size": property(_size),
        "device": property(backend.device_of),
        "to_device": lambda self, device, /, *, stream=None: dispatch.to_device(self, str(device)),
    }
    for kind in backend.tensor_types():
        for name, value in lacking.items():
            if not hasattr(kind, name):
                setattr(kind, name, value)
        kind.__array_namespace__ = lambda self, *, api_version=None: namespace
    for kind, members in backend.array_members().items():
        for name, value in members.items():
            setattr(kind, name, value)
    infix.everywhere()
