"""The structure file: a graph as columns in HDF5 (docs/file-format.md). Reading one never executes code."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file, size_of
from labdl.bounded.plain_json import loads
from labdl.errors import FileFormatError, ModelError
from labdl.graph.graph import Graph

if TYPE_CHECKING:
    import h5py

KIND = "labdl structure"
VERSION = 5
_WITH_NOTES = 4
_PLAIN = 3  # version written for a graph without notes, so that earlier versions of LabDL can read it
_CALLS = ("optional", "default", "argument", "skips")  # settings of an Input since version 5
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LARGEST = 1 << 26  # bytes: a structure has no weights, and a thousand layers take 100 KB
_ROWS = 200_000  # more nodes or edges than any network has: a broken or hostile file
# groups and their datasets, in the order of the checksum
_COLUMNS = {
    "nodes": ("id", "type", "name", "params", "shares"),
    "edges": ("id", "source", "source_port", "target", "target_port"),
    "groups": ("path", "class"),
    "ties": ("name", "to"),
    "canvas": ("id", "position"),
}
_NOTES = {"notes": ("id", "text", "home", "color", "place")}  # since version 4
# optional in every version, not part of the checksum
_CLASSES, _FROZEN, _PREPROCESSING, _DETECTOR, _TASK = _OPTIONAL = (
    "classes/name",
    "frozen/name",
    "preprocessing/pipeline",
    "detector/form",
    "task/name",
)
_FIRST = {"nodes": _COLUMNS["nodes"][:-1], "edges": _COLUMNS["edges"], "canvas": _COLUMNS["canvas"]}  # version 1's
_EDGE = _COLUMNS["edges"][1:]


@dataclass(frozen=True)
class StructureFile:
    """Contents of a structure file: the graph, the format version, and the id of the parameters saved with it.

    ``class_names`` are those of a classifier, ``frozen`` the names of parameters that are not trained, ``preprocessing`` is the
    dictionary of a pipeline of `labdl.data`, ``detector`` that of the form of a detector, ``task`` the name of a task.
    """

    graph: Graph
    version: int
    saved_with: str
    class_names: tuple[str, ...] | None = None
    frozen: tuple[str, ...] = ()
    preprocessing: dict[str, Any] | None = None
    detector: dict[str, Any] | None = None
    task: str | None = None


class NewerFormatError(FileFormatError):
    """A structure file of a later version of the format, with as much of its graph as can be read by this one's rules."""

    def __init__(self, message: str, version: int, graph: Graph | None):
        super().__init__(message)
        self.version, self.graph = version, graph


def identity(graph: Graph) -> str:
    """Digest of everything that determines the result for given parameters: names, layers, settings, connections."""
    data = graph.to_dict()
    telling = [[[i, *node.items()] for i, node in data["nodes"].items()], list(data["edges"].values()), data["ties"]]
    return hashlib.sha256(json.dumps(telling, sort_keys=True).encode()).hexdigest()


def encode(
    graph: Graph,
    saved_with: str = "",
    class_names: Sequence[str] | None = None,
    frozen: Sequence[str] = (),
    preprocessing: dict[str, Any] | None = None,
    detector: dict[str, Any] | None = None,
    task: str | None = None,
) -> bytes:
    """The bytes of a structure file (see `StructureFile`); the same graph always gives the same bytes."""
    data = graph.to_dict()
    nodes, edges = data["nodes"].values(), data["edges"].values()
    try:
        params = json.dumps([n["params"] for n in nodes], sort_keys=True, allow_nan=False, separators=(",", ":"))
    except TypeError as error:
        raise ModelError(f"a setting of the model cannot be written to a file: {error}") from error
    version = _version_for(graph)
    columns = {
        "nodes/id": _texts(data["nodes"]),
        "nodes/type": _texts(n["type"] for n in nodes),
        "nodes/name": _texts(n["name"] for n in nodes),
        "nodes/params": np.frombuffer(params.encode(), np.uint8),
        "nodes/shares": _texts(n.get("shares", "") for n in nodes),
        "edges/id": _texts(data["edges"]),
        **{f"edges/{c}": _texts(e[c] for e in edges) for c in _EDGE},
        "groups/path": _texts(data["groups"]),
        "groups/class": _texts(data["groups"].values()),
        "ties/name": _texts(data["ties"]),
        "ties/to": _texts(data["ties"].values()),
        "canvas/id": _texts(data["positions"]),
        "canvas/position": np.array(list(data["positions"].values()), "<f8").reshape(-1, 2),
        **(_note_columns(data.get("notes", {})) if version > _PLAIN else {}),
    }
    buffer = io.BytesIO()
    lists_of_names = ((_CLASSES, class_names), (_FROZEN, frozen), (_TASK, [task] if task else None))
    lists: dict[str, list[Any]] = {path: list(map(str, names)) for path, names in lists_of_names if names}
    if preprocessing is not None:
        lists[_PREPROCESSING] = [preprocessing]
    if detector is not None:
        lists[_DETECTOR] = [detector]
    more = [*(["notes"] if version > _PLAIN else []), *(path.partition("/")[0] for path in lists)]
    with _new(buffer, more) as file:
        file.attrs["format"], file.attrs["version"], file.attrs["name"] = _fixed(KIND), version, _fixed(data["name"])
        if saved_with:
            file.attrs["parameters"] = _fixed(saved_with)
        for path, column in columns.items():
            dataset = file.create_dataset(path, data=column, track_times=False)
            if path not in ("canvas/position", "notes/place"):
                dataset.attrs["encoding"] = _fixed("utf-8")
        for path, names in lists.items():  # earlier versions of LabDL ignore these groups
            column = _json_bytes(names)
            file.create_dataset(path, data=column, track_times=False).attrs["encoding"] = _fixed("utf-8")
        file.attrs["checksum"] = _fixed(_checksum(data["name"], columns))
    if len(buffer.getvalue()) > _LARGEST:
        raise ModelError(
            f"the structure of the model has more than {_LARGEST:,} bytes: save a large preprocessing in a file of its own, "
            "with Pipeline.save"
        )
    return buffer.getvalue()


