"""A packed data set, read at random from the mapped memory of its shards."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset, find_label
from labdl.data.packing.description import (
    OTHER,
    STRUCTURE,
    checksum_path,
    read_checksum,
    read_description,
    shard_path,
)
from labdl.data.packing.leaves import join_leaves
from labdl.data.sample_codec import from_bytes
from labdl.errors import DataError, FileFormatError, MissingFileError

if TYPE_CHECKING:
    from labdl.data.packing.arrow_shards import Shard

_MOST_OPEN = 1024  # shards in mapped memory


class PackedDataset(Dataset):
    """The samples that `pack` has written to a folder; arrays are views of the files and cannot be written to.

    ``verify`` compares the checksum of each shard when it is first read. ``decode=False`` leaves encoded pictures as bytes.
    Raises MissingFileError if the folder is none, FileFormatError if it is not complete; a sample of a damaged shard raises
    FileFormatError.

    Example: ``train = data.PackedDataset("flowers-packed").map([T.Resize(64), T.ToFloat()])``.
    """

    def __init__(self, folder: str | Path, *, verify: bool = True, decode: bool = True):
        self.folder, self.verify, self.decode = Path(folder), verify, decode
        self.description = read_description(self.folder)
        self.name, self.classes = self.description.name, self.description.classes
        self.inputs, self.targets = tuple(self.description.inputs), tuple(self.description.targets)
        self._columns = {STRUCTURE: "string", OTHER: "binary", **self.description.columns}
        for number in range(self.description.shards):
            if not checksum_path(self.folder, number).exists():
                raise FileFormatError(
                    f"{self.folder} is not complete: {number:,} of {self.description.shards:,} shards are there; "
                    "call pack again, which writes the rest"
                )
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._shards: OrderedDict[int, Shard] = OrderedDict()

    def __len__(self) -> int:
        return self.description.samples

    def read(self, index: int, epoch: int = 0) -> Any:
        return self._read(index, self.decode)

    def label_of(self, index: int) -> Any:
        return find_label(self._read(index, False), self.targets)

    def _read(self, index: int, decode: bool) -> Any:
        number, row = divmod(index, self.description.samples_per_shard)
        shard = self._shard(number)
        try:
            whole = shard.value(row, OTHER)
            if whole is not None:
                return from_bytes(whole)
            structure = _parse(shard.value(row, STRUCTURE))
            return join_leaves(structure, lambda name: shard.value(row, name), decode=decode)
        except (FileFormatError, DataError) as error:
            raise type(error)(f"{shard.name}, sample {row}: {error}") from None

    def _shard(self, number: int) -> Shard:
        from labdl.data.packing.arrow_shards import Shard

        with self._lock:
            shard = self._shards.get(number)
            if shard is None:
                if len(self._shards) >= _MOST_OPEN:
                    self._shards.popitem(last=False)
                path = shard_path(self.folder, number)
                if not path.exists():
                    raise MissingFileError(f"there is no file {path}: call pack again, which writes it")
                checksum = read_checksum(self.folder, number) if self.verify else None
                shard = Shard(path, self._columns, self.description.shard_length(number), checksum)
                self._shards[number] = shard
            return shard

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_shards")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()


@lru_cache(4096)
def _parse(structure: str) -> Any:
    try:
        return loads(structure)
    except (ValueError, TypeError, AttributeError) as error:
        raise FileFormatError(f"its structure is damaged: {error}") from None
