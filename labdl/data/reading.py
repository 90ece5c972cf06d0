"""Reading of the samples of a batch, with the rule for samples that cannot be read; threads and processes share it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from labdl.data.random_keys import derive_seed
from labdl.data.row_memory import Reserve, find_read_into
from labdl.errors import DataError, LabDLError

Errors = Literal["raise", "skip", "replace"]
_ATTEMPTS = 100  # samples that are tried in place of one that cannot be read


@dataclass(frozen=True)
class Problem:
    """A sample that could not be read."""

    index: int
    reason: str

    def __str__(self) -> str:
        return self.reason


class Source(Protocol):
    """Where samples are read: a `Dataset` by index, or a stream by the numbered item that was drawn from it."""

    name: str

    def read(self, index: Any, epoch: int = 0) -> Any:
        """The sample of an index or item."""
        ...


class Rows(Protocol):
    """A batch in the making, see `labdl.data.batch_rows`."""

    def reserve(self, at: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
        """Memory in which an array of the sample may be computed, if there is any."""
        ...

    def write(self, at: int, sample: Any) -> Any:
        """A sample whose arrays lie in the batch as far as possible, and that is otherwise the same."""
        ...

    def stack(self, samples: Sequence[Any]) -> Any:
        """The batch of the samples that `write` returned."""
        ...


class SampleReader:
    """Reads samples of a source. A sample that cannot be read raises DataError, or is skipped or replaced and listed.

    ``stopped`` may be set at any time to end a reading after the current sample.
    """

    def __init__(self, source: Source, errors: Errors):
        self.source, self.errors = source, errors
        self._into = find_read_into(source)
        self.stopped = False

    def read(
        self, places: Sequence[Any] | np.ndarray, epoch: int, problems: list[Problem], rows: Rows, first: int = 0
    ) -> list[Any]:
        """The samples at some places, indices or numbered items of a stream, in their order, in ``rows`` from ``first`` on."""
        samples = []
        for at, place in enumerate(places, first):
            if self.stopped:
                break
            place = int(place) if isinstance(place, np.integer) else place
            sample = self._read_one(place, epoch, problems, functools.partial(rows.reserve, at))
            if sample is not _SKIPPED:
                samples.append(rows.write(at, sample))
        return samples

    def check(self, samples: list[Any], count: int) -> list[Any]:
        """Raise DataError if none of the samples of a batch could be read."""
        if samples or self.stopped:
            return samples
        raise DataError(f"none of the {count:,} samples of a batch of {_name(self.source)} could be read")

    def _read_one(self, place: Any, epoch: int, problems: list[Problem], reserve: Reserve) -> Any:
        index = place if isinstance(place, int) else int(place[0])
        try:
            return self.source.read(place, epoch) if self._into is None else self._into(place, epoch, reserve)
        except Exception as error:  # code of the user, and decoders, may raise anything
            problem = describe_unreadable(index, self.source, error)
            if self.errors == "raise":
                raise problem from error
            problems.append(Problem(index, str(problem)))
        if self.errors == "skip":
            return _SKIPPED
        return self._read_another(index, epoch)

    def _read_another(self, index: int, epoch: int) -> Any:
        rng = np.random.default_rng(derive_seed(index, epoch))
        for other in rng.integers(0, len(self.source), _ATTEMPTS):  # type: ignore[arg-type]
            try:
                return self.source.read(int(other), epoch)
            except Exception:  # as above; the sample that is replaced has been reported
                continue
        raise DataError(
            f"{_ATTEMPTS} samples of {_name(self.source)} in place of sample {index:,} could not be read either"
        )


_SKIPPED = object()


def _name(source: Any) -> str:
    return getattr(source, "name", "") or type(source).__name__


def describe_unreadable(index: int, source: Any, error: Exception) -> DataError:
    """The error that names a sample and why it cannot be read."""
    place = describe_place(source, index)
    if isinstance(error, DataError) and str(error).startswith(f"{place}:"):
        return error
    kind = type(error).__name__
    reason = str(error) if isinstance(error, LabDLError) else f"{kind}: {error}" if str(error) else kind
    return DataError(f"{place} cannot be read: {reason}")


def describe_place(source: Any, index: int) -> str:
    """Which sample of which data set, and which of its files: the one that the index of a selection stands for."""
    if hasattr(source, "origin"):
        source, index = source.origin(index)
    file = source.file_of(index) if hasattr(source, "file_of") else ""
    return f"sample {index:,} of {_name(source)}{file and f' ({file})'}"
