"""Parting samples into those for training and those for testing, and bringing columns to one scale (NumPy only)."""

from __future__ import annotations

import numpy as np

from labdl.errors import ConfigError


def parted(samples: int, test_share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the samples for training and for testing, drawn by ``seed``; both have at least one."""
    if not 0 < test_share < 1:
        raise ConfigError(f"test_share wants a number above 0 and below 1, received {test_share!r}")
    if samples < 2:
        raise ConfigError(f"a data set wants at least 2 samples, one to train and one to test, received {samples}")
    order = np.random.default_rng(seed).permutation(samples)
    test = min(max(round(samples * test_share), 1), samples - 1)
    return order[test:], order[:test]


def standardised(values: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Columns less their mean and over their deviation, both of the samples for training alone; float32."""
    seen = values[train].astype("float64")
    spread = seen.std(0)
    return ((values - seen.mean(0)) / np.where(spread > 0, spread, 1.0)).astype("float32")
