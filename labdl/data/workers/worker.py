"""Worker process of a loader: reads the samples of batches and writes them into shared memory (see `worker_pool`)."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from typing import Any

import cloudpickle
import numpy as np

from labdl.data.batch_rows import BatchRows
from labdl.data.reading import Problem, SampleReader
from labdl.data.slots import Lease
from labdl.data.workers.batch_pickle import SegmentWriter
from labdl.data.workers.channel import Channel
from labdl.data.workers.segment import address_of, attach_segment
from labdl.errors import DataError, LabDLError

_FRAMES = 3  # of a traceback


class _Worker:
    def __init__(self, channel: Channel):
        self._channel = channel
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._names: queue.SimpleQueue[Any] = queue.SimpleQueue()  # of new segments
        self._segments: dict[str, np.ndarray] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Take messages even while a sample is read, so that the loader never waits to send one."""
        while (message := self._channel.receive()) is not None:
            kind, *values = message
            (self._names if kind == "segment" else self._tasks).put(values)
        os._exit(0)  # the loader has closed the pipe, or is gone

    def run(self) -> None:
        try:
            reader, settings = cloudpickle.loads(self._tasks.get()[0])
        except Exception as error:  # the code of the user may raise anything when it is imported
            self._channel.send("failed", f"{type(error).__name__}: {error}", _last_lines(error))
            threading.Event().wait()  # until the loader closes the pipe
            return
        while True:
            number, task, segment = self._tasks.get()
            self._run_task(reader, settings, number, task, segment)

    def _run_task(
        self, reader: SampleReader, settings: dict[str, Any], number: int, task: bytes, segment: str | None
    ) -> None:
        problems: list[Problem] = []
        places: Any = ()
        try:
            places, epoch = cloudpickle.loads(task)
            writer = SegmentWriter(None if segment is None else self._segments[segment])
            rows = BatchRows(len(places), allocate=writer.allocate, **settings)
            batch = rows.stack(reader.check(reader.read(places, epoch, problems, rows), len(places)))
            while True:
                data = writer.dumps(batch) if writer.fits else b""
                if writer.fits:
                    break
                self._channel.send("grow", number, writer.needed)
                (name,) = self._names.get()
                if name is None:  # the loader has raised an error for it
                    return
                writer, segment = SegmentWriter(self._attach(name, segment)), name
        except Exception as error:  # as above; raised again in the loader
            self._channel.send("error", number, _for_loader(error, reader, places), _last_lines(error))
        else:
            self._channel.send("batch", number, data, problems)

    def _attach(self, name: str, former: str | None) -> np.ndarray:
        if former is not None:
            del self._segments[former]
        segment = attach_segment(name)
        self._channel.send("attached", name)
        memory = Lease(address_of(segment), segment.size, segment, segment.close).array()
        self._segments[name] = memory
        return memory


def _for_loader(error: Exception, reader: SampleReader, places: Any) -> LabDLError:
    """The error as one that the process of the loader can read and raise."""
    if isinstance(error, LabDLError):
        return error
    numbers = [int(place if np.ndim(place) == 0 else place[0]) for place in list(places)[:5]]
    kind = type(error).__name__
    return DataError(
        f"the batch of the samples {', '.join(map(str, numbers))} … of {reader.source.name or 'the data set'} cannot be read: "
        f"{f'{kind}: {error}' if str(error) else kind}"
    )


def _last_lines(error: BaseException) -> str:
    """The last calls of a traceback, of the cause if there is one."""
    cause = error.__cause__ or error
    frames = traceback.format_list(traceback.extract_tb(cause.__traceback__)[-_FRAMES:])
    return "".join([*frames, *traceback.format_exception_only(cause)]).rstrip()


def main() -> None:
    """Serve a loader through the standard input and output; what the code of the user prints goes to the error output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process of the loader
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _Worker(Channel(sys.stdin.buffer, outgoing)).run()
    except BrokenPipeError:  # the loader is gone
        os._exit(0)


if __name__ == "__main__":
    main()
