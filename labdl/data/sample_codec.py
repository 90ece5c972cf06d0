"""Samples as bytes: a header of plain values and the arrays after it, for worker processes, caches and packed data sets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.bounded.plain_json import loads
from labdl.data import parts
from labdl.data.parts import Part, Text, Tokens
from labdl.errors import DataError, FileFormatError

_ALIGNMENT = 64
_KINDS = {kind.__name__: kind for kind in vars(parts).values() if isinstance(kind, type) and issubclass(kind, Part)}
_NUMBERS = "biufc"
MAGIC = b"LDLS"


class Layout:
    """Where the arrays of a sample are: ``header`` describes its structure, ``size`` are the bytes of all arrays."""

    def __init__(self, sample: Any):
        self.arrays: list[np.ndarray] = []
        self.size = 0
        self.header = self._describe(sample)

    def write(self, memory: Any) -> None:
        """Copy the arrays into a buffer of ``size`` bytes."""
        at = 0
        for array in self.arrays:
            at = _align(at)
            target = np.frombuffer(memory, array.dtype, array.size, at).reshape(array.shape)
            np.copyto(target, array)
            at += array.nbytes

    def _describe(self, value: Any) -> Any:
        if isinstance(value, Part):
            metadata = {name: _plain(getattr(value, name)) for name in value.metadata}
            name = next((k.__name__ for k in type(value).__mro__ if k.__name__ in _KINDS), None)
            return {"part": name, "metadata": metadata, **self._array(value.array)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return (
                {"number": value.item(), "dtype": value.dtype.str}
                if value.dtype.kind in "biuf"
                else self._array(np.asarray(value))
            )
        if isinstance(value, Text):
            return {"text": str(value)}
        if isinstance(value, Tokens):
            offsets = None if value.offsets is None else np.asarray(value.offsets).tolist()
            return {"tokens": list(map(str, value)), **({} if offsets is None else {"offsets": offsets})}
        if isinstance(value, bytes | bytearray):
            return {"bytes": self._array(np.frombuffer(value, np.uint8))}
        if isinstance(value, Mapping):
            return {"entries": [[str(name), self._describe(v)] for name, v in value.items()]}
        if isinstance(value, tuple | list):
            return {"tuple" if isinstance(value, tuple) else "list": [self._describe(v) for v in value]}
        if value is None or isinstance(value, str | bool | int | float):
            return {"value": value}
        raise DataError(f"a sample with {type(value).__name__} cannot be stored: convert it to arrays with Dataset.map")

    def _array(self, array: np.ndarray) -> dict[str, Any]:
        if array.dtype.kind == "U":
            return {"texts": array.reshape(-1).tolist(), "shape": list(array.shape)}
        if array.dtype.kind not in _NUMBERS:
            raise DataError(f"a sample with an array of {array.dtype} cannot be stored: convert it with Dataset.map")
        self.size = _align(self.size) + array.nbytes
        self.arrays.append(array)
        return {"array": array.dtype.str, "shape": list(array.shape)}


def restore(header: Any, memory: Any) -> Any:
    """The sample of a header, with arrays that are views of a buffer. Raises FileFormatError for an invalid header."""
    try:
        return _Restorer(memory).value(header)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"the stored sample is damaged: {error}") from None


class _Restorer:
    def __init__(self, memory: Any):
        self.memory, self.at = memory, 0

    def value(self, header: Any) -> Any:
        if "value" in header:
            return header["value"]
        if "entries" in header:
            return {name: self.value(v) for name, v in header["entries"]}
        if "tuple" in header:
            return tuple([self.value(v) for v in header["tuple"]])
        if "list" in header:
            return [self.value(v) for v in header["list"]]
        if "text" in header:
            return Text(header["text"])
        if "tokens" in header:
            tokens = Tokens(header["tokens"])
            if header.get("offsets") is not None:
                tokens.offsets = np.array(header["offsets"], np.int64).reshape(len(tokens), 2)
            return tokens
        if "bytes" in header:
            return self.array(header["bytes"]).tobytes()
        if "number" in header:
            return np.dtype(header["dtype"]).type(header["number"])
        if "texts" in header:
            return np.array(header["texts"], dtype=np.str_).reshape(header["shape"])
        array = self.array(header)
        if header.get("part") is None:
            return array
        part = array.view(_KINDS[header["part"]])
        for name, value in header["metadata"].items():
            if name not in part.metadata:
                raise ValueError(f"{header['part']} has no {name!r:.80}")
            setattr(part, name, _tuples(value))
        return part

    def array(self, header: Any) -> np.ndarray:
        dtype, shape = np.dtype(header["array"]), tuple(header["shape"])
        if dtype.kind not in _NUMBERS or any(not isinstance(n, int) or n < 0 for n in shape):
            raise ValueError(f"no array of {header['array']!r:.80} {shape}")
        self.at = _align(self.at)
        array = np.frombuffer(self.memory, dtype, math.prod(shape), self.at).reshape(shape)
        self.at += array.nbytes
        return array


def to_bytes(sample: Any) -> bytes:
    """A sample as bytes: magic, length of the header, header, arrays. Raises DataError for other objects."""
    layout = Layout(sample)
    header = json.dumps(layout.header, ensure_ascii=False, separators=(",", ":")).encode()
    start = _align(8 + len(header))
    memory = bytearray(start + layout.size)
    memory[:4], memory[4:8], memory[8 : 8 + len(header)] = MAGIC, len(header).to_bytes(4, "little"), header
    if layout.size:
        layout.write(memoryview(memory)[start:])
    return bytes(memory)


def from_bytes(data: bytes | memoryview) -> Any:
    """The sample of `to_bytes`; its arrays are views of the bytes and cannot be written. Raises FileFormatError."""
    view = memoryview(data)
    if bytes(view[:4]) != MAGIC or len(view) < 8:
        raise FileFormatError("these bytes are no stored sample")
    length = int.from_bytes(view[4:8], "little")
    if 8 + length > len(view):
        raise FileFormatError("the stored sample is truncated")
    try:
        header = loads(bytes(view[8 : 8 + length]))
    except ValueError as error:
        raise FileFormatError(f"the stored sample is damaged: {error}") from None
    return restore(header, view[_align(8 + length) :])


def _align(at: int) -> int:
    return -(-at // _ALIGNMENT) * _ALIGNMENT


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
