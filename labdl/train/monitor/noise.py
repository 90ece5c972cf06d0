"""Noise of a curve."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from statistics import median


def noise(curve: Iterable[float]) -> float:
    """Robust estimate of the standard deviation of values around a smooth curve, from the changes between neighbors."""
    changes = [b - a for a, b in itertools.pairwise(curve)]
    if not changes:
        return 0.0
    middle = median(changes)
    return 1.4826 * median(abs(change - middle) for change in changes) / math.sqrt(2)
