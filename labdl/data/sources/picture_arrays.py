"""Data set of pictures of one size in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.parts import Image


class PictureArrays(Dataset):
    """Pictures (N, height, width, channels) uint8 and class numbers (N,): samples ``{"image": Image, "label": int}``.

    Further arrays of N numbers are entries by their names.
    """

    inputs, targets = ("image",), ("label",)

    def __init__(
        self, images: np.ndarray, labels: np.ndarray, *, name: str, classes: Sequence[str], **entries: np.ndarray
    ):
        self.images, self._labels, self.entries = images, labels.astype(np.int64), entries
        self.name, self.classes = name, list(classes)

    def __len__(self) -> int:
        return len(self.images)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        sample: dict[str, Any] = {"image": Image(self.images[index].copy()), "label": int(self._labels[index])}
        return sample | {name: int(values[index]) for name, values in self.entries.items()}

    def label_of(self, index: int) -> Any:
        return int(self._labels[index])

    def labels(self) -> np.ndarray:
        return self._labels
