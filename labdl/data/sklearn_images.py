"""The image data sets of scikit-learn: handwritten digits (UCI Optical Recognition of Handwritten Digits)."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data.array_dataset import ArrayDataset
from labdl.data.registry import register

__all__ = ["digits"]


@register(
    "Handwritten digits, 1,797 images of 8 × 8 (scikit-learn)", input_shape=(None, 1, 8, 8), classes=10, samples=1797
)
def digits(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): images (N, 1, 8, 8) float32 from 0 to 1 and classes (N,) int64, split by ``seed``."""
    from sklearn.datasets import load_digits  # imported lazily: scikit-learn takes a second

    source: Any = load_digits()
    images = (source.images / 16).astype("float32")[:, None]
    order = np.random.default_rng(seed).permutation(len(images))
    test = round(len(images) * test_share)
    names = [str(n) for n in range(10)]
    train, held = order[test:], order[:test]
    return (
        ArrayDataset(images[train], source.target[train].astype("int64"), name="digits", classes=names),
        ArrayDataset(images[held], source.target[held].astype("int64"), name="digits (test)", classes=names),
    )
