"""Files of torch.save before PyTorch 1.6: pickles one after the other, then the numbers of each storage."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.errors import FileFormatError
from labdl.saving.native.formats.pickle_calls import Name
from labdl.saving.native.formats.pickle_reader import read_pickle
from labdl.saving.native.formats.torch import Storage, arrays, storage_of
from labdl.saving.native.formats.tree import Choose, arrays_of, by_path

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_LENGTH = 8  # bytes of the count of numbers before those of a storage


def read(path: Path, choose: Choose = by_path) -> dict[str, np.ndarray]:
    """The arrays of a file that ``choose`` wants. Raises FileFormatError for anything that is not data."""
    data = read_file(path)
    stream = io.BytesIO(data)
    storages: dict[str, Storage] = {}

    def refer(reference: Any) -> Storage | Name:
        match reference:
            case ("module", Name() as kind, *_):  # a class, with its source
                return kind
        storage = storage_of(reference)
        return storages.setdefault(storage.key, storage)

    magic, protocol, system = (read_pickle(stream, len(data)) for _ in range(3))
    if magic != _MAGIC or protocol != _PROTOCOL or not isinstance(system, dict):
        raise FileFormatError("it is not a file of PyTorch's")
    values = read_pickle(stream, len(data), refer)
    keys = read_pickle(stream, len(data))
    if not isinstance(keys, list) or not all(isinstance(key, str) and key in storages for key in keys):
        raise FileFormatError("its list of storages is broken")
    order = ">" if system.get("little_endian") is False else "<"
    places: dict[str, tuple[int, int]] = {}
    at = stream.tell()
    for key in keys:
        count = int.from_bytes(data[at : at + _LENGTH], "little", signed=True)
        size = count * storages[key].itemsize
        if count < 0 or at + _LENGTH + size > len(data):
            raise FileFormatError("it is truncated")
        places[key] = at + _LENGTH, count
        at += _LENGTH + size
    opened: dict[str, np.ndarray] = {}

    def numbers(storage: Storage) -> np.ndarray:
        if storage.key not in opened:
            if storage.key not in places:
                raise FileFormatError("one of its tensors is missing")
            start, count = places[storage.key]
            opened[storage.key] = np.frombuffer(data, storage.dtype.newbyteorder(order), count, start).astype(
                storage.dtype
            )
        return opened[storage.key]

    return arrays(choose(arrays_of(values)), numbers)
