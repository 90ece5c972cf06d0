"""Statistics of arrays for display. NumPy only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from labdl.runs.array_preview import number

BINS = 30


def figures(parts: Iterable[np.ndarray], *, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """Statistics and histogram of the values in ``parts``, which may be a sample of an array of that shape.

    ``counted`` of ``size`` values were read. Mean, deviation, range and histogram are of the finite ones; statistics that do
    not exist (for strings or empty arrays) are None.
    """
    found = [part.reshape(-1) for part in parts]
    values = np.concatenate(found) if found else np.empty(0)
    answer: dict[str, Any] = {
        "shape": list(shape),
        "dtype": dtype,
        "size": math.prod(shape),
        "counted": len(values),
        "mean": None,
        "std": None,
        "min": None,
        "max": None,
        "zeros": None,
        "not_finite": None,
        "histogram": None,
    }
    if values.dtype.kind not in "biufV" or not len(values):
        return answer
    with np.errstate(all="ignore"):  # statistics that overflow become None
        values = values.astype("float64")
        finite = values[np.isfinite(values)]
        answer |= {
            "zeros": number(1 - np.count_nonzero(values) / len(values)),
            "not_finite": len(values) - len(finite),
        }
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            answer |= {
                "mean": number(finite.mean()),
                "std": number(finite.std()),
                "min": number(low),
                "max": number(high),
                "histogram": _histogram(finite, low, high),
            }
    return answer


def _histogram(values: np.ndarray, low: float, high: float) -> dict[str, Any] | None:
    width = high - low
    if width == 0:
        return {"low": number(low), "high": number(high), "counts": [len(values)]}
    if not math.isfinite(width):
        return None
    # np.histogram rejects ranges that are too narrow for its bins
    places = np.minimum((values - low) / width * BINS, BINS - 1).astype(np.intp)
    return {"low": number(low), "high": number(high), "counts": np.bincount(places, minlength=BINS).tolist()}
