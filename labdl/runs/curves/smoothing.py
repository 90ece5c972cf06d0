"""Exponential moving average whose window grows with the stream, as in the dashboard."""

from __future__ import annotations

import numpy as np

# constants as in labextension/src/runs/store/smoothing.ts, so that curves are equal everywhere
_PART = 1 / 20  # share of the points so far that the window covers
_NARROWEST, _WIDEST = 3, 1000
_BLOCK = 4096


def moving_average(values: np.ndarray) -> np.ndarray:
    """The average at each value; one that is not finite gives NaN, a gap in the line, and does not change the average."""
    values = np.asarray(values, "float64")
    good = np.isfinite(values)
    result = np.full(values.shape, np.nan)
    places = np.nonzero(good)[0]
    if not len(places):
        return result
    x = values[places]
    scale = max(np.abs(x).max(), np.finfo("float64").tiny)  # or the quotients below could overflow
    share = 1 / np.clip((places + 1) * _PART, _NARROWEST, _WIDEST)
    told = share * (x / scale)
    total = weight = 0.0
    averages = np.empty(len(x))
    for begin in range(0, len(x), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        left = np.cumprod(1 - share[part])  # weight of the values before the block
        totals = left * (total + np.cumsum(told[part] / left))
        weights = left * (weight + np.cumsum(share[part] / left))
        averages[part] = totals / weights
        total, weight = totals[-1], weights[-1]
    result[places] = averages * scale
    return result
