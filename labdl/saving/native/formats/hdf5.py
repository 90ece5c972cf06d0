"""Arrays in an HDF5 file from elsewhere: numbers in the file itself, never more of them than it can hold."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import FileFormatError

if TYPE_CHECKING:
    import h5py

_LONGEST = 2000  # characters of a path
_ARRAYS, _LINKS = 16_000, 64_000  # of a file: an array takes twenty kilobytes before any of its numbers
_CHUNK = 1 << 20  # bytes of a chunk that are accepted for a smaller array
_RATIO = 100  # largest accepted ratio of compression
_DEFLATE, _SHUFFLE = 1, 2  # filters of HDF5
_FILTERS = ([], [_DEFLATE], [_SHUFFLE, _DEFLATE])


def datasets(file: h5py.File, size: int) -> dict[h5py.Dataset, str]:
    """All arrays of numbers of a file of ``size`` bytes with their paths; one of several where links share an array.

    Raises FileFormatError for links to other files and for anything else that is not an array in the file itself.
    """
    import h5py

    found: dict[h5py.Dataset, str] = {}
    root: Any = file["/"]
    waiting, seen, links = [("", root)], {root}, 0
    while waiting:
        path, group = waiting.pop()
        for name in group:
            links += 1
            if links > _LINKS or len(found) > _ARRAYS:
                raise FileFormatError("it has more arrays and groups than any model")
            place = f"{path}/{name}".lstrip("/")
            if len(place) > _LONGEST:
                raise FileFormatError(f"{place[:60]}… in it is nested too deeply")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise FileFormatError(f"{place:.200} in it links to another file")
            item = group[name]
            if isinstance(item, h5py.Group) and item not in seen:
                seen.add(item)
                waiting.append((place, item))
            elif isinstance(item, h5py.Dataset):
                if item.is_virtual or item.external or item.dtype.kind not in "fiubcV" or item.nbytes > size:
                    raise FileFormatError(f"{place:.200} in it is not an array of numbers in the file itself")
                found[item] = place
    return found


def check_sizes(items: Iterable[h5py.Dataset], size: int) -> None:
    """Raise FileFormatError if arrays that are about to be read take far more memory than the file has bytes."""
    most = dict.fromkeys((False, True), size)
    for item in items:
        chunks = item.chunks if item.chunks is not None and _filters(item) else None
        is_packed = chunks is not None
        most[is_packed] -= item.nbytes if chunks is None else _unpacked_size(item, chunks) // _RATIO
        if most[is_packed] < 0:
            raise FileFormatError("its arrays together claim far more bytes than it has")


def read(item: h5py.Dataset) -> np.ndarray:
    """The numbers of an array. Raises FileFormatError for chunks that unpack to more than their part of it."""
    if item.chunks is not None:
        _check_chunks(item, item.chunks)
    return np.asarray(item[()])


def _filters(item: h5py.Dataset) -> list[int]:
    plist = item.id.get_create_plist()
    return [plist.get_filter(at)[0] for at in range(plist.get_nfilters())]


def _chunk_count(item: h5py.Dataset, chunks: tuple[int, ...]) -> int:
    return math.prod(-(-n // chunk) for n, chunk in zip(item.shape, chunks, strict=True))


def _unpacked_size(item: h5py.Dataset, chunks: tuple[int, ...]) -> int:
    """Bytes of all chunks of an array, which may reach beyond it."""
    return _chunk_count(item, chunks) * math.prod(chunks) * item.dtype.itemsize


def _check_chunks(item: h5py.Dataset, chunks: tuple[int, ...]) -> None:
    """Unpack each chunk in bounded memory: HDF5 itself would allocate whatever a compressed chunk asks for."""
    filters, size = _filters(item), math.prod(chunks) * item.dtype.itemsize
    if filters not in _FILTERS:
        raise FileFormatError(f"{item.name:.200} in it has a compression that LabDL does not support")
    if size > max(item.nbytes, _CHUNK):
        raise FileFormatError(f"{item.name:.200} in it has chunks of {size:,} bytes, more than the array itself")
    if not filters:
        return
    places: list[Any] = []
    item.id.chunk_iter(places.append)
    if len(places) > _chunk_count(item, chunks):
        raise FileFormatError(f"{item.name:.200} in it has more chunks than its shape")
    for place in places:
        mask, data = item.id.read_direct_chunk(place.chunk_offset)
        unpacking = zlib.decompressobj()
        if mask or len(unpacking.decompress(data, size + 1)) != size or not unpacking.eof:
            raise FileFormatError(f"a chunk of {item.name:.200} in it is not of the declared size")
