"""PaddlePaddle's .pdparams: a pickle of NumPy arrays by name."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import FileFormatError, ModelError
from labdl.saving.atomic_write import replace_files
from labdl.saving.native.formats.dtypes import name_of
from labdl.saving.native.formats.pickle_reader import DATA, CallRecord, Name, read_pickle

_NAMES = "StructuredToParameterName@@"  # a dictionary beside the arrays: their names in Paddle's programs
_DTYPE, _ARRAY = Name("numpy", "dtype"), Name("numpy", "ndarray")
_CALLS = {
    **DATA,
    _DTYPE: lambda *arguments: CallRecord(_DTYPE, arguments),
    **{
        Name(f"numpy.{core}.multiarray", "_reconstruct"): lambda *arguments: CallRecord(_ARRAY, arguments)
        for core in ("core", "_core")
    },
}
_NUMBERS = ("b1", "f2", "f4", "f8", "c8", "c16", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)))


def read(path: Path) -> dict[str, Any]:
    """The arrays of a file. Raises FileFormatError for anything but a pickle of arrays."""
    values = read_pickle(path.read_bytes(), _CALLS)
    if not isinstance(values, dict):
        raise FileFormatError(f"it holds {type(values).__name__}, not a dictionary of parameters")
    return {str(name): _array(value) for name, value in values.items() if name != _NAMES}


def _array(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        value = value[1]  # a single saved tensor: its name and its array
    if not isinstance(value, CallRecord) or value.function != _ARRAY:
        return value
    match value.state:
        case (int(), tuple(shape), CallRecord(function=function) as made, bool(fortran), bytes(data)) if (
            function == _DTYPE
        ):
            dtype = _dtype(made)
        case _:
            raise FileFormatError("an array of it is not one of numbers")
    if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) * dtype.itemsize != len(data):
        raise FileFormatError(f"an array of shape {shape} has {len(data)} bytes")
    return np.frombuffer(bytearray(data), dtype).reshape(shape, order="F" if fortran else "C")


def _dtype(made: CallRecord) -> np.dtype:
    match made.arguments, made.state:
        case (str(name), *_), (int(), "<" | ">" | "|" | "=" as order, None, None, None, *_) if name in _NUMBERS:
            return np.dtype(name).newbyteorder(order)
        case (str(name), *_), None if name in _NUMBERS:
            return np.dtype(name)
    raise FileFormatError("an array of it is not one of numbers")


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that paddle.load reads as the state of a layer, atomically."""
    for name, array in arrays.items():
        if name_of(array.dtype) == "bfloat16":
            raise ModelError(f"a .pdparams file cannot hold {name} in bfloat16: save it as .safetensors")
    with replace_files(path) as (file,):
        pickle.dump({**arrays, _NAMES: {name: name for name in arrays}}, file, protocol=4)
