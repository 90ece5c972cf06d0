"""Samplers of batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from labdl.data.samplers.arguments import (
    check_batch_size,
    check_boundaries,
    check_count,
    check_flag,
    check_lengths,
    check_rank,
    check_sampler,
    check_seed,
    generator,
    share_of_rank,
)
from labdl.data.samplers.sampler import Sampler
from labdl.errors import ConfigError


class BatchSampler:
    """Batches of a sampler's indices: ``batches(epoch)`` are arrays of indices. As torch.utils.data.BatchSampler."""

    def __init__(self, sampler: Sampler, batch_size: int, *, drop_last: bool = False):
        self.sampler, self.batch_size = check_sampler(sampler), check_batch_size(batch_size)
        self.drop_last = check_flag("drop_last", drop_last)

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def batches(self, epoch: int = 0) -> Sequence[np.ndarray]:
        """The indices of each batch of an epoch."""
        order = self.sampler.indices(epoch)
        return [order[at * self.batch_size : (at + 1) * self.batch_size] for at in range(len(self))]

    def __iter__(self) -> Iterator[list[int]]:
        return iter([batch.tolist() for batch in self.batches(0)])


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes; all have as many. As paddle.io.DistributedBatchSampler.

    Each batch of ``world · batch_size`` samples is divided among the ranks. ``drop_last=False`` repeats the first samples in
    place of missing ones.
    """

    def __init__(self, sampler: Sampler, batch_size: int, *, rank: int, world: int, drop_last: bool = False):
        super().__init__(sampler, batch_size, drop_last=drop_last)
        self.rank, self.world = check_rank(rank, world)

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size * self.world)
        return whole if self.drop_last or not rest else whole + 1

    def batches(self, epoch: int = 0) -> Sequence[np.ndarray]:
        """The indices of each batch of an epoch."""
        order = self.sampler.indices(epoch)
        count = len(self) * self.batch_size
        if not self.drop_last:
            # the last batch is as small as equal ranks allow
            rest = len(order) - (len(self) - 1) * self.batch_size * self.world
            count = (len(self) - 1) * self.batch_size + -(-rest // self.world)
        own = share_of_rank(order, self.rank, self.world, max(count, 0))
        return [own[at * self.batch_size : (at + 1) * self.batch_size] for at in range(len(self))]


class BucketSampler(BatchSampler):
    """Batches of samples of similar length, so that little is padded, in random order.

    ``lengths`` (N,) are those of the samples. In each epoch the shuffled samples are divided into groups of
    ``group`` batches, each sorted by length and cut into batches. ``boundaries`` instead puts samples into buckets of lengths
    below each boundary, as tf.data.Dataset.bucket_by_sequence_length, where ``batch_size`` may be one for each bucket.
    Source: torchtext's BucketIterator; tf.data.
    """

    def __init__(
        self,
        lengths: Any,
        batch_size: int | Sequence[int],
        *,
        boundaries: Sequence[float] | None = None,
        group: int = 100,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        self.lengths, self.boundaries = check_lengths(lengths), check_boundaries(boundaries)
        sizes = list(batch_size) if isinstance(batch_size, Sequence | np.ndarray) else [batch_size]
        wanted = 1 if self.boundaries is None else len(self.boundaries) + 1
        if len(sizes) not in (1, wanted):
            raise ConfigError(f"BucketSampler wants a batch_size for each of {wanted} buckets, received {len(sizes)}")
        self.sizes = tuple(map(check_batch_size, sizes * wanted if len(sizes) == 1 else sizes))
        self.batch_size = max(self.sizes)
        self.group, self.seed = check_count("group", group), check_seed(seed)
        self.shuffle, self.drop_last = check_flag("shuffle", shuffle), check_flag("drop_last", drop_last)
        buckets = np.zeros(len(self.lengths), np.int64)
        if self.boundaries is not None:
            buckets = np.searchsorted(np.asarray(self.boundaries), self.lengths, "right")
        self._buckets = [np.flatnonzero(buckets == b) for b in range(wanted)]

    def __len__(self) -> int:
        counts = [divmod(len(b), size) for b, size in zip(self._buckets, self.sizes, strict=True)]
        return sum(whole + (1 if rest and not self.drop_last else 0) for whole, rest in counts)

    def batches(self, epoch: int = 0) -> Sequence[np.ndarray]:
        """The indices of each batch of an epoch."""
        rng = generator(self.seed, epoch)
        batches: list[np.ndarray] = []
        for bucket, size in zip(self._buckets, self.sizes, strict=True):
            order = rng.permutation(bucket) if self.shuffle else bucket
            if self.boundaries is None:
                span = self.group * size
                order = np.concatenate(
                    [
                        part[np.argsort(self.lengths[part], kind="stable")]
                        for part in (order[at : at + span] for at in range(0, len(order), span))
                    ]
                )
            end = len(order) // size * size if self.drop_last else len(order)
            batches += [order[at : at + size] for at in range(0, end, size)]
        return [batches[i] for i in rng.permutation(len(batches))] if self.shuffle else batches
