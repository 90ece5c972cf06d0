"""Capture warnings and log messages of a training."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST, LONGEST = 20, 2000  # messages per second, and characters per message
_OWN = "labdl"
_sinks: list[_Sink] = []  # of the active runs
_lock = threading.Lock()


@contextmanager
def capture_logs(callback: Callable[..., object]) -> Iterator[None]:
    """A context for the training thread that calls ``callback(level=…, source=…, message=…)`` for log messages.

    It captures messages of this thread at WARNING or above, its `warnings`, and messages of the loggers of ``labdl`` at INFO or
    above in this thread or in threads that do not train. All messages still reach their other handlers, and no more of them:
    messages of ``labdl`` below its level are only captured. Of more than 20 messages per second the others are counted.
    """
    sink = _Sink(callback)
    with _lock:
        _sinks.append(sink)
        if len(_sinks) == 1:
            _handlers.install()
    try:
        yield
    finally:
        with _lock:
            _sinks.remove(sink)
            if not _sinks:
                _handlers.uninstall()
        sink.close()


class _Sink:
    """Passes messages to a callback, up to a number per second."""

    def __init__(self, callback: Callable[..., object]):
        self.callback, self.thread = callback, threading.get_ident()
        self.second, self.count, self.omitted = 0, 0, 0

    def write(self, level: str, source: str, message: str) -> None:
        second = int(time.monotonic())
        if second != self.second:
            self.close()
            self.second, self.count = second, 0
        self.count += 1
        if self.count > MOST:
            self.omitted += 1
            return
        text = message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
        self.callback(level=level, source=source, message=text)

    def close(self) -> None:
        count, self.omitted = self.omitted, 0
        if count:
            more = "one more message was" if count == 1 else f"{count} more messages were"
            self.callback(level="INFO", source=_OWN, message=f"{more} omitted here, see the log")


class _CaptureHandler(logging.Handler):
    """Handler of the root logger, which passes records to the sinks of their runs."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Emit without the lock of the handler, which could deadlock with the lock of a recording."""
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        own = record.name == _OWN or record.name.startswith(f"{_OWN}.")
        if record.levelno < (logging.INFO if own else logging.WARNING):
            return
        try:
            message = record.getMessage()
        except Exception:  # the arguments do not fit the message; handlers report this themselves
            message = str(record.msg)
        _dispatch(record.levelname, record.name, message, own)
        if logging.lastResort and record.levelno >= logging.lastResort.level and not _handlers.has_others(record.name):
            logging.lastResort.handle(record)  # as Python does without any handler


class _LabdlHandler(_CaptureHandler):
    """Handler of the logger of LabDL for INFO and above, which passes records on that its former level allows."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= _handlers.former_level(record.name):
            logging.root.callHandlers(record)  # including that of `_CaptureHandler`
        else:
            super().emit(record)


_local = threading.local()


def _dispatch(level: str, source: str, message: str, all_runs: bool) -> None:
    """Pass a message to the sink of this thread; without one, to those of all runs if ``all_runs``."""
    if getattr(_local, "busy", False):  # the callback itself may log
        return
    _local.busy = True
    try:
        me, sinks = threading.get_ident(), list(_sinks)
        mine = [sink for sink in sinks if sink.thread == me]
        for sink in mine or (sinks if all_runs else ()):
            sink.write(level, source, message)
    finally:
        _local.busy = False


class _Handlers:
    """The log handlers and the hook of `warnings`, installed once for all runs."""

    def __init__(self):
        self.capture, self.own = _CaptureHandler(), _LabdlHandler()
        self._level, self._propagates = logging.NOTSET, True
        self._former = warnings.showwarning

    def install(self) -> None:
        logger = logging.getLogger(_OWN)
        self._level, self._propagates = logger.level, logger.propagate and not logger.handlers
        logging.root.addHandler(self.capture)
        if self._propagates:  # own handlers of the logger would receive more than its level allows
            logger.addHandler(self.own)
            logger.propagate = False
            if logger.getEffectiveLevel() > logging.INFO:
                logger.setLevel(logging.INFO)
        elif not logger.propagate:
            logger.addHandler(self.capture)
        self._former, warnings.showwarning = warnings.showwarning, self._showwarning

    def uninstall(self) -> None:
        logger = logging.getLogger(_OWN)
        logging.root.removeHandler(self.capture)
        logger.removeHandler(self.capture)
        logger.removeHandler(self.own)
        if self._propagates:
            logger.propagate = True
            if logger.level == logging.INFO:
                logger.setLevel(self._level)
        if warnings.showwarning == self._showwarning:
            warnings.showwarning = self._former

    def former_level(self, name: str) -> int:
        """The effective level of a logger of LabDL without the handler of this module."""
        logger: logging.Logger | None = logging.getLogger(name)
        while logger is not None:
            level = self._level if logger.name == _OWN else logger.level
            if level:
                return level
            logger = logger.parent
        return logging.NOTSET

    def has_others(self, name: str) -> bool:
        """Return True if a logger has handlers besides those of this module."""
        logger: logging.Logger | None = logging.getLogger(name)
        while logger is not None:
            if set(logger.handlers) - {self.capture, self.own}:
                return True
            propagates = logger.propagate or (logger.name == _OWN and self._propagates)
            logger = logger.parent if propagates else None
        return False

    def _showwarning(self, message, category, filename, lineno, file=None, line=None) -> None:
        if file is None:
            _dispatch("WARNING", category.__name__, str(message), False)
        self._former(message, category, filename, lineno, file, line)


_handlers = _Handlers()
