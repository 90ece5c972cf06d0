"""Text labels as class numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.errors import ConfigError


def is_text(value: Any) -> bool:
    """Whether an array holds text."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "U"


def find_class_names(labels: np.ndarray) -> tuple[str, ...]:
    """The different labels in alphabetical order, as scikit-learn's LabelEncoder numbers them."""
    return tuple(np.unique(labels).tolist())


def encode_labels(labels: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The class numbers (int64) of text labels. Raises ConfigError that names a label which is not among the names."""
    order = np.argsort(np.array(names, dtype=np.str_), kind="stable")
    known = np.array(names, dtype=np.str_)[order]
    at = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    unknown = np.flatnonzero((known[at] != labels).reshape(-1))
    if unknown.size:
        raise ConfigError(
            f"the label {str(labels.reshape(-1)[unknown[0]])!r} is none of the model's classes "
            f"{', '.join(map(str, names[:20]))}{' …' if len(names) > 20 else ''}: train on all classes, or set "
            "model.class_names = None before the training to number them again"
        )
    return order[at].astype("int64")
