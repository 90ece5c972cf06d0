"""A picture with its objects as a sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.codecs.image import LARGEST, EncodedImage, Mode, decode_image
from labdl.data.parts import BoundingBoxes, Image, Mask
from labdl.errors import DataError, MissingFileError


def read_picture(
    path: Path,
    root: Path,
    mode: Mode = "RGB",
    size: tuple[Any, Any] = (None, None),
    *,
    fast: bool = False,
    decode: bool = True,
) -> Any:
    """A picture below a folder, whose annotations say that it has the ``size`` (height, width), if they do.

    It is an Image, or with ``decode=False`` an EncodedImage. One with that size before it is turned upright stays as it is
    stored, and is decoded, since its objects were drawn there. Raises MissingFileError, and DataError for another size, and
    for a path that leads out of the folder.
    """
    file = check_inside(path, root)
    if decode:
        image: Any = decode_image(file, mode, fast=fast)
    else:
        image = EncodedImage(read_file(file, LARGEST, "picture"), file.name, fast=fast)
    if not all(isinstance(side, int) and side > 0 for side in size) or image.canvas == tuple(size):
        return image
    stored = decode_image(file, mode, fast=fast, upright=False) if image.canvas == tuple(size[::-1]) else image
    if stored.canvas == tuple(size):
        return stored
    raise DataError(
        f"{path.name} has {image.canvas[0]:,} × {image.canvas[1]:,} pixels, its annotations are of {size[0]:,} × {size[1]:,}: "
        "resize both, or correct the size in the annotations"
    )


def check_inside(path: Path, root: Path) -> Path:
    """The path. Raises DataError for one that leads out of a folder, also by a link."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise DataError(f"{path} is not below {root}: annotations name files of their folder")
    return path


def find_picture(folder: Path, stem: str, suffixes: Sequence[str]) -> Path:
    """The picture of a name without suffix. Raises MissingFileError."""
    for suffix in suffixes:
        for name in (stem + suffix, stem + suffix.upper()):
            if (folder / name).is_file():
                return folder / name
    raise MissingFileError(f"there is no picture {stem} ({', '.join(suffixes)}) in {folder}")


def detection_sample(
    image: Image | EncodedImage, corners: Any, labels: Sequence[int], **entries: Any
) -> dict[str, Any]:
    """A sample with boxes (objects, 4) of the format "xyxy" and class numbers (objects,), and further entries.

    Raises DataError for a box whose edges are in the wrong order or no finite numbers.
    """
    array = np.asarray(corners, "float32").reshape(-1, 4)
    wrong = ~np.isfinite(array).all(1) | (array[:, 2] < array[:, 0]) | (array[:, 3] < array[:, 1])
    if wrong.any():
        raise DataError(
            f"an object has the box {array[wrong][0].tolist()}: left, top, right and bottom are finite numbers in this order"
        )
    boxes = BoundingBoxes(array, canvas_size=image.canvas)
    return {"image": image, "boxes": boxes, "labels": np.asarray(labels, np.int64), **entries}


def read_mask(path: Path, root: Path, image: Image | EncodedImage) -> Mask:
    """Decode the class numbers of a picture's pixels. Raises DataError for another size, and for a mask in colors."""
    mask = read_picture(path, root, "unchanged")
    if mask.shape[-1] != 1:
        raise DataError(
            f"{path.name} is a mask of {mask.shape[-1]} channels: class numbers want one, a palette or grey"
        )
    if mask.canvas != image.canvas:
        raise DataError(f"{path.name} has the size {mask.canvas}, its picture {image.canvas}")
    return Mask(mask.array[..., 0])
