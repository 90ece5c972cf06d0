"""Samples of a stream kept after their first reading, in memory or on disk."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.flow.sample_files import SampleFiles, describe_source
from labdl.data.streams.composite import CompositeStream
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError, DataError, FileFormatError

_END = "end.json"  # the number of samples, written when the stream has ended


class CachedStream(CompositeStream):
    """The samples of the first pass in each pass; see `IterableDataset.cache`.

    The stream is read once, as far as a pass has come: a pass that is left early goes on there, and passes side by side
    share what is read. So an iterator can be read again, too.
    """

    keeps_samples = True

    def __init__(self, source: IterableDataset, folder: str | Path | None):
        super().__init__(source)
        if source.endless:
            raise ConfigError(
                f"cache wants a stream with an end, and {source.name} has none: call take(count) before it"
            )
        self.folder = None if folder is None else Path(folder)
        identity = {"stream": self.name, "samples": source.length}
        self._samples: _InMemory | _OnDisk = (
            _InMemory() if self.folder is None else _OnDisk(self.folder, describe_source(self, identity))
        )
        self._opened: Iterator[Any] | None = None  # the source, behind the samples that are kept
        self._lock = threading.Lock()

    @property
    def length(self) -> int | None:
        length = self.source.length
        return self._samples.count if length is None and self._samples.complete else length

    @property
    def restartable(self) -> bool:
        return True

    @property
    def finite(self) -> bool:
        return self._samples.complete or super().finite

    def read(self, epoch: int = 0) -> Iterator[Any]:
        for position in itertools.count():
            if position >= self._samples.count and not self._read_next(position):
                return
            try:
                sample = self._samples.read(position)
            except (FileNotFoundError, FileFormatError) as error:
                sample = self._read_again(position, error)
            yield sample

    def _read_next(self, position: int) -> bool:
        """Read a sample that no pass has read; False at the end."""
        with self._lock:
            if position < self._samples.count:
                return True
            if self._samples.complete:
                return False
            if self._opened is None:
                if position and not self.source.restartable:
                    raise DataError(
                        f"the iterator {self.name} cannot be read on after the error at sample {position:,}: give the "
                        "generator function instead of what it returns"
                    )
                self._opened = itertools.islice(self.source.open(0), position, None)
            try:
                sample = next(self._opened)
            except StopIteration:
                self._samples.end()
                self._opened = None
                return False
            except BaseException:  # a generator ends with its error
                self._opened = None
                raise
            self._samples.append(sample)
            return True

    def _read_again(self, position: int, error: Exception) -> Any:
        """The sample of a file that is damaged or lost, from the source."""
        if self.source.restartable:
            for sample in itertools.islice(self.source.read(0), position, position + 1):
                self._samples.write(position, sample)
                return sample
        raise DataError(f"sample {position:,} of the cache {self.folder} is lost: remove the folder") from error

    def __getstate__(self) -> dict[str, Any]:
        """Without the place of reading: a copy opens the stream itself."""
        return {**self.__dict__, "_opened": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())


class _InMemory:
    """Samples in a list."""

    def __init__(self) -> None:
        self._list: list[Any] = []
        self.complete = False

    @property
    def count(self) -> int:
        return len(self._list)

    def read(self, index: int) -> Any:
        return self._list[index]

    def append(self, sample: Any) -> None:
        self._list.append(sample)

    def write(self, index: int, sample: Any) -> None:
        self._list[index] = sample

    def end(self) -> None:
        self.complete = True


class _OnDisk(SampleFiles):
    """Samples in files, and their number in ``end.json`` when all of them are there."""

    def __init__(self, folder: Path, identity: dict[str, Any]):
        super().__init__(folder, identity)
        self.count, self.complete = 0, (folder / _END).exists()
        if self.complete:
            self.count = _read_count(folder / _END)
        else:
            while self.has(self.count):
                self.count += 1

    def append(self, sample: Any) -> None:
        self.write(self.count, sample)
        self.count += 1

    def end(self) -> None:
        with replace_files(self.folder / _END) as (file,):
            file.write(json.dumps({"samples": self.count}).encode())
        self.complete = True


def _read_count(file: Path) -> int:
    try:
        values = loads(read_file(file, 1 << 16, "description of a cache"))
        count = values["samples"] if isinstance(values, dict) else None
    except (ValueError, KeyError) as error:
        raise ConfigError(f"{file} is no description of a cache: {error}") from None
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ConfigError(f"{file} is no description of a cache: samples={count!r:.40}")
    return count
