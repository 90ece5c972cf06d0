"""Samplers of indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from labdl.data.samplers.arguments import (
    as_indices,
    check_count,
    check_flag,
    check_rank,
    check_seed,
    check_weights,
    count_of,
    generator,
    group_by_label,
    share_of_rank,
)
from labdl.errors import ConfigError


class Sampler:
    """Base class: ``indices(epoch)`` are the indices of an epoch in their order, ``len(sampler)`` their number.

    A subclass computes them from its settings and the epoch alone, so that the position in a run is two numbers.
    Iterating over it gives the indices of epoch 0.
    """

    def indices(self, epoch: int = 0) -> np.ndarray:
        """Indices (N,) int64 of an epoch."""
        raise NotImplementedError(f"{type(self).__name__} wants a method indices(epoch)")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} wants a method __len__")

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices(0).tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} samples)"


class SequentialSampler(Sampler):
    """All indices in order. As torch.utils.data.SequentialSampler."""

    def __init__(self, samples: Any):
        self.samples = count_of(samples)

    def __len__(self) -> int:
        return self.samples

    def indices(self, epoch: int = 0) -> np.ndarray:
        return np.arange(self.samples)


class RandomSampler(Sampler):
    """All indices in another random order in each epoch, or ``count`` of them. As torch.utils.data.RandomSampler.

    ``replacement=True`` draws each index independently. Without it a count above the number of samples gives every sample
    before any of them occurs again.
    """

    def __init__(self, samples: Any, *, count: int | None = None, replacement: bool = False, seed: int = 0):
        self.samples = count_of(samples)
        self.count = self.samples if count is None else check_count("count", count)
        self.replacement, self.seed = check_flag("replacement", replacement), check_seed(seed)
        if not self.samples:
            raise ConfigError("RandomSampler wants at least one sample")

    def __len__(self) -> int:
        return self.count

    def indices(self, epoch: int = 0) -> np.ndarray:
        rng = generator(self.seed, epoch)
        if self.replacement:
            return rng.integers(0, self.samples, self.count)
        passes = -(-self.count // self.samples)
        return np.concatenate([rng.permutation(self.samples) for _ in range(passes)])[: self.count]


class SubsetSampler(Sampler):
    """Some indices, in their order. As mindspore.dataset.SubsetSampler."""

    def __init__(self, indices: Sequence[int]):
        self._indices = as_indices(indices)

    def __len__(self) -> int:
        return len(self._indices)

    def indices(self, epoch: int = 0) -> np.ndarray:
        return self._indices


class SubsetRandomSampler(Sampler):
    """Some indices, in another random order in each epoch. As torch.utils.data.SubsetRandomSampler."""

    def __init__(self, indices: Sequence[int], *, seed: int = 0):
        self._indices, self.seed = as_indices(indices), check_seed(seed)

    def __len__(self) -> int:
        return len(self._indices)

    def indices(self, epoch: int = 0) -> np.ndarray:
        return generator(self.seed, epoch).permutation(self._indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with a weight for each sample. As torch.utils.data.WeightedRandomSampler.

    ``weights`` (N,) are relative, at least 0; ``count`` is N by default. Without replacement no index occurs twice.
    """

    def __init__(
        self,
        weights: Sequence[float] | np.ndarray,
        *,
        count: int | None = None,
        replacement: bool = True,
        seed: int = 0,
    ):
        self.weights = check_weights(type(self).__name__, weights)
        self.count = len(self.weights) if count is None else check_count("count", count)
        self.replacement, self.seed = check_flag("replacement", replacement), check_seed(seed)
        if not replacement and self.count > np.count_nonzero(self.weights):
            raise ConfigError(
                f"WeightedRandomSampler without replacement draws at most {np.count_nonzero(self.weights)} samples, received "
                f"count={self.count}"
            )

    def __len__(self) -> int:
        return self.count

    def indices(self, epoch: int = 0) -> np.ndarray:
        rng = generator(self.seed, epoch)
        if self.replacement:
            return np.searchsorted(np.cumsum(self.weights / self.weights.sum()), rng.random(self.count), "right").clip(
                max=len(self.weights) - 1
            )
        # the largest keys are a draw without replacement (Efraimidis and Spirakis, 2006)
        with np.errstate(divide="ignore"):
            keys = np.log(rng.random(len(self.weights))) / self.weights
        return np.argsort(-keys, kind="stable")[: self.count]


