"""Registry of the data sets that the Train panel and trainer settings offer by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from labdl.data.array_dataset import ArrayDataset

Load = TypeVar("Load", bound=Callable[[], tuple[ArrayDataset, ArrayDataset]])

SOURCES: dict[str, Source] = {}


@dataclass(frozen=True)
class Source:
    """A data set that the Train panel offers by name; ``classes`` is None for regression targets."""

    load: Callable[[], tuple[ArrayDataset, ArrayDataset]]
    summary: str
    input_shape: tuple[int | None, ...]
    classes: int | None
    samples: int


def register(
    summary: str, *, input_shape: tuple[int | None, ...], classes: int | None, samples: int
) -> Callable[[Load], Load]:
    """Register a function that loads a data set, (train, test), under its own name.

    ``summary`` is the line that forms show, ``input_shape`` the shape of the inputs with None for the batch size,
    ``samples`` the number of samples of both parts.
    """

    def decorate(load: Load) -> Load:
        SOURCES[load.__name__] = Source(load, summary, input_shape, classes, samples)
        return load

    return decorate
