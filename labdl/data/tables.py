"""The small tables of scikit-learn: flowers, wines and tumours to tell apart, diabetes to foretell."""

from __future__ import annotations

from typing import Any

from labdl.data.dataset import ArrayDataset
from labdl.data.splitting import parted, standardised


def iris(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 4 measures of 150 iris flowers (N, 4), and which of 3 species each is (N,) int64.

    Columns have the mean 0 and the deviation 1 over the samples for training; split by ``seed``.
    """
    return _classes("iris", test_share, seed)


def wine(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 13 measures of 178 wines (N, 13), and which of 3 growers each is from; scaled and split as in `iris`."""
    return _classes("wine", test_share, seed)


def breast_cancer(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 30 measures of 569 tumours (N, 30), malignant 0 or benign 1; scaled and split as in `iris`."""
    return _classes("breast_cancer", test_share, seed)


def diabetes(test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test): 10 measures of 442 patients (N, 10), and how far the disease is a year later (N, 1) float32.

    Measures and target have the mean 0 and the deviation 1 over the samples for training; split by ``seed``.
    """
    source = _load("diabetes")
    train, test = parted(len(source.data), test_share, seed)
    x, y = standardised(source.data, train), standardised(source.target[:, None], train)
    return ArrayDataset(x[train], y[train], name="diabetes"), ArrayDataset(x[test], y[test], name="diabetes (test)")


def _load(name: str) -> Any:
    from sklearn import datasets  # here, because scikit-learn takes a second to import

    return getattr(datasets, f"load_{name}")()


def _classes(name: str, test_share: float, seed: int) -> tuple[ArrayDataset, ArrayDataset]:
    source = _load(name)
    train, test = parted(len(source.data), test_share, seed)
    x, y, names = standardised(source.data, train), source.target.astype("int64"), [str(n) for n in source.target_names]
    return (ArrayDataset(x[train], y[train], name=name, classes=names),
            ArrayDataset(x[test], y[test], name=f"{name} (test)", classes=names))  # fmt: skip
