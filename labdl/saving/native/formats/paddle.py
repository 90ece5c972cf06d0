"""PaddlePaddle's .pdparams: a pickle of NumPy arrays by name."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.errors import FileFormatError, ModelError
from labdl.saving.atomic_write import replace_files
from labdl.saving.native.formats.dtypes import MOST_AXES, array_of, name_of
from labdl.saving.native.formats.pickle_calls import NUMPY_ARRAY, NUMPY_DTYPE, CallRecord, dtype_of_record
from labdl.saving.native.formats.pickle_reader import read_pickle

_NAMES = "StructuredToParameterName@@"  # a dictionary beside the arrays: their names in Paddle's programs


def read(path: Path) -> dict[str, Any]:
    """The arrays of a file. Raises FileFormatError for anything but a pickle of arrays."""
    data = read_file(path)
    values = read_pickle(io.BytesIO(data), len(data))
    if not isinstance(values, dict):
        raise FileFormatError(f"it holds {type(values).__name__}, not a dictionary of parameters")
    copies: dict[int, bytearray] = {}  # by identity: a pickle may give the bytes of one array to many
    return {str(name): _array(str(name), value, copies) for name, value in values.items() if name != _NAMES}


def _array(name: str, value: Any, copies: dict[int, bytearray]) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        value = value[1]  # a single saved tensor: its name and its array
    if not isinstance(value, CallRecord) or value.function != NUMPY_ARRAY:
        return value
    match value.state:
        case (int(), tuple(shape), CallRecord(function=function) as made, bool(fortran), bytes(data)) if (
            function == NUMPY_DTYPE
        ):
            dtype = dtype_of_record(made)
        case _:
            raise FileFormatError("an array of it is not one of numbers")
    if len(shape) > MOST_AXES or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise FileFormatError(f"{name:.200} in it has an impossible shape")
    if id(data) not in copies:
        copies[id(data)] = bytearray(data)
    array = array_of(name, copies[id(data)], dtype, shape[::-1] if fortran else shape)
    return array.transpose() if fortran else array


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that paddle.load reads as the state of a layer, atomically."""
    for name, array in arrays.items():
        if name_of(array.dtype) == "bfloat16":
            raise ModelError(f"a .pdparams file cannot hold {name} in bfloat16: save it as .safetensors")
    with replace_files(path) as (file,):
        pickle.dump({**arrays, _NAMES: {name: name for name in arrays}}, file, protocol=4)
