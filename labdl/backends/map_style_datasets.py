"""Parts of the data sets of PyTorch and of Paddle, which has taken over its classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from labdl.backends.protocol.datasets import SampleSource


class Passes:
    """Opens passes of a loader or data set, whose order may depend on the epoch."""

    def __init__(self, value: Any):
        self.value = value

    def __call__(self, epoch: int) -> Iterator[Any]:
        for one in (self.value, getattr(self.value, "sampler", None), getattr(self.value, "batch_sampler", None)):
            if one is not None and hasattr(one, "set_epoch"):  # as distributed samplers have
                one.set_epoch(epoch)
        return iter(self.value)


def known_length(value: Any) -> int | None:
    """The length of a data set or loader; None for streams, and for samplers without a length."""
    try:
        return len(value)
    except (TypeError, ValueError, NotImplementedError, RuntimeError):
        return None


class IndexedSamples:
    """Samples of LabDL by index; `set_epoch` chooses the random numbers of transforms."""

    def __init__(self, samples: SampleSource):
        self.samples, self.epoch = samples, 0
        self.classes, self.inputs, self.targets = samples.classes, samples.inputs, samples.targets

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        assert self.samples.length is not None
        return self.samples.length

    def __getitem__(self, index: int) -> Any:
        length = len(self)
        if not -length <= index < length:
            raise IndexError(f"{self.samples.name} has {length:,} samples, received the index {index}")
        return self.samples.read(int(index) % length, self.epoch)


class DividedStream:
    """A stream of LabDL; each worker of the framework's loader reads it and takes its share of the samples."""

    def __init__(self, samples: SampleSource):
        self.samples, self.epoch = samples, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def share(self, worker: Any) -> Iterator[Any]:
        """The samples of a worker, described by the framework's ``get_worker_info``; all of them for None."""
        stream = self.samples.open(self.epoch)
        return stream if worker is None else itertools.islice(stream, worker.id, None, worker.num_workers)
