"""Streams of batches of samples of similar length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labdl.data.batches import stack_samples
from labdl.data.flow.bucketing import Buckets, LengthFunction, length_of
from labdl.data.streams.composite import CompositeStream
from labdl.data.streams.iterable_dataset import IterableDataset


class BucketedStream(CompositeStream):
    """Padded batches of samples of similar length; see `IterableDataset.bucket_by_length`."""

    def __init__(self, source: IterableDataset, buckets: Buckets, length_func: LengthFunction | None, pad: float):
        super().__init__(source)
        self.buckets, self.pad = buckets, pad
        self.length_func = length_of if length_func is None else length_func
        self.batched = True

    def read(self, epoch: int = 0) -> Iterator[Any]:
        pairs = ((sample, self.length_func(sample)) for sample in self.source.read(epoch))
        for samples in self.buckets.group(pairs):
            yield stack_samples(samples, pad=self.pad)
