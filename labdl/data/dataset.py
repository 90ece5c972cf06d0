"""Dataset: base class of the data sets that are read sample by sample, and the methods that make one of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from labdl.data.batches import stack_samples
from labdl.data.random_keys import new_generator, takes_generator
from labdl.errors import ConfigError, DataError

if TYPE_CHECKING:
    from labdl.data.loader import Loader

Names = str | Sequence[str]


class Dataset:
    """A data set of ``len(data)`` samples, read by index: ``data[i]``; a batch by an array of indices, a part by a slice.

    A subclass defines ``__len__``, and either ``__getitem__`` of one index, as in PyTorch, or `read`, which also knows the
    epoch. Samples are arrays, or tuples or dictionaries of them. Readers may be called by several threads at once. The
    methods below make a new data set and read nothing until a sample is asked for; this one stays as it is.

    ``__getitem__(self, index, rng)`` receives a NumPy generator for random augmentation, which depends on ``seed``, the epoch
    and the index: a training that is resumed has the same samples, with any number of workers.

    ``inputs`` and ``targets`` name the entries of dictionary samples that a training takes as x and y.
    """

    name: str = ""
    classes: Sequence[str] | None = None
    inputs: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    seed: int = 0  # of the generators that ``__getitem__`` receives
    parallel: bool = True  # threads may read samples side by side
    batched: bool = False  # samples are batches, which a training takes as they are
    gathers: bool = False  # data[indices] takes a batch out of arrays, faster than sample by sample

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} wants a method __len__")

    def read(self, index: int, epoch: int = 0) -> Any:
        """The sample at an index from 0; ``epoch`` chooses the random numbers of transforms."""
        raise NotImplementedError(f"{type(self).__name__} wants a method __getitem__ or read")

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let a ``__getitem__`` of one index, as in PyTorch, serve for slices and batches too."""
        super().__init_subclass__(**settings)
        own = cls.__dict__.get("__getitem__")
        if own is not None and not cls.gathers and "read" not in cls.__dict__:
            if takes_generator(own):
                cls.read = lambda self, index, epoch=0: own(self, index, rng=new_generator(self.seed, epoch, index))  # type: ignore[method-assign]
            else:
                cls.read = lambda self, index, epoch=0: own(self, index)  # type: ignore[method-assign]
            cls.__getitem__ = Dataset.__getitem__  # type: ignore[method-assign]

    def read_batch(self, indices: np.ndarray, epoch: int = 0) -> Any:
        """The samples at some indices, stacked (see `labdl.data.batches.stack_samples`)."""
        return stack_samples([self.read(int(i), epoch) for i in indices])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.select(range(*index.indices(len(self))))
        if isinstance(index, np.ndarray | list):
            return self.read_batch(np.asarray(index))
        length = len(self)
        if not -length <= index < length:
            raise IndexError(f"{self.name or type(self).__name__} has {length:,} samples, received the index {index}")
        return self.read(int(index) % length if length else 0)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self.read(index)

    def origin(self, index: int) -> tuple[Dataset, int]:
        """The data set that a sample is read from, below selections, transforms and the like, and its index there."""
        return self, index

    def file_of(self, index: int) -> str:
        """The file of a sample as errors name it, below the folder of the data set; empty if a sample is no file."""
        return ""

    def label_of(self, index: int) -> Any:
        """The class number of a sample, or its other target, without reading the rest where that is possible."""
        return find_label(self.read(index), self.targets)

    def labels(self) -> np.ndarray:
        """The class numbers (N,) of all samples, for stratified splits and balanced samplers."""
        return np.asarray([self.label_of(i) for i in range(len(self))])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}: {len(self):,} samples)"

    def as_bytes(self) -> Dataset | None:
        """The same samples with an EncodedImage for the picture, of which the first transform of `map` decodes what it needs.

        None where there are none, or where each pixel has to be that of the whole picture decoded (``fast=False``). A random
        rectangle has the same place, and boxes, masks and key points are the same. The picture may be decoded at a half, a
        quarter or an eighth; then it lies at most half a pixel of the reduced picture beside them.
        """
        return None

    # -- flow

    def map(self, transforms: Any, *, seed: int = 0) -> Dataset:
        """Apply transforms, or functions of a sample, to each sample when it is read.

        ``transforms`` is one, a list of them, or a `Pipeline`. Their random numbers depend on ``seed``, the epoch and the
        index of the sample alone. As tf.data.Dataset.map. Example: ``pictures.map([T.Resize(64), T.ToFloat()])``.
        """
        from labdl.data.flow.map import MappedDataset

        return MappedDataset(self, transforms, seed=seed)

    def filter(self, condition: Callable[[Any], bool]) -> Dataset:
        """Keep the samples for which a function returns True; all are read once, at the first use.

        As tf.data.Dataset.filter.
        """
        from labdl.data.flow.selection import FilteredDataset

        return FilteredDataset(self, condition)

    def select(self, indices: Any) -> Dataset:
        """The samples at some indices, in their order. As torch.utils.data.Subset."""
        from labdl.data.flow.selection import SelectedDataset

        return SelectedDataset(self, indices)

    def take(self, count: int) -> Dataset:
        """The first samples, all of them if there are fewer. As tf.data.Dataset.take."""
        return self.select(range(min(_count("take", count), len(self))))

    def skip(self, count: int) -> Dataset:
        """All samples but the first ones. As tf.data.Dataset.skip."""
        return self.select(range(min(_count("skip", count), len(self)), len(self)))

    def shard(self, count: int, index: int) -> Dataset:
        """Every ``count``-th sample from ``index`` on: one of ``count`` parts. As tf.data.Dataset.shard."""
        if _count("shard", count) < 1 or not 0 <= index < count:
            raise ConfigError(f"shard wants a count of at least 1 and an index below it, received {count} and {index}")
        return self.select(range(index, len(self), count))

    def shuffle(self, seed: int = 0) -> Dataset:
        """The samples in one random order, the same in each epoch; `Loader` has shuffle=True for one in each epoch.

        As tf.data.Dataset.shuffle with a buffer of all samples and reshuffle_each_iteration=False.
        """
        return self.select(np.random.default_rng(seed).permutation(len(self)))

    def repeat(self, count: int) -> Dataset:
        """The samples ``count`` times, 0 for none. As tf.data.Dataset.repeat, whose -1 is `IterableDataset.repeat`."""
        from labdl.data.flow.selection import RepeatedDataset

        return RepeatedDataset(self, _count("repeat", count))

    def split(
        self, share: float = 0.8, *, seed: int | None = 0, stratify: bool | Sequence[Any] = False
    ) -> tuple[Dataset, Dataset]:
        """Two parts, of which the first has a share of the samples; random by ``seed``, in order if it is None.

        ``stratify=True`` keeps the shares of the classes, or of other groups by a sequence of one label for each sample.
        As sklearn.model_selection.train_test_split and keras.utils.split_dataset. Raises ConfigError if a part would be empty.
        """
        from labdl.data.splitting import split_indices

        labels = None
        if stratify is not False:
            labels = self.labels() if stratify is True else np.asarray(stratify)
        first, second = split_indices(len(self), share, seed, labels)
        return self.select(first), self.select(second)

    def concat(self, *others: Dataset) -> Dataset:
        """The samples of this data set, then those of others. As tf.data.Dataset.concatenate, torch's ConcatDataset."""
        from labdl.data.flow.combination import ConcatDataset

        return ConcatDataset((self, *others))

    def zip(self, *others: Dataset) -> Dataset:
        """Tuples of a sample of each data set, as many as the shortest has. As tf.data.Dataset.zip."""
        from labdl.data.flow.combination import ZippedDataset

        return ZippedDataset((self, *others))

    def interleave(self, *others: Dataset, block: int = 1) -> Dataset:
        """``block`` samples of each data set in turn, until all have ended.

        As tf.data.Dataset.interleave with a cycle of all data sets.
        """
        from labdl.data.flow.combination import InterleavedDataset

        return InterleavedDataset((self, *others), block)

    def cache(self, folder: Any = None) -> Dataset:
        """Keep each sample after its first reading, in memory, or in a folder on disk. As tf.data.Dataset.cache.

        Put it before random transforms, or they give the same in each epoch.
        """
        from labdl.data.flow.caching import CachedDataset, FileCachedDataset

        return CachedDataset(self) if folder is None else FileCachedDataset(self, folder)

    def prefetch(self, buffer_size: int) -> Dataset:
        """Let a thread read up to ``buffer_size`` samples in advance where they are iterated. As tf.data.Dataset.prefetch.

        Loaders and trainings read in advance by themselves: see ``prefetch`` and ``workers`` of `labdl.data.Loader`.
        """
        from labdl.data.flow.prefetching import PrefetchedDataset

        return PrefetchedDataset(self, buffer_size)

    def batch(self, size: int, *, drop_last: bool = False) -> Dataset:
        """Samples of ``size`` samples each, stacked. As tf.data.Dataset.batch; a training makes its batches itself."""
        from labdl.data.flow.grouping import BatchedDataset

        return BatchedDataset(self, size, drop_last)

    def padded_batch(self, size: int, *, value: float = 0, drop_last: bool = False) -> Dataset:
        """As `batch`, with arrays padded at the end to the longest of the batch. As tf.data.Dataset.padded_batch."""
        from labdl.data.flow.grouping import BatchedDataset

        return BatchedDataset(self, size, drop_last, pad=value)

    def bucket_by_length(
        self,
        boundaries: Sequence[float],
        batch_sizes: int | Sequence[int],
        *,
        length_func: Callable[[Any], int] | None = None,
        value: float = 0,
        drop_last: bool = False,
    ) -> Dataset:
        """Batches of samples of similar length, padded at the end to the longest of the batch with ``value``.

        There is a bucket of the lengths below each of ``boundaries``, and one for the others; a batch is complete when its
        bucket has ``batch_sizes`` samples, one number or one for each bucket. ``length_func`` gives the length of a sample, by
        default that of its first array; all are read once, at the first use. As tf.data.Dataset.bucket_by_sequence_length.
        Example: ``texts.bucket_by_length([16, 64], [64, 16, 4])``. Raises ConfigError.
        `labdl.data.samplers.BucketSampler` makes batches in random order.
        """
        from labdl.data.flow.bucketing import BucketedDataset, Buckets

        buckets = Buckets(boundaries, batch_sizes, drop_last)
        return BucketedDataset(self, buckets, length_func, value)

    def unbatch(self) -> Dataset:
        """The rows of samples that are batches of equal size. As tf.data.Dataset.unbatch."""
        from labdl.data.flow.grouping import UnbatchedDataset

        return UnbatchedDataset(self)

    def window(self, size: int, *, shift: int | None = None, stride: int = 1, drop_last: bool = True) -> Dataset:
        """Windows of ``size`` samples that follow each other at ``stride``, stacked; one begins ``shift`` after another.

        As tf.data.Dataset.window, for series; windows are stacked, and by default none is shorter at the end.
        """
        from labdl.data.flow.grouping import WindowedDataset

        return WindowedDataset(self, size, shift, stride, drop_last)

    def rejection_resample(
        self,
        target_dist: Sequence[float],
        initial_dist: Sequence[float] | None = None,
        *,
        class_func: Callable[[Any], int] | None = None,
        seed: int = 0,
    ) -> Dataset:
        """Drop samples at random so that the classes have the shares ``target_dist``, as many samples as that allows.

        ``initial_dist`` are the shares of the classes now, by default counted in `labels`. ``class_func`` gives the class
        number of a sample, for which all are read once; by default it is the label. The samples stay as they are, and the same
        ones in each epoch. As tf.data.Dataset.rejection_resample, which draws some samples twice and adds their classes.
        Example: ``dataset.rejection_resample([0.5, 0.5])``.
        Raises ConfigError for shares that do not fit the classes.
        """
        from labdl.data.flow.resampling import resample

        return resample(self, target_dist, initial_dist, class_func, seed)

    def project(self, names: Names) -> Dataset:
        """Keep some entries of dictionary samples, by name, or of tuples, by number.

        As mindspore's Dataset.project; in tf.data a map.
        """
        from labdl.data.flow.entries import ProjectedDataset

        return ProjectedDataset(self, (names,) if isinstance(names, str) else tuple(names))

    def rename(self, names: Mapping[str, str]) -> Dataset:
        """Rename entries of dictionary samples: ``{"old": "new"}``. As mindspore's Dataset.rename; in tf.data a map."""
        from labdl.data.flow.entries import RenamedDataset

        return RenamedDataset(self, names)

    def as_supervised(self, inputs: Names | None = None, targets: Names | None = None) -> Dataset:
        """Pairs (x, y) of dictionary samples; several names make a tuple of arrays.

        None takes ``inputs`` and ``targets`` of the data set. Tuples stay as they are. A training calls it itself.
        Raises ConfigError for a name that is not an entry; the message lists the entries.
        """
        from labdl.data.flow.entries import SupervisedDataset

        return SupervisedDataset(self, inputs, targets)

    def to_native(self, library: str, **settings: Any) -> Any:
        """The samples as a data set of another library, for its own loaders and training loops.

        ``library`` is "torch" (a torch.utils.data.Dataset of tensors), "tensorflow" (a tf.data.Dataset), "paddle" (a
        paddle.io.Dataset), "mindspore" (a mindspore.dataset.GeneratorDataset) or "datasets" (a datasets.Dataset of Hugging
        Face, in memory). Samples are read when they are asked for, with a length and by index where the library has that. A
        pass of TensorFlow is the next epoch of random transforms; the data sets of PyTorch and Paddle, and the ``source`` of
        MindSpore's, have a method ``set_epoch(epoch)``.

        ``data_format="channels_last"`` leaves the channels of pictures and clips where they are; by default they come first.
        Other ``settings`` go to the constructor of the library, such as ``output_signature`` of tf.data.Dataset.from_generator.
        Raises ConfigError for unknown libraries and samples that the library cannot hold, BackendError if it is missing.

        Example: ``torch.utils.data.DataLoader(pictures.to_native("torch"), batch_size=32, num_workers=4)``.
        """
        from labdl.data.native.writing import to_native

        return to_native(self, library, **settings)

    def loader(self, batch_size: int = 32, **settings: Any) -> Loader:
        """Batches of the data set: a `labdl.data.Loader` with these settings, such as ``prefetch``."""
        from labdl.data.loader import Loader

        return Loader(self, batch_size, **settings)

    def describe_as(self, other: Any) -> Self:
        """Take name, classes, inputs and targets of another data set; returns this one."""
        self.name = getattr(other, "name", "") or type(other).__name__
        self.classes = getattr(other, "classes", None)
        self.inputs, self.targets = getattr(other, "inputs", ()), getattr(other, "targets", ())
        self.parallel, self.batched = getattr(other, "parallel", True), getattr(other, "batched", False)
        return self


def find_label(sample: Any, targets: tuple[str, ...] = ()) -> Any:
    """The label of a sample: the entry of its target, "label", or the last element of a tuple. Raises DataError."""
    if isinstance(sample, Mapping):
        for name in (*targets, "label", "labels"):
            if name in sample:
                return sample[name]
        raise DataError(f"a sample with a label has an entry 'label', received {', '.join(map(str, sample))}")
    if isinstance(sample, tuple | list) and len(sample) > 1:
        return sample[-1]
    raise DataError(f"a sample with a label is a pair or a dictionary, received {type(sample).__name__}")


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{name} wants a number of samples of at least 0, received {value!r}")
    return int(value)
