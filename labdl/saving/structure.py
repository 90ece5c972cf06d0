"""The structure file: a graph as columns in HDF5 (D10, R7.3). Reading one never runs code."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import FileFormatError, ModelError
from labdl.graph.graph import VERSION, Graph
from labdl.saving.atomic import write_atomically

if TYPE_CHECKING:
    import h5py

KIND = "labdl structure"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_ROWS = 1_000_000  # more nodes or edges than any network has: a broken or hostile file
_NODES = ("id", "type", "name", "params", "shares")
_EDGES = ("id", "source", "source_port", "target", "target_port")


def encode(graph: Graph) -> bytes:
    """The bytes of a structure file; the same graph always gives the same bytes."""
    data = graph.to_dict()
    nodes = {"id": list(data["nodes"]), "type": [n["type"] for n in data["nodes"].values()],
             "name": [n["name"] for n in data["nodes"].values()],
             "params": [json.dumps(n["params"], sort_keys=True) for n in data["nodes"].values()],
             "shares": [n.get("shares", "") for n in data["nodes"].values()]}  # fmt: skip
    edges = {"id": list(data["edges"]), **{k: [e[k] for e in data["edges"].values()] for k in _EDGES[1:]}}
    buffer = io.BytesIO()
    with _new(buffer) as file:
        file.attrs["format"], file.attrs["version"], file.attrs["name"] = _fixed(KIND), VERSION, _fixed(data["name"])
        groups = {"path": list(data["groups"]), "class": list(data["groups"].values())}
        ties = {"name": list(data["ties"]), "to": list(data["ties"].values())}
        for group, columns in (("nodes", nodes), ("edges", edges), ("groups", groups), ("ties", ties)):
            for column, values in columns.items():
                _write(file, f"{group}/{column}", values)
        _write(file, "canvas/id", list(data["positions"]))
        places = np.array(list(data["positions"].values()), "float64").reshape(-1, 2)
        file.create_dataset("canvas/position", data=places, track_times=False)
    return buffer.getvalue()


def _new(buffer: io.BytesIO) -> h5py.File:
    """A new file with its groups, without the times of their making, so that the bytes are deterministic."""
    import h5py  # here and below, because it takes longer to import than the rest of labdl

    kinds = h5py.h5p.FILE_CREATE, h5py.h5p.GROUP_CREATE, h5py.h5p.FILE_ACCESS
    creation, group, access = map(h5py.h5p.create, kinds)
    creation.set_obj_track_times(False)
    group.set_obj_track_times(False)
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, buffer)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    file = h5py.File(h5py.h5f.create(b"structure", h5py.h5f.ACC_TRUNC, creation, access))
    for name in (b"nodes", b"edges", b"groups", b"ties", b"canvas"):
        h5py.h5g.create(file.id, name, gcpl=group)
    return file


def _write(file: h5py.File, path: str, texts: list[str]) -> None:
    # fixed-length texts keep the bytes deterministic and need no heap
    raw = [t.encode() for t in texts]
    array = np.array(raw, dtype=f"S{max([1, *map(len, raw)])}")
    dataset = file.create_dataset(path, data=array, track_times=False)
    dataset.attrs["encoding"] = _fixed("utf-8")


def _fixed(text: str) -> np.ndarray:
    raw = text.encode()
    return np.array(raw, dtype=f"S{max(1, len(raw))}")


def _attribute(file: h5py.File, name: str):
    """A number or a text of fixed length, else None: HDF5 may search a broken heap of other texts without end."""
    if name not in file.attrs:
        return None
    found = file.attrs.get_id(name)
    if found.shape != () or found.dtype.kind not in "Siu":
        return None
    value: Any = file.attrs[name]
    return value.decode() if isinstance(value, bytes) else int(value)


def decode(data: bytes, name: str = "the file") -> Graph:
    """The graph in the bytes of a structure file. Raises FileFormatError that says what is wrong with it."""
    import h5py

    if not data.startswith(_SIGNATURE):
        raise FileFormatError(f"{name} is not a LabDL structure file: it is {'empty' if not data else 'not HDF5'}")
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            if _attribute(file, "format") != KIND:
                raise FileFormatError(f"{name} is an HDF5 file of another program, not a LabDL structure file")
            version = _attribute(file, "version")
            if not isinstance(version, int) or version < 1:
                raise FileFormatError("the file is broken: it has no version number")
            if version > VERSION:
                raise FileFormatError(
                    f"{name} was written by a newer LabDL (format {version}, this one reads up to {VERSION}): upgrade labdl"
                )
            columns = _NODES if version > 1 else _NODES[:-1]  # version 1 knew no shared layers, no groups and no ties
            nodes = {c: _read(file, f"nodes/{c}") for c in columns}
            edges = {c: _read(file, f"edges/{c}") for c in _EDGES}
            places = _dataset(file, "canvas/position")[()]
            positions = dict(zip(_read(file, "canvas/id"), places.tolist(), strict=True))
            groups, ties = ([], []), ([], [])
            if version > 1:
                groups = _read(file, "groups/path"), _read(file, "groups/class")
                ties = _read(file, "ties/name"), _read(file, "ties/to")
            title = _attribute(file, "name") or "model"
        return Graph.from_dict({
            "name": title,
            "nodes": {i: {"type": t, "name": n, "params": json.loads(p), "shares": "".join(shares)}
                      for i, t, n, p, *shares in _rows(nodes)},
            "edges": {i: dict(zip(_EDGES[1:], row, strict=True)) for i, *row in _rows(edges)},
            "positions": positions,
            "groups": dict(zip(*groups, strict=True)),
            "ties": dict(zip(*ties, strict=True)),
        })  # fmt: skip
    except FileFormatError as error:
        raise FileFormatError(str(error).replace("the file", name, 1)) from error.__cause__
    except OSError as error:
        cut = "truncated" in str(error)
        raise FileFormatError(f"{name} is {'truncated: its end is missing' if cut else f'broken: {error}'}") from error
    except (
        KeyError,
        ValueError,
        TypeError,
        RuntimeError,
        OverflowError,
        MemoryError,
        RecursionError,
        ModelError,
    ) as error:
        raise FileFormatError(f"{name} is broken: {error}") from error


def _rows(columns: dict[str, list[str]]):
    return zip(*columns.values(), strict=True)


def _dataset(file: h5py.File, path: str) -> h5py.Dataset:
    import h5py

    for part in (path.rpartition("/")[0], path):
        if not isinstance(file.get(part, getlink=True), h5py.HardLink):
            raise FileFormatError(f"the file is broken: {part} is missing or leads out of the file")
    dataset = file[path]
    if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external or dataset.chunks:
        raise FileFormatError(f"the file is broken: {path} is not a plain column")
    if dataset.ndim == 0 or dataset.shape[0] > _ROWS:
        raise FileFormatError(f"the file is broken: {path} has shape {dataset.shape}")
    if dataset.nbytes > file.id.get_filesize():
        raise FileFormatError(
            f"the file is broken: {path} claims {dataset.nbytes:,} bytes, more than the whole file has"
        )
    return dataset


def _read(file: h5py.File, path: str) -> list[str]:
    dataset = _dataset(file, path)
    if dataset.dtype.kind != "S" or dataset.ndim != 1:
        raise FileFormatError(f"the file is broken: {path} does not hold texts")
    return [t.decode() for t in dataset[()].tolist()]


def save_structure(graph: Graph, path: str | Path) -> None:
    """Write a structure file, atomically."""
    write_atomically(Path(path), encode(graph))


def load_structure(path: str | Path) -> Graph:
    """Read a structure file: the graph, without parameters. Raises FileFormatError or FileNotFoundError."""
    path = Path(path)
    return decode(path.read_bytes(), path.name)
