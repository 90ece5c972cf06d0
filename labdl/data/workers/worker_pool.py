"""Processes that read the samples of the next batches: for code of the user that holds Python's lock.

Each process gets the reader once, by cloudpickle, so that what a notebook defines needs no module; it does not import the
main script, which needs no guard. A process reads whole batches and writes them in place into segments of shared memory,
from which the loader hands out arrays; a segment is used again when nothing holds an array of it.
"""

from __future__ import annotations

import atexit
import queue
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import cloudpickle
import numpy as np

from labdl.data.batches import allocate
from labdl.data.reading import Problem, SampleReader
from labdl.data.slots import Lease
from labdl.data.workers import batch_pickle
from labdl.data.workers.worker_process import WorkerProcess
from labdl.errors import ConfigError, DataError

_open_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()
_HELD = 3  # batches of the consumer that stay in shared memory; what it collects beyond is copied


class WorkerPool:
    """Worker processes of a reader; ``settings`` are those of `stack_samples`. Close it after use.

    Raises ConfigError for a data set that cannot be sent to a process.
    """

    def __init__(self, reader: SampleReader, settings: dict[str, Any], workers: int):
        self.name = reader.source.name or type(reader.source).__name__
        try:
            payload = cloudpickle.dumps((reader, settings))
        except Exception as error:  # objects of the user may raise anything
            raise ConfigError(
                f"{self.name} cannot be sent to worker processes ({type(error).__name__}: {error}): open files and "
                'connections when a sample is read, or use worker_type="thread"'
            ) from error
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._number = 0
        self._places: dict[int, Any] = {}  # of the tasks under way
        self._wanted: set[int] = set()
        self._held: list[weakref.ref[Lease]] = []
        self.workers: list[WorkerProcess] = []
        _open_pools.add(self)
        try:
            for _ in range(workers):
                self.workers.append(WorkerProcess(self._results))
        except OSError as error:
            self.close()
            raise DataError(f"a worker process cannot be started: {error}") from error
        except BaseException:
            self.close()
            raise
        self._set_up(payload)

    def _set_up(self, payload: bytes) -> None:
        try:
            for worker in self.workers:
                try:
                    worker.channel.send("setup", payload)
                except OSError:  # it has ended already
                    raise self._explain_end(worker) from None
        except BaseException:
            self.close()
            raise

    def read(
        self, plan: Iterable[Sequence[Any] | np.ndarray], epoch: int, *, prefetch: int, problems: list[Problem]
    ) -> Iterator[Any]:
        """Yield the batches of a plan in their order; ``problems`` receives the samples that were skipped or replaced."""
        pending: deque[int] = deque()
        outcomes: dict[int, tuple[Any, ...]] = {}
        ahead = iter(plan)
        try:
            while True:
                for places in ahead:
                    pending.append(self._submit(places, epoch))
                    if len(pending) >= len(self.workers) + prefetch:
                        break
                if not pending:
                    return
                number = pending.popleft()
                while number not in outcomes:
                    self._receive(outcomes)
                batch = self._open(outcomes.pop(number), problems)
                yield batch
                del batch  # the consumer alone decides how long its memory is used
        finally:
            self._wanted.clear()  # what is under way is dropped when it comes
            for slot, *_ in outcomes.values():
                if slot is not None:
                    slot.release()

    def _submit(self, places: Any, epoch: int) -> int:
        self._number += 1
        number = self._number
        try:
            task = cloudpickle.dumps((places, epoch))
        except Exception as error:  # as above
            raise DataError(
                f"samples of the stream {self.name} cannot be sent to worker processes: {type(error).__name__}: {error}"
            ) from error
        worker = min(self.workers, key=lambda w: len(w.tasks))
        self._places[number] = places
        self._wanted.add(number)
        try:
            worker.submit(number, task)
        except OSError:
            raise self._explain_end(worker) from None
        return number

    def _receive(self, outcomes: dict[int, tuple[Any, ...]]) -> None:
        """Wait for the next message of any worker."""
        worker, message = self._results.get()
        if message is None:
            raise self._explain_end(worker)
        kind, *values = message
        if kind == "failed":
            text, lines = values
            raise _with_lines(DataError(f"{self.name} cannot be read in a worker process: {text}"), lines)
        number, *values = values
        slot = worker.tasks.pop(number)
        self._places.pop(number)
        if kind == "batch" and number in self._wanted:
            outcomes[number] = (slot, *values)
            return
        slot.release()
        if number in self._wanted:
            error, lines = values
            outcomes[number] = (None, _with_lines(error, lines))

    def _open(self, outcome: tuple[Any, ...], problems: list[Problem]) -> Any:
        """The batch of a segment: arrays in it, or copies if many are held already. Raises the error of a worker."""
        slot, *values = outcome
        if slot is None:
            raise values[0]
        data, own = values
        problems.extend(own)
        if slot.segment is None:  # the batch has no large arrays
            slot.release()
            return batch_pickle.loads(data, _no_memory)
        self._held = [held for held in self._held if held() is not None]
        copies = len(self._held) >= _HELD
        lease = slot.lease()
        memory = lease.array()

        def place(start: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            array = memory[start : start + size].view(dtype).reshape(shape)
            if not copies:
                return array
            copy = allocate(shape, dtype)
            copy[...] = array
            return copy

        if not copies:
            self._held.append(weakref.ref(lease))
        return batch_pickle.loads(data, place)

    def _explain_end(self, worker: WorkerProcess) -> DataError:
        number = min(worker.tasks, default=None)
        reading = ""
        if number is not None:
            places = self._places[number]
            first, last = (int(p if np.ndim(p) == 0 else p[0]) for p in (places[0], places[-1]))
            reading = f" while it read samples from {first:,} to {last:,} of {self.name}"
        return DataError(
            f"a worker process {worker.describe_end()}{reading}: use fewer workers or a smaller batch_size if memory ran "
            "out, or workers=0 to see the error"
        )

    def close(self) -> None:
        """End the processes and threads; memory of arrays that are held stays until they are gone."""
        for worker in self.workers:
            worker.begin_close()
        for worker in self.workers:
            worker.close()
        self.workers = []


@atexit.register
def _close_pools() -> None:
    """Close what a script has left open, before the interpreter stops its threads."""
    for pool in list(_open_pools):
        pool.close()


def _no_memory(start: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    raise AssertionError("a batch without a segment has no arrays in it")


def _with_lines(error: Exception, lines: str) -> Exception:
    if lines:
        error.add_note(f"In the worker process:\n{lines}")
    return error
