"""WebDataset: tar archives in which files with one name and several suffixes are a sample."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file, size_of
from labdl.bounded.plain_json import loads
from labdl.data.codecs.image import SUFFIXES, decode_image, encode_image
from labdl.data.dataset import Dataset
from labdl.data.formats.path_list import Paths, Places, list_paths
from labdl.data.npz import parse_header
from labdl.data.parts import Image
from labdl.errors import ConfigError, DataError, FileFormatError, LabDLError

KEY = "__key__"
_MOST_MEMBERS = 10_000_000
_LONGEST_NAME = 1 << 16  # bytes of the extended header of a member
_Member = tuple[str, int, int]  # name of the entry, position, bytes


class WebDataset(Dataset):
    """Samples of one or several WebDataset archives (.tar), by index: the members are listed when they are opened.

    A sample is a dictionary with the key under "__key__", and a value for each suffix as in WebDataset: ``pictures/7.jpg``
    and ``pictures/7.cls`` are the entries "jpg" and "cls" of the key "pictures/7". Pictures are decoded, "cls", "id" and
    "index" are integers, "txt" and "text" texts, "json" plain values, "npy" arrays, and others stay bytes, as all do with
    ``decode=False``. Compressed archives are not read. Raises MissingFileError, FileFormatError; a sample raises DataError.

    Example: ``data.WebDataset("train-0000.tar").rename({"jpg": "image", "cls": "label"})``.
    """

    def __init__(self, paths: Paths, *, decode: bool = True):
        self.paths, self.decode = list_paths(paths), decode
        self._samples = [_list_samples(path) for path in self.paths]
        self._places = Places(len(samples) for samples in self._samples)
        self.name = self.paths[0].stem

    def __len__(self) -> int:
        return len(self._places)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        file, number = self._places.find(index)
        key, members = self._samples[file][number]
        sample: dict[str, Any] = {KEY: key}
        with open_file(self.paths[file]) as stream:
            for name, start, size in members:
                stream.seek(start)
                content = stream.read(size)
                if len(content) != size:
                    raise FileFormatError(f"{self.paths[file].name} is truncated: {key}.{name} is not whole")
                sample[name] = self._decode(name, content, f"{self.paths[file].name}, {key}.{name}")
        return sample

    def _decode(self, name: str, content: bytes, place: str) -> Any:
        decode = _DECODERS.get(name.rpartition(".")[2].lower()) if self.decode else None
        if decode is None:
            return content
        try:
            return decode(content)
        except (LabDLError, ValueError) as error:
            raise DataError(f"{place}: {error}") from None


def write_webdataset(dataset: Any, path: str | Path, *, image: str = "png", quality: int = 95) -> None:
    """Write dictionary samples to a WebDataset archive, which appears when it is complete.

    The suffix of a member is the name of the entry, with a second one that says how it is stored: ``image.png`` (or "jpg",
    "webp" by ``image``), ``label.cls``, ``caption.txt``, ``boxes.npy``, ``objects.json``. Entries whose names have such a
    suffix, as read by `WebDataset`, and bytes keep their names. The key is "__key__" of the sample, or its number.
    Raises DataError for values that cannot be stored.
    """
    if f".{image}" not in SUFFIXES:
        raise ConfigError(f"write_webdataset wants an image suffix such as 'png', 'jpg', 'webp', received {image!r}")
    with (
        replace_files(path) as (file,),
        tarfile.open(fileobj=cast(Any, file), mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for index in range(len(dataset)):
            sample = dataset[index]
            if not isinstance(sample, Mapping):
                raise DataError(f"write_webdataset wants dictionaries, sample {index} is {type(sample).__name__}")
            key = str(sample.get(KEY, f"{index:09}"))
            if not _is_plain(key) or "." in key.rpartition("/")[2]:
                raise DataError(f"the key {key!r:.80} of sample {index} cannot be the name of a file without a suffix")
            for name, value in sample.items():
                if name == KEY:
                    continue
                if not _is_plain(name) or "/" in name:
                    raise DataError(f"the entry {name!r:.80} of sample {index} cannot be a suffix of a file")
                try:
                    suffix, content = _encode(value, name, image, quality)
                except (ConfigError, TypeError, ValueError) as error:
                    raise DataError(f"the entry {name!r} of sample {index} cannot be stored: {error}") from None
                ending = name.rpartition(".")[2].lower()
                member = tarfile.TarInfo(f"{key}.{name}" + ("" if suffix in ("", ending) else f".{suffix}"))
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def _encode(value: Any, name: str, image: str, quality: int) -> tuple[str, bytes]:
    """Suffix and bytes of a value."""
    ending = name.rpartition(".")[2].lower()
    if isinstance(value, bytes):
        return "", value
    if isinstance(value, str):
        return "text" if ending == "text" else "txt", value.encode()
    if isinstance(value, Image) and value.dtype == np.uint8:
        suffix = ending if f".{ending}" in SUFFIXES else image
        format: Any = {"jpg": "jpeg", "tif": "tiff"}.get(suffix, suffix)
        return suffix, encode_image(value, format, quality=quality)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return ending if ending in ("id", "index") else "cls", str(int(value)).encode()
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in "biufcU":
            raise ValueError(f"an array of {array.dtype} has no form in a file")
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        return "npy", stream.getvalue()
    return "json", json.dumps(value, ensure_ascii=False).encode()


def _read_array(content: bytes) -> np.ndarray:
    dtype, shape, columns_first, header = parse_header(content[:4096], len(content), "the array")
    return np.frombuffer(content, dtype, -1, len(header)).reshape(shape, order="F" if columns_first else "C")


def _decode_picture(content: bytes) -> Image:
    return decode_image(content)


_DECODERS: dict[str, Callable[[bytes], Any]] = {
    **{suffix[1:]: _decode_picture for suffix in SUFFIXES},
    **dict.fromkeys(("cls", "cls2", "id", "index"), lambda content: int(content[:32])),
    **dict.fromkeys(("txt", "text"), lambda content: content.decode()),
    "json": loads,
    "npy": _read_array,
}


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    return name.isprintable() and "\\" not in name and all(part not in ("", ".", "..") for part in parts)


class _HeaderReads:
    """A file without large reads, which while members are listed are those of long names."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LONGEST_NAME:
            raise tarfile.ReadError(f"the name of a member takes {size:,} bytes")
        return self._file.read(size)


