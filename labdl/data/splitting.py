"""Random and stratified splits of indices."""

from __future__ import annotations

import numpy as np

from labdl.errors import ConfigError


def split_indices(
    samples: int, share: float, seed: int | None, labels: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of two parts, of which the first has a share of the samples, at least one each.

    Shuffled by ``seed``, in order if it is None. ``labels`` (N,) keep their shares in both parts: of each label the first
    part takes the rounded share, at least one sample where the label has two. Raises ConfigError.
    """
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 < share < 1:
        raise ConfigError(f"split wants a share above 0 and below 1, received {share!r}")
    if samples < 2:
        raise ConfigError(f"split wants at least 2 samples, one for each part, received {samples}")
    order = np.arange(samples) if seed is None else np.random.default_rng(seed).permutation(samples)
    if labels is None:
        count = min(max(round(samples * share), 1), samples - 1)
        return order[:count], order[count:]
    if len(labels) != samples or labels.ndim != 1:
        raise ConfigError(f"stratify wants one label for each of {samples} samples, received the shape {labels.shape}")
    _, groups = np.unique(labels, return_inverse=True)
    groups = groups.reshape(-1)[order]
    sizes = np.bincount(groups)
    counts = np.rint(sizes * share).astype(np.int64)
    counts = np.where(sizes > 1, np.clip(counts, 1, sizes - 1), counts)
    # rank of each sample within its label, in the order of the split
    by_label = np.argsort(groups, kind="stable")
    rank = np.empty(samples, np.int64)
    rank[by_label] = np.arange(samples) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = rank < counts[groups]
    if first.all() or not first.any():
        raise ConfigError(f"split with share={share} of {samples} samples leaves one part empty")
    return order[first], order[~first]
