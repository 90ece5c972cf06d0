"""Capture warnings and log messages of a training."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST, LONGEST = 20, 2000  # messages in a second, and characters of one
_OWN = "labdl"
_books: list[_Book] = []  # of the runs that go on
_lock = threading.Lock()


@contextmanager
def recording_logs(tell: Callable[..., object]) -> Iterator[None]:
    """Call ``tell(level=…, source=…, message=…)`` for what is logged while it lasts, in the thread that trains.

    That is what this thread logs at WARNING or above, what it warns of by Python's `warnings`, and what the loggers of
    ``labdl`` say at INFO or above in this thread or in one that trains no model. All of it still goes where it went before,
    and no more of it: records of ``labdl`` below the level that was set are heard here alone. Of more than 20 messages in a
    second the rest is counted.
    """
    book = _Book(tell)
    with _lock:
        _books.append(book)
        if len(_books) == 1:
            _ear.install()
    try:
        yield
    finally:
        with _lock:
            _books.remove(book)
            if not _books:
                _ear.remove()
        book.close()


class _Book:
    """Passes messages on, no more than there is room for."""

    def __init__(self, tell: Callable[..., object]):
        self.tell, self.thread = tell, threading.get_ident()
        self.second, self.count, self.left = 0, 0, 0

    def write(self, level: str, source: str, message: str) -> None:
        second = int(time.monotonic())
        if second != self.second:
            self.close()
            self.second, self.count = second, 0
        self.count += 1
        if self.count > MOST:
            self.left += 1
            return
        whole = message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
        self.tell(level=level, source=source, message=whole)

    def close(self) -> None:
        left, self.left = self.left, 0
        if left:
            more = "one more message was" if left == 1 else f"{left} more messages were"
            self.tell(level="INFO", source=_OWN, message=f"{more} left out here, the log has them")


class _Heard(logging.Handler):
    """Writes records into the books of those whom they concern."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Without the lock of a handler: whoever holds that of a recording may log, and would wait for it for ever."""
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        own = record.name == _OWN or record.name.startswith(f"{_OWN}.")
        if record.levelno < (logging.INFO if own else logging.WARNING):
            return
        try:
            message = record.getMessage()
        except Exception:  # a record whose arguments do not fit its text; handlers print an error of their own
            message = str(record.msg)
        _write(record.levelname, record.name, message, own)
        if logging.lastResort and record.levelno >= logging.lastResort.level and not _ear.others_hear(record.name):
            logging.lastResort.handle(record)  # Python takes it where nobody listens, and we do


class _Own(_Heard):
    """On the logger of LabDL: it hears all from INFO on, and passes on what would have been heard without it."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= _ear.former_level(record.name):
            logging.root.callHandlers(record)  # of which the other one of here is one
        else:
            super().emit(record)


_inside = threading.local()


def _write(level: str, source: str, message: str, everywhere: bool) -> None:
    if getattr(_inside, "busy", False):  # telling may log
        return
    _inside.busy = True
    try:
        me, books = threading.get_ident(), list(_books)
        mine = [book for book in books if book.thread == me]
        for book in mine or (books if everywhere else ()):
            book.write(level, source, message)
    finally:
        _inside.busy = False


class _Ear:
    """The handlers in Python's logging, and the hook of its warnings; there once for all runs."""

    def __init__(self):
        self.heard, self.own = _Heard(), _Own()
        self._level, self._propagates = logging.NOTSET, True
        self._former = warnings.showwarning

    def install(self) -> None:
        logger = logging.getLogger(_OWN)
        self._level, self._propagates = logger.level, logger.propagate and not logger.handlers
        logging.root.addHandler(self.heard)
        if self._propagates:  # handlers of somebody's own there would hear what they were not meant to
            logger.addHandler(self.own)
            logger.propagate = False
            if logger.getEffectiveLevel() > logging.INFO:
                logger.setLevel(logging.INFO)
        elif not logger.propagate:
            logger.addHandler(self.heard)
        self._former, warnings.showwarning = warnings.showwarning, self._warned

    def remove(self) -> None:
        logger = logging.getLogger(_OWN)
        logging.root.removeHandler(self.heard)
        logger.removeHandler(self.heard)
        logger.removeHandler(self.own)
        if self._propagates:
            logger.propagate = True
            if logger.level == logging.INFO:
                logger.setLevel(self._level)
        if warnings.showwarning == self._warned:
            warnings.showwarning = self._former

    def former_level(self, name: str) -> int:
        """From which level on a logger of LabDL would be heard without the handler here."""
        logger: logging.Logger | None = logging.getLogger(name)
        while logger is not None:
            level = self._level if logger.name == _OWN else logger.level
            if level:
                return level
            logger = logger.parent
        return logging.NOTSET

    def others_hear(self, name: str) -> bool:
        """Whether a logger has handlers besides those of here."""
        logger: logging.Logger | None = logging.getLogger(name)
        while logger is not None:
            if set(logger.handlers) - {self.heard, self.own}:
                return True
            goes_on = logger.propagate or (logger.name == _OWN and self._propagates)
            logger = logger.parent if goes_on else None
        return False

    def _warned(self, message, category, filename, lineno, file=None, line=None) -> None:
        if file is None:
            _write("WARNING", category.__name__, str(message), False)
        self._former(message, category, filename, lineno, file, line)


_ear = _Ear()
