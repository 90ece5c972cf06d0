"""Annex A.1: tensors. A tensor is the default backend's own; `labdl.use` chooses it."""

from __future__ import annotations

from typing import Any

from labdl import ops

_NAMES = {"double": "float64"}  # the standard's second name of a type


def initialize(data, type: str | None = None):
    """A tensor from nested lists, whose depth and lengths give its shape (A.1.2.1, table A.1).

    ``type`` is one of float32, float64 (or double), int64, int32, int16, int8, uint8, string, bool, complex64, and LabDL's
    others; by default that of the data: float32 for floats. Raises TypeError for another type, ValueError for
    lists of unequal lengths; the standard defines no errors here.
    """
    return ops.tensor(data, dtype=None if type is None else _NAMES.get(type, type))


def index(tensor, index: Any = ...):
    """Part of a tensor by element, slice, list of positions or mask along each axis (A.1.2.2, table A.2).

    ``index(t, (i, j))`` is the standard's Tensor[i, j]; slices are written ``slice(0, 2)``. Without an index it is all of it.
    """
    return ops.getitem(tensor, index)


def permute(tensor, dims):
    """A tensor with its axes in another order, ``dims`` with the old position of each (A.1.2.3, table A.3)."""
    return ops.permute_dims(tensor, tuple(dims))


def reshape(tensor, shape):
    """A tensor of the same elements, in the same order, in another shape (A.1.2.4, table A.4).

    One size may be -1 and is inferred from the others; else the numbers of elements must be equal (ValueError).
    """
    return ops.reshape(tensor, (shape,) if isinstance(shape, int) else tuple(shape))
