"""The .safetensors format, which may hold the names of any framework."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded import plain_json
from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file
from labdl.errors import FileFormatError
from labdl.saving.native.formats.dtypes import array_of, dtype_of, little_endian
from labdl.saving.native.formats.pickle_calls import StorageView
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


_LENGTH = 8  # bytes of the size of the header, which comes first
_HEADER = 1 << 25  # bytes; of these at most so many tensors, commas, and characters of a name
_TENSORS, _COMMAS, _NAME = 150_000, 1 << 22, 2000


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything else."""
    with open_file(path) as file:
        data = np.fromfile(file, "uint8").data
    size = int.from_bytes(data[:_LENGTH], "little")
    if len(data) < _LENGTH or size > len(data) - _LENGTH:
        raise FileFormatError("it is not a .safetensors file, or truncated")
    header, body = _header(data[_LENGTH : _LENGTH + size]), data[_LENGTH + size :]
    tensors = {(name,): _view(name, entry) for name, entry in header.items()}
    at = 0
    for begin, end in sorted(view.storage[1:] for view in tensors.values()):
        if begin != at:
            raise FileFormatError("it is not a .safetensors file, or broken: its tensors overlap, or leave a gap")
        at = end
    if at != len(body):
        raise FileFormatError(f"it has {len(body):,} bytes of tensors, its header tells of {at:,}")
    if not tensors:
        raise FileFormatError("it holds no arrays")
    return {name: _array(name, view, body) for name, view in choose(tensors).items()}


def _header(data: memoryview) -> dict[str, Any]:
    """The entries of the tensors, without the texts that a file may have beside them."""
    if len(data) > _HEADER:
        raise FileFormatError(f"its header has {len(data):,} bytes, more than any model needs")
    text = bytes(data)
    if text.count(b'"dtype"') > _TENSORS or text.count(b",") > _COMMAS:
        raise FileFormatError("its header has more tensors or axes than any model needs")
    try:
        header = plain_json.loads(text.decode())
    except ValueError as error:
        raise FileFormatError(f"it is not a .safetensors file, or broken: {error!s:.200}") from error
    if not isinstance(header, dict):
        raise FileFormatError("it is not a .safetensors file: its header is no table of tensors")
    header.pop("__metadata__", None)
    return header


def _view(name: str, entry: Any) -> StorageView:
    """A tensor in the header; its storage is its dtype and place."""
    if len(name) > _NAME:
        raise FileFormatError(f"{name[:60]}… in it has too long a name")
    match entry:
        case {"dtype": str(word), "shape": list(shape), "data_offsets": [begin, end]} if all(
            type(n) is int and 0 <= n < 2**63 for n in (*shape, begin, end)
        ):
            return StorageView((word, begin, end), 0, tuple(shape), ())
    raise FileFormatError(f"it is not a .safetensors file, or broken: {name:.200} has no dtype, shape and place")


def _array(name: str, view: StorageView, body: memoryview) -> np.ndarray:
    word, begin, end = view.storage
    if word not in _TYPES:
        raise FileFormatError(f"{name:.200} in it holds {word:.50}, which LabDL does not support")
    return array_of(name, body[begin:end], dtype_of(_TYPES[word]), view.shape)


def write(path: Path, arrays: Mapping[str, np.ndarray], note: str) -> None:
    """Write a file, atomically. ``note`` names the framework of the tensors, as other readers expect."""
    from safetensors.numpy import save

    dense = {
        name: np.frombuffer(little_endian(array), array.dtype).reshape(array.shape) for name, array in arrays.items()
    }
    with replace_files(path) as (file,):
        file.write(save(dense, {"format": note}))
