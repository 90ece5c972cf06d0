"""The .safetensors format, in which any framework's names may stand: a header in JSON, then the numbers.

8 bytes give the header's length; it says for each name dtype, shape, and where the numbers begin and end behind it
(https://github.com/huggingface/safetensors#format).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.atomic import replacing
from labdl.saving.formats.dtypes import dtype_of, little, name_of

_TYPES = {"F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16", "BOOL": "bool", "C64": "complex64",
          **{f"{kind[0].upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}}  # fmt: skip
_WORDS = {name: word for word, name in _TYPES.items()}
_LARGEST = 100_000_000  # bytes of a header, as the format says
_NOTE = "__metadata__"


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file. Raises FileFormatError for anything else."""
    data = np.fromfile(path, "uint8").data
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(len(data) - 8, _LARGEST):
        raise FileFormatError("it is not a .safetensors file, or truncated")
    try:
        header = json.loads(bytes(data[8 : 8 + size]))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"its header is broken: {error}") from error
    if not isinstance(header, dict):
        raise FileFormatError("its header is broken")
    numbers = data[8 + size :]
    return {name: _array(name, entry, numbers) for name, entry in header.items() if name != _NOTE}


def _array(name: str, entry: Any, numbers: memoryview) -> np.ndarray:
    match entry:
        case {"dtype": str(word), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if word in _TYPES:
            dtype = dtype_of(_TYPES[word])
        case _:
            raise FileFormatError(f"{name} in it is described in a way that LabDL does not know: {str(entry)[:100]}")
    fits = all(type(n) is int and n >= 0 for n in shape) and 0 <= begin <= end <= len(numbers)
    if not fits or math.prod(shape) * dtype.itemsize != end - begin:
        raise FileFormatError(f"{name} in it has shape {tuple(shape)} and bytes {begin} to {end} of {len(numbers)}")
    return np.frombuffer(numbers[begin:end], dtype).reshape(shape)


def write(path: Path, arrays: Mapping[str, np.ndarray], note: str) -> None:
    """Write a file, atomically. ``note`` is whose tensors they are, as others who read such files want to know."""
    # the largest numbers first, so that each begins at a multiple of its size
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {_NOTE: {"format": note}}
    at = 0
    for name in names:
        array = arrays[name]
        header[name] = {"dtype": _WORDS[name_of(array.dtype)], "shape": array.shape,
                        "data_offsets": [at, at := at + array.nbytes]}  # fmt: skip
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as (file,):
        file.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            file.write(little(arrays[name]))
