"""IterableDataset: base class of the streams, and the methods that make one of another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from labdl.data.dataset import Names
from labdl.data.streams.source import describe, open_source
from labdl.errors import ConfigError, DataError

if TYPE_CHECKING:
    from labdl.data.loader import Loader

_ENDED = " left, because an iterator can be read once only: give the generator function instead of what it returns"
Source = Callable[..., Iterable[Any]] | Iterable[Any]


class IterableDataset:
    """A stream of samples: a data set that is read one sample after the other, with or without an end.

    ``source`` is a generator function, any iterable, or a data set; a subclass defines ``__iter__`` instead, as in PyTorch.
    A generator function with an argument ``epoch`` receives the number of the pass. A generator object, or another iterator,
    can be read once only. ``length`` is the number of samples, if it is known and the source has no ``len()``. ``inputs`` and
    ``targets`` name the entries of dictionary samples that a training takes as x and y.

    The methods below make a new stream and read nothing until it is iterated. A training on a stream of unknown length
    wants ``fit(stream, steps_per_epoch=...)``. As torch.utils.data.IterableDataset and datasets.IterableDataset. Raises
    ConfigError for a source that cannot be iterated.

    Example::

        def noise():
            rng = np.random.default_rng(0)
            while True:
                yield rng.normal(size=3), rng.integers(2)

        trainer.fit(data.IterableDataset(noise), steps_per_epoch=100, epochs=3)
    """

    name: str = ""
    classes: Sequence[str] | None = None
    inputs: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    parallel: bool = True  # threads may apply the functions of `map` side by side
    batched: bool = False  # samples are batches, which a training takes as they are
    endless: bool = False  # it is known that the stream has no end
    _source: Any = None
    _length: int | None = None
    _ahead: tuple[Any, Iterator[Any]] | None = None  # the first sample of an iterator, read in advance, and the others

    def __init__(
        self,
        source: Source | None = None,
        *,
        length: int | None = None,
        name: str | None = None,
        classes: Sequence[str] | None = None,
        inputs: Names = (),
        targets: Names = (),
    ):
        if source is not None and not isinstance(source, Iterable) and not callable(source):
            raise ConfigError(
                f"IterableDataset wants a generator function or something to iterate, received {type(source).__name__}"
            )
        if isinstance(source, str | bytes | Mapping | type):
            raise ConfigError(f"IterableDataset wants samples to iterate, received {source!r:.80}")
        if length is not None and (not isinstance(length, int) or isinstance(length, bool) or length < 1):
            raise ConfigError(f"length wants a number of samples of at least 1, received {length!r}")
        self._source, self._length = source, length
        if source is not None:
            describe(self, source)
        self.name = name or self.name or type(self).__name__
        self.classes = classes or self.classes
        self.inputs, self.targets = entries(inputs) or self.inputs, entries(targets) or self.targets

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let ``__iter__`` of a subclass, as in PyTorch, serve for each pass."""
        super().__init_subclass__(**settings)
        cls.name = cls.name or cls.__name__
        own = cls.__dict__.get("__iter__")
        if own is not None and "read" not in cls.__dict__:
            cls.read = lambda self, epoch=0: iter(own(self))  # type: ignore[method-assign]

    @property
    def length(self) -> int | None:
        """The number of samples of a pass; None if it is unknown or without an end."""
        if self._length is not None:
            return self._length
        sized = self._source if self._source is not None else self
        if isinstance(sized, IterableDataset) and sized is not self:
            return sized.length
        return len(sized) if hasattr(sized, "__len__") else None  # type: ignore[arg-type]

    @property
    def finite(self) -> bool:
        """True if it is known that a pass ends."""
        return self.length is not None

    @property
    def restartable(self) -> bool:
        """False if the source is an iterator, which can be read once only."""
        return not isinstance(self._source, Iterator)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        """The samples of a pass; ``epoch`` chooses the random numbers of `map` and `shuffle`."""
        source = self._source
        if source is None:
            raise ConfigError(f"{type(self).__name__} wants a method __iter__, or a source")
        if isinstance(source, IterableDataset):
            return source.read(epoch)
        return open_source(source, epoch, self.name)

    def open(self, epoch: int = 0) -> Iterator[Any]:
        """The samples of a pass as `read` gives them, with the one that `peek` has read."""
        if self._ahead is None:
            return self.read(epoch)
        (first, rest), self._ahead = self._ahead, None
        return itertools.chain([first], rest)

    def peek(self) -> Any:
        """The first sample, or the next one of an iterator, which stays for `open`. Raises DataError if there is none."""
        if self._ahead is not None:
            return self._ahead[0]
        samples = self.read(0)
        for sample in samples:
            if not self.restartable:
                self._ahead = sample, samples
            return sample
        raise DataError(f"the stream {self.name} has no samples{'' if self.restartable else _ENDED}")

    def __iter__(self) -> Iterator[Any]:
        return self.read(0)

    def __repr__(self) -> str:
        count = "endless" if self.endless else "unknown length" if self.length is None else f"{self.length:,} samples"
        return f"{type(self).__name__}({self.name}: {count})"

    # -- flow

    def map(self, transforms: Any, *, seed: int = 0, buffer_size: int | None = None) -> IterableDataset:
        """Apply transforms, or functions of a sample; random numbers depend on ``seed``, the pass and the position alone.

        Transforms that mix samples, such as ``T.MixUp`` and ``T.Mosaic``, take the others from a buffer of the next
        ``buffer_size`` samples, which stay in memory as the transforms before have made them; the order remains. Shuffle
        a stream that is sorted by classes first. A loader applies the maps at the end of a stream, behind the last mix,
        in its workers. As tf.data.Dataset.map. Example: ``stream.map([T.MixUp(num_classes=10)], buffer_size=1000)``.
        Raises ConfigError for a transform that mixes without ``buffer_size``.
        """
        from labdl.data.streams.mixing import map_stream

        return map_stream(self, transforms, seed=seed, buffer_size=buffer_size)

    def filter(self, condition: Callable[[Any], bool]) -> IterableDataset:
        """Keep the samples for which a function returns True. As tf.data.Dataset.filter."""
        from labdl.data.streams.flow import FilteredStream

        return FilteredStream(self, condition)

    def shuffle(self, buffer_size: int, *, seed: int = 0) -> IterableDataset:
        """Draw each sample from a buffer of the next ``buffer_size`` ones, anew in each pass. As tf.data.Dataset.shuffle."""
        from labdl.data.streams.flow import ShuffledStream

        return ShuffledStream(self, buffer_size, seed)

    def take(self, count: int) -> IterableDataset:
        """The first samples, all of them if there are fewer. As tf.data.Dataset.take."""
        from labdl.data.streams.flow import PartOfStream

        return PartOfStream(self, 0, count)

    def skip(self, count: int) -> IterableDataset:
        """All samples but the first ones, which are read and dropped. As tf.data.Dataset.skip."""
        from labdl.data.streams.flow import PartOfStream

        return PartOfStream(self, count, None)

    def shard(self, count: int, index: int) -> IterableDataset:
        """Every ``count``-th sample from ``index`` on: one of ``count`` parts. As tf.data.Dataset.shard."""
        from labdl.data.streams.flow import PartOfStream

        if not isinstance(count, int) or count < 1 or not 0 <= index < count:
            raise ConfigError(f"shard wants a count of at least 1 and an index below it, received {count} and {index}")
        return PartOfStream(self, index, None, count)

    def split(
        self, share: float = 0.8, *, seed: int | None = 0, key: Callable[[Any], Any] | str | int | None = None
    ) -> tuple[IterableDataset, IterableDataset]:
        """Two parts, of which the first has a share of the samples; no sample is in both, and every pass has the same ones.

        By default a position belongs to a part: of each block of q samples, p are in the first part for a share of p / q,
        at random by ``seed``, or evenly if it is None. That wants a stream with the same samples in each pass: split before
        `shuffle` and `repeat`. With ``key``, the name of an entry or a function of a sample, a sample whose text or number has
        a hash below the share is in the first part, wherever it comes, and with it all samples of the same key; the share is
        then met roughly. Each part reads the whole stream. `Dataset.split` keeps the shares of classes, which wants all
        labels. Raises ConfigError. Example: ``train, test = stream.split(0.9, key="speaker")``.
        """
        from labdl.data.streams.splitting import split_stream

        return split_stream(self, share, seed, key)

    def cache(self, folder: Any = None) -> IterableDataset:
        """Keep each sample after its first reading, in memory, or in a folder on disk; all passes are then the first one.

        Put it before `shuffle` and random transforms. The stream has an end and fits there; one that is an iterator can be
        read again after it. As tf.data.Dataset.cache, but a pass that is left early keeps what it has read. Raises
        ConfigError for a stream without an end, and for a folder of another data set.
        """
        from labdl.data.streams.caching import CachedStream

        return CachedStream(self, folder)

    def prefetch(self, buffer_size: int) -> IterableDataset:
        """Let a thread read up to ``buffer_size`` samples in advance. As tf.data.Dataset.prefetch.

        Loaders and trainings read in advance by themselves: see ``prefetch`` and ``workers`` of `labdl.data.Loader`.
        """
        from labdl.data.streams.prefetching import PrefetchedStream

        return PrefetchedStream(self, buffer_size)

    def repeat(self, count: int | None = None) -> IterableDataset:
        """The samples ``count`` times, or without an end. As tf.data.Dataset.repeat."""
        from labdl.data.streams.flow import RepeatedStream

        return RepeatedStream(self, count)

    def batch(self, size: int, *, drop_last: bool = False, pad: float | None = None) -> IterableDataset:
        """Samples of ``size`` samples each, stacked; ``pad`` as in `stack_samples`. A training makes its batches itself.

        As tf.data.Dataset.batch and padded_batch.
        """
        from labdl.data.streams.grouping import BatchedStream

        return BatchedStream(self, size, drop_last, pad)

    def padded_batch(self, size: int, *, value: float = 0, drop_last: bool = False) -> IterableDataset:
        """As `batch`, with arrays padded at the end to the longest of the batch. As tf.data.Dataset.padded_batch."""
        return self.batch(size, drop_last=drop_last, pad=value)

    def bucket_by_length(
        self,
        boundaries: Sequence[float],
        batch_sizes: int | Sequence[int],
        *,
        length_func: Callable[[Any], int] | None = None,
        value: float = 0,
        drop_last: bool = False,
    ) -> IterableDataset:
        """Batches of samples of similar length, padded at the end to the longest of the batch with ``value``.

        There is a bucket of the lengths below each of ``boundaries``, and one for the others; a batch is complete when its
        bucket has ``batch_sizes`` samples, one number or one for each bucket. ``length_func`` gives the length of a sample, by
        default that of its first array. As tf.data.Dataset.bucket_by_sequence_length.
        Example: ``texts.bucket_by_length([16, 64], [64, 16, 4])``. Raises ConfigError.
        """
        from labdl.data.flow.bucketing import Buckets
        from labdl.data.streams.bucketing import BucketedStream

        buckets = Buckets(boundaries, batch_sizes, drop_last)
        return BucketedStream(self, buckets, length_func, value)

    def unbatch(self) -> IterableDataset:
        """The rows of samples that are batches, such as those of a generator for Keras. As tf.data.Dataset.unbatch."""
        from labdl.data.streams.grouping import UnbatchedStream

        return UnbatchedStream(self)

    def window(
        self, size: int, *, shift: int | None = None, stride: int = 1, drop_last: bool = True
    ) -> IterableDataset:
        """Windows of ``size`` samples that follow each other at ``stride``, stacked; one begins ``shift`` after another.

        As tf.data.Dataset.window, for series.
        """
        from labdl.data.streams.grouping import WindowedStream

        return WindowedStream(self, size, shift, stride, drop_last)

    def concat(self, *others: IterableDataset) -> IterableDataset:
        """The samples of this stream, then those of others. As tf.data.Dataset.concatenate."""
        from labdl.data.streams.combination import ConcatStream

        return ConcatStream((self, *others))

    def zip(self, *others: IterableDataset) -> IterableDataset:
        """Tuples of a sample of each stream, until the first has ended. As tf.data.Dataset.zip."""
        from labdl.data.streams.combination import ZippedStream

        return ZippedStream((self, *others))

    def interleave(self, *others: IterableDataset, block: int = 1) -> IterableDataset:
        """``block`` samples of each stream in turn, until all have ended. As tf.data.Dataset.interleave."""
        from labdl.data.streams.combination import InterleavedStream

        return InterleavedStream((self, *others), block)

    def rejection_resample(
        self,
        target_dist: Sequence[float],
        initial_dist: Sequence[float] | None = None,
        *,
        class_func: Callable[[Any], int] | None = None,
        seed: int = 0,
    ) -> IterableDataset:
        """Drop samples at random so that the classes have the shares ``target_dist``.

        ``initial_dist`` are the shares in the stream; None counts the classes as they come, so that the first samples have
        other shares. ``class_func`` gives the class number of a sample, by default its label. Samples stay as they are.
        As tf.data.Dataset.rejection_resample.
        """
        from labdl.data.streams.resampling import ResampledStream

        return ResampledStream(self, target_dist, initial_dist, class_func, seed)

    def project(self, names: Names) -> IterableDataset:
        """Keep some entries of dictionary samples, by name, or of tuples, by number. As mindspore's Dataset.project."""
        from labdl.data.streams.sample_wise import ProjectedStream

        return ProjectedStream(self, names)

    def rename(self, names: Mapping[str, str]) -> IterableDataset:
        """Rename entries of dictionary samples: ``{"old": "new"}``. As mindspore's Dataset.rename."""
        from labdl.data.streams.sample_wise import RenamedStream

        return RenamedStream(self, names)

    def as_supervised(self, inputs: Names | None = None, targets: Names | None = None) -> IterableDataset:
        """Pairs (x, y) of dictionary samples, as `Dataset.as_supervised`. A training calls it itself."""
        from labdl.data.streams.sample_wise import SupervisedStream

        return SupervisedStream(self, inputs, targets)

    def to_native(self, library: str, **settings: Any) -> Any:
        """The samples as a data set of another library, see `Dataset.to_native`.

        "torch" and "paddle" give an IterableDataset, of which each worker of a loader takes its share, "datasets" a
        datasets.IterableDataset.
        """
        from labdl.data.native.writing import to_native

        return to_native(self, library, **settings)

    def loader(self, batch_size: int = 32, **settings: Any) -> Loader:
        """Batches of the stream: a `labdl.data.Loader` with these settings."""
        from labdl.data.loader import Loader

        return Loader(self, batch_size, **settings)

    def describe_as(self, other: Any) -> Self:
        """Take name, classes, inputs and targets of another data set; returns this one."""
        describe(self, other)
        return self


def entries(names: Names) -> tuple[str, ...]:
    """Names of entries as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)
