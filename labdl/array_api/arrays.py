"""Array attributes and methods of the standard that a framework's tensors lack, added on request."""

from __future__ import annotations

import math

from labdl import dispatch, ops
from labdl.ops import infix


def _transpose(self):
    if len(self.shape) != 2:
        raise ValueError(f"T wants 2 axes, received {tuple(self.shape)}: use mT or permute_dims")
    return ops.permute_dims(self, (1, 0))


def _size(self):
    sizes = tuple(self.shape)
    return None if None in sizes else math.prod(sizes)


def device_name(device) -> str:
    """LabDL's name of a device such as "CPU", "/job:localhost/…/device:GPU:0" or torch.device("cuda")."""
    kind, _, number = str(device).rpartition("device:")[2].lower().partition(":")
    kind = {"gpu": "cuda"}.get(kind, kind)
    return kind if kind == "cpu" or not number else f"{kind}:{number}"


def shape_like(native: type) -> type:
    """Create a tuple class for shapes, as the standard requires, with the attributes of the framework's class."""

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


def patch_tensor_types(namespace) -> None:
    """Add missing attributes to the framework's tensor types; existing ones keep their native meaning."""
    backend = namespace._backend
    lacking = {
        "T": property(_transpose),
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
        for short in ("truediv", "floordiv", "mod"):
            if function := namespace._special.get(infix.BINARY[short]):
                infix.redefine(kind, short, function)
    for kind, members in backend.array_members(shape_like).items():
        for name, value in members.items():
            setattr(kind, name, value)
    infix.enable_everywhere()
