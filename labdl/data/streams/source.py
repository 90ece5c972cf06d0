"""Sources of streams: their names and classes, and passes of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from labdl.data.dataset import Dataset
from labdl.errors import DataError


def describe(stream: Any, source: Any) -> None:
    """Take what is known of a source: name, classes, inputs and targets."""
    stream.name = getattr(source, "name", "") or getattr(source, "__name__", "") or type(source).__name__
    stream.classes = getattr(source, "classes", None)
    stream.inputs, stream.targets = getattr(source, "inputs", ()), getattr(source, "targets", ())
    stream.parallel, stream.batched = getattr(source, "parallel", True), getattr(source, "batched", False)


def open_source(source: Any, epoch: int, name: str) -> Iterator[Any]:
    """A pass of a generator function, an iterable or a data set. Raises DataError for a function that yields nothing."""
    if isinstance(source, Dataset):
        return (source.read(i, epoch) for i in range(len(source)))
    if isinstance(source, Iterable):
        return iter(source)
    samples = source(epoch=epoch) if "epoch" in _parameters(source) else source()
    if not isinstance(samples, Iterable):
        raise DataError(
            f"the function of the stream {name} returned {type(samples).__name__}: yield its samples, or return an iterable"
        )
    return iter(samples)


def _parameters(function: Any) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # functions written in C have no signature
        return ()
