"""Transforms applied to samples when they are read."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.flow.fusion import fuse_decoding
from labdl.data.heap import keep_freed_memory
from labdl.data.pipeline import Pipeline
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.data.reading import describe_place, describe_unreadable
from labdl.data.row_memory import Reserve, offer_row
from labdl.errors import DataError, LabDLError

_NO_OFFER = nullcontext()


class MappedDataset(Dataset):
    """A data set with transforms; see `Dataset.map`."""

    def __init__(self, source: Dataset, transforms: Any, *, seed: int = 0):
        self.source, self.seed = source, seed
        self.pipeline = transforms if isinstance(transforms, Pipeline) else Pipeline(transforms)
        self.describe_as(source)
        # a second map of the same seed draws other numbers
        self._key = derive_seed(seed, _depth(source))
        self._read_from, self._stages = fuse_decoding(source, self.pipeline.stages())
        self._fills_rows = bool(self._stages) and vars(type(self._stages[-1])).get("fills_rows", False)
        keep_freed_memory()
        for stage in self._stages:
            self.inputs = tuple(getattr(stage, "outputs", ())) or self.inputs

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int, epoch: int = 0) -> Any:
        return self._read_until(index, epoch, len(self._stages))

    def read_into(self, index: int, epoch: int, reserve: Reserve) -> Any:
        """As `read`; an array of the sample may lie in memory that ``reserve(shape, dtype)`` returned."""
        return self._read_until(index, epoch, len(self._stages), reserve if self._fills_rows else None)

    def _read_until(self, index: int, epoch: int, end: int, reserve: Reserve | None = None) -> Any:
        """The sample after the first stages: a stage of several samples reads the others through those before it."""
        sample = self._read_from.read(index, epoch)
        rng = sample_generator(self._key, epoch, index)
        for at, stage in enumerate(self._stages[:end]):
            try:
                if not stage.others:
                    with offer_row(reserve) if reserve is not None and at == end - 1 else _NO_OFFER:
                        sample = stage.apply(sample, rng)
                    continue
                if stage.is_skipped(rng):
                    sample = stage.apply_alone(sample)
                    continue
                partners = rng.integers(0, len(self.source), stage.others)
                own = rng.bit_generator.state  # the generator serves the partners in between
                samples = [sample, *(self._read_partner(int(i), epoch, at) for i in partners)]
                rng.bit_generator.state = own
                sample = stage.apply_together(samples, rng)
            except LabDLError as error:
                raise DataError(f"{describe_place(self, index)}: {error}") from error
        return sample

    def _read_partner(self, index: int, epoch: int, end: int) -> Any:
        """A sample that is mixed into another one, whose errors have to name this one."""
        try:
            return self._read_until(index, epoch, end)
        except Exception as error:  # code of the user, and decoders, may raise anything
            raise describe_unreadable(index, self, error) from error

    def origin(self, index: int) -> tuple[Dataset, int]:
        return self.source.origin(index)

    def label_of(self, index: int) -> Any:
        return self.source.label_of(index)

    def labels(self) -> np.ndarray:
        return self.source.labels()


def _depth(dataset: Any) -> int:
    depth = 0
    while isinstance(getattr(dataset, "source", None), Dataset):
        depth += isinstance(dataset, MappedDataset)
        dataset = dataset.source
    return depth
