"""HDF5 files: arrays of one length, of which the rows are samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file
from labdl.data.dataset import Dataset
from labdl.errors import ConfigError, DataError, FileFormatError, suggest_name

_KINDS = "biufcSO"  # O: texts of any length
_LARGEST_ROW = 1 << 30  # bytes
_MOST_ARRAYS = 10_000


class HDF5Dataset(Dataset):
    """Rows of the arrays of an HDF5 file: dictionaries by the paths of the arrays, such as "x" or "train/images".

    ``names`` are the arrays to read, by default all, which are of one length; ``names={"image": "train/images"}`` gives
    them other names. Texts become strings. Links to other files, and arrays whose values are in other files, are refused.
    Raises MissingFileError, FileFormatError, and ConfigError for an unknown name.
    """

    def __init__(self, path: str | Path, *, names: Sequence[str] | Mapping[str, str] | None = None):
        self.path = Path(path)
        open_file(self.path).close()
        self.name = self.path.stem
        self._file: Any = None
        with self._wrap_errors():
            found = _list_arrays(self._open())
            chosen = {name: name for name in found} if names is None else names
            self.arrays = dict(chosen) if isinstance(chosen, Mapping) else {name: name for name in chosen}
            for name in self.arrays.values():
                if name not in found:
                    raise ConfigError(f"{self.path.name} has no array {name!r:.80}{suggest_name(name, found)}")
            lengths = {name: self._open()[name].shape[0] for name in self.arrays.values()}
        if not lengths:
            raise FileFormatError(f"{self.path.name} has no arrays with an axis of samples")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length:,}" for name, length in list(lengths.items())[:8])
            raise ConfigError(f"{self.path.name} has arrays of different lengths: {listed}; choose some by names=")
        self._length = next(iter(lengths.values()))

    def __len__(self) -> int:
        return self._length

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        with self._wrap_errors():
            file = self._open()
            return {name: _plain(file[path][index]) for name, path in self.arrays.items()}

    def read_batch(self, indices: np.ndarray, epoch: int = 0) -> Any:
        """The rows at some indices, read together."""
        order, places = np.unique(np.asarray(indices), return_inverse=True)
        with self._wrap_errors():
            file = self._open()
            if any(file[path].dtype.kind not in "biufc" for path in self.arrays.values()):
                return super().read_batch(indices, epoch)
            return {name: file[path][order][places] for name, path in self.arrays.items()}

    def _open(self) -> Any:
        if self._file is None:
            import h5py

            self._file = h5py.File(self.path, "r")
        return self._file

    def _wrap_errors(self) -> _Errors:
        return _Errors(self.path.name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None}


class _Errors:
    """Errors of h5py as FileFormatError, in a with statement."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, FileFormatError | ConfigError | DataError):
            return
        if isinstance(error, OSError | ValueError | RuntimeError | KeyError | TypeError | MemoryError | OverflowError):
            raise FileFormatError(f"{self.name} is no HDF5 file, or is damaged: {error}") from None


def _list_arrays(file: Any) -> list[str]:
    """Paths of the arrays; links are not followed."""
    import h5py

    found: list[str] = []
    groups = [("", file)]
    seen = {file.id.__hash__()}
    while groups:
        prefix, group = groups.pop()
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            item = group[name]
            if isinstance(item, h5py.Group):
                if hash(item.id) not in seen:  # a group may contain itself
                    seen.add(hash(item.id))
                    groups.append((f"{prefix}{name}/", item))
            elif isinstance(item, h5py.Dataset) and item.ndim:
                _check_array(item)
                found.append(prefix + name)
            if len(found) + len(groups) > _MOST_ARRAYS:
                raise FileFormatError(f"{Path(file.filename).name} has more than {_MOST_ARRAYS:,} arrays")
    return sorted(found)


def _check_array(item: Any) -> None:
    import h5py

    if item.external or item.is_virtual:
        raise FileFormatError(f"the array {item.name!r:.80} has its values in other files, which are not read")
    if item.dtype.kind not in _KINDS or (item.dtype.kind == "O" and h5py.check_string_dtype(item.dtype) is None):
        raise FileFormatError(f"the array {item.name!r:.80} has {item.dtype}, not numbers or texts")
    chunk = math.prod(item.chunks) if item.chunks else 0
    if max(math.prod(item.shape[1:]), chunk) * item.dtype.itemsize > _LARGEST_ROW:
        raise FileFormatError(f"the array {item.name!r:.80} has rows of more than {_LARGEST_ROW:,} bytes")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "SO":
        return np.array([_plain(v) for v in value.reshape(-1).tolist()], np.str_).reshape(value.shape)
    return value


def write_hdf5(dataset: Any, path: str | Path, *, compress: bool = False, rows_per_write: int = 256) -> None:
    """Write dictionary samples to an HDF5 file: an array for each entry, with the samples along its first axis.

    Numbers and arrays keep their dtype and want one shape, texts may be of any length. Tuples get the names "0", "1".
    The file appears when it is complete. Raises DataError for samples of different shapes or other values.
    """
    if not len(dataset) or rows_per_write < 1:
        raise ConfigError(f"write_hdf5 wants samples and rows_per_write of at least 1, received {rows_per_write}")
    with replace_files(path) as (file,), _open_for_writing(file.name) as opened:
        archive: Any = opened
        for start in range(0, len(dataset), rows_per_write):
            stop = min(start + rows_per_write, len(dataset))
            rows = [_entries(dataset[i], i) for i in range(start, stop)]
            if start == 0:
                for name, value in rows[0].items():
                    _create(archive, name, value, len(dataset), compress)
                names = list(rows[0])
            for name in names:
                archive[name][start:stop] = _stack(rows, name, archive[name], start)


def _open_for_writing(path: str) -> Any:
    import h5py

    return h5py.File(path, "w", locking=False)  # the temporary file is locked already


def _entries(sample: Any, index: int) -> dict[str, Any]:
    if isinstance(sample, tuple | list):
        sample = {str(i): value for i, value in enumerate(sample)}
    if not isinstance(sample, Mapping):
        raise DataError(f"write_hdf5 wants dictionaries or tuples, sample {index} is {type(sample).__name__}")
    return dict(sample)


def _create(archive: Any, name: str, value: Any, length: int, compress: bool) -> None:
    import h5py

    array = np.asarray(value)
    if isinstance(value, str):
        kind: Any = h5py.string_dtype()
    elif array.dtype.kind in "biufc":
        kind = array.dtype
    else:
        raise DataError(f"the entry {name!r:.80} wants numbers or a text, received {type(value).__name__}")
    rows = min(length, max(1, (1 << 16) // max(array.nbytes, 1)))
    settings: Any = {"chunks": (rows, *array.shape), "compression": "gzip", "shuffle": True} if compress else {}
    archive.create_dataset(name, (length, *array.shape), kind, **settings)


def _stack(rows: list[dict[str, Any]], name: str, target: Any, start: int) -> Any:
    values = []
    for index, row in enumerate(rows, start):
        if name not in row:
            raise DataError(f"sample {index} has no entry {name!r:.80}, which the first has")
        if np.shape(row[name]) != target.shape[1:] or isinstance(row[name], str) != (target.dtype.kind == "O"):
            raise DataError(
                f"the entry {name!r:.80} of sample {index} has the shape {np.shape(row[name])}, "
                f"the first {target.shape[1:]}: make them alike, or use data.pack"
            )
        values.append(str(row[name]) if isinstance(row[name], str) else np.asarray(row[name]))
    return values if target.dtype.kind == "O" else np.stack(values).astype(target.dtype, copy=False)
