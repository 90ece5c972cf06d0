"""Data sets and loaders of PyTorch as sources, and data sets of LabDL as torch.utils.data.Dataset."""

import numpy as np
import torch
from torch.utils import data

from labdl.backends.map_style_datasets import DividedStream, IndexedSamples, Passes, known_length
from labdl.backends.protocol.datasets import NativeSource
from labdl.backends.torch.tensors import to_numpy


def native_source(value):
    if isinstance(value, data.DataLoader):
        return NativeSource(open=Passes(value), convert=_convert, length=known_length(value), batched=True)
    if isinstance(value, data.IterableDataset):
        return NativeSource(open=Passes(value), convert=_convert, length=known_length(value))
    if isinstance(value, data.Dataset):
        return NativeSource(open=Passes(value), convert=_convert, read=value.__getitem__, length=known_length(value))
    return None


def _convert(value):
    if not isinstance(value, torch.Tensor):
        return value
    return to_numpy(value.to_dense() if value.layout != torch.strided else value)


def native_dataset(samples, settings):
    return (LabDataset if samples.indexed else LabIterableDataset)(samples, **settings)


class LabDataset(IndexedSamples, data.Dataset):
    """A data set of LabDL as one of PyTorch, which returns tensors; `set_epoch` chooses the random numbers of transforms."""

    def __getitem__(self, index):
        return _tensors(super().__getitem__(index))


class LabIterableDataset(DividedStream, data.IterableDataset):
    """A stream of LabDL as one of PyTorch; each worker of a DataLoader reads it and takes its share of the samples."""

    def __len__(self):
        if self.samples.length is None:
            raise TypeError(f"the length of the stream {self.samples.name} is unknown")
        return self.samples.length

    def __iter__(self):
        return map(_tensors, self.share(data.get_worker_info()))


def _tensors(value):
    if isinstance(value, dict):
        return {name: _tensors(v) for name, v in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(_tensors, value))
    if not isinstance(value, np.ndarray) or value.dtype.kind in "UO":
        return value
    if value.dtype.kind == "V":  # NumPy's bfloat16, of which PyTorch can read the bits alone
        return torch.tensor(value.view("int16")).view(torch.bfloat16)
    return torch.tensor(value)  # a copy: the data set keeps its own array
