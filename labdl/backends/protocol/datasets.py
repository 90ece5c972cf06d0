"""Data sets and loaders of a framework, read as arrays, and data sets of the framework that read samples of LabDL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class NativeSource:
    """How a data set or loader of a framework is read."""

    open: Callable[[int], Iterator[Any]]
    """The elements of the pass of a number from 0, in their order."""

    convert: Callable[[Any], Any]
    """An element's tensor as an array; other values as they are."""

    read: Callable[[int], Any] | None = None
    """The element at an index, if it has random access."""

    length: int | None = None
    """The number of elements, if it is known."""

    endless: bool = False
    """Whether it is known that there is no end."""

    batched: bool = False
    """Whether the framework's own training takes the elements as batches."""

    name: str = ""
    """Name of the value in messages, where the name of its class is internal."""

    columns: tuple[str, ...] = ()
    """Names of the columns, if the elements are dictionaries of them; the framework takes the last one as the target."""


class SampleSource(Protocol):
    """The samples of a data set of LabDL: dictionaries and tuples of plain arrays, strings and None."""

    name: str
    classes: Sequence[str] | None
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    indexed: bool
    arrays: tuple[Any, ...] | None

    @property
    def length(self) -> int | None:
        """The number of samples, if it is known."""
        ...

    def read(self, index: int, epoch: int = 0) -> Any:
        """The sample at an index from 0, if ``indexed``."""
        ...

    def open(self, epoch: int = 0) -> Iterator[Any]:
        """The samples of a pass in their order."""
        ...

    def examples(self, count: int) -> list[Any]:
        """Up to ``count`` samples from all over the data set, to learn their shapes."""
        ...


class NativeDatasets(Protocol):
    """Conversion between LabDL's data sets and the framework's."""

    def native_source(self, value: Any) -> NativeSource | None:
        """How to read a data set or loader of the framework; None for any other value."""
        ...

    def native_dataset(self, samples: SampleSource, settings: Mapping[str, Any]) -> Any:
        """A data set of the framework for its own loaders; ``settings`` are those of its constructor."""
        ...
