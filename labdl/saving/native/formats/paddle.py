"""PaddlePaddle's .pdparams: a pickle of NumPy arrays by name, in which uint16 stands for the bits of bfloat16."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.errors import FileFormatError, ModelError
from labdl.saving.native.formats.dtypes import dtype_of, name_of
from labdl.saving.native.formats.numpy_records import is_numpy, numpy_array
from labdl.saving.native.formats.pickle_reader import read_pickle
from labdl.saving.native.formats.tree import Choose, arrays_of, by_path, raise_for

_NAMES = "StructuredToParameterName@@"  # a dictionary beside the arrays: their names in Paddle's programs
_BITS = np.dtype("uint16")


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything but a pickle of arrays."""
    data = read_file(path)
    found = choose(arrays_of(read_pickle(io.BytesIO(data), len(data))))
    copies: dict[int, bytearray] = {}
    for name, value in found.items():
        raise_for(value)
        if not is_numpy(value):
            raise FileFormatError(f"{name:.200} in it is a tensor of another framework")
    return {name: _from_bits(numpy_array(name, value, copies)) for name, value in found.items()}


def _from_bits(array: np.ndarray) -> np.ndarray:
    return (
        array.astype(_BITS, copy=False).view(dtype_of("bfloat16")) if array.dtype.newbyteorder("=") == _BITS else array
    )


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that paddle.load reads as the state of a layer, atomically."""
    for name, array in arrays.items():
        if array.dtype == _BITS:
            raise ModelError(f"a .pdparams file cannot hold {name} in uint16, which Paddle takes for bfloat16")
    written = {name: a.view(_BITS) if name_of(a.dtype) == "bfloat16" else a for name, a in arrays.items()}
    with replace_files(path) as (file,):
        pickle.dump({**written, _NAMES: {name: name for name in arrays}}, file, protocol=4)
