"""Messages between a loader and a worker process: pickled values behind their length, in a pipe."""

from __future__ import annotations

import struct
import threading
from contextlib import suppress
from typing import IO, Any

import cloudpickle

_LENGTH = struct.Struct("<Q")


class Channel:
    """Messages in both directions; `send` may be called by several threads, `receive` by one."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]):
        self._incoming, self._outgoing = incoming, outgoing
        self._lock = threading.Lock()

    def send(self, *message: Any) -> None:
        """Send a message; what is defined in a notebook or script travels with it. Raises OSError if the other end is gone."""
        self.send_bytes(cloudpickle.dumps(message))

    def send_bytes(self, data: bytes) -> None:
        """Send a message that is pickled already."""
        try:
            with self._lock:
                self._outgoing.write(_LENGTH.pack(len(data)))
                self._outgoing.write(data)
                self._outgoing.flush()
        except ValueError:  # another thread has closed it
            raise BrokenPipeError("the channel is closed") from None

    def receive(self) -> tuple[Any, ...] | None:
        """Wait for the next message; None if the other end is gone."""
        data = self.receive_bytes()
        return None if data is None else cloudpickle.loads(data)

    def receive_bytes(self) -> bytes | None:
        """Wait for the next message, still pickled; None if the other end is gone."""
        try:
            header = self._incoming.read(_LENGTH.size)
            if len(header) < _LENGTH.size:
                return None
            (length,) = _LENGTH.unpack(header)
            data = self._incoming.read(length)
        except (OSError, ValueError):  # closed meanwhile
            return None
        return data if len(data) == length else None

    def close(self) -> None:
        """Close the outgoing pipe, by which the other end notices."""
        with suppress(OSError):  # what was left to write cannot reach a process that is gone
            self._outgoing.close()
