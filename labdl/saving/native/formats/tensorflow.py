"""Files of tf.train.Checkpoint: an index of tensors, files of their bytes, and a graph of objects that says whose they are.

Formats: tensorflow/core/protobuf/tensor_bundle.proto and trackable_object_graph.proto. TensorFlow's own reader ends the process
at a shape that is impossible, and is not used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from labdl.bounded.crc32c import crc32c, mask_checksum
from labdl.bounded.files import open_file, read_file, size_of
from labdl.bounded.protobuf import WireError, fields, read_varint
from labdl.errors import FileFormatError, MissingFileError
from labdl.interop.weights.tensorflow import LIST, KerasLayer
from labdl.saving.native.formats.dtypes import array_of, dtype_of, unread
from labdl.saving.native.formats.sorted_table import read_table

_GRAPH, _HEADER = "_CHECKPOINTABLE_OBJECT_GRAPH", ""
_VALUE = "VARIABLE_VALUE"
_ASIDE = ("optimizer", "save_counter", "seed_generator", "_dropout_layer", "keras_api")
_STRING = 7
_DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
_INDEX, _OBJECTS = 1 << 24, 1 << 23  # bytes of an index and of a graph of objects, at most
_FIELDS = 64  # of an entry
_PARTS = 1_000_000  # fields of a graph of objects
_SHARDS = 10_000
_LONGEST = 2000  # bytes of a name
_ROOTS = 1000  # children of the root that may be the model


class _Entry(NamedTuple):
    """A tensor in the index: where its bytes are, and their checksum."""

    dtype: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int
    partitioned: bool


class _Node(NamedTuple):
    """An object: its children by name, and the key of its value."""

    children: dict[str, int]
    key: str | None


def read(path: Path, model: KerasLayer, sizes: Mapping[str, int]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of the model's variables, and the keys of other contents. Those of another size than wanted are not read.

    The model is the root of the checkpoint, or one of its children. Raises FileFormatError for a broken file and for one of
    TensorFlow 1.
    """
    try:
        return _read(path, model, sizes)
    except WireError as error:
        raise FileFormatError(f"it is not a checkpoint of TensorFlow: {error}") from error
    except MissingFileError as error:
        raise FileFormatError(f"it is not a complete checkpoint of TensorFlow: {error}") from error


def _read(path: Path, model: KerasLayer, sizes: Mapping[str, int]) -> tuple[dict[str, np.ndarray], list[str]]:
    data = memoryview(read_file(path.with_name(f"{path.name}.index"), _INDEX, "index"))
    table = {_decode(key): value for key, value in read_table(data).items()}
    if _HEADER not in table or _GRAPH not in table:
        raise FileFormatError("it was not written by tf.train.Checkpoint")
    files = _Files(path, table[_HEADER])
    objects = _Objects(_nodes(files.text(_entry(table[_GRAPH]))))
    names, root = objects.best(model)
    names = {name: key for name, key in names.items() if key in table}
    keys = dict.fromkeys([*names.values(), *objects.keys(root)])
    entries = {key: _entry(table[key]) for key in keys if key in table}
    arrays: dict[str, np.ndarray] = {}
    for name, key in names.items():
        if key not in arrays:
            arrays[key] = files.array(key, entries[key], sizes.get(name))
    others = [key for key, entry in entries.items() if key not in arrays and entry.dtype in _DTYPES]
    return {name: arrays[key] for name, key in names.items()}, others


