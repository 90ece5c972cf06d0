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


def device_name(device) -> str:
    """LabDL's name of a device that a framework calls "CPU", "/job:localhost/…/device:GPU:0" or torch.device("cuda")."""
    kind, _, number = str(device).rpartition("device:")[2].lower().partition(":")
    kind = {"gpu": "cuda"}.get(kind, kind)
    return kind if kind == "cpu" or not number else f"{kind}:{number}"


def shape_like(native: type) -> type:
    """A class of tuples, as the standard wants sizes, that otherwise do what a framework's own class of sizes does."""

    class Shape(tuple):
        __slots__ = ()
        __hash__ = tuple.__hash__

        def __getattr__(self, name):
            return getattr(native(self), name)

        def __eq__(self, other):
            return tuple.__eq__(self, other) if isinstance(other, tuple) else native(self) == other

        def __ne__(self, other):
            return not self == other

        def __getitem__(self, key):
            found = tuple.__getitem__(self, key)
            return Shape(found) if isinstance(key, slice) else found

        def __add__(self, other):
            return Shape((*self, *other)) if isinstance(other, tuple | list) else native(self) + other

        def __radd__(self, other):
            return Shape((*other, *self)) if isinstance(other, tuple | list) else other + native(self)

    return Shape


def teach(namespace) -> None:
    """Give the framework's tensor types what they lack; what they have keeps its native meaning."""
    backend = namespace._backend
    lacking = {
        "T": property(_transposed),
        "mT": property(ops.matrix_transpose),
        "ndim": property(lambda self: len(self.shape)),
        "size": property(_size),
        "device": property(backend.device_of),
        "to_device": lambda self, device, /, *, stream=None: dispatch.to_device(self, device_name(device)),
    }
    for kind in backend.tensor_types():
        for name, value in lacking.items():
            if not hasattr(kind, name):
                setattr(kind, name, value)
        kind.__array_namespace__ = lambda self, *, api_version=None: namespace
    for kind, members in backend.array_members(shape_like).items():
        for name, value in members.items():
            setattr(kind, name, value)
    infix.everywhere()
