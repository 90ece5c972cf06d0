"""Streams whose samples are mixed with others of a buffer: MixUp, CutMix, Mosaic, CopyPaste."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from labdl.data.pipeline import Pipeline
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.data.streams.composite import CompositeStream, check_count
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.data.streams.sample_wise import MappedStream, count_maps
from labdl.data.transforms.transform import Transform
from labdl.errors import ConfigError, DataError, LabDLError


def map_stream(source: IterableDataset, transforms: Any, *, seed: int, buffer_size: int | None) -> IterableDataset:
    """A stream with transforms, see `IterableDataset.map`: a mapped stream, or several with those that mix in between."""
    pipeline = transforms if isinstance(transforms, Pipeline) else Pipeline(transforms)
    size = None if buffer_size is None else check_count("buffer_size", buffer_size, 1)
    if not any(stage.others for stage in pipeline.stages()):
        return MappedStream(source, pipeline, seed=seed)
    stream = source
    for mixes, stages in itertools.groupby(pipeline.stages(), lambda stage: stage.others > 0):
        if not mixes:
            stream = MappedStream(stream, list(stages), seed=seed)
            continue
        for stage in stages:
            if size is None:
                raise ConfigError(
                    f"{type(stage).__name__} reads other samples, and a stream has no index: give a buffer_size, as in "
                    "stream.map(…, buffer_size=1000), to take them from the next samples"
                )
            stream = MixedStream(stream, stage, size, seed=seed)
    return stream


class MixedStream(CompositeStream):
    """Each sample mixed with some of the next ``buffer_size`` ones; those of the end with the last ones.

    There is one sample for each of the source, in its order. Which ones are mixed depends on the seed, the pass and the
    position alone, so that a stream that is read again, as by a resumed training, gives the same.
    """

    draws = True

    def __init__(self, source: IterableDataset, stage: Transform, buffer_size: int, *, seed: int = 0):
        super().__init__(source)
        self.stage, self.buffer_size = stage, buffer_size
        self._key = derive_seed(seed, count_maps(source))

    @property
    def length(self) -> int | None:
        return self.source.length

    def read(self, epoch: int = 0) -> Iterator[Any]:
        samples = self.source.read(epoch)
        buffer = deque(itertools.islice(samples, self.buffer_size))
        own = 0  # place of the sample in the buffer: the first one, until the source has ended
        for position in itertools.count():
            if own == len(buffer):
                return
            yield self._mix(buffer, own, epoch, position)
            for sample in itertools.islice(samples, 1):
                buffer.popleft()
                buffer.append(sample)
                break
            else:
                own += 1

    def _mix(self, buffer: deque[Any], own: int, epoch: int, position: int) -> Any:
        rng = sample_generator(self._key, epoch, position)
        try:
            if self.stage.is_skipped(rng):
                return self.stage.apply_alone(buffer[own])
            partners = rng.integers(0, len(buffer), self.stage.others)
            return self.stage.apply_together([buffer[own], *(buffer[int(i)] for i in partners)], rng)
        except LabDLError as error:
            raise DataError(f"sample {position:,} of {self.name}: {error}") from error
