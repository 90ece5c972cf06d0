"""Limits on the messages of an ONNX file, counted before protobuf takes fifty times their bytes in memory."""

from __future__ import annotations

from typing import Any

from labdl.bounded.protobuf import WireError, fields
from labdl.errors import FileFormatError

_MESSAGES = 1_000_000  # nodes, attributes, tensors, shapes and sizes
_FIELDS = 4_000_000


def check_sizes(data: bytes, model: type, name: str) -> None:
    """Raise FileFormatError for bytes with more messages or fields than any model has.

    ``model`` is the class of the message, whose description says which fields are messages themselves.
    """
    waiting: list[tuple[memoryview, Any]] = [(memoryview(data), model.DESCRIPTOR)]  # type: ignore[attr-defined]
    messages, left = 1, _FIELDS
    try:
        while waiting:
            content, kind = waiting.pop()
            inner = {number: field.message_type for number, field in kind.fields_by_number.items()}
            for number, value in fields(content, left):
                left -= 1
                if isinstance(value, memoryview) and inner.get(number) is not None:
                    messages += 1
                    waiting.append((value, inner[number]))
                    if messages > _MESSAGES:
                        raise WireError("it has more nodes, attributes and weights than any model")
    except WireError as error:
        raise FileFormatError(f"{name} is not an ONNX file, or it is truncated: {error}") from error
