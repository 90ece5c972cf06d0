"""Data: datasets and loaders. NumPy only; tensors are made when a batch reaches the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labdl.data.dataset import ArrayDataset
from labdl.data.digits import digits
from labdl.data.loader import Loader


@dataclass(frozen=True)
class Source:
    """A named data set that the Train panel offers."""

    load: Callable[[], tuple[ArrayDataset, ArrayDataset]]
    summary: str
    input_shape: tuple[int | None, ...]
    classes: int
    samples: int


SOURCES = {
    "digits": Source(digits, "Handwritten digits, 1,797 images of 8 × 8 (scikit-learn)", (None, 1, 8, 8), 10, 1797)
}

__all__ = ["SOURCES", "ArrayDataset", "Loader", "Source", "digits"]