def _json_bytes(values: list[Any]) -> np.ndarray:
    """Texts as one column of bytes: a fixed-length column as wide as the longest text would be mostly empty."""
    return np.frombuffer(json.dumps(values, separators=(",", ":")).encode(), np.uint8)


def _version_for(graph: Graph) -> int:
    """The oldest version that can hold a graph."""
    if any(n.type == "Input" and any(word in n.params for word in _CALLS) for n in graph.nodes.values()):
        return VERSION
    return _WITH_NOTES if graph.notes else _PLAIN


def _note_columns(notes: dict[str, Any]) -> dict[str, np.ndarray]:
    rows = notes.values()
    return {
        "notes/id": _texts(notes),
        "notes/text": _json_bytes([n["text"] for n in rows]),
        "notes/home": _texts(n["home"] for n in rows),
        "notes/color": _texts(n["color"] for n in rows),
        "notes/place": np.array([[n[part] for part in _PLACE] for n in rows], "<f8").reshape(-1, len(_PLACE)),
    }


_PLACE = ("x", "y", "width", "height")


def _checksum(title: str, columns: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(title.encode())
    for path, column in columns.items():
        digest.update(f"\n{path} {column.nbytes}\n".encode())
        digest.update(column.tobytes())
    return digest.hexdigest()


def _new(buffer: io.BytesIO, more: Sequence[str] = ()) -> h5py.File:
    """A new file with its groups, without creation times, so that the bytes are deterministic."""
    import h5py  # imported here and below: it takes longer to import than the rest of labdl

    kinds = h5py.h5p.FILE_CREATE, h5py.h5p.GROUP_CREATE, h5py.h5p.FILE_ACCESS
    creation, group, access = map(h5py.h5p.create, kinds)
    creation.set_obj_track_times(False)
    group.set_obj_track_times(False)
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, buffer)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    file = h5py.File(h5py.h5f.create(b"structure", h5py.h5f.ACC_TRUNC, creation, access))
    for name in ("nodes", "edges", "groups", "ties", "canvas", *more):
        h5py.h5g.create(file.id, name.encode(), gcpl=group)
    return file


def _texts(texts) -> np.ndarray:
    # fixed-length strings keep the bytes deterministic and need no heap
    raw = [text.encode() for text in texts]
    if any(b"\0" in text for text in raw):
        raise ModelError("a name of the model holds a NUL character, which a file cannot hold")
    return np.array(raw, dtype=f"S{max([1, *map(len, raw)])}")


def _fixed(text: str) -> np.ndarray:
    raw = text.encode()
    if b"\0" in raw:
        raise ModelError("the name of the model holds a NUL character, which a file cannot hold")
    return np.array(raw, dtype=f"S{max(1, len(raw))}")


def _attribute(file: h5py.File, name: str):
    """A number or fixed-length string, else None: with a broken heap, HDF5 may search for other strings forever."""
    if name not in file.attrs:
        return None
    found = file.attrs.get_id(name)
    if found.shape != () or found.dtype.kind not in "Siu":
        return None
    value: Any = file.attrs[name]
    return value.decode() if isinstance(value, bytes) else int(value)


