"""Positions of the windows of convolution and pooling, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.dispatch import spec_of

__all__ = ()  # no operators


def sizes_of(x) -> tuple[Any, ...]:
    """The shape of any backend's tensor, for bodies that compute with its sizes."""
    return spec_of(x).shape


def windows(x, window, stride, dilation):
    """View (N, C, out..., window...) of a channels-first array that is already padded."""
    rank = len(window)
    reach = [d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True)]
    axes: Any = tuple(range(2, 2 + rank))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    steps = (slice(None), slice(None), *(slice(None, None, s) for s in stride))
    return view[(*steps, *(slice(None, None, d) for d in dilation))]


def positions(counts, window, sizes, stride, dilation) -> np.ndarray:
    """For each window and each of its elements, the position in the flattened spatial axes: (windows, elements)."""
    flat: Any = np.zeros((1, 1), "int64")
    for count, k, n, s, d in zip(counts, window, sizes, stride, dilation, strict=True):
        at = np.arange(count)[:, None] * s + np.arange(k) * d
        flat = (flat[:, None, :, None] * n + at[None, :, None, :]).reshape(flat.shape[0] * count, -1)
    return flat


def adaptive(n: int, m: int) -> list[range]:
    """The ``m`` windows, as equal as possible, that cover ``n`` elements (PyTorch's formula)."""
    return [range(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def table(parts, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """Windows of unequal length as rows of one table, and their elements' weights (by default for the mean).

    Shorter rows are filled with the last element, whose weight is shared: a weight of zero times infinity would be NaN.
    """
    longest, rows, shares = max(map(len, parts)), [], []
    for at, part in enumerate(parts):
        given = [1 / len(part)] * len(part) if weights is None else list(weights[at])
        count = longest - len(part) + 1
        rows.append([*part[:-1], *[part[-1]] * count])
        shares.append([*given[:-1], *[given[-1] / count] * count])
    return np.array(rows, "int64"), np.array(shares, "float64")
