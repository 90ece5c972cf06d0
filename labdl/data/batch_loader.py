"""BatchLoader: the batches of a data set that makes them itself, such as a loader of another library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from labdl.data.dataset import Dataset
from labdl.data.flow.grouping import count_rows
from labdl.data.loader import Loader
from labdl.data.reading import Rows
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.data.streams.plan import StreamPlan
from labdl.data.streams.sample_wise import first_sample
from labdl.errors import ConfigError, DataError


class BatchLoader(Loader):
    """A loader of a data set whose samples are batches, which it gives as they are: in their order, of their sizes.

    ``steps_per_epoch`` is the number of batches in an epoch, if there is no end or epochs are not passes. A training makes
    one of data sets with ``batched``: `Dataset.batch`, and `from_native` of a loader. Raises DataError for samples that are
    no batches.
    """

    def __init__(
        self,
        dataset: Dataset | IterableDataset,
        *,
        steps_per_epoch: int | None = None,
        workers: int | None = None,
        prefetch: int = 2,
    ):
        stream = dataset if isinstance(dataset, IterableDataset) else IterableDataset(dataset)
        size = _rows(first_sample(stream), stream.name)
        super().__init__(stream, size, steps_per_epoch=steps_per_epoch, workers=workers, prefetch=prefetch)
        self._settings = {"steps_per_epoch": steps_per_epoch, "workers": workers, "prefetch": prefetch}
        self._stream = StreamPlan(stream, 1, steps_per_epoch, False)

    @property
    def samples(self) -> int:
        """An upper bound of the number of samples in an epoch, whose last batch may be smaller. Raises TypeError as ``len``."""
        return len(self) * self.batch_size

    def replace(self, dataset: Any, **settings: Any) -> Self:
        """A loader of another data set, or with other settings. Raises ConfigError for the size of batches."""
        for name in settings:
            if name not in self._settings:
                raise ConfigError(
                    f"{self.dataset.name} makes its own batches, of {self.batch_size:,} samples: accumulate and {name} want "
                    "samples, as dataset.unbatch() gives them"
                )
        return super().replace(dataset, **settings)

    def _start_batch(self, count: int) -> Rows:
        return _OneBatch()


class _OneBatch:
    """A batch of one sample, which is a batch."""

    def reserve(self, at: int, shape: tuple[int, ...], dtype: Any) -> None:
        return None

    def write(self, at: int, sample: Any) -> Any:
        return sample

    def stack(self, samples: Sequence[Any]) -> Any:
        return samples[0]


def _rows(batch: Any, name: str) -> int:
    try:
        return count_rows(batch)
    except (TypeError, IndexError, StopIteration):  # numbers and empty structures have no samples
        raise DataError(
            f"the elements of {name} are no batches, they have no axis of samples: call its method batch first, or take them "
            "as samples by data.from_native(…, batched=False)"
        ) from None
