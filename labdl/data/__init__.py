"""Datasets and loaders of NumPy arrays; batches become tensors when they reach the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labdl.data.dataset import ArrayDataset
from labdl.data.digits import digits
from labdl.data.file_datasets import csv, npz
from labdl.data.loader import Loader
from labdl.data.sklearn_tables import breast_cancer, diabetes, iris, wine


@dataclass(frozen=True)
class Source:
    """A data set that the Train panel offers by name; ``classes`` is None for regression targets."""

    load: Callable[[], tuple[ArrayDataset, ArrayDataset]]
    summary: str
    input_shape: tuple[int | None, ...]
    classes: int | None
    samples: int


SOURCES = {
    "digits": Source(digits, "Handwritten digits, 1,797 images of 8 × 8 (scikit-learn)", (None, 1, 8, 8), 10, 1797),
    "iris": Source(iris, "Species of 150 iris flowers from 4 features (scikit-learn)", (None, 4), 3, 150),
    "wine": Source(wine, "Cultivars of 178 wines from 13 features (scikit-learn)", (None, 13), 3, 178),
    "breast_cancer": Source(
        breast_cancer, "Malignant or benign, 569 tumors with 30 features (scikit-learn)", (None, 30), 2, 569
    ),
    "diabetes": Source(
        diabetes,
        "Progression of diabetes in 442 patients from 10 features, regression (scikit-learn)",
        (None, 10),
        None,
        442,
    ),
}

__all__ = [
    "SOURCES",
    "ArrayDataset",
    "Loader",
    "Source",
    "breast_cancer",
    "csv",
    "diabetes",
    "digits",
    "iris",
    "npz",
    "wine",
]
