"""Rejection of samples so that the classes have other shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.errors import ConfigError, DataError


def resample(
    source: Dataset,
    target_dist: Sequence[float],
    initial_dist: Sequence[float] | None,
    class_func: Callable[[Any], int] | None,
    seed: int,
) -> Dataset:
    """The samples that are accepted; see `Dataset.rejection_resample`."""
    target = check_shares("target_dist", target_dist)
    labels = source.labels() if class_func is None else np.array([class_func(s) for s in source])
    if labels.ndim != 1 or labels.dtype.kind not in "iub":
        raise ConfigError(
            f"rejection_resample wants a class number for each sample, received {labels.dtype} {labels.shape}"
        )
    labels = labels.astype(np.int64)
    if labels.size and not 0 <= labels.min() <= labels.max() < len(target):
        raise ConfigError(_outside(int(labels.min() if labels.min() < 0 else labels.max()), len(target)))
    counted = np.bincount(labels, minlength=len(target)) / max(len(labels), 1)
    initial = counted if initial_dist is None else check_shares("initial_dist", initial_dist, len(target))
    accepted = np.random.default_rng(seed).random(len(labels)) < acceptance(target, initial)[labels]
    return source.select(np.flatnonzero(accepted))


def check_shares(name: str, values: Sequence[float], count: int | None = None) -> np.ndarray:
    """Shares as numbers that sum to 1. Raises ConfigError."""
    shares = np.asarray(values, "float64")
    fits = shares.ndim == 1 and shares.size > 0 and count in (None, shares.size)
    if not fits or not np.isfinite(shares).all() or shares.min() < 0 or not shares.sum() > 0:
        wanted = "for each class" if count is None else f"for each of {count} classes"
        raise ConfigError(f"{name} wants a share of at least 0 {wanted}, received {values!r:.80}")
    return shares / shares.sum()


def acceptance(target: np.ndarray, initial: np.ndarray) -> np.ndarray:
    """The probability with which a sample of each class is kept: the largest ones that give the target shares."""
    if (missing := np.flatnonzero((target > 0) & (initial <= 0))).size:
        raise ConfigError(
            f"target_dist wants samples of class {missing[0]}, which has none: give it the share 0, or add samples"
        )
    ratio = np.divide(target, initial, out=np.zeros_like(target), where=initial > 0)
    return ratio / ratio.max()


def class_number(value: Any, count: int, what: str) -> int:
    """The class of a sample as an index. Raises DataError."""
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "iub":
        raise DataError(f"rejection_resample wants a class number for each sample, received {value!r:.80} for {what}")
    if not 0 <= int(number) < count:
        raise DataError(f"{what}: {_outside(int(number), count)}")
    return int(number)


def _outside(number: int, count: int) -> str:
    return f"target_dist has the shares of the classes 0 to {count - 1}, a sample has the class {number}"
