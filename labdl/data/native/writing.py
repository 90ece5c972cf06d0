"""Data sets of LabDL as data sets of other libraries: `to_native`."""

from __future__ import annotations

from typing import Any

from labdl.data.batches import DataFormat
from labdl.data.dataset import Dataset
from labdl.data.native.hugging_face_columns import hugging_face_dataset
from labdl.data.native.libraries import HUGGING_FACE, native_dataset
from labdl.data.native.plain_samples import PlainSamples
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError


def to_native(
    dataset: Dataset | IterableDataset, library: str, *, data_format: DataFormat = "channels_first", **settings: Any
) -> Any:
    """See `Dataset.to_native`."""
    if not isinstance(dataset, Dataset | IterableDataset):
        raise ConfigError(
            f"to_native wants a data set, received {type(dataset).__name__}: wrap it as data.SampleDataset(…)"
        )
    if data_format not in ("channels_first", "channels_last"):
        raise ConfigError(f'data_format wants "channels_first" or "channels_last", received {data_format!r:.80}')
    samples = PlainSamples(dataset, data_format)
    if library == HUGGING_FACE:
        return hugging_face_dataset(samples, settings)
    return native_dataset(library, samples, settings)
