"""Keras's .weights.h5: a group for each layer, in it "vars" with the variables by number; .keras has such a file in it."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.bounded.archives import open_archive
from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file, read_file, size_of
from labdl.errors import FileFormatError, MissingFileError, StateDictError
from labdl.interop.weights.tensorflow import KerasLayer, file_paths
from labdl.saving.native.formats import hdf5, keras_legacy
from labdl.saving.native.formats.dtypes import dtype_of, name_of, unread

if TYPE_CHECKING:
    import h5py

_AUTOMATIC = re.compile(r"[a-z0-9_]*?(?:_(\d{1,9}))?", re.ASCII)  # dense, dense_1, conv2d_12
WEIGHTS = "model.weights.h5"  # in an archive
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_BESIDE = re.compile(
    r"(?:.*/)?(?:optimizer|metrics|compile_metrics|_?seed_generator|state_transform)/.*"
)  # no parameters of layers


def read(path: Path, model: KerasLayer, sizes: Mapping[str, int]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of the model's variables that a file has, and the names of its other contents.

    ``sizes`` has how many numbers the model wants; arrays of another size are not read. Raises FileFormatError for another
    file, and for links to other files.
    """
    return _read(read_file(path), model, sizes)


def read_archive(path: Path, model: KerasLayer, sizes: Mapping[str, int]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The same of an archive that a model's ``save`` wrote; its configuration and its other files are not read."""
    try:
        with open_file(path) as file:
            archive = open_archive(file)
            info = archive.getinfo(WEIGHTS)
            if info.compress_type != zipfile.ZIP_STORED or not info.compress_size == info.file_size <= size_of(file):
                raise FileFormatError("its archive is compressed, which Keras does not write")
            return _read(archive.read(info), model, sizes)
    except (zipfile.BadZipFile, KeyError, EOFError, struct.error, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, FileFormatError | StateDictError | MissingFileError):
            raise
        raise FileFormatError(f"its archive is broken: {error}") from error


def _read(data: bytes, model: KerasLayer, sizes: Mapping[str, int]) -> tuple[dict[str, np.ndarray], list[str]]:
    import h5py

    if not data.startswith(_SIGNATURE):
        raise FileFormatError("it is not HDF5")
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            everything = hdf5.datasets(file, len(data))
            found: dict[str, h5py.Dataset] = {}
            legacy = keras_legacy.weights_group(file)
            if legacy is not None:
                found = keras_legacy.locate(legacy, model)
            else:
                root: Any = file["/"]
                _locate(model, [root], found)
            used = {item for name, item in found.items() if item.size == sizes.get(name)}
            hdf5.check_sizes(used, len(data))
            arrays = {
                item: _array(item) if item in used else unread(item.name or "", item.dtype, item.shape)
                for item in dict.fromkeys(found.values())
            }
            others = [path for item, path in everything.items() if item not in arrays and not _BESIDE.fullmatch(path)]
            others = others if legacy is None else []  # the layers are the model's, and the rest is of the training
            return {name: arrays[item] for name, item in found.items()}, others
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError, zlib.error) as error:
        if isinstance(error, FileFormatError | StateDictError):
            raise
        raise FileFormatError(f"it is broken: {error}") from error


def _array(item: h5py.Dataset) -> np.ndarray:
    values = hdf5.read(item)
    if item.dtype.kind != "V":
        return values
    if item.dtype.itemsize != 2:  # bfloat16 is unknown to HDF5: Keras stores its bytes
        raise FileFormatError(f"{item.name:.200} in it has an unknown dtype")
    return values.view(dtype_of("bfloat16"))


def _locate(layer: KerasLayer, at: list[h5py.Group], found: dict[str, h5py.Dataset]) -> None:
    """Find the data set of each variable, into ``found``; those of the layer may be in any of the groups ``at``."""
    import h5py

    for number, name in enumerate(layer.values):
        for group in at:
            item = group.get(f"vars/{number}")
            if isinstance(item, h5py.Dataset):
                found[name] = item
                break
    by_name = _layers_by_name(at)
    paths = file_paths(layer)
    _check_order([names for names, _ in paths], [part for _, part in paths], at, by_name)
    for names, part in paths:
        own = by_name.get(names[0].rpartition("/")[2])
        ways = [own] if own is not None else [group.get(name) for group in at for name in names]
        inside = dict.fromkeys(way for way in ways if isinstance(way, h5py.Group))
        if inside:
            _locate(part, list(inside), found)


def _layers_by_name(at: list[h5py.Group]) -> dict[str, h5py.Group]:
    """The layers that a functional or sequential model numbers, by the names that a person or Keras gave them."""
    import h5py

    by_name: dict[str, h5py.Group] = {}
    for group in at:
        layers = group.get("layers")
        for inside in layers.values() if isinstance(layers, h5py.Group) else ():
            name = _name_of(inside) if isinstance(inside, h5py.Group) else ""
            if name:
                by_name.setdefault(name, inside)
    return by_name


def _name_of(layer: h5py.Group) -> str:
    """The name of a layer, which Keras 3.9 and newer keeps beside its number; else an empty text."""
    import h5py

    variables = layer.get("vars")
    name = variables.attrs.get("name", "") if isinstance(variables, h5py.Group) else ""
    return name if isinstance(name, str) else ""


def _check_order(
    paths: list[list[str]], parts: list[KerasLayer], at: list[h5py.Group], by_name: Mapping[str, h5py.Group]
) -> None:
    """Refuse layers that could be exchanged: alike, numbered in the order in which they run, and created in another.

    Keras's own names, dense_3 before dense_7, tell the order of creation.
    """
    import h5py

    kinds: dict[str, list[int]] = {}
    for names, part in zip(paths, parts, strict=True):
        if names[0].rpartition("/")[2] in by_name:
            continue
        for path in names[1:]:
            inside = next((group[path] for group in at if path in group), None)
            match = _AUTOMATIC.fullmatch(_name_of(inside)) if isinstance(inside, h5py.Group) else None
            if match is not None:
                kinds.setdefault(repr(part.kind_and_shapes()), []).append(int(match[1] or 0))
    if any(numbers != sorted(numbers) for numbers in kinds.values()):
        raise StateDictError(
            "its layers of one class and of equal shapes run in another order than they were created in, and their names are "
            "not those of the model's layers, so that they could be exchanged: name the layers in Keras as the model does"
        )


def write(path: Path, arrays: Mapping[str, np.ndarray], model: KerasLayer) -> None:
    """Write a file for Keras's load_weights, atomically: each layer under every name that Keras may look up."""
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        root: Any = file["/"]
        _fill(root, arrays, model)
    with replace_files(path) as (target,):
        target.write(buffer.getbuffer())


def _fill(group: h5py.Group, arrays: Mapping[str, np.ndarray], layer: KerasLayer) -> None:
    for number, name in enumerate(layer.values):
        array = arrays[name]
        kept = group.create_dataset(f"vars/{number}", data=array, track_times=False)
        if name_of(array.dtype) == "bfloat16":
            kept.attrs["dtype"] = "bfloat16"
    for (first, *others), part in file_paths(layer):
        made = group.create_group(first)
        _fill(made, arrays, part)
        for other in others:
            if other not in group:
                group[other] = made  # a hard link: another name of the same group
