"""The parameter file: a flat .npz of standard names and shapes, without pickle (docs/file-format.md)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from labdl import dispatch
from labdl.bounded.atomic_write import replace_files
from labdl.data.npz import CHUNK, KINDS, ArrayFile, display_name, name_fault
from labdl.errors import ModelError
from labdl.nn.module import Module


class ParameterFile(ArrayFile):
    """An open parameter file: ``entries`` lists its contents, and values are read on demand (`ArrayFile`)."""

    what = "parameter file"


def values_of(model: Module) -> Iterator[tuple[str, np.ndarray]]:
    """Items of `Module.state_dict`, one at a time and without copies where possible.

    While one is used, a thread transposes the next to the standard order.
    """
    from concurrent.futures import ThreadPoolExecutor  # imported here, because few programs save

    with ThreadPoolExecutor(1) as worker:
        waiting = None
        for name, parameter in model.named_parameters():
            array = dispatch.owner(parameter.value).to_numpy(parameter.value)
            following = name, worker.submit(parameter.to_standard, array)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = following
        if waiting is not None:
            yield waiting[0], waiting[1].result()


def write_parameters(file: BinaryIO, values: Iterable[tuple[str, np.ndarray]], note: str = "") -> None:
    """Write a parameter file member by member; ``note`` becomes the archive's comment."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = note.encode()
        for name, value in values:
            array = np.asanyarray(value)
            if array.dtype.isbuiltin == 2:  # such as bfloat16, which NumPy alone cannot read
                array = array.astype("float32")
            if fault := name_fault(name):
                raise ModelError(f"a parameter cannot be saved as {display_name(name)}: the name {fault}")
            if array.dtype.kind not in KINDS:
                raise ModelError(f"{name} holds {array.dtype}, and a parameter file holds only numbers")
            array = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray adds an axis to a scalar
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
            member = zipfile.ZipInfo(f"{name}.npy")
            member.create_system = 3  # the same bytes on every system
            member.file_size = header.tell() + array.nbytes
            data = array.reshape(-1).view(np.uint8)
            with archive.open(member, "w") as stream:
                stream.write(header.getvalue())
                for at in range(0, data.size, CHUNK):
                    stream.write(data[at : at + CHUNK].data)


def save_parameters(values: Mapping[str, np.ndarray] | Module, path: str | Path) -> None:
    """Write ``{standard name: array}``, or a built model's parameters, as .npz; the same values always give the same bytes.

    The file is written atomically, and the values of a model are not copied first. Raises ModelError for what is not an
    array of numbers.
    """
    if isinstance(values, Module):
        values._need_build()
    with replace_files(path) as (file,):
        write_parameters(file, values_of(values) if isinstance(values, Module) else values.items())


def load_parameters(path: str | Path, names: str = "*") -> dict[str, np.ndarray]:
    """Read the arrays of a parameter file whose name matches ``names``, such as "encoder/*".

    Raises FileFormatError for another file, FileNotFoundError when it is missing.
    """
    with ParameterFile(path) as file:
        return {name: file[name] for name in file.matching(names)}
