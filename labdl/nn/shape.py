"""Layers that change shape, order or dtype, but no values."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from annotated_types import MinLen

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, Whole
from labdl.ops.operator import floats, ints
from labdl.spec import normal_axes, show


@layer({}, floats(2, 3, 4))
class Flatten(Module):
    """Flattens consecutive axes; by default all after the batch: (N, ...) to (N, features). Semantics: torch.nn.Flatten."""

    start_axis: int = 1
    end_axis: int = -1

    def forward(self, x):
        shape = tuple(x.shape)
        if len(shape) < 2:
            raise ValueError(f"Flatten wants at least two axes, received {show(shape)}")
        first, last = (normal_axes(a, len(shape))[0] for a in (self.start_axis, self.end_axis))
        joined = shape[first : last + 1]
        if not joined:
            raise ValueError(
                f"Flatten wants start_axis before end_axis, received {self.start_axis} and {self.end_axis}"
            )
        rest = (*shape[:first], *shape[last + 1 :])
        if (None in joined) + rest.count(None) > 1:
            raise ValueError(f"Flatten needs known sizes besides one, received {show(shape)}")
        size = -1 if None in joined else math.prod(joined)
        if first and None not in shape[1:]:
            return ops.reshape(x, (-1, *shape[1:first], size, *shape[last + 1 :]))  # fits every batch
        return ops.reshape(x, tuple(-1 if n is None else n for n in (*shape[:first], size, *shape[last + 1 :])))


@layer({"sizes": (2, -1)}, floats(2, 6, 3))
class Unflatten(Module):
    """Splits one axis into several, of which one size may be -1. Semantics: torch.nn.Unflatten."""

    sizes: Annotated[tuple[int, ...], MinLen(1)]
    axis: int = 1

    def forward(self, x):
        shape = tuple(x.shape)
        at = normal_axes(self.axis, len(shape))[0]
        known, size = math.prod(n for n in self.sizes if n != -1), shape[at]
        opened = self.sizes.count(-1)
        if opened > 1 or known < 1 or (size is not None and (size % known or (not opened and size != known))):
            raise ValueError(
                f"Unflatten of axis {self.axis} of {show(shape)} into {show(self.sizes)}: the sizes do not fit"
            )
        parts = self.sizes if size is None else tuple(size // known if n == -1 else n for n in self.sizes)
        lead = () if at == 0 else (-1, *shape[1:at])  # -1 fits every batch size
        target = tuple(-1 if n is None else n for n in (*lead, *parts, *shape[at + 1 :]))
        if target.count(-1) > 1:
            raise ValueError(f"Unflatten needs known sizes after the batch axis, received {show(shape)}")
        return ops.reshape(x, target)


@layer({"shape": (-1,)}, floats(2, 3, 4))
class Reshape(Module):
    """Reshapes each sample, without the batch axis; one size may be -1."""

    shape: tuple[int, ...]

    def forward(self, x):
        shape = self.shape
        if -1 in shape:
            rest = -math.prod(shape)
            if shape.count(-1) > 1 or rest < 1 or None in x.shape[1:]:
                raise ValueError(f"Reshape to {show(shape)} cannot infer the size of -1 from {show(x.shape)}")
            shape = tuple(math.prod(x.shape[1:]) // rest if n == -1 else n for n in shape)
        if None not in x.shape[1:] and math.prod(x.shape[1:]) != math.prod(shape):
            raise ValueError(
                f"Reshape of {show(x.shape)} to {show((None, *self.shape))}: the number of elements of a sample differs"
            )
        return ops.reshape(x, (-1, *shape))


@layer({"axes": (0, 2, 1)}, floats(2, 3, 4))
class Permute(Module):
    """Permutes the axes."""

    axes: tuple[Whole, ...]

    def forward(self, x):
        return ops.permute_dims(x, self.axes)


@layer({"axis": 1}, floats(2, 1, 3))
class Squeeze(Module):
    """Removes one or several axes of size 1."""

    axis: int | tuple[int, ...]

    def forward(self, x):
        return ops.squeeze(x, self.axis)


@layer({}, floats(2, 3))
class ExpandDims(Module):
    """Inserts a new axis of size 1."""

    axis: int = 1

    def forward(self, x):
        return ops.expand_dims(x, self.axis)


@layer({"repeats": 2}, floats(2, 3))
class Repeat(Module):
    """Repeats each element along an axis: a, a, b, b."""

    repeats: Count
    axis: int = 1

    def forward(self, x):
        return ops.repeat(x, self.repeats, axis=self.axis)


@layer({"repetitions": (1, 2)}, floats(2, 3))
class Tile(Module):
    """Repeats the whole tensor along each axis: a, b, a, b."""

    repetitions: tuple[Count, ...]

    def forward(self, x):
        return ops.tile(x, self.repetitions)


def _along(x, axis: int, index) -> tuple:
    """Index of one axis that keeps all elements of the others."""
    return (slice(None),) * normal_axes(axis, len(x.shape))[0] + (index,)


@layer({"start": 1}, floats(2, 4, 3))
class Slice(Module):
    """Part of an axis, from ``start`` up to but without ``stop``; negative numbers count from the end."""

    start: int = 0
    stop: int | None = None
    step: Count = 1
    axis: int = 1

    def forward(self, x):
        return ops.getitem(x, _along(x, self.axis, slice(self.start, self.stop, self.step)))


@layer({}, floats(2, 4, 3))
class Select(Module):
    """Selects one element of an axis, which is removed: -1 is the last, such as the last step of a sequence."""

    index: int = -1
    axis: int = 1

    def forward(self, x):
        return ops.getitem(x, _along(x, self.axis, self.index))


@layer({}, floats(2, 4, 3))
class Flip(Module):
    """Reverses the elements of an axis."""

    axis: int = 1

    def forward(self, x):
        return ops.flip(x, axis=self.axis)


@layer({}, ints(2, 3))
class Cast(Module):
    """Converts the elements to another dtype."""

    dtype: Literal["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"] = (
        "float32"
    )

    def forward(self, x):
        return ops.astype(x, self.dtype)
