"""PaddlePaddle's .pdparams: a pickle of NumPy arrays by name."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labdl.bounded.files import read_file
from labdl.errors import FileFormatError, ModelError
from labdl.saving.atomic_write import replace_files
from labdl.saving.native.formats.dtypes import name_of
from labdl.saving.native.formats.numpy_records import is_numpy, numpy_array
from labdl.saving.native.formats.pickle_reader import read_pickle
from labdl.saving.native.formats.tree import Choose, arrays_of, by_path, raise_for

_NAMES = "StructuredToParameterName@@"  # a dictionary beside the arrays: their names in Paddle's programs


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything but a pickle of arrays."""
    data = read_file(path)
    found = choose(arrays_of(read_pickle(io.BytesIO(data), len(data))))
    copies: dict[int, bytearray] = {}
    for name, value in found.items():
        raise_for(value)
        if not is_numpy(value):
            raise FileFormatError(f"{name:.200} in it is a tensor of another framework")
    return {name: numpy_array(name, value, copies) for name, value in found.items()}


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that paddle.load reads as the state of a layer, atomically."""
    for name, array in arrays.items():
        if name_of(array.dtype) == "bfloat16":
            raise ModelError(f"a .pdparams file cannot hold {name} in bfloat16: save it as .safetensors")
    with replace_files(path) as (file,):
        pickle.dump({**arrays, _NAMES: {name: name for name in arrays}}, file, protocol=4)
