"""A curve as a fixed number of means, and as a line of text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from labdl.runs.reading.values import round_digits
from labdl.runs.schema import SPARK_POINTS as POINTS

_BUCKETS = 2 * POINTS
_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " _.,-~=*#"


class Sparkline:
    """Means over equal parts of the steps; their width doubles when there are too many."""

    def __init__(self):
        self._first: int | None = None
        self._width = 1
        self._sums, self._counts = np.zeros(_BUCKETS), np.zeros(_BUCKETS, "int64")

    def add(self, steps: np.ndarray, values: np.ndarray) -> None:
        """Add values; those that are not finite are ignored."""
        if self._first is None:
            self._first = int(steps[0])
        places = steps - self._first
        good = np.isfinite(values) & (places >= 0)
        if not good.all():
            places, values = places[good], values[good]
        if not len(places):
            return
        last = int(places.max())
        while last // self._width >= _BUCKETS:
            self._fold()
        places = places // self._width
        self._counts += np.bincount(places, minlength=_BUCKETS)
        with np.errstate(over="ignore"):
            self._sums += np.bincount(places, weights=values, minlength=_BUCKETS)

    def truncate(self, step: int) -> None:
        """Discard the values after a step."""
        if self._first is not None:
            count = max(0, (step - self._first) // self._width + 1)
            self._sums[count:], self._counts[count:] = 0, 0

    def to_list(self) -> list[float | None]:
        """At most 32 means in their order, None where there were no values."""
        sums, counts = self._sums, self._counts
        used = int(np.max(np.nonzero(counts)[0], initial=-1)) + 1
        if used > POINTS:
            sums, counts, used = sums.reshape(-1, 2).sum(1), counts.reshape(-1, 2).sum(1), (used + 1) // 2
        with np.errstate(all="ignore"):
            means = sums[:used] / counts[:used]
        return [round_digits(mean, 5) if np.isfinite(mean) else None for mean in means]

    def _fold(self) -> None:
        half = _BUCKETS // 2
        for column in (self._sums, self._counts):
            column[:half] = column.reshape(-1, 2).sum(1)
            column[half:] = 0
        self._width *= 2


def render(values: list[float | None], width: int, plain: bool = False) -> str:
    """A curve in one line of eighth blocks, or of ASCII characters with ``plain``; a gap where there is no value."""
    marks = _PLAIN if plain else _BLOCKS
    if len(values) > width > 0:
        at = np.linspace(0, len(values), width + 1).astype(int)
        parts = ([v for v in values[a:b] if v is not None] for a, b in pairwise(at))
        # rounding may take the mean of the largest numbers beyond them
        values = [min(max(part), sum(v / len(part) for v in part)) if part else None for part in map(list, parts)]
        values = [v if v is None else max(v, -1.7e308) for v in values]
    there = [value for value in values if value is not None]
    if not there:
        return ""
    low, high = min(there), max(there)
    span = high / 2 - low / 2
    return "".join(
        marks[0] if v is None else marks[1 + round((v / 2 - low / 2) / span * 7) if span else 1] for v in values
    )
