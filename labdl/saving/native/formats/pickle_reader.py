"""Pickles as plain data: interprets only the instructions that checkpoints need, imports and calls nothing."""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any, BinaryIO

from labdl.errors import FileFormatError
from labdl.saving.native.formats.pickle_calls import CALLS, CallRecord, Name, key_of

_INSTRUCTIONS = 1 << 22  # forty for each of 100,000 tensors; each takes up to a hundred bytes
_COPIES = 1 << 16  # items that calls may copy beside as many as the pickle has bytes


_MARK = object()
_AS_THEY_ARE = (
    "BININT",
    "BININT1",
    "BININT2",
    "LONG1",
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
    "EMPTY_SET": list,  # its items may be slow to hash, and are not needed
    "EMPTY_DICT": dict,
}


def read_pickle(stream: BinaryIO, size: int, refer: Callable[[Any], Any] = lambda reference: reference) -> Any:
    """Read the value in a pickle of at most ``size`` bytes; the stream is then at its end.

    ``refer`` gives the values of references to storages outside of the pickle. Objects other than those of
    `labdl.saving.native.formats.pickle_calls` become records. Raises FileFormatError for anything that is not a pickle, and
    for more of it than parameters need.
    """
    try:
        return _Reader(size, refer).read(stream)
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
    ) as error:
        raise FileFormatError(f"its pickle is broken: {error}") from error


class _Reader:
    def __init__(self, size: int, refer: Callable[[Any], Any]):
        self.refer, self.stack, self.memo = refer, [], {}
        self.copies = size + _COPIES  # of items, which calls may still make: an argument can be given many times

    def read(self, stream: BinaryIO) -> Any:
        for count, (instruction, argument, _) in enumerate(pickletools.genops(stream)):
            word = instruction.name
            if word == "STOP":
                (value,) = self.stack
                return value
            if count > _INSTRUCTIONS:
                raise FileFormatError("its pickle has more instructions than any file of parameters needs")
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
            self._replace(2, self._name)
        elif word in ("TUPLE1", "TUPLE2", "TUPLE3"):
            self._replace(int(word[-1]), lambda *items: items)
        elif word in ("TUPLE", "FROZENSET"):
            stack.append(tuple(self._since_mark()))
        elif word == "BINPERSID":
            self._replace(1, self.refer)
        elif word in ("REDUCE", "NEWOBJ"):
            self._replace(2, self._call)
        elif word == "NEWOBJ_EX":
            self._replace(3, lambda function, arguments, options: CallRecord(_function(function), (arguments, options)))
        elif word == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], CallRecord):
                stack[-1].state = state
        elif word in ("SETITEM", "SETITEMS"):
            items = [stack.pop(-2), stack.pop()] if word == "SETITEM" else self._since_mark()
            pairs = zip(map(key_of, items[::2]), items[1::2], strict=True)
            if not isinstance(stack[-1], CallRecord):  # an object of another class has no items
                self._top(dict).update(pairs)
        elif word in ("APPEND", "APPENDS", "ADDITEMS"):
            items = [stack.pop()] if word == "APPEND" else self._since_mark()
            if not isinstance(stack[-1], CallRecord):
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

    def _name(self, module: Any, name: Any) -> Name:
        if type(module) is not str or type(name) is not str:  # the text of another value may be endless
            raise FileFormatError("its pickle is broken")
        return Name(module, name)

    def _call(self, function: Any, arguments: Any) -> Any:
        if not isinstance(arguments, tuple):
            raise FileFormatError("its pickle is broken")
        known = CALLS.get(_function(function))
        if known is None:
            return CallRecord(_function(function), arguments)
        self.copies -= sum(len(a) for a in arguments if isinstance(a, str | list | tuple | dict))
        if self.copies < 0:
            raise FileFormatError("its pickle copies more than it holds")
        return known(*arguments)


def _function(function: Any) -> Name:
    return function if isinstance(function, Name) else Name("", "")  # an object of the file itself
