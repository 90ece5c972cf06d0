"""Pipelines of mindspore.dataset as sources, and data sets of LabDL as mindspore.dataset.GeneratorDataset."""

import itertools
import sys

import numpy as np
from mindspore import Tensor

from labdl.backends.mindspore.tensors import to_numpy
from labdl.backends.protocol.datasets import NativeSource


def native_source(value):
    dataset = sys.modules.get("mindspore.dataset")  # takes a second to import
    if dataset is None or not isinstance(value, dataset.Dataset):
        return None
    endless = value.get_repeat_count() == -1
    count = -1 if endless or not _is_sized(value) else value.get_dataset_size()
    return NativeSource(
        open=lambda epoch: value.create_dict_iterator(num_epochs=1, output_numpy=True),
        convert=_convert,
        length=count if count >= 0 else None,
        endless=endless,
        batched=True,
        columns=tuple(value.get_col_names()),
    )


def _is_sized(value):
    """Whether its size can be asked for: that of a generator without a length would be counted, perhaps without an end."""
    if not value.children:
        return getattr(value, "source_len", 0) >= 0
    return all(map(_is_sized, value.children))


def _convert(value):
    return to_numpy(value) if isinstance(value, Tensor) else value


def native_dataset(samples, settings):
    import mindspore.dataset as dataset

    names = _columns(samples.examples(1)[0], samples.name)
    kind = _Samples if samples.indexed else _Stream if samples.length is None else _SizedStream
    return dataset.GeneratorDataset(
        kind(samples, names), names, **{"shuffle": False if samples.indexed else None, **settings}
    )


def _columns(sample, name):
    if isinstance(sample, dict):
        columns, values = list(sample), list(sample.values())
    else:
        values = list(sample) if isinstance(sample, tuple) else [sample]
        columns = [f"column_{i}" for i in range(len(values))]
    for column, value in zip(columns, values, strict=True):
        if value is None or isinstance(value, dict | tuple | list):
            raise TypeError(
                f"the entry {column} of {name} is a {type(value).__name__}, columns of MindSpore are arrays and strings: "
                "bring it into this form with Dataset.map"
            )
    return columns


class _Samples:
    """Samples by index; `set_epoch` chooses the random numbers of transforms."""

    def __init__(self, samples, names):
        self.samples, self.names, self.epoch = samples, names, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self):
        return self.samples.length

    def __getitem__(self, index):
        return _row(self.samples.read(int(index), self.epoch), self.names)


class _Stream:
    """Samples in their order; each pass is the next epoch."""

    def __init__(self, samples, names):
        self.samples, self.names, self.passes = samples, names, itertools.count()

    def __iter__(self):
        for sample in self.samples.open(next(self.passes)):  # counted when it is read: MindSpore opens more passes
            yield _row(sample, self.names)


class _SizedStream(_Stream):
    """A stream of known length."""

    def __len__(self):
        return self.samples.length


def _row(sample, names):
    if isinstance(sample, dict):
        return tuple(np.asarray(sample[name]) for name in names)
    return tuple(map(np.asarray, sample)) if isinstance(sample, tuple) else (np.asarray(sample),)
