"""The .safetensors format, which may hold the names of any framework."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labdl.bounded.files import read_file
from labdl.errors import FileFormatError
from labdl.saving.atomic_write import replace_files
from labdl.saving.native.formats.dtypes import array_of, dtype_of, little_endian
from labdl.saving.native.formats.tree import Choose, by_path

_TYPES = {
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "BF16": "bfloat16",
    "BOOL": "bool",
    "C64": "complex64",
    **{f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything else."""
    import safetensors

    try:
        found = safetensors.deserialize(read_file(path))
    except safetensors.SafetensorError as error:
        raise FileFormatError(f"it is not a .safetensors file, or broken: {error!s:.200}") from error
    return choose({(name,): _array(name, entry) for name, entry in found})


def _array(name: str, entry: Mapping) -> np.ndarray:
    if entry["dtype"] not in _TYPES:  # the library's own function for NumPy lacks bfloat16, too
        raise FileFormatError(f"{name:.200} in it holds {entry['dtype']}, which LabDL does not support")
    return array_of(name, entry["data"], dtype_of(_TYPES[entry["dtype"]]), entry["shape"])


def write(path: Path, arrays: Mapping[str, np.ndarray], note: str) -> None:
    """Write a file, atomically. ``note`` names the framework of the tensors, as other readers expect."""
    from safetensors.numpy import save

    dense = {
        name: np.frombuffer(little_endian(array), array.dtype).reshape(array.shape) for name, array in arrays.items()
    }
    with replace_files(path) as (file,):
        file.write(save(dense, {"format": note}))
