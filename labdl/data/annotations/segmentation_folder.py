"""Pictures and their masks in two folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labdl.data.annotations.objects import find_picture, read_mask, read_picture
from labdl.data.codecs.image import SUFFIXES
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import leave_encoded
from labdl.data.folders.file_list import list_files
from labdl.errors import MissingFileError


class SegmentationFolder(Dataset):
    """Pictures and masks of class numbers: ``{"image": Image, "mask": Mask (height, width)}``.

    A mask has the name of its picture, in another folder; its pixels are class numbers, of a palette or grey.
    ``classes`` are their names. ``fast`` decodes pictures as that of `ImageFolder` does.
    Example: ``data.SegmentationFolder("images", "masks")``. Raises MissingFileError.
    """

    inputs, targets = ("image",), ("mask",)

    def __init__(
        self,
        images: str | Path,
        masks: str | Path,
        *,
        classes: Sequence[str] | None = None,
        fast: bool = False,
    ):
        self.fast, self.decode = fast, True
        self.images, self.masks = Path(images), Path(masks)
        for folder in (self.images, self.masks):
            if not folder.is_dir():
                raise MissingFileError(f"there is no folder {folder}")
        self.name, self.classes = self.images.name, None if classes is None else list(classes)
        self.paths = list(list_files(self.images, SUFFIXES))

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        path = Path(self.paths[index])
        image = read_picture(self.images / path, self.images, fast=self.fast, decode=self.decode)
        file = find_picture(self.masks / path.parent, path.stem, SUFFIXES)
        return {"image": image, "mask": read_mask(file, self.masks, image)}

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.fast else None
