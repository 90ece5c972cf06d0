"""The parameter file: a flat .npz of standard names and shapes, without pickle (D10, R7.1)."""

from __future__ import annotations

import io
import zipfile
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
            if any(i.compress_type != zipfile.ZIP_STORED and i.file_size > 100 * size for i in archive.infolist()):
                raise FileFormatError(f"{path.name} unpacks to far more than its own size and is not read")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, KeyError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path.name} is not a readable parameter file (.npz): {error}") from error
