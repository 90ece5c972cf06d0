"""Slices of tensors in a loop that a compiler does not unroll: read, and collected."""

from __future__ import annotations

import numpy as np

from labdl.ops.array.shape import broadcast_to, expand_dims, reshape, squeeze, take
from labdl.ops.math.comparison import equal, where


class Sequences:
    """Slices along the first axis of tensors of a backend; for one loop of known length.

    A backend's ``control_flow`` may have its own ``Sequences``, whose gradients take less time.
    """

    def __init__(self, owner, length: int, tensors: list):
        self.length = length
        self.positions = owner.tensor(np.arange(length))
        self.last = owner.tensor(np.asarray(length - 1))

    def unstack(self, x):
        """The slices of a tensor, to be read."""
        return x

    def read(self, sequence, position):
        """The slice at a position, which is a tensor of shape ()."""
        return squeeze(take(sequence, reshape(position, (1,)), axis=0), axis=0)

    def start(self, first):
        """A sequence to be written, of slices like this one."""
        return broadcast_to(expand_dims(first, 0), (self.length, *first.shape))

    def write(self, sequence, position, value):
        """The sequence with a slice at a position."""
        here = equal(reshape(self.positions, (self.length, *(1 for _ in value.shape))), position)
        return where(here, value, sequence)

    def stack(self, sequence):
        """The tensor of all slices."""
        return sequence
