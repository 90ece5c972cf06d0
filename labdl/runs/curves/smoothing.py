"""Exponential moving average over a stream, wider the longer the stream has been: as the dashboard draws it."""

from __future__ import annotations

import numpy as np

# the numbers of labextension/src/runs/store/smoothing.ts, so that a curve is the same wherever it is drawn
_PART = 1 / 20  # of the points so far is looked back over
_NARROWEST, _WIDEST = 3, 1000
_BLOCK = 4096


def moving_average(values: np.ndarray) -> np.ndarray:
    """The average at each value; one that is not finite gives NaN, a gap in the line, and leaves the average as it was."""
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
        left = np.cumprod(1 - share[part])  # of what was before the block
        totals = left * (total + np.cumsum(told[part] / left))
        weights = left * (weight + np.cumsum(share[part] / left))
        averages[part] = totals / weights
        total, weight = totals[-1], weights[-1]
    result[places] = averages * scale
    return result
