"""Files of the formats of known data sets, and small archives."""

import gzip
import io
import tarfile
import zipfile
from typing import Any

import numpy as np


def idx(values: np.ndarray) -> bytes:
    return gzip.compress(bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes() + values.tobytes())


def tar(members: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return memory.getvalue()


def packed(members: dict[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return memory.getvalue()


PICTURES = np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)


LABELS = np.array([3, 1, 4, 1, 5, 9], np.uint8)


def mnist_files() -> dict[str, bytes]:
    return {
        "train-images-idx3-ubyte.gz": idx(PICTURES),
        "train-labels-idx1-ubyte.gz": idx(LABELS),
        "t10k-images-idx3-ubyte.gz": idx(PICTURES[:2]),
        "t10k-labels-idx1-ubyte.gz": idx(LABELS[:2]),
    }
