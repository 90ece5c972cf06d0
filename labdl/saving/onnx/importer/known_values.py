"""Values that are known at import: weights and constants."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.spec import Spec, dtype_name


@dataclass(eq=False)
class KnownValue:
    """An array of the file or computed from it; ``weight`` is its name if it is a weight, which training would change.

    ``origin`` says how it was computed from the arrays of the file: two parts of one weight differ in it, even where they
    hold equal numbers, and two nodes that transpose one weight do not.
    """

    array: np.ndarray
    weight: str = ""
    origin: str = ""

    def __post_init__(self):
        if self.open and not any(isinstance(n, Size) for n in self.array.ravel()):  # the unknown sizes were sliced away
            self.array = self.array.astype("int64")

    @functools.cached_property
    def digest(self) -> bytes:
        """Identifies the elements; computed once, as many nodes may use one weight."""
        return hashlib.sha256(np.ascontiguousarray(self.array).view("uint8").data).digest()

    @property
    def key(self) -> Hashable:
        """Equal for values that are one weight: by name, numbers and how they were computed."""
        return self.weight, self.shape, self.dtype, self.digest, self.origin

    @property
    def open(self) -> bool:
        """True for a vector of sizes with unknown ones."""
        return self.array.dtype == object

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def dtype(self) -> str:
        return "int64" if self.open else dtype_name(self.array.dtype)


def leaves(values):
    for value in values:
        if isinstance(value, list | tuple):
            yield from leaves(value)
        else:
            yield value


def map_values(value, function) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map_values(v, function) for v in value)
    return function(value)


def spec_of(value):
    return Spec(value.shape, value.dtype) if isinstance(value, KnownValue) else value


def array_of(value):
    return value.array if isinstance(value, KnownValue) else value
