"""Train-test split and standardization of columns (NumPy only)."""

from __future__ import annotations

import numpy as np

from labdl.errors import ConfigError


def train_test_split(samples: int, test_share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random indices of training and test samples; at least one of each."""
    if not 0 < test_share < 1:
        raise ConfigError(f"test_share wants a number above 0 and below 1, received {test_share!r}")
    if samples < 2:
        raise ConfigError(
            f"a data set wants at least 2 samples, one for training and one for testing, received {samples}"
        )
    order = np.random.default_rng(seed).permutation(samples)
    test = min(max(round(samples * test_share), 1), samples - 1)
    return order[test:], order[:test]


def standardize(values: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Standardize columns by mean and standard deviation of the training samples; float32."""
    seen = values[train].astype("float64")
    spread = seen.std(0)
    return ((values - seen.mean(0)) / np.where(spread > 0, spread, 1.0)).astype("float32")
