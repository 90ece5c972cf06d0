"""Fields of protocol buffer messages from elsewhere, without their schema."""

from __future__ import annotations

from collections.abc import Iterator

_NUMBER, BYTES, _FIXED = 0, 2, {1: 8, 5: 4}  # wire types, and the bytes of numbers of fixed size


class WireError(ValueError):
    """The bytes are not a message, or it has more fields than it may have."""


def fields(data: memoryview, most: int) -> Iterator[tuple[int, int | memoryview | bytes]]:
    """Number and content of each field of a message: an integer, a view of its bytes, or the bytes of a fixed-size number.

    Raises WireError for what is not a message, and for more than ``most`` fields.
    """
    at = 0
    while at < len(data):
        if not most:
            raise WireError("it has more fields than any file of its kind")
        most -= 1
        head, at = read_varint(data, at)
        kind = head & 7
        if kind == _NUMBER:
            value, at = read_varint(data, at)
        elif kind == BYTES or kind in _FIXED:
            size, at = read_varint(data, at) if kind == BYTES else (_FIXED[kind], at)
            if size > len(data) - at:
                raise WireError("it is truncated")
            value, at = data[at : at + size], at + size
            if kind != BYTES:
                value = bytes(value)
        else:
            raise WireError("it has a field of an unknown kind")
        yield head >> 3, value


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """The integer at a position, and the position after it. Raises WireError."""
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(data):
            raise WireError("it is truncated")
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise WireError("it has an integer of more than 64 bits")


def unpack(data: memoryview, most: int) -> Iterator[int]:
    """The integers of a packed field. Raises WireError, also for more than ``most``."""
    at = 0
    while at < len(data):
        if not most:
            raise WireError("it has more numbers than any file of its kind")
        most -= 1
        value, at = read_varint(data, at)
        yield value
