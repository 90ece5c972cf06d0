"""The batches of a stream: numbered items of its base, pass after pass or in epochs of a number of steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from labdl.data.reading import describe_unreadable
from labdl.data.streams.flow import read_passes
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.data.streams.sample_wise import StreamItems
from labdl.errors import ConfigError, DataError, LabDLError

Item = tuple[int, int, Any]  # position, pass, sample


class StreamPlan:
    """Draws the items of the batches of a stream.

    Without ``steps`` an epoch is a pass of the stream, whose length is checked if it is known. With ``steps`` an epoch has
    so many batches, and goes on where the one before ended; a stream that ends begins again. A start that is not the next
    batch reads the stream from its beginning and drops what was before, which takes the time of reading; an iterator goes on.
    """

    def __init__(self, stream: IterableDataset, batch_size: int, steps: int | None, drop_last: bool):
        self.items = StreamItems(stream)
        self.batch_size, self.steps, self.drop_last = batch_size, steps, drop_last
        self._items: Iterator[Item] | None = None  # of an endless reading, and the number of its next batch
        self._next: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the place of reading: a copy opens the stream itself."""
        return {**self.__dict__, "_items": None, "_next": None}

    @property
    def length(self) -> int | None:
        """Number of batches in an epoch; None if it is unknown."""
        samples = self.items.base.length
        if self.steps is not None or samples is None:
            return self.steps
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)

    def batches(self, epoch: int, start: int) -> Iterator[list[Item]]:
        """The items of the batches of an epoch from ``start`` on."""
        return self._pass(epoch, start) if self.steps is None else self._steps(epoch, start, self.steps)

    def _pass(self, epoch: int, start: int) -> Iterator[list[Item]]:
        size, items = self.batch_size, self._explain(self._check_length(epoch))
        for _ in itertools.islice(items, start * size):
            pass
        while batch := list(itertools.islice(items, size)):
            if len(batch) == size or not self.drop_last:
                yield batch
            if len(batch) < size:
                return

    def _check_length(self, epoch: int) -> Iterator[Item]:
        """The items of a pass; raises DataError if it has fewer than the known length, and leaves out what is more."""
        base = self.items.base
        wanted, count = base.length, 0
        for sample in itertools.islice(base.open(epoch), wanted):
            yield count, epoch, sample
            count += 1
        if wanted is not None and count < wanted:
            again = "" if base.restartable else ", because an iterator can be read once only"
            raise DataError(
                f"the stream {base.name} has the length {wanted:,} and ended after {count:,} samples{again}: correct its "
                "length, or train with steps_per_epoch"
            )

    def _steps(self, epoch: int, start: int, steps: int) -> Iterator[list[Item]]:
        number, size = epoch * steps + start, self.batch_size
        if self._items is None or (self._next != number and self.items.base.restartable):
            self._items = self._explain(read_passes(self.items.base))
            for _ in itertools.islice(self._items, number * size):
                pass
        self._next = None  # stays so if the epoch is left before its end, when items may have been drawn in advance
        for _ in range(start, steps):
            yield list(itertools.islice(self._items, size))
        self._next = (epoch + 1) * steps

    def _explain(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items; an exception of the code that reads them names the sample."""
        position = 0
        while True:
            try:
                item = next(items)
            except StopIteration:
                return
            except LabDLError:
                raise
            except Exception as error:  # code of the user may raise anything
                raise describe_unreadable(position, self.items.base, error) from error
            position = item[0] + 1
            yield item


def check_finite(stream: IterableDataset, purpose: str) -> None:
    """Raise ConfigError for a stream that may have no end."""
    if not stream.finite:
        kind = "has no end" if stream.endless else "has an unknown length and may have no end"
        raise ConfigError(
            f"{purpose} reads all samples, and the stream {stream.name} {kind}: give stream.take(1000), or "
            "IterableDataset(…, length=1000)"
        )
