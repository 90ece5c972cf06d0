"""Reader of the binary version of CIFAR: records of class numbers and a picture, channel by channel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.sources.picture_arrays import PictureArrays
from labdl.errors import FileFormatError

_LARGEST = 1 << 28  # bytes; the largest file has 154 MB
_PICTURE = 3 * 32 * 32


def _read_records(files: list[Path], labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures (N, 32, 32, 3) and class numbers (N, labels) of some files."""
    records = []
    for file in files:
        data = np.frombuffer(read_file(file, _LARGEST, "CIFAR file"), np.uint8)
        if not data.size or data.size % (_PICTURE + labels):
            raise FileFormatError(f"{file.name} has {data.size:,} bytes, it wants records of {_PICTURE + labels} bytes")
        records.append(data.reshape(-1, _PICTURE + labels))
    whole = np.concatenate(records)
    pictures = whole[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pictures), whole[:, :labels]


def _read_names(file: Path) -> list[str]:
    text = read_file(file, 1 << 16, "list of classes").decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_cifar10(split: str, folder: Path) -> PictureArrays:
    """Pictures of 10 classes."""
    root = folder / "cifar-10-batches-bin"
    names = ["test_batch.bin"] if split == "test" else [f"data_batch_{n}.bin" for n in range(1, 6)]
    pictures, labels = _read_records([root / name for name in names], 1)
    classes = _read_names(root / "batches.meta.txt")
    _check(labels[:, 0], classes, "CIFAR-10")
    return PictureArrays(pictures, labels[:, 0], name=f"CIFAR-10 ({split})", classes=classes)


def read_cifar100(split: str, folder: Path) -> PictureArrays:
    """Pictures of 100 classes; the entry "superclass" numbers the 20 groups of them."""
    root = folder / "cifar-100-binary"
    pictures, labels = _read_records([root / f"{split}.bin"], 2)
    classes = _read_names(root / "fine_label_names.txt")
    _check(labels[:, 1], classes, "CIFAR-100")
    return PictureArrays(
        pictures, labels[:, 1], name=f"CIFAR-100 ({split})", classes=classes, superclass=labels[:, 0].astype(np.int64)
    )


def _check(labels: np.ndarray, classes: list[str], title: str) -> None:
    if labels.size and labels.max() >= len(classes):
        raise FileFormatError(f"{title} has {len(classes)} names of classes, and the class number {labels.max()}")
