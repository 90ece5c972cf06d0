"""A table with transforms of its columns, which change all rows at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset


class MappedTable(Dataset):
    """Rows of a table with transforms of columns, which are computed at the first row that is read, and kept.

    The transforms of columns have no random numbers and look at no other row, so the rows are those of `Dataset.map`.
    """

    def __init__(self, source: Any, stages: Sequence[Any]):
        self.source, self.stages = source, list(stages)
        self.describe_as(source)
        for stage in self.stages:
            self.inputs = tuple(getattr(stage, "outputs", ())) or self.inputs
        self._reset()

    def _reset(self) -> None:
        self._columns: dict[str, np.ndarray] | None = None
        self._lock = threading.Lock()

    @classmethod
    def create(cls, mapped: Any) -> Dataset:
        """The data set of `Dataset.map` as a table, itself if some of its transforms are not of columns."""
        stages = mapped.pipeline.stages()
        suitable = stages and all(getattr(stage, "on_columns", False) for stage in stages)
        return cls(mapped.source, stages) if suitable else mapped

    def to_columns(self) -> dict[str, np.ndarray]:
        """The values of each column after the transforms."""
        with self._lock:
            if self._columns is None:
                columns: dict[str, np.ndarray] = self.source.to_columns()
                for stage in self.stages:
                    columns = stage.apply(columns, np.random.default_rng(0))
                self._columns = columns
                return columns
            return self._columns

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        columns = self._columns or self.to_columns()
        return {name: _value(values, index) for name, values in columns.items()}

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()

    def map(self, transforms: Any, *, seed: int = 0) -> Dataset:
        """As `Dataset.map`; transforms of columns change the whole table at once."""
        return MappedTable.create(super().map(transforms, seed=seed))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_columns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()


def _value(values: np.ndarray, index: int) -> Any:
    value = values[index]
    return int(value) if isinstance(value, np.integer) else value
