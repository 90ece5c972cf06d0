"""Limits for reading untrusted source: a time limit, and arithmetic of bounded size."""

from __future__ import annotations

import ast
import copy
import ctypes
import operator
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labdl.errors import ModelError

ARITHMETIC = "__arithmetic__"  # names that a source cannot use, because they begin with two underscores
SPREAD = "__spread__"
MOST_BITS = 64  # of an integer: no size is larger
MOST_ITEMS = 10_000  # of a list or a string
_AGAIN, _ATTEMPTS = 0.05, 100  # seconds until the exception is raised again, and how often it may be
_WAITING = 10  # times the limit that a thread may last, however little of the processor it has had
_SIGNS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


class _TimeLimitError(BaseException):
    """Not an Exception, so that no error handler on the way catches it."""


class _Watch(threading.Thread):
    """Raises `_TimeLimitError` in the thread that creates it, after some seconds, and again until that has ended its work.

    Again, because it is lost where Python ignores errors, as in garbage collection. Where the system tells them, the seconds
    are those of the processor that the thread has had: what can be read does not depend on what else the machine does.
    """

    def __init__(self, seconds: float):
        super().__init__(name="labdl-time-limit", daemon=True)
        self._thread, self._seconds = threading.get_ident(), seconds
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._clock = time.pthread_getcpuclockid(self._thread) if hasattr(time, "pthread_getcpuclockid") else None
        self._begin, self._processor_begin = time.monotonic(), self._processor_seconds()

    def _processor_seconds(self) -> float:
        return time.monotonic() if self._clock is None else time.clock_gettime(self._clock)

    def _seconds_left(self) -> float:
        left = self._seconds - (self._processor_seconds() - self._processor_begin)
        return min(left, self._begin + _WAITING * self._seconds - time.monotonic())

    def run(self) -> None:
        wait = self._seconds
        while not self._ended.wait(wait):
            with self._lock:  # the thread has not ended, for it has to take this lock
                if self._ended.is_set():
                    return
                wait = self._seconds_left()
                if wait <= 0:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._thread), ctypes.py_object(_TimeLimitError)
                    )
            wait = max(wait, _AGAIN)

    def end(self) -> None:
        """Raise nothing any more; called in the watched thread.

        An exception that was sent and not raised yet is raised in here. To take it back instead would leave CPython 3.11
        looking for it at every call, and in an endless loop where a function is traced.
        """
        while True:
            try:
                with self._lock:
                    self._ended.set()
                for _ in range(10):  # each turn looks for an exception
                    pass
                return
            except _TimeLimitError:
                continue


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Raise ModelError in the block after so many seconds of the processor, as soon as Python runs its next instruction."""
    watch = _Watch(seconds)
    try:
        try:
            watch.start()
            yield
        finally:
            watch.end()
    except _TimeLimitError:
        for _ in range(_ATTEMPTS):
            try:
                watch.end()
                break
            except _TimeLimitError:  # raised again on the way into the function
                continue
        raise ModelError(f"{what} takes longer than {seconds:g} s") from None


class LimitTransformer(ast.NodeTransformer):
    """Replaces operators by `arithmetic`, and wraps starred lists in `spread`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, ARITHMETIC, ast.Constant(type(node.op).__name__), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        value = copy.deepcopy(node.target)
        value.ctx = ast.Load()
        changed = _call(node, ARITHMETIC, ast.Constant(type(node.op).__name__), value, node.value)
        return ast.copy_location(ast.Assign([node.target], changed), node)

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        node.value = _call(node.value, SPREAD, node.value)
        return node


def _call(at: ast.expr | ast.stmt, name: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    return ast.fix_missing_locations(ast.copy_location(call, at))


_BY_NAME = {sign.__name__: function for sign, function in _SIGNS.items()}


def arithmetic(sign: str, left: Any, right: Any) -> Any:
    """Compute ``left sign right``. Raises ModelError for excessive numbers and lists."""
    if isinstance(left, int) and isinstance(right, int):
        if sign == "Pow":
            bits = max(left.bit_length(), 1) * max(right, 0)
        else:
            bits = left.bit_length() + (right if sign == "LShift" else right.bit_length())
        if bits > MOST_BITS:
            raise ModelError("the numbers grow too large")
    if isinstance(left, str) and sign == "Mod":
        raise ModelError("% of a text cannot be read")
    for many, other in ((left, right), (right, left)):
        if isinstance(many, str | list | tuple):
            times = other if isinstance(other, int) else 1
            if len(many) * times + (len(other) if isinstance(other, str | list | tuple) else 0) > MOST_ITEMS:
                raise ModelError(f"a list has more than {MOST_ITEMS:,} items")
    return _BY_NAME[sign](left, right)


def spread(values: Any) -> Any:
    """The values of a starred list. Raises ModelError for too many."""
    if len(values) > MOST_ITEMS:
        raise ModelError(f"a list has more than {MOST_ITEMS:,} items")
    return values
