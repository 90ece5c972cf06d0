"""Pictures of a folder tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.codecs.image import MOST_PIXELS, SUFFIXES, Mode, decode_image, image_size
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import decodes_parts, leave_encoded, read_encoded
from labdl.data.folders.file_list import FileList
from labdl.data.parts import Image


class ImageFolder(Dataset):
    """Pictures of a folder, of which each sub-folder is a class: samples ``{"image": Image, "label": int}``.

    ``classes`` are names of sub-folders in the order of their numbers, by default all in alphabetical order. With
    ``labels=False`` all pictures of the folder and those below are read, ``{"image": Image}``. ``mode``, ``min_size``,
    ``fast`` and ``max_pixels`` are those of `decode_image`; with ``fast``, a `map` that begins with a transform that crops or
    resizes decodes no more than that needs (`Dataset.as_bytes`). ``decode=False`` leaves pictures as EncodedImage.
    Links that lead out of the folder are refused unless ``follow_links``. As torchvision.datasets.ImageFolder.

    Example: ``train, test = data.ImageFolder("flowers").split(0.8, stratify=True)``. Raises MissingFileError, DataError.
    """

    inputs = ("image",)

    def __init__(
        self,
        root: str | Path,
        *,
        classes: Sequence[str] | None = None,
        labels: bool = True,
        mode: Mode = "RGB",
        min_size: tuple[int, int] | None = None,
        fast: bool = False,
        max_pixels: int = MOST_PIXELS,
        decode: bool = True,
        follow_links: bool = False,
    ):
        self.files = FileList(root, SUFFIXES, what="pictures", labels=labels, classes=classes)
        self.name, self.classes = self.files.root.name, self.files.classes
        self.targets = ("label",) if labels else ()
        self.decode, self.follow_links = decode, follow_links
        self._settings: dict[str, Any] = {"mode": mode, "min_size": min_size, "fast": fast, "max_pixels": max_pixels}

    def __len__(self) -> int:
        return len(self.files.paths)

    def file_of(self, index: int) -> str:
        return self.files.paths[index]

    def path(self, index: int) -> Path:
        """The file of a sample."""
        return self.files.path(index, follow_links=self.follow_links)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        location = self.files.location(index, follow_links=self.follow_links)
        if self.decode:
            image: Any = decode_image(location, **self._settings)
        else:
            image = read_encoded(location, **self._settings)
        return {"image": image} if self.files.labels is None else {"image": image, "label": self.files.labels[index]}

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.decode and decodes_parts(self._settings) else None

    def thumbnail(self, index: int, size: int) -> tuple[Image, tuple[int, int]]:
        """A picture whose longest side has at least ``size`` pixels, read fast, and its full height and width."""
        data = read_encoded(self.path(index), **self._settings)
        height, width = image_size(data)
        scale = min(1.0, size / max(height, width, 1))
        least = max(1, int(height * scale)), max(1, int(width * scale))
        settings = {**self._settings, "min_size": least, "fast": True}
        return decode_image(data, **settings), (height, width)

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self.files.labels is None else self.files.labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self.files.labels is None else np.array(self.files.labels, np.int64)