def decode(data: bytes, name: str = "the file") -> Graph:
    """Decode the bytes of a structure file to a graph. Raises FileFormatError that says what is wrong."""
    return read(data, name).graph


def read(data: bytes, name: str = "the file") -> StructureFile:
    """Decode the bytes of a structure file with its metadata. Raises FileFormatError that says what is wrong."""
    import h5py

    if not data.startswith(_SIGNATURE):
        raise FileFormatError(f"{name} is not a LabDL structure file: it is {'empty' if not data else 'not HDF5'}")
    if len(data) > _LARGEST:
        raise _too_large(name, len(data))
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            if _attribute(file, "format") != KIND:
                raise FileFormatError(f"{name} is an HDF5 file of another program, not a LabDL structure file")
            version = _attribute(file, "version")
            if not isinstance(version, int) or version < 1:
                raise FileFormatError("the file is broken: it has no version number")
            if version > VERSION:
                raise NewerFormatError(
                    f"{name} was written by a newer LabDL (format {version}, this one reads up to {VERSION}): upgrade labdl",
                    version,
                    _read_newer(file),
                )
            columns = _all_columns(file, {**(_COLUMNS if version > 1 else _FIRST), **(_NOTES if version > 3 else {})})
            lists = {path: _column(file, path) for path in _OPTIONAL if path.partition("/")[0] in file}
            title, checksum, saved_with = (str(_attribute(file, a) or "") for a in ("name", "checksum", "parameters"))
        graph = _graph(columns, title, version)
        if version > 2 and checksum and checksum != _checksum(title, columns):
            raise FileFormatError("the file is damaged: its checksum does not fit its content")
        class_names, frozen = _names(lists, _CLASSES), _names(lists, _FROZEN)
        preprocessing, detector = (
            next(iter(_json(lists, path)), None) if path in lists else None for path in (_PREPROCESSING, _DETECTOR)
        )
        task = next(iter(_names(lists, _TASK) or ()), None)
        return StructureFile(graph, version, saved_with, class_names, frozen or (), preprocessing, detector, task)
    except NewerFormatError:
        raise
    except FileFormatError as error:
        raise FileFormatError(str(error).replace("the file", name, 1)) from error.__cause__
    except OSError as error:
        cut = "truncated" in str(error)
        raise FileFormatError(f"{name} is {'truncated: its end is missing' if cut else f'broken: {error}'}") from error
    except _BROKEN as error:
        raise FileFormatError(f"{name} is broken: {error}") from error


# errors of h5py, JSON and the graph for malformed data
_BROKEN = (
    KeyError,
    ValueError,
    TypeError,
    RuntimeError,
    OverflowError,
    MemoryError,
    RecursionError,
    AttributeError,
    ModelError,
)


def _read_newer(file: h5py.File) -> Graph | None:
    """The graph of a file of a newer version if it still has the columns of this version; else None."""
    try:
        return _graph(
            _all_columns(file, {**_COLUMNS, **(_NOTES if "notes" in file else {})}),
            str(_attribute(file, "name") or ""),
            VERSION,
        )
    except (FileFormatError, OSError, *_BROKEN):
        return None  # the newer version changed the columns


