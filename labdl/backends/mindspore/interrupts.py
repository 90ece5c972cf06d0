"""Ctrl-C, or a notebook's stop button, while a compiled function of MindSpore runs.

MindSpore replaces Python's handler of SIGINT while it computes a graph, and leaves its own installed after compilation,
sometimes from threads that start late: it sends SIGTERM to the process, which ends a notebook's kernel. This module restores
Python's handler after each call, and treats a SIGTERM while MindSpore's handler is installed as an interruption. Python is
not told which process has sent a signal, so a SIGTERM of another one is taken for an interruption too; several within
seconds, more than a person presses, end the process. A program's own handler of SIGTERM is kept; LabDL's, which saves runs
and ends the process, gives way.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable

_SIZE = 256  # bytes, more than any system's struct sigaction, which begins with the handler's address
_SOON = 1.0  # seconds after a call in which MindSpore may still install its handler or send SIGTERM
_AGAIN = 5.0  # seconds within which
_MOST = 4  # SIGTERMs are interruptions, and the next one ends the process

_process = os.getpid()
_lock = threading.Lock()
_running = 0
_ended = -1e9  # by time.monotonic
_forgiven: deque[float] = deque(maxlen=_MOST)  # times of SIGTERMs that were interruptions
_now = ctypes.create_string_buffer(_SIZE)  # current action of SIGINT
_former = ctypes.create_string_buffer(_SIZE)  # action before MindSpore changed it
_address = ctypes.c_void_p.from_buffer(_now)
_c = ctypes.CDLL(None) if os.name == "posix" else None


def interruptible(function: Callable) -> Callable:
    """Wrap a compiled function so that an interruption does not end the process."""
    if _c is None:
        return function
    install()
    called = False

    @functools.wraps(function)
    def run(*args):
        nonlocal called
        global _running, _ended
        with _lock:
            if not _running:
                _mindspore_has_sigint()
            _running += 1
        try:
            return function(*args)
        finally:
            with _lock:
                _running -= 1
                _ended = time.monotonic()
            _put_back()
            if not called:
                called = True
                late = threading.Timer(_SOON, _put_back)
                late.daemon = True
                late.start()

    return run


def install() -> None:
    """Install a handler of SIGTERM unless the program has one; only in the main thread."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return
    present = signal.getsignal(signal.SIGTERM)
    if present is signal.SIG_DFL or getattr(present, "__module__", "").startswith("labdl."):
        signal.signal(signal.SIGTERM, _on_sigterm)


class _AddressInfo(ctypes.Structure):
    """The result of dladdr for an address."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    ]


@functools.cache
def _of_mindspore(address: int | None) -> bool:
    found = _AddressInfo()
    return bool(_c.dladdr(ctypes.c_void_p(address), ctypes.byref(found))) and b"mindspore" in (found.file or b"")


def _mindspore_has_sigint() -> bool:
    """True while MindSpore handles SIGINT; otherwise stores the current action."""
    _c.sigaction(signal.SIGINT, None, _now)
    if _of_mindspore(_address.value):
        return True
    ctypes.memmove(_former, _now, _SIZE)
    return False


def _put_back() -> None:
    with _lock:
        if not _running and _mindspore_has_sigint() and any(_former.raw):
            _c.sigaction(signal.SIGINT, _former, None)


def _on_sigterm(number, frame) -> None:
    now = time.monotonic()
    theirs = os.getpid() == _process and (_running or now - _ended < _SOON or _mindspore_has_sigint())
    if not theirs or (len(_forgiven) == _MOST and now - _forgiven[0] < _AGAIN):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
        return
    _forgiven.append(now)
    interrupted = signal.getsignal(signal.SIGINT)
    if callable(interrupted):
        interrupted(signal.SIGINT, frame)
