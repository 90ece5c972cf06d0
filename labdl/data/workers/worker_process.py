"""A worker process as its loader sees it: its messages, and the segments of shared memory that it writes."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

from labdl.data.slots import Lease
from labdl.data.workers.channel import Channel
from labdl.data.workers.segment import address_of, create_segment
from labdl.errors import DataError

_SECONDS = 1.0  # that a process has to end
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Slot:
    """A segment for one batch at a time. It has no name in the system once the worker has it, so that none can be left."""

    def __init__(self) -> None:
        self.segment: SharedMemory | None = None
        self.linked = False
        self.busy = False  # from the task until nothing holds an array of the batch any more
        self.closing = False

    @property
    def name(self) -> str | None:
        return None if self.segment is None else self.segment.name

    def replace(self, size: int) -> str:
        """Take a larger segment; returns its name. Raises DataError if there is no room."""
        self.close_segment()
        self.segment = create_segment(size)
        self.linked = True
        return self.segment.name

    def unlink(self) -> None:
        """Remove the name; the memory stays until both processes have closed it."""
        if self.linked and self.segment is not None:
            self.linked = False
            self.segment.unlink()

    def lease(self) -> Lease:
        """The memory for the arrays of a batch, which make the slot free when they are gone."""
        assert self.segment is not None
        return Lease(address_of(self.segment), self.segment.size, self.segment, self.release)

    def release(self) -> None:
        """Make the slot free."""
        self.busy = False
        if self.closing:
            self.close_segment()

    def close(self) -> None:
        """Give the memory back, when nothing holds an array of it any more."""
        self.closing = True
        self.unlink()
        if not self.busy:
            self.close_segment()

    def close_segment(self) -> None:
        """Give the memory back."""
        self.unlink()
        if self.segment is not None:
            self.segment.close()
            self.segment = None


class WorkerProcess:
    """A process, and the thread that takes its messages and puts (worker, message) into a queue; None at its end."""

    def __init__(self, results: queue.SimpleQueue[Any]):
        self.tasks: dict[int, Slot] = {}  # under way, by number
        self.slots: list[Slot] = []
        self._results, self._closed = results, False
        paths = [str(Path(__file__).parents[3]), *filter(None, sys.path)]  # so that it imports the same packages
        environment = {**dict.fromkeys(_THREADS, "1"), **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "labdl.data.workers.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.channel = Channel(self.process.stdout, self.process.stdin)
        self._thread = threading.Thread(target=self._listen, name="labdl-data-worker", daemon=True)
        self._thread.start()

    def submit(self, number: int, task: bytes) -> None:
        """Send a task: the pickle of places and epoch. Raises OSError if the process is gone."""
        slot = next((s for s in self.slots if not s.busy), None)
        if slot is None:
            slot = Slot()
            self.slots.append(slot)
        slot.busy = True
        self.tasks[number] = slot
        self.channel.send("read", number, task, slot.name)

    def _listen(self) -> None:
        while (message := self.channel.receive()) is not None:
            if message[0] == "grow":
                self._grow(*message[1:])
            elif message[0] == "attached":
                for slot in self.slots:
                    if slot.name == message[1]:
                        slot.unlink()
            else:
                self._results.put((self, message))
        self._results.put((self, None))

    def _grow(self, number: int, needed: int) -> None:
        name = None
        try:
            name = self.tasks[number].replace(needed + needed // 8)  # so that the next batch fits, if it varies
        except DataError as error:
            self._results.put((self, ("error", number, error, "")))
        with suppress(OSError):  # it is gone, which the next message says
            self.channel.send("segment", name)

    def describe_end(self) -> str:
        """How the process ended."""
        try:
            code = self.process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        if code >= 0:
            return f"ended with exit status {code}"
        name = next((s.name for s in signal.Signals if s == -code), str(-code))
        more = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"was ended by {name}{more}"

    def begin_close(self) -> None:
        """Let the process end, without waiting for it."""
        if not self._closed:
            self._closed = True
            self.channel.close()

    def close(self) -> None:
        """End the process, the thread and the shared memory."""
        self.begin_close()
        try:
            self.process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._thread.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        for slot in self.tasks.values():
            slot.busy = False
        for slot in self.slots:
            slot.close()
        self.slots, self.tasks = [], {}