class _Files:
    """The files of the tensors' bytes."""

    def __init__(self, path: Path, header: memoryview):
        values = dict(fields(header, _FIELDS))
        count = values.get(1, 0)
        if not isinstance(count, int) or not 0 < count <= _SHARDS or values.get(2):
            raise FileFormatError("its index is broken, or of a big-endian machine")
        self.paths = [path.with_name(f"{path.name}.data-{at:05}-of-{count:05}") for at in range(count)]

    def array(self, key: str, entry: _Entry, size: int | None) -> np.ndarray:
        """A tensor of ``size`` numbers. Raises FileFormatError for other contents and for bytes that are damaged."""
        if entry.dtype not in _DTYPES:
            raise FileFormatError(f"{key:.200} in it is of a type that LabDL does not support")
        if entry.partitioned:
            raise FileFormatError(f"{key:.200} in it is partitioned: save the model on one device")
        dtype = dtype_of(_DTYPES[entry.dtype])
        if math.prod(entry.shape) != size:
            return unread(key, dtype, entry.shape)
        if math.prod(entry.shape) * dtype.itemsize != entry.size:
            raise FileFormatError(f"{key:.200} in it has {entry.size} bytes, and shape {entry.shape}"[:400])
        data = self._bytes(key, entry)
        if entry.checksum != mask_checksum(crc32c(data)):
            raise FileFormatError(f"{key:.200} in it is damaged: its checksum is wrong")
        return array_of(key, data, dtype, entry.shape)

    def text(self, entry: _Entry) -> memoryview:
        """The bytes of a tensor that is one text: their length, its checksum, the bytes."""
        if entry.dtype != _STRING or entry.shape or entry.size > _OBJECTS:
            raise FileFormatError("its graph of objects is not a text, or larger than any model needs")
        data = memoryview(self._bytes("its graph of objects", entry))
        length, at = read_varint(data, 0)
        if length != len(data) - at - 4:
            raise FileFormatError("its graph of objects is truncated")
        check, body = data[at : at + 4], data[at + 4 :]
        if entry.checksum != mask_checksum(crc32c(length.to_bytes(4, "little"), check, body)):
            raise FileFormatError("its graph of objects is damaged: its checksum is wrong")
        return body

    def _bytes(self, key: str, entry: _Entry) -> bytearray:
        if entry.shard >= len(self.paths):
            raise FileFormatError(f"{key:.200} in it is in a file that the index does not have")
        with open_file(self.paths[entry.shard]) as file:
            if entry.offset + entry.size > size_of(file):
                raise FileFormatError(f"{key:.200} in it is beyond the end of {self.paths[entry.shard].name}")
            file.seek(entry.offset)
            data = bytearray(entry.size)
            if file.readinto(data) != entry.size:
                raise FileFormatError(f"{self.paths[entry.shard].name} is truncated")
        return data


def _entry(data: memoryview) -> _Entry:
    values = dict(fields(data, _FIELDS))
    dims = [
        dict(fields(_message(dim), _FIELDS)).get(1)
        for field, dim in fields(_message(values.get(2)), _FIELDS)
        if field == 2
    ]
    checksum = values.get(6, bytes(4))
    if not isinstance(checksum, bytes):
        raise FileFormatError("its index is broken")
    dtype, shard, offset, size = (_number(values.get(field)) for field in (1, 3, 4, 5))
    return _Entry(
        dtype, tuple(map(_number, dims)), shard, offset, size, int.from_bytes(checksum, "little"), 7 in values
    )


def _number(value: int | memoryview | bytes | None) -> int:
    """An integer that cannot be negative; a field that is 0 is not written."""
    if value is None:
        return 0
    if not isinstance(value, int) or value >= 2**63:
        raise FileFormatError("its index or its graph of objects has an impossible shape or place")
    return value


def _message(value: int | memoryview | bytes | None) -> memoryview:
    if value is None:
        return memoryview(b"")
    if not isinstance(value, memoryview):
        raise FileFormatError("its index or its graph of objects is broken")
    return value


def _text(value: int | memoryview | bytes | None) -> str:
    data = _message(value)
    if len(data) > _LONGEST:
        raise FileFormatError("its graph of objects has a name that is too long")
    return _decode(bytes(data))


def _decode(name: bytes) -> str:
    return name.decode(errors="replace")


