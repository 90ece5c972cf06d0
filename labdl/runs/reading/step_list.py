"""A list of rows with their steps, which a run that resumes shortens."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any


class StepList:
    """Rows in the order in which they came. Those after a step are discarded in time that depends on their number alone."""

    def __init__(self):
        self._rows: dict[int, Any] = {}  # by number
        self._latest: list[tuple[int, int]] = []  # step and number, both negative: the latest step is first
        self._count = 0

    def append(self, step: int, row: Any) -> None:
        """Add a row that belongs to a step."""
        self._count += 1
        self._rows[self._count] = row
        heapq.heappush(self._latest, (-step, -self._count))

    def truncate(self, step: int) -> None:
        """Discard the rows after a step."""
        while self._latest and -self._latest[0][0] > step:
            del self._rows[-heapq.heappop(self._latest)[1]]

    def clear(self) -> None:
        self.__init__()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)
