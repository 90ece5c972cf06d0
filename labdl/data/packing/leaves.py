"""A sample as values of columns and a structure, which says where in the sample they are, of which part and shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from labdl.data.codecs.image import decode_image
from labdl.data.sample_codec import Layout, restore
from labdl.errors import DataError, FileFormatError, LabDLError

NUMBERS = {
    "|i1": "int8",
    "<i2": "int16",
    "<i4": "int32",
    "<i8": "int64",
    "|u1": "uint8",
    "<u2": "uint16",
    "<u4": "uint32",
    "<u8": "uint64",
    "<f2": "halffloat",
    "<f4": "float",
    "<f8": "double",
}
_VALUES: dict[type, str] = {bool: "bool", int: "int64", float: "double", str: "string"}
_TEXTS = {"text": "string", "tokens": "list<string>", "texts": "list<string>"}


class Leaves:
    """The values of a sample for columns: ``structure``, and ``columns`` and ``values`` by name.

    A name is the path to an entry, such as "image" or "objects/boxes", and "sample" if there is one value alone.
    ``columns`` are types: "int64", "string", "list<float>". ``encoded`` are encoded pictures that stand for entries of the
    sample, with the mode to decode them. Raises DataError for what `sample_codec` cannot store, and for two entries of one
    path.
    """

    def __init__(self, sample: Any, encoded: Mapping[str, tuple[str, bytes]] | None = None):
        self.columns: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self._encoded = encoded or {}
        layout = Layout(_without(sample, self._encoded))
        self._arrays: Iterator[np.ndarray] = iter(layout.arrays)
        self.structure = self._split(layout.header, "")

    def _split(self, header: Any, path: str) -> Any:
        if path in self._encoded:
            mode, content = self._encoded[path]
            return self._put(path, "binary", content, {"encoded": mode})
        if "entries" in header:
            return {"entries": [[name, self._split(h, _join(path, name))] for name, h in header["entries"]]}
        for container in ("tuple", "list"):
            if container in header:
                items = enumerate(header[container])
                return {container: [self._split(h, _join(path, str(i))) for i, h in items]}
        return self._leaf(header, path or "sample")

    def _leaf(self, header: Any, path: str) -> Any:
        if "array" in header:
            array = next(self._arrays)
            name = NUMBERS.get(header["array"])
            if name is None:  # truth values, complex numbers, other orders of bytes
                return self._put(path, "binary", array.tobytes(), header)
            return self._put(path, f"list<{name}>", array.reshape(-1), header)
        if "bytes" in header:
            return self._put(path, "binary", next(self._arrays).tobytes(), {"bytes": header["bytes"]})
        if "value" in header:
            value = header["value"]
            if value is None:
                return header
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise DataError("an integer of more than 64 bits cannot be stored: convert it with Dataset.map")
            kind = next(name for name in _VALUES if isinstance(value, name))
            return self._put(path, _VALUES[kind], value, {"column": "value"})
        if "number" in header:
            name = "bool" if header["dtype"] == "|b1" else NUMBERS.get(header["dtype"])
            if name is None:
                return header
            value = np.dtype(header["dtype"]).type(header["number"]) if name == "halffloat" else header["number"]
            return self._put(path, name, value, {"column": "number", "dtype": header["dtype"]})
        kind = next(name for name in _TEXTS if name in header)
        rest = {name: v for name, v in header.items() if name != kind}
        return self._put(path, _TEXTS[kind], header[kind], {"column": kind, **rest})

    def _put(self, path: str, column: str, value: Any, structure: Any) -> Any:
        if path in self.columns:
            raise DataError(f"a sample has two entries of the path {path!r:.80}: rename one")
        self.columns[path], self.values[path] = column, value
        return structure


def join_leaves(structure: Any, column: Callable[[str], Any], *, decode: bool = True) -> Any:
    """The sample of a structure; ``column`` returns the value of a name, for arrays their bytes, which are not copied.

    Encoded pictures stay bytes with ``decode=False``. Raises FileFormatError for a structure that does not fit the columns.
    """
    try:
        return _join_leaves(structure, column, "", decode)
    except LabDLError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FileFormatError(f"the packed sample is damaged: {error}") from None


def _join_leaves(structure: Any, column: Callable[[str], Any], path: str, decode: bool) -> Any:
    if "entries" in structure:
        return {name: _join_leaves(s, column, _join(path, name), decode) for name, s in structure["entries"]}
    for container, kind in (("tuple", tuple), ("list", list)):
        if container in structure:
            items = enumerate(structure[container])
            return kind(_join_leaves(s, column, _join(path, str(i)), decode) for i, s in items)
    if "encoded" in structure:
        content = bytes(column(path))
        return decode_image(content, structure["encoded"]) if decode else content
    path = path or "sample"
    if "array" in structure or "bytes" in structure:
        return restore(structure, column(path))
    if "column" in structure:
        return restore({**structure, structure["column"]: column(path)}, b"")
    return restore(structure, b"")


def _without(sample: Any, names: Mapping[str, Any]) -> Any:
    """The sample with None for some of its entries."""
    if not names:
        return sample
    if isinstance(sample, Mapping):
        return {name: None if str(name) in names else value for name, value in sample.items()}
    return tuple(None if str(i) in names else value for i, value in enumerate(sample))


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
