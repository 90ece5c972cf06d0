"""Pickles as plain data: interprets only the instructions that checkpoints need, imports and calls nothing."""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labdl.errors import FileFormatError


class Name(NamedTuple):
    """A name of a Python module that a pickle refers to."""

    module: str
    name: str


class CallRecord:
    """A call in a pickle that would build an object: function, arguments, and the state set afterwards."""

    def __init__(self, function: Name, arguments: tuple):
        self.function, self.arguments, self.state = function, arguments, None


_MARK = object()
_AS_THEY_ARE = (
    "BININT",
    "BININT1",
    "BININT2",
    "LONG1",
    "LONG4",
    "BINFLOAT",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
    "BYTEARRAY8",
    "BINSTRING",
    "SHORT_BINSTRING",
)
_FIXED: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}


def read_pickle(data: bytes, calls: Mapping[Name, Callable]) -> Any:
    """Read the value in a pickle. ``calls`` maps the functions that it may call to replacements.

    References to storages outside of the pickle become tuples. Raises FileFormatError for anything that is not data.
    """
    try:
        return _Reader(calls).read(data)
    except FileFormatError:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        MemoryError,
        UnicodeError,
    ) as error:
        raise FileFormatError(f"its pickle is broken: {error}") from error


class _Reader:
    def __init__(self, calls: Mapping[Name, Callable]):
        self.calls, self.stack, self.memo = calls, [], {}

    def read(self, data: bytes) -> Any:
        for instruction, argument, _ in pickletools.genops(io.BytesIO(data)):
            word = instruction.name
            if word == "STOP":
                (value,) = self.stack
                return value
            self._follow(word, argument)
        raise FileFormatError("its pickle is truncated")

    def _follow(self, word: str, argument: Any) -> None:
        stack = self.stack
        if word in _AS_THEY_ARE:
            stack.append(argument)
        elif word in _FIXED:
            stack.append(_FIXED[word]())
        elif word in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
            self.memo[len(self.memo) if word == "MEMOIZE" else argument] = stack[-1]
        elif word in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif word == "MARK":
            stack.append(_MARK)
        elif word == "GLOBAL":
            stack.append(Name(*argument.split(" ", 1)))
        elif word == "STACK_GLOBAL":
            self._replace(2, lambda module, name: Name(str(module), str(name)))
        elif word in ("TUPLE1", "TUPLE2", "TUPLE3"):
            self._replace(int(word[-1]), lambda *items: items)
        elif word == "TUPLE":
            stack.append(tuple(self._since_mark()))
        elif word == "BINPERSID":
            self._replace(1, lambda reference: reference)
        elif word in ("REDUCE", "NEWOBJ"):
            self._replace(2, self._call)
        elif word == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], CallRecord):
                stack[-1].state = state
        elif word in ("SETITEM", "SETITEMS"):
            items = [stack.pop(-2), stack.pop()] if word == "SETITEM" else self._since_mark()
            self._top(dict).update(zip(items[::2], items[1::2], strict=True))
        elif word in ("APPEND", "APPENDS"):
            items = [stack.pop()] if word == "APPEND" else self._since_mark()
            self._top(list).extend(items)
        elif word not in ("PROTO", "FRAME"):
            raise FileFormatError(f"its pickle uses {word}, which checkpoints do not need")

    def _replace(self, count: int, function: Callable) -> None:
        values = [self.stack.pop() for _ in range(count)][::-1]
        if any(value is _MARK for value in values):
            raise FileFormatError("its pickle is broken")
        self.stack.append(function(*values))

    def _since_mark(self) -> list:
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise FileFormatError("its pickle is broken")
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def _top(self, kind: type) -> Any:
        if type(self.stack[-1]) is not kind:
            raise FileFormatError("its pickle is broken")
        return self.stack[-1]

    def _call(self, function: Any, arguments: Any) -> Any:
        known = self.calls.get(function) if isinstance(function, Name) else None
        if known is None or not isinstance(arguments, tuple):
            called = f"{function.module}.{function.name}" if isinstance(function, Name) else "something unnamed"
            raise FileFormatError(
                f"it asks to call {called}, which a file of parameters must not do; it was not called"
            )
        return known(*arguments)


DATA: dict[Name, Callable] = {
    Name("collections", "OrderedDict"): lambda items=(): {key: value for key, value in items},
    Name("builtins", "tuple"): lambda items=(): tuple(items),
    Name("_codecs", "encode"): lambda text, coding: text.encode("latin1"),  # bytes, as protocol 2 writes them
}
