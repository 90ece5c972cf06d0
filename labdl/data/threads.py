"""Threads that read the samples of the next batches: decoders release Python's lock, so that they run side by side."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from labdl.data.reading import Problem, Rows, SampleReader

StartBatch = Callable[[int], Rows]  # of a number of samples
_SECONDS = 2.0  # that a stream which blocks is waited for at the end


def read_with_threads(
    reader: SampleReader,
    plan: Iterable[Sequence[Any] | np.ndarray],
    epoch: int,
    *,
    workers: int,
    prefetch: int,
    start_batch: StartBatch,
    problems: list[Problem],
) -> Iterator[Any]:
    """Yield the batches of a plan in their order; ``problems`` receives the samples that were skipped or replaced."""
    if workers == 0:
        for places in plan:
            rows = start_batch(len(places))
            yield rows.stack(reader.check(reader.read(places, epoch, problems, rows), len(places)))
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="labdl-data")
    pending: deque[_Batch] = deque()
    ahead = iter(plan)

    def start(places: Sequence[Any] | np.ndarray) -> None:
        pending.append(_Batch(pool, reader, places, epoch, workers, start_batch, problems))

    try:
        for places in ahead:
            start(places)
            if len(pending) > prefetch:
                break
        while pending:
            batch = pending.popleft().result.result()
            for places in ahead:
                start(places)
                break
            yield batch
            del batch  # the consumer alone decides how long its memory is used
    finally:
        reader.stopped = True
        pool.shutdown(wait=True, cancel_futures=True)


class _Batch:
    """A batch of which several threads read a part each; the last one to end stacks it."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        reader: SampleReader,
        places: Sequence[Any] | np.ndarray,
        epoch: int,
        workers: int,
        start_batch: StartBatch,
        problems: list[Problem],
    ):
        count = len(places)
        bounds = np.linspace(0, count, max(1, min(workers, count)) + 1).astype(int).tolist()
        parts = [places[start:end] for start, end in itertools.pairwise(bounds)]
        self.result: Future[Any] = Future()
        self._samples: list[list[Any]] = [[] for _ in parts]
        self._left, self._lock = len(parts), threading.Lock()
        self._reader, self._epoch, self._count = reader, epoch, count
        self._rows, self._problems = start_batch(count), problems
        for at, part in enumerate(parts):
            pool.submit(self._read, at, part, bounds[at])

    def _read(self, at: int, places: Sequence[Any] | np.ndarray, first: int) -> None:
        try:
            self._samples[at] = self._reader.read(places, self._epoch, self._problems, self._rows, first)
            with self._lock:
                self._left -= 1
                last = self._left == 0
            if last:
                samples = self._reader.check([s for part in self._samples for s in part], self._count)
                self._samples = []
                batch = self._rows.stack(samples)
                if not self.result.done():
                    self.result.set_result(batch)
        except BaseException as error:  # raised in the thread that waits for the batch
            with self._lock:
                if not self.result.done():
                    self.result.set_exception(error)


def draw_ahead(items: Iterator[Any], count: int) -> Generator[Any, None, None]:
    """Yield the items of an iterator, of which a thread of its own draws up to ``count`` in advance."""
    ready: queue.Queue[tuple[bool, Any]] = queue.Queue()
    room, stopped = threading.Semaphore(count), threading.Event()

    def draw() -> None:
        try:
            while room.acquire() and not stopped.is_set():
                ready.put((True, next(items)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:  # raised in the thread that takes the items
            ready.put((False, error))

    thread = threading.Thread(target=draw, name="labdl-data-stream", daemon=True)
    thread.start()
    try:
        while True:
            there, item = ready.get()
            if not there:
                if item is not None:
                    raise item
                return
            room.release()
            yield item
            del item
    finally:
        stopped.set()
        room.release()
        thread.join(_SECONDS)
