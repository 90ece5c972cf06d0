"""Writing of a data set as shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.data.codecs.image import Format, encode_image
from labdl.data.packing.description import (
    NAME,
    OTHER,
    STRUCTURE,
    Description,
    checksum_path,
    read_description,
    shard_path,
)
from labdl.data.packing.leaves import Leaves
from labdl.data.packing.packed_dataset import PackedDataset
from labdl.data.parts import Image
from labdl.data.sample_codec import to_bytes
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

Encoding = Format | Literal["file"]
_LARGEST = 1 << 30  # bytes of a picture's file


def pack(
    dataset: Any,
    folder: str | Path,
    *,
    samples_per_shard: int = 1024,
    encode: Mapping[str, Encoding] | None = None,
    quality: int = 95,
) -> PackedDataset:
    """Write the samples of a data set to a folder as shards of Arrow IPC, to be read at random from mapped memory.

    ``dataset`` has a length and samples; these are arrays, parts, numbers and texts in dictionaries, tuples and lists. A
    column for each entry of the first sample makes the files readable by other software; a sample of another structure is
    stored whole in the column "labdl.other". ``encode`` keeps pictures of dictionary entries encoded: ``{"image": "jpeg"}``
    with ``quality`` for JPEG and WebP, or ``{"image": "file"}`` for the bytes of the files of an `ImageFolder` as they are;
    entries that are bytes already stay as they are. Each shard has its SHA-256 beside it, for ``sha256sum -c *.sha256``.

    A shard appears when it is complete. If packing was interrupted, the same call writes the shards that are missing.
    Returns the packed data set. Raises ConfigError if the folder has other files or another data set, DataError for samples
    that cannot be stored.

    Example: ``data.pack(data.ImageFolder("flowers"), "flowers-packed", encode={"image": "file"})``.
    """
    encode = dict(encode or {})
    for name, format in encode.items():
        if format not in (*get_args(Format), "file"):
            raise ConfigError(f"pack wants jpeg, png, bmp, gif, webp, tiff or file for {name!r}, received {format!r}")
    if type(samples_per_shard) is not int or samples_per_shard < 1:
        raise ConfigError(f"pack wants samples_per_shard of at least 1, received {samples_per_shard!r}")
    if not len(dataset):
        raise ConfigError("pack wants a data set with samples, received one of length 0")
    rows = _Rows(dataset, encode, quality)
    description = Description(
        name=str(getattr(dataset, "name", "") or type(dataset).__name__),
        samples=len(dataset),
        samples_per_shard=samples_per_shard,
        columns=rows.columns,
        encode=dict(encode),
        quality=quality,
        classes=None if (classes := getattr(dataset, "classes", None)) is None else [str(name) for name in classes],
        inputs=list(getattr(dataset, "inputs", ())),
        targets=list(getattr(dataset, "targets", ())),
        fingerprint=rows.fingerprint(0, len(dataset) - 1),
    )
    target = Path(folder)
    _prepare(target, description)
    for number in range(description.shards):
        if not _is_complete(target, number):
            _write_shard(target, number, description, rows)
    return PackedDataset(target)


def _prepare(folder: Path, description: Description) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        found = read_description(folder)
    except MissingFileError:
        if any(not path.name.startswith(".") for path in folder.iterdir()):
            raise ConfigError(f"the folder {folder} has other files: give pack an empty folder") from None
        description.write(folder)
        return
    except FileFormatError as error:
        raise ConfigError(f"the folder {folder} has a {NAME} of something else: {error}") from None
    if found != description:
        names = [n for n in Description.__dataclass_fields__ if getattr(found, n) != getattr(description, n)]
        raise ConfigError(
            f"the folder {folder} has another data set or other settings ({', '.join(names)} differ): "
            "remove it, or give another folder"
        )


def _is_complete(folder: Path, number: int) -> bool:
    return checksum_path(folder, number).exists() and shard_path(folder, number).exists()


def _write_shard(folder: Path, number: int, description: Description, rows: _Rows) -> None:
    from labdl.data.packing.arrow_shards import ShardWriter

    path = shard_path(folder, number)
    columns = {STRUCTURE: "string", OTHER: "binary", **description.columns}
    start = number * description.samples_per_shard
    with replace_files(path, checksum_path(folder, number)) as (file, checksum):
        writer = ShardWriter(file, columns)
        for index in range(start, start + description.shard_length(number)):
            writer.write(rows.row(index))
        checksum.write(f"{writer.close()}  {path.name}\n".encode())


class _Rows:
    """The samples as rows of the columns that the first sample has."""

    def __init__(self, dataset: Any, encode: Mapping[str, str], quality: int):
        self.dataset, self.encode, self.quality = dataset, encode, quality
        self.columns = {n: c for n, c in self._leaves(0).columns.items() if n not in (STRUCTURE, OTHER)}

    def row(self, index: int) -> Mapping[str, Any]:
        leaves = self._leaves(index)
        if any(self.columns.get(name) != column for name, column in leaves.columns.items()):
            if self.encode:
                raise DataError(
                    f"sample {index} has other entries or dtypes than sample 0, which encode= does not allow: "
                    "make them alike with Dataset.map"
                )
            return {OTHER: to_bytes(self.dataset[index])}
        structure = json.dumps(leaves.structure, ensure_ascii=False, separators=(",", ":"))
        return {STRUCTURE: structure, **leaves.values}

    def fingerprint(self, *indices: int) -> str:
        """SHA-256 of some samples, by which another data set of the same name and length is recognized."""
        found = hashlib.sha256()
        for index in indices:
            leaves = self._leaves(index)
            found.update(json.dumps(leaves.structure).encode())
            for value in leaves.values.values():
                content = (
                    value if isinstance(value, bytes) else getattr(value, "tobytes", lambda v=value: repr(v).encode())()
                )
                found.update(content)
        return found.hexdigest()

    def _leaves(self, index: int) -> Leaves:
        try:
            sample = self.dataset[index]
            leaves = Leaves(sample, {name: self._encode(sample, name, index) for name in self.encode})
            json.dumps(leaves.structure, ensure_ascii=False).encode()
            for value in leaves.values.values():
                if isinstance(value, str | list):
                    "".join([value] if isinstance(value, str) else value).encode()
            return leaves
        except UnicodeEncodeError:
            raise DataError(f"sample {index} has a text with characters that do not exist") from None
        except DataError as error:
            raise DataError(f"sample {index}: {error}") from None

    def _encode(self, sample: Any, name: str, index: int) -> tuple[str, bytes]:
        value = _entry(sample, name)
        if isinstance(value, bytes | bytearray):
            return "RGB", bytes(value)
        format = self.encode[name]
        if not isinstance(value, Image) and not (hasattr(value, "ndim") and value.ndim in (2, 3)):
            raise DataError(f"encode={{{name!r}: {format!r}}} wants a picture, received {type(value).__name__}")
        mode = "L" if value.ndim == 2 or value.shape[2] == 1 else "RGB" if value.shape[2] == 3 else "RGBA"
        if value.dtype != "uint8":
            mode = "unchanged"
        if format == "file":
            if not hasattr(self.dataset, "path"):
                raise ConfigError(f"encode={{{name!r}: 'file'}} wants a data set of files, such as ImageFolder")
            return mode, read_file(self.dataset.path(index), _LARGEST, "picture")
        try:
            return mode, encode_image(value, format, quality=self.quality)  # type: ignore[arg-type]
        except ConfigError as error:
            raise DataError(f"the picture {name!r} cannot be stored: {error}") from None


def _entry(sample: Any, name: str) -> Any:
    if isinstance(sample, Mapping) and name in sample:
        return sample[name]
    if isinstance(sample, tuple | list) and name.isdecimal() and int(name) < len(sample):
        return sample[int(name)]
    raise ConfigError(f"encode= names {name!r}, which the samples do not have")
