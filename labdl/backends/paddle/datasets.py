"""Data sets and loaders of Paddle as sources, and data sets of LabDL as paddle.io.Dataset."""

import paddle
from paddle import io

from labdl.backends.map_style_datasets import DividedStream, IndexedSamples, Passes, known_length
from labdl.backends.paddle.tensors import to_numpy
from labdl.backends.protocol.datasets import NativeSource


def native_source(value):
    if isinstance(value, io.DataLoader):
        return NativeSource(open=Passes(value), convert=_convert, length=known_length(value), batched=True)
    if isinstance(value, io.IterableDataset):  # a subclass of Dataset
        return NativeSource(open=Passes(value), convert=_convert, length=known_length(value))
    if isinstance(value, io.Dataset):
        return NativeSource(open=Passes(value), convert=_convert, read=value.__getitem__, length=known_length(value))
    return None


def _convert(value):
    return to_numpy(value) if isinstance(value, paddle.Tensor) else value


def native_dataset(samples, settings):
    return (LabDataset if samples.indexed else LabIterableDataset)(samples, **settings)


class LabDataset(IndexedSamples, io.Dataset):  # pyrefly: ignore[inconsistent-inheritance]: Paddle's has no samples
    """A data set of LabDL as one of Paddle, which returns arrays; `set_epoch` chooses the random numbers of transforms."""


class LabIterableDataset(DividedStream, io.IterableDataset):
    """A stream of LabDL as one of Paddle; each worker of a DataLoader reads it and takes its share of the samples."""

    def __iter__(self):
        return self.share(io.get_worker_info())
