"""Values that are known when a file is read: weights and constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.saving.onnx.importer.dynamic_shapes import Size
from labdl.spec import Spec, dtype_name


@dataclass(eq=False)
class Known:
    """Numbers that stand in the file or follow from it; ``weight`` is the name of those that training would change."""

    array: np.ndarray
    weight: str = ""

    def __post_init__(self):
        if self.open and not any(isinstance(n, Size) for n in self.array.ravel()):  # what was cut out is known
            self.array = self.array.astype("int64")

    @property
    def open(self) -> bool:
        """Whether these are sizes of which some are unknown."""
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


def replaced(value, function) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(replaced(v, function) for v in value)
    return function(value)


def spec_of(value):
    return Spec(value.shape, value.dtype) if isinstance(value, Known) else value


def array_of(value):
    return value.array if isinstance(value, Known) else value