def _all_columns(file: h5py.File, groups: dict[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    return {f"{group}/{c}": _column(file, f"{group}/{c}") for group, cs in groups.items() for c in cs}


def _graph(columns: dict[str, np.ndarray], title: str, version: int) -> Graph:
    """Build the graph from the columns of a file of this version."""
    count = len(columns["nodes/id"])
    nodes = [_read(columns, f"nodes/{c}") for c in ("id", "type", "name")]
    # up to version 2: one string per node
    params = _json(columns, "nodes/params") if version > 2 else [loads(p) for p in _read(columns, "nodes/params")]
    if version > 1:
        shares = _read(columns, "nodes/shares")
        groups = _read(columns, "groups/path"), _read(columns, "groups/class")
        ties = _read(columns, "ties/name"), _read(columns, "ties/to")
    else:
        shares, groups, ties = (
            [""] * count,
            ([], []),
            ([], []),
        )  # version 1 had no shared layers, groups or tied parameters
    edges = [_read(columns, f"edges/{c}") for c in _COLUMNS["edges"]]
    # a position that is not a number is dropped; the canvas lays the node out
    places = [
        (i, p)
        for i, p in zip(_read(columns, "canvas/id"), columns["canvas/position"].tolist(), strict=True)
        if np.isfinite(p).all()
    ]
    return Graph.from_dict(
        {
            "name": title or "model",
            "nodes": _by_key(
                "nodes/id",
                [
                    (i, {"type": t, "name": n, "params": p, "shares": s})
                    for i, t, n, p, s in zip(*nodes, params, shares, strict=True)
                ],
            ),
            "edges": _by_key(
                "edges/id", [(i, dict(zip(_EDGE, row, strict=True))) for i, *row in zip(*edges, strict=True)]
            ),
            "positions": _by_key("canvas/id", places),
            "groups": _by_key("groups/path", zip(*groups, strict=True)),
            "ties": _by_key("ties/name", zip(*ties, strict=True)),
            "notes": _notes(columns) if "notes/id" in columns else {},
        }
    )


def _names(columns: dict[str, np.ndarray], path: str) -> tuple[str, ...] | None:
    """The names in an optional column, None if it is missing."""
    if path not in columns:
        return None
    names = _json(columns, path)
    if not names or not all(isinstance(name, str) for name in names):
        raise FileFormatError(f"the file is broken: {path} holds no names")
    return tuple(names)


def _notes(columns: dict[str, np.ndarray]) -> dict[str, Any]:
    ids, homes, colors = (_read(columns, f"notes/{c}") for c in ("id", "home", "color"))
    place = columns["notes/place"]
    if place.ndim != 2 or place.shape[1] != len(_PLACE):
        raise FileFormatError(f"the file is broken: notes/place has shape {place.shape}")
    rows = zip(ids, _json(columns, "notes/text"), homes, colors, place.tolist(), strict=True)
    return _by_key(
        "notes/id",
        [(i, {"text": t, "home": h, "color": c, **dict(zip(_PLACE, p, strict=True))}) for i, t, h, c, p in rows],
    )


def _by_key(path: str, rows) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in rows:
        if key in found:
            raise FileFormatError(f"the file is broken: {path} holds {key!r} twice")
        found[key] = value
    return found


def _json(columns: dict[str, np.ndarray], path: str) -> list[Any]:
    column = columns[path]
    if column.dtype != np.uint8 or column.ndim != 1:
        raise FileFormatError(f"the file is broken: {path} does not hold bytes")
    found = loads(column.tobytes())
    if not isinstance(found, list):
        raise FileFormatError(f"the file is broken: {path} holds no list")
    return found


def _column(file: h5py.File, path: str) -> np.ndarray:
    return _dataset(file, path)[()]


def _dataset(file: h5py.File, path: str) -> h5py.Dataset:
    import h5py

    for part in (path.rpartition("/")[0], path):
        if not isinstance(file.get(part, getlink=True), h5py.HardLink):
            raise FileFormatError(f"the file is broken: {part} is missing or leads out of the file")
    dataset = file[path]
    if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external or dataset.chunks:
        raise FileFormatError(f"the file is broken: {path} is not a plain column")
    if dataset.ndim == 0:
        raise FileFormatError(f"the file is broken: {path} has shape ()")
    if dataset.dtype.kind not in "Sufi":  # other types use a heap; a broken one may be followed forever
        raise FileFormatError(f"the file is broken: {path} does not hold texts or numbers")
    if dataset.shape[0] > _ROWS and dataset.dtype != "u1":
        raise FileFormatError(f"the file is broken: {path} has shape {dataset.shape}")
    if dataset.nbytes > file.id.get_filesize():
        raise FileFormatError(
            f"the file is broken: {path} claims {dataset.nbytes:,} bytes, more than the whole file has"
        )
    return dataset


def _read(columns: dict[str, np.ndarray], path: str) -> list[str]:
    column = columns[path]
    if column.dtype.kind != "S" or column.ndim != 1:
        raise FileFormatError(f"the file is broken: {path} does not hold texts")
    return [t.decode() for t in column.tolist()]


def _too_large(name: str, size: int) -> FileFormatError:
    return FileFormatError(f"{name} has {size:,} bytes, more than any structure needs, and is not read")


def save_structure(graph: Graph, path: str | Path) -> None:
    """Write a structure file, atomically."""
    data = encode(graph)
    with replace_files(path) as (file,):
        file.write(data)


def load_structure(path: str | Path) -> Graph:
    """Read a structure file: the graph, without parameters. Raises FileFormatError or FileNotFoundError.

    The graph may refer to layers that are not registered: it can be read, changed and saved, and `Graph.to_module` reports
    what is missing.
    """
    return open_structure(path).graph


def open_structure(path: str | Path) -> StructureFile:
    """Like `load_structure`, with the file's metadata."""
    path = Path(path)
    with open_file(path) as file:
        data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST and data.startswith(_SIGNATURE):
            raise _too_large(path.name, size_of(file))
    return read(data, path.name)
