"""The parameter file: a flat .npz of standard names and shapes, without pickle (D10, R7.1)."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.atomic import write_atomically


def save_parameters(values: Mapping[str, np.ndarray], path: str | Path) -> None:
    """Write ``{standard name: array}`` as .npz, atomically; the same values always give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in values.items():
            # numpy.savez would take a name such as "file" for its own argument
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    write_atomically(Path(path), buffer.getvalue())


def load_parameters(path: str | Path) -> dict[str, np.ndarray]:
    """Read a parameter file. Raises FileFormatError for anything else, FileNotFoundError when it is missing."""
    path = Path(path)
    try:
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        if any(i.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for i in members):
            raise FileFormatError(f"{path.name} is packed in a way that NumPy does not use")
        if any(i.compress_type != zipfile.ZIP_STORED and i.file_size > 100 * size for i in members):
            raise FileFormatError(f"{path.name} unpacks to far more than its own size and is not read")
        with np.load(path, allow_pickle=False) as file:
            values = {name: file[name] for name in file.files}
        foreign = [
            i.filename for i in members if not isinstance(values.get(i.filename.removesuffix(".npy")), np.ndarray)
        ]
        if foreign:  # NumPy gives what is no array as bytes
            raise FileFormatError(f"{path.name} is not a parameter file: {foreign[0]} in it is no array")
        return values
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError, OSError, EOFError, KeyError, RuntimeError,
            MemoryError, OverflowError) as error:  # fmt: skip
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path.name} is not a readable parameter file (.npz): {error}") from error
