"""Loader: batches in an order that is a pure function of seed and epoch, for reproducible runs."""

from __future__ import annotations

import math
import os
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from labdl.data.batch_rows import BatchRows
from labdl.data.batches import DataFormat
from labdl.data.dataset import Dataset
from labdl.data.reading import Errors, Problem, Rows, SampleReader
from labdl.data.sample_dataset import SampleDataset
from labdl.data.samplers.batch import BatchSampler
from labdl.data.samplers.sampler import Sampler
from labdl.data.slots import SlotPool
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.data.streams.plan import StreamPlan
from labdl.data.threads import draw_ahead, read_with_threads
from labdl.errors import ConfigError

if TYPE_CHECKING:
    from labdl.data.workers.worker_pool import WorkerPool

WorkerType = Literal["thread", "process"]
MOST_THREADS = 8  # by default
_FREE_SLOTS = 4


class Loader:
    """Batches of a data set as tuples, or dictionaries, of NumPy arrays; any object with a length and samples is one.

    The order of epoch ``e`` depends on ``seed`` and ``e`` alone: it is the same on every backend, and independent of
    earlier epochs. ``sampler`` (of indices) or ``batch_sampler`` (of batches) replaces ``shuffle``, see
    `labdl.data.samplers`. An `IterableDataset` is read in its order. ``steps_per_epoch`` is the number of batches in an
    epoch, if a stream has no end or epochs are not passes: the next epoch goes on where the last one ended, and the passes
    of a data set are each in an order of their own.

    Samples that are read one by one are read by ``workers`` threads, at most 8 or as many as the machine has processors by
    default, ``prefetch`` batches ahead; 0 reads in the calling thread. ``worker_type="process"`` starts processes instead,
    for Python code that holds its lock; they write batches into shared memory, read whole batches each, and end with the
    epoch unless ``persistent_workers`` keeps them until `close`. The batches are the same for any number and kind.

    ``data_format`` and ``pad`` are those of `stack_samples`. ``errors`` says what happens to a sample that cannot be read:
    "raise" a DataError that names it, "skip" it, or "replace" it by another one; ``problems`` lists them, and a warning
    counts them at the end of an epoch. As torch.utils.data.DataLoader. Raises ConfigError for wrong settings.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        *,
        sampler: Sampler | None = None,
        batch_sampler: BatchSampler | None = None,
        steps_per_epoch: int | None = None,
        workers: int | None = None,
        worker_type: WorkerType = "thread",
        persistent_workers: bool = False,
        prefetch: int = 2,
        data_format: DataFormat = "channels_first",
        pad: float | None = None,
        errors: Errors = "raise",
    ):
        self._settings = {name: value for name, value in locals().items() if name not in ("self", "dataset")}
        if batch_size < 1:
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size}")
        if (sampler is not None) + (batch_sampler is not None) + bool(shuffle) > 1:
            raise ConfigError("shuffle, sampler and batch_sampler exclude each other: give one of them")
        if errors not in ("raise", "skip", "replace"):
            raise ConfigError(f'errors wants "raise", "skip" or "replace", received {errors!r}')
        if worker_type not in ("thread", "process"):
            raise ConfigError(f'worker_type wants "thread" or "process", received {worker_type!r}')
        for name, value, least in (
            ("workers", workers, 0),
            ("prefetch", prefetch, 1),
            ("steps_per_epoch", steps_per_epoch, 1),
        ):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise ConfigError(f"{name} wants an integer at least {least}, received {value!r}")
        self.dataset: Any = _as_dataset(dataset)
        self.batch_size, self.shuffle, self.seed, self.drop_last = batch_size, shuffle, seed, drop_last
        self.sampler, self.batch_sampler, self.steps_per_epoch = sampler, batch_sampler, steps_per_epoch
        self.workers, self.worker_type, self.persistent_workers = workers, worker_type, persistent_workers
        self.prefetch, self.pad = prefetch, pad
        self.errors: Errors = errors
        self.data_format: DataFormat = data_format
        self.problems: list[Problem] = []
        self._stream: StreamPlan | None = None
        self._slots = SlotPool(_FREE_SLOTS)
        self._pool: WorkerPool | None = None
        if isinstance(self.dataset, IterableDataset):
            self._check_stream()
            self._stream = StreamPlan(self.dataset, batch_size, steps_per_epoch, drop_last)
        elif len(self.dataset) == 0:
            raise ConfigError("the dataset is empty")
        elif steps_per_epoch is not None and not self._count_batches():
            raise ConfigError(f"drop_last leaves no batch of {batch_size:,} samples: give a smaller batch_size")

    def _check_stream(self) -> None:
        for name in ("shuffle", "sampler", "batch_sampler"):
            if getattr(self, name):
                raise ConfigError(
                    f"{name} wants samples by index, a stream has an order: use stream.shuffle(buffer_size)"
                )
        if self.errors == "replace":
            raise ConfigError('errors="replace" wants samples by index, a stream has none: use errors="skip"')

    def replace(self, dataset: Any, **settings: Any) -> Self:
        """A loader of another data set, or with other settings, and otherwise the same; it adds to the same ``problems``."""
        loader = type(self)(dataset, **{**self._settings, **settings})
        loader.problems = self.problems
        return loader

    def __len__(self) -> int:
        """Number of batches in an epoch. Raises TypeError for a stream of unknown length."""
        if self._stream is not None:
            if self._stream.length is None:
                raise TypeError(
                    f"the stream {self.dataset.name} has an unknown length: give Loader steps_per_epoch, or IterableDataset "
                    "a length"
                )
            return self._stream.length
        return self._count_batches() if self.steps_per_epoch is None else self.steps_per_epoch

    def _count_batches(self) -> int:
        """Number of batches in a pass over the data set."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        whole = (len(self.dataset) if self.sampler is None else len(self.sampler)) / self.batch_size
        return math.floor(whole) if self.drop_last else math.ceil(whole)

    @property
    def samples(self) -> int:
        """Number of samples in an epoch; an upper bound if some are skipped. Raises TypeError as ``len``."""
        if self.batch_sampler is not None:
            return sum(map(len, self.batch_indices()))
        if self.steps_per_epoch is not None:
            return len(self) * self.batch_size
        known = (
            self.dataset.length
            if self._stream is not None
            else len(self.dataset if self.sampler is None else self.sampler)
        )
        return len(self) * self.batch_size if self.drop_last or known is None else known

    def indices(self, epoch: int = 0) -> np.ndarray:
        """Indices into the dataset in the order of an epoch."""
        if self._stream is not None:
            raise ConfigError("a stream has no indices: iterate over the loader")
        if self.steps_per_epoch is not None:
            return np.concatenate(list(self.batch_indices(epoch)))
        return self._order(epoch)

    def _order(self, epoch: int) -> np.ndarray:
        """Indices in the order of a pass."""
        if self.batch_sampler is not None:
            return np.concatenate([np.asarray(b) for b in self.batch_sampler.batches(epoch)])
        if self.sampler is not None:
            return self.sampler.indices(epoch)
        if not self.shuffle:
            return np.arange(len(self.dataset))
        return np.random.default_rng([self.seed, epoch]).permutation(len(self.dataset))

    def batch_indices(self, epoch: int = 0, start: int = 0) -> Sequence[np.ndarray]:
        """The indices of each batch of an epoch from ``start`` on."""
        if self.steps_per_epoch is None:
            return self._batches_of_pass(epoch)[start:]
        first = epoch * self.steps_per_epoch
        return _Passes(self._batches_of_pass, self._count_batches(), range(first + start, first + self.steps_per_epoch))

    def _batches_of_pass(self, number: int) -> Sequence[np.ndarray]:
        if self.batch_sampler is not None:
            return list(self.batch_sampler.batches(number))
        in_order = self.sampler is None and not self.shuffle
        order = range(len(self.dataset)) if in_order else self._order(number)
        return _Batches(order, self.batch_size, self._count_batches())

    def epoch(self, epoch: int = 0, start: int = 0) -> Iterator[Any]:
        """Iterate over the batches of an epoch from ``start`` on; earlier ones are not read, but for those of a stream."""
        if not self._reads_samples():
            for indices in self.batch_indices(epoch, start):
                yield self.dataset[indices]
            return
        problems: list[Problem] = []
        try:
            yield from self._read(epoch, start, problems)
        finally:
            self._slots.clear()
            self.problems += problems
        if problems:
            warnings.warn(_report(self.dataset, problems), stacklevel=2)

    def _read(self, epoch: int, start: int, problems: list[Problem]) -> Iterator[Any]:
        workers, drawn = self._count_workers(), None
        source = self.dataset if self._stream is None else self._stream.items
        plan: Any = self.batch_indices(epoch, start) if self._stream is None else self._stream.batches(epoch, start)
        if self._stream is not None and workers:
            plan = drawn = draw_ahead(plan, self.prefetch)
        try:
            if self.worker_type == "process" and workers:
                source = source if self._stream is None else self._stream.items.for_workers()
                yield from self._read_with_processes(SampleReader(source, self.errors), plan, epoch, workers, problems)
            else:
                yield from read_with_threads(
                    SampleReader(source, self.errors),
                    plan,
                    epoch,
                    workers=workers,
                    prefetch=self.prefetch,
                    start_batch=self._start_batch,
                    problems=problems,
                )
        finally:
            if drawn is not None:
                drawn.close()

    def _read_with_processes(
        self, reader: SampleReader, plan: Any, epoch: int, workers: int, problems: list[Problem]
    ) -> Iterator[Any]:
        from labdl.data.workers.worker_pool import WorkerPool

        pool, self._pool = self._pool, None
        if pool is None:
            pool = WorkerPool(reader, {"data_format": self.data_format, "pad": self.pad}, workers)
            if self.persistent_workers:
                weakref.finalize(self, pool.close)
        keep = False
        try:
            yield from pool.read(plan, epoch, prefetch=self.prefetch, problems=problems)
            keep = True
        except GeneratorExit:
            keep = True
            raise
        finally:
            if keep and self.persistent_workers and self._pool is None:
                self._pool = pool
            else:
                pool.close()

    def __getstate__(self) -> dict[str, Any]:
        """Without the workers, which a copy starts itself."""
        return {**self.__dict__, "_pool": None}

    def close(self) -> None:
        """End persistent workers; the next epoch starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __iter__(self) -> Iterator[Any]:
        return self.epoch(0)

    def _count_workers(self) -> int:
        if self.workers is not None:
            return self.workers
        return min(MOST_THREADS, _processors()) if self.dataset.parallel else 0

    def _reads_samples(self) -> bool:
        return self._stream is not None or (isinstance(self.dataset, Dataset) and not self.dataset.gathers)

    def _start_batch(self, count: int) -> Rows:
        return BatchRows(count, data_format=self.data_format, pad=self.pad, allocate=self._slots.allocate)


def _as_dataset(source: Any) -> Any:
    known = isinstance(source, Dataset | IterableDataset) or getattr(source, "gathers", False)
    return source if known else SampleDataset(source)


class _Batches(Sequence[np.ndarray]):
    """Indices in batches, which are cut off when they are wanted: an epoch may have millions of them."""

    def __init__(self, order: np.ndarray | range, size: int, count: int):
        self._order, self._size, self._places = order, size, range(max(0, count))

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            rest = range(len(self))[at]
            if rest.step != 1:
                return [self[i] for i in rest]
            return _Batches(self._order[rest.start * self._size :], self._size, len(rest))
        first = self._places[at] * self._size
        return np.asarray(self._order[first : first + self._size])


class _Passes(Sequence[np.ndarray]):
    """Consecutive batches of one pass after the other, ``numbers`` counting those of all passes."""

    def __init__(self, batches: Callable[[int], Sequence[np.ndarray]], length: int, numbers: range):
        self._batches, self._length, self._numbers = batches, length, numbers
        self._pass: tuple[int, Sequence[np.ndarray]] | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return _Passes(self._batches, self._length, self._numbers[at])
        number, batch = divmod(self._numbers[at], self._length)
        if self._pass is None or self._pass[0] != number:
            self._pass = number, self._batches(number)
        return self._pass[1][batch]


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _report(dataset: Any, problems: list[Problem]) -> str:
    listed = "; ".join(str(p) for p in problems[:3])
    more = f"; and {len(problems) - 3:,} more, see Loader.problems" if len(problems) > 3 else ""
    return f"{len(problems):,} samples of {dataset.name} could not be read: {listed}{more}"