class ClassBalancedSampler(Sampler):
    """Indices of which each class has the same share, by its labels (N,); an epoch has ``count`` of them, N by default.

    Each class is read in random order, and again when all its samples have been read. ``power`` between 0 (the shares of the
    data) and 1 (equal shares) is that of the inverse frequency.
    """

    def __init__(self, labels: Any, *, count: int | None = None, power: float = 1.0, seed: int = 0):
        self._groups = group_by_label(labels)
        self.count = sum(map(len, self._groups)) if count is None else check_count("count", count)
        if isinstance(power, bool) or not isinstance(power, int | float) or not 0 <= power <= 1:
            raise ConfigError(f"ClassBalancedSampler: power wants a number from 0 to 1, received {power!r:.60}")
        self.power, self.seed = float(power), check_seed(seed)

    def __len__(self) -> int:
        return self.count

    def indices(self, epoch: int = 0) -> np.ndarray:
        rng = generator(self.seed, epoch)
        shares = np.array([len(g) for g in self._groups], "float64") ** (1 - self.power)
        exact = shares / shares.sum() * self.count
        counts = np.floor(exact).astype(int)
        counts[np.argsort(counts - exact, kind="stable")[: self.count - counts.sum()]] += 1
        parts = []
        for group, count in zip(self._groups, counts, strict=True):
            passes = -(-int(count) // len(group))
            parts.append(np.concatenate([rng.permutation(group) for _ in range(passes)] or [group])[:count])
        return rng.permutation(np.concatenate(parts))


class PKSampler(Sampler):
    """``k`` samples of each of ``p`` classes after each other, for metric learning. As mindspore.dataset.PKSampler.

    ``labels`` (N,) are the classes of the samples; an epoch has each class once, in random order, a multiple of ``p`` of
    them. A class of fewer than ``k`` samples repeats them. Source: Hermans et al., In defense of the triplet loss (2017).
    """

    def __init__(self, labels: Any, p: int, k: int, *, seed: int = 0):
        self._groups = group_by_label(labels)
        self.p, self.k, self.seed = check_count("p", p), check_count("k", k), check_seed(seed)
        if self.p > len(self._groups):
            raise ConfigError(f"PKSampler wants p of at most {len(self._groups)} classes, received {p}")

    @property
    def batch_size(self) -> int:
        """Samples of a batch: p · k."""
        return self.p * self.k

    def __len__(self) -> int:
        return len(self._groups) // self.p * self.batch_size

    def indices(self, epoch: int = 0) -> np.ndarray:
        rng = generator(self.seed, epoch)
        chosen = rng.permutation(len(self._groups))[: len(self._groups) // self.p * self.p]
        parts = []
        for i in chosen:
            group = self._groups[i]
            passes = -(-self.k // len(group))
            parts.append(np.concatenate([rng.permutation(group) for _ in range(passes)])[: self.k])
        return np.concatenate(parts)


class DistributedSampler(Sampler):
    """The indices of one of several processes: every ``world``-th of a sampler's, from ``rank`` on.

    A sampler keeps its own order; of other data ``shuffle`` and ``seed`` are those of `RandomSampler`. All ranks have as
    many. ``drop_last=False`` (the default) repeats the first indices so that none is left out, ``drop_last=True`` leaves out
    the last ones so that none is repeated. As torch.utils.data.DistributedSampler.
    """

    def __init__(
        self, samples: Any, *, rank: int, world: int, shuffle: bool = True, seed: int = 0, drop_last: bool = False
    ):
        if isinstance(samples, Sampler):
            self.sampler: Sampler = samples
        else:
            shuffled = check_flag("shuffle", shuffle)
            self.sampler = RandomSampler(samples, seed=seed) if shuffled else SequentialSampler(samples)
        self.rank, self.world = check_rank(rank, world)
        self.drop_last = check_flag("drop_last", drop_last)
        if drop_last and len(self.sampler) < self.world:
            raise ConfigError(f"{len(self.sampler)} samples leave a rank of {world} without any: give drop_last=False")

    def __len__(self) -> int:
        whole = len(self.sampler) // self.world
        return whole if self.drop_last or len(self.sampler) % self.world == 0 else whole + 1

    def indices(self, epoch: int = 0) -> np.ndarray:
        order = self.sampler.indices(epoch)
        return share_of_rank(order, self.rank, self.world, len(self))
