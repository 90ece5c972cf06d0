"""Data: datasets and loaders. NumPy only; tensors are made when a batch reaches the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labdl.data.dataset import ArrayDataset
from labdl.data.digits import digits
from labdl.data.files import csv, npz
from labdl.data.loader import Loader
from labdl.data.tables import breast_cancer, diabetes, iris, wine


@dataclass(frozen=True)
class Source:
    """A named data set that the Train panel offers; without ``classes`` its targets are numbers to be foretold."""

    load: Callable[[], tuple[ArrayDataset, ArrayDataset]]
    summary: str
    input_shape: tuple[int | None, ...]
    classes: int | None
    samples: int


SOURCES = {
    "digits": Source(digits, "Handwritten digits, 1,797 images of 8 × 8 (scikit-learn)", (None, 1, 8, 8), 10, 1797),
    "iris": Source(iris, "Species of iris, 150 flowers with 4 measures (scikit-learn)", (None, 4), 3, 150),
    "wine": Source(wine, "Growers of wine, 178 bottles with 13 measures (scikit-learn)", (None, 13), 3, 178),
    "breast_cancer": Source(
        breast_cancer, "Malignant or benign, 569 tumours with 30 measures (scikit-learn)", (None, 30), 2, 569
    ),
    "diabetes": Source(
        diabetes,
        "Progress of diabetes, a number for 442 patients with 10 measures (scikit-learn)",
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
