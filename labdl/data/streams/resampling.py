"""Rejection of samples of a stream so that the classes have other shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import find_label
from labdl.data.flow.resampling import acceptance, check_shares, class_number
from labdl.data.random_keys import derive_seed
from labdl.data.streams.composite import CompositeStream
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError

_KEY = 0x7E5A
_SMOOTHING = 10  # samples of each class that are counted before the first, as in tf.data


class ResampledStream(CompositeStream):
    """The samples that are accepted; see `IterableDataset.rejection_resample`."""

    reorders = True

    def __init__(
        self,
        source: IterableDataset,
        target_dist: Sequence[float],
        initial_dist: Sequence[float] | None,
        class_func: Callable[[Any], int] | None,
        seed: int,
    ):
        super().__init__(source)
        if class_func is not None and not callable(class_func):
            raise ConfigError(f"class_func wants a function of a sample, received {class_func!r:.80}")
        self.target = check_shares("target_dist", target_dist)
        self.initial = None if initial_dist is None else check_shares("initial_dist", initial_dist, len(self.target))
        self._keep = None if self.initial is None else acceptance(self.target, self.initial)
        self.class_func, self.seed = class_func, seed

    def read(self, epoch: int = 0) -> Iterator[Any]:
        rng = np.random.default_rng(derive_seed(self.seed, _KEY, epoch))
        counts = np.full(len(self.target), _SMOOTHING, np.float64)
        for position, sample in enumerate(self.source.read(epoch)):
            value = find_label(sample, self.targets) if self.class_func is None else self.class_func(sample)
            number = class_number(value, len(self.target), f"sample {position:,} of {self.name}")
            if self._keep is None:
                counts[number] += 1
                keep = acceptance(self.target, counts / counts.sum())[number]
            else:
                keep = self._keep[number]
            if rng.random() < keep:
                yield sample