_ERRORS = (
    tarfile.TarError,
    ValueError,
    EOFError,
    OverflowError,
    IndexError,
    KeyError,
    OSError,
    RecursionError,  # of members that are names of names
)


def _list_samples(path: Path) -> list[tuple[str, list[_Member]]]:
    """Key and members of each sample: files that follow each other with the same name up to its first dot."""
    samples: list[tuple[str, list[_Member]]] = []
    with open_file(path) as file:
        size, count = size_of(file), 0
        try:
            with tarfile.open(fileobj=cast(Any, _HeaderReads(file)), mode="r:") as archive:
                while (member := archive.next()) is not None:
                    archive.members = []  # type: ignore[attr-defined]  # it would keep all of them in memory
                    count += 1
                    if count > _MOST_MEMBERS or member.offset_data + member.size > size:
                        raise FileFormatError(f"{path.name} is damaged: {member.name!r:.80} is not whole")
                    last = member.name.rpartition("/")[2]
                    stem, dot, suffix = last.partition(".")
                    if not member.isreg() or not dot or not stem or member.issparse():
                        continue
                    key = member.name[: len(member.name) - len(last)] + stem
                    if not samples or samples[-1][0] != key:
                        samples.append((key, []))
                    if any(suffix == other for other, _, _ in samples[-1][1]):
                        raise FileFormatError(
                            f"{path.name} has {last[:80]} twice in a sample: give each sample a key of its own"
                        )
                    samples[-1][1].append((suffix, member.offset_data, member.size))
        except FileFormatError:
            raise
        except _ERRORS as error:
            raise FileFormatError(f"{path.name} is no tar archive, is compressed, or is damaged: {error}") from None
    return samples