def _nodes(graph: memoryview) -> list[_Node]:
    left = _PARTS

    def parts(message: memoryview) -> Iterator[tuple[int, int | memoryview | bytes]]:
        nonlocal left
        for pair in fields(message, left):
            left -= 1
            yield pair

    def node(message: memoryview) -> _Node:
        children: dict[str, int] = {}
        key = None
        for field, value in parts(message):
            inside = dict(parts(_message(value))) if field in (1, 2) else {}
            if field == 1:
                children[_text(inside.get(2))] = _number(inside.get(1))
            elif field == 2 and _text(inside.get(1)) == _VALUE:
                key = _text(inside.get(3))
        return _Node(children, key)

    nodes = [node(_message(value)) for field, value in parts(graph) if field == 1]
    for child in (child for node in nodes for child in node.children.values()):
        if child >= len(nodes):
            raise FileFormatError("its graph of objects is broken")
    if not nodes:
        raise FileFormatError("its graph of objects is empty")
    return nodes


class _Objects:
    """The graph of objects."""

    def __init__(self, nodes: list[_Node]):
        self.nodes = nodes
        self._holding = self._nodes_with_values()
        self._lists: dict[int, list[int]] = {}  # by the node of a list

    def best(self, model: KerasLayer) -> tuple[dict[str, str], int]:
        """The key of each variable of the model, and its node: the root or the child of it that has most of them."""
        best: tuple[dict[str, str], int] = {}, 0
        for root in (0, *islice(dict.fromkeys(self.nodes[0].children.values()), _ROOTS)):
            found: dict[str, str] = {}
            if root in self._holding:
                self._locate(model, root, found)
            best = max(best, (found, root), key=lambda pair: len(pair[0]))
        return best

    def keys(self, root: int) -> Iterator[str]:
        """Keys of all variables of an object; without those of optimizers and random generators."""
        waiting, seen = [root], {root}
        while waiting:
            children, key = self.nodes[waiting.pop()]
            if key:
                yield key
            new = [n for name, n in children.items() if n not in seen and name not in _ASIDE]
            seen.update(new)
            waiting.extend(new)

    def _locate(self, layer: KerasLayer, at: int, found: dict[str, str]) -> None:
        """Collect the key of each variable in ``found``, from the node ``at`` on."""
        children = self.nodes[at].children
        for name in layer.values:
            word = name.rpartition("/")[2]
            for own in (word, f"_{word}"):  # Keras keeps some of its variables under the second
                if own in children and (key := self.nodes[children[own]].key):
                    found[name] = key
                    break
        listed = self._list_children(at)
        full = [name for name, part in layer.parts.items() if _holds(part)]
        for name, part in layer.parts.items():
            target = next((children[n] for n in (name, f"_{name}") if n in children), None)
            if target is None and layer.ordered and name in full and len(listed) == len(full):
                target = listed[full.index(name)]
            if target is not None:
                self._locate(part, target, found)

    def _list_children(self, at: int) -> list[int]:
        """The layers with variables of a Sequential or functional model, in order."""
        holder = self.nodes[self.nodes[at].children.get("_functional", at)]
        if LIST not in holder.children:
            return []
        place = holder.children[LIST]
        if place not in self._lists:
            layers = self.nodes[place].children
            order = sorted((name for name in layers if name.isdecimal() and len(name) < 10), key=int)
            self._lists[place] = [layers[name] for name in order if layers[name] in self._holding]
        return self._lists[place]

    def _nodes_with_values(self) -> set[int]:
        """Objects with a variable in them, other than those of optimizers and random generators."""
        owners: list[list[int]] = [[] for _ in self.nodes]
        for at, node in enumerate(self.nodes):
            for name, child in node.children.items():
                if name not in _ASIDE:
                    owners[child].append(at)
        waiting = [at for at, node in enumerate(self.nodes) if node.key]
        found = set(waiting)
        while waiting:
            new = [owner for owner in owners[waiting.pop()] if owner not in found]
            found.update(new)
            waiting.extend(new)
        return found


def _holds(layer: KerasLayer) -> bool:
    return bool(layer.values) or any(_holds(part) for part in layer.parts.values())
