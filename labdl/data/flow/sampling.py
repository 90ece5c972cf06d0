"""Samples drawn from several data sets or streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from labdl.data.dataset import Dataset
from labdl.data.flow.combination import WeightedDataset
from labdl.data.streams.combination import WeightedStream
from labdl.data.streams.iterable_dataset import IterableDataset


@overload
def sample_from(
    datasets: Sequence[Dataset], weights: Sequence[float] | None = None, *, length: int | None = None, seed: int = 0
) -> Dataset: ...
@overload
def sample_from(
    datasets: Sequence[IterableDataset],
    weights: Sequence[float] | None = None,
    *,
    length: int | None = None,
    seed: int = 0,
) -> IterableDataset: ...


def sample_from(
    datasets: Sequence[Any], weights: Sequence[float] | None = None, *, length: int | None = None, seed: int = 0
) -> Any:
    """Draw each sample from one of several data sets, or streams, with weights; equal ones by default.

    Each data set is read in random order, and from the start again when all its samples have been drawn. ``length`` is the
    number of samples, by default that of all data sets together. Streams are read in their order, in each pass with other
    draws, until all have ended or ``length`` samples are drawn, as tf.data.Dataset.sample_from_datasets does.
    """
    if any(isinstance(one, IterableDataset) for one in datasets):
        stream = WeightedStream(datasets, weights, seed)
        return stream if length is None else stream.take(length)
    return WeightedDataset(datasets, weights, length, seed)
