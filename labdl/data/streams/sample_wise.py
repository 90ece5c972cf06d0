"""Streams whose samples are each computed from one sample of another: maps, and choices of entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labdl.data.dataset import Names
from labdl.data.flow.entries import choose_inputs_and_targets, find_entry
from labdl.data.pipeline import Pipeline
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.data.streams.composite import CompositeStream
from labdl.data.streams.iterable_dataset import IterableDataset, entries
from labdl.errors import DataError, LabDLError


class SampleWiseStream(CompositeStream):
    """A stream with a sample for each sample of another; a subclass defines `apply`, which may run in a worker."""

    @property
    def length(self) -> int | None:
        return self.source.length

    def apply(self, sample: Any, epoch: int, position: int) -> Any:
        """The sample of a sample, which is at a position from 0 in a pass."""
        raise NotImplementedError(f"{type(self).__name__} wants a method apply")

    def read(self, epoch: int = 0) -> Iterator[Any]:
        for position, sample in enumerate(self.source.read(epoch)):
            yield self.apply(sample, epoch, position)


class MappedStream(SampleWiseStream):
    """A stream with transforms of one sample; see `IterableDataset.map`."""

    draws = True

    def __init__(self, source: IterableDataset, transforms: Any, *, seed: int = 0):
        super().__init__(source)
        self.pipeline = transforms if isinstance(transforms, Pipeline) else Pipeline(transforms)
        self._key = derive_seed(seed, count_maps(source))  # a second map of the same seed draws other numbers

    def apply(self, sample: Any, epoch: int, position: int) -> Any:
        rng = sample_generator(self._key, epoch, position)
        for stage in self.pipeline.stages():
            try:
                sample = stage.apply(sample, rng)
            except LabDLError as error:
                raise DataError(f"sample {position:,} of {self.name}: {error}") from error
        return sample


class ProjectedStream(SampleWiseStream):
    """Some entries of samples; see `IterableDataset.project`."""

    def __init__(self, source: IterableDataset, names: Names):
        super().__init__(source)
        self.names = entries(names)

    def apply(self, sample: Any, epoch: int, position: int) -> Any:
        if isinstance(sample, Mapping):
            return {name: find_entry(sample, name) for name in self.names}
        return tuple([sample[name] for name in self.names])  # type: ignore[index]


class RenamedStream(SampleWiseStream):
    """Samples with other names of entries; see `IterableDataset.rename`."""

    def __init__(self, source: IterableDataset, names: Mapping[str, str]):
        super().__init__(source)
        self.names = dict(names)
        self.inputs = tuple([self.names.get(name, name) for name in source.inputs])
        self.targets = tuple([self.names.get(name, name) for name in source.targets])

    def apply(self, sample: Any, epoch: int, position: int) -> Any:
        for name in self.names:
            find_entry(sample, name)
        return {self.names.get(name, name): value for name, value in sample.items()}


class SupervisedStream(SampleWiseStream):
    """Pairs (x, y) of dictionary samples; see `IterableDataset.as_supervised`."""

    def __init__(self, source: IterableDataset, inputs: Names | None, targets: Names | None):
        super().__init__(source)
        x, y = source.inputs if inputs is None else inputs, source.targets if targets is None else targets
        self.x, self.y = (entries(names) for names in (x, y))

    def apply(self, sample: Any, epoch: int, position: int) -> Any:
        return choose_inputs_and_targets(sample, self.x, self.y)


class StreamItems:
    """Reads the numbered items of a stream: applies its last sample-wise streams, in any order and worker.

    An item is (position, pass, sample). The streams before, which have to be read in order, are ``base``.
    """

    def __init__(self, stream: IterableDataset):
        self.name = stream.name
        self.stages: list[SampleWiseStream] = []
        while isinstance(stream, SampleWiseStream):
            self.stages.insert(0, stream)
            stream = stream.source
        self.base = stream

    def read(self, index: tuple[int, int, Any], epoch: int = 0) -> Any:
        """The sample of an item."""
        position, epoch, sample = index
        for stage in self.stages:
            sample = stage.apply(sample, epoch, position)
        return sample

    def for_workers(self) -> StreamItems:
        """The same without the streams that are read, which workers do not need and which may hold open files."""
        items = object.__new__(StreamItems)
        items.name, items.stages = self.name, [_alone(stage) for stage in self.stages]
        return items


def _alone(stage: SampleWiseStream) -> SampleWiseStream:
    copied = object.__new__(type(stage))
    copied.__dict__.update({**stage.__dict__, "sources": ()})
    return copied


def first_sample(stream: IterableDataset) -> Any:
    """The first sample of a stream, which is not lost if it can be read once only."""
    items = StreamItems(stream)
    return items.read((0, 0, items.base.peek()))


def count_maps(stream: Any) -> int:
    """Number of streams that draw random numbers for samples, so that each has others of the same seed."""
    count = 0
    while isinstance(stream, CompositeStream):
        count += stream.draws
        stream = stream.source
    return count
