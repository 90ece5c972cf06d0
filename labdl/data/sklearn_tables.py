"""The tabular data sets of scikit-learn: classification (iris, wine, breast cancer) and regression (diabetes, linnerud)."""

from __future__ import annotations

from typing import Any

from labdl.data.array_dataset import ArrayDataset
from labdl.data.preprocessing import standardize, train_test_split
from labdl.data.registry import register

__all__ = ["breast_cancer", "diabetes", "iris", "linnerud", "wine"]


@register("Species of 150 iris flowers from 4 features (scikit-learn)", input_shape=(None, 4), classes=3, samples=150)
def iris(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 4 features of 150 iris flowers (N, 4) float32, and their species (N,) int64, 3 classes.

    Features have mean 0 and standard deviation 1 over the training samples; split by ``seed``.
    """
    return _classification("iris", test_share, seed)


@register("Cultivars of 178 wines from 13 features (scikit-learn)", input_shape=(None, 13), classes=3, samples=178)
def wine(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 13 features of 178 wines (N, 13), and their cultivars, 3 classes; scaled and split as in `iris`."""
    return _classification("wine", test_share, seed)


@register(
    "Malignant or benign, 569 tumors with 30 features (scikit-learn)", input_shape=(None, 30), classes=2, samples=569
)
def breast_cancer(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 30 features of 569 tumors (N, 30), malignant 0 or benign 1; scaled and split as in `iris`."""
    return _classification("breast_cancer", test_share, seed)


@register(
    "Progression of diabetes in 442 patients from 10 features, regression (scikit-learn)",
    input_shape=(None, 10),
    classes=None,
    samples=442,
)
def diabetes(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 10 features of 442 patients (N, 10), and the progression of diabetes after a year (N, 1) float32.

    Features and target have mean 0 and standard deviation 1 over the training samples; split by ``seed``.
    """
    return _regression("diabetes", test_share, seed)


@register(
    "Weight, waist and pulse of 20 people from 3 exercises, regression (scikit-learn)",
    input_shape=(None, 3),
    classes=None,
    samples=20,
)
def linnerud(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 3 exercises of 20 people (N, 3), and their weight, waist and pulse (N, 3) float32.

    Scaled and split as in `diabetes`.
    """
    return _regression("linnerud", test_share, seed)


def _load(name: str) -> Any:
    from sklearn import datasets  # imported lazily: scikit-learn takes a second

    return getattr(datasets, f"load_{name}")()


def _classification(name: str, test_share: float, seed: int) -> tuple[ArrayDataset, ArrayDataset]:
    source = _load(name)
    train, test = train_test_split(len(source.data), test_share, seed)
    x, y, names = standardize(source.data, train), source.target.astype("int64"), [str(n) for n in source.target_names]
    return (
        ArrayDataset(x[train], y[train], name=name, classes=names),
        ArrayDataset(x[test], y[test], name=f"{name} (test)", classes=names),
    )


def _regression(name: str, test_share: float, seed: int) -> tuple[ArrayDataset, ArrayDataset]:
    source = _load(name)
    train, test = train_test_split(len(source.data), test_share, seed)
    x, y = standardize(source.data, train), standardize(source.target.reshape(len(source.data), -1), train)
    return ArrayDataset(x[train], y[train], name=name), ArrayDataset(x[test], y[test], name=f"{name} (test)")
