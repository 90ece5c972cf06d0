"""Base class of the streams that are made of other streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from labdl.data.dataset import Dataset
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError


class CompositeStream(IterableDataset):
    """A stream made of others, which it describes itself as; a subclass defines `read`."""

    draws: ClassVar[bool] = False  # random numbers for each sample, by its position
    reorders: ClassVar[bool] = False  # a position has another sample in the next pass, or one sample several positions
    keeps_samples: ClassVar[bool] = False  # every pass has the samples of the first

    def __init__(self, *sources: IterableDataset):
        super().__init__()
        self.sources = sources
        self.describe_as(sources[0])

    @property
    def source(self) -> IterableDataset:
        """The stream that is read, the first one of several."""
        return self.sources[0]

    @property
    def length(self) -> int | None:
        return None

    @property
    def restartable(self) -> bool:
        return all(source.restartable for source in self.sources)

    @property
    def endless(self) -> bool:  # type: ignore[override]
        return self.source.endless

    @property
    def finite(self) -> bool:
        return all(source.finite for source in self.sources)


def check_streams(name: str, sources: Sequence[object]) -> tuple[IterableDataset, ...]:
    """The sources as streams. Raises ConfigError for anything but streams and data sets."""
    for source in sources:
        if not isinstance(source, IterableDataset | Dataset):
            raise ConfigError(
                f"{name} wants streams, received {type(source).__name__}: wrap it as data.IterableDataset(…)"
            )
    return tuple([s if isinstance(s, IterableDataset) else IterableDataset(s) for s in sources])  # type: ignore[arg-type]


def check_count(name: str, value: object, least: int = 0) -> int:
    """The value as a count. Raises ConfigError."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} wants an integer of at least {least}, received {value!r}")
    return value
