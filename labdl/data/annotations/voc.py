"""Annotations of Pascal VOC: an XML file of boxes, or masks, for each picture."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.annotations.objects import check_inside, detection_sample, find_picture, read_mask, read_picture
from labdl.data.codecs.image import SUFFIXES
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import leave_encoded
from labdl.errors import ConfigError, DataError, MissingFileError, suggest_name

VOC_CLASSES = [
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
]
_LARGEST = 16 << 20  # bytes of an XML file, and of a list of names
_DECLARATION = re.compile(rb"""(\s*<\?xml[^>]{0,80}?encoding\s*=\s*["'])([\w-]{1,20})(["'])""")
_CHINESE = (b"gb2312", b"gbk", b"gb18030", b"cp936")
_MASKS = {"class": "SegmentationClass", "object": "SegmentationObject"}


class VOCDetection(Dataset):
    """Pictures with the boxes of VOC files: ``{"image", "boxes", "labels", "difficult"}``.

    ``root`` has the folders ``JPEGImages`` and ``Annotations``, and ``ImageSets/Main`` with a list of names for each
    ``split``; None takes all annotations. ``classes`` are the names of objects in the order of their numbers, by default
    the 20 of VOC 2012. VOC counts pixels from 1 and the last one in, so the left and the top edge are moved by 1. ``fast``
    decodes as that of `ImageFolder` does. As torchvision.datasets.VOCDetection. Raises MissingFileError, ConfigError.
    """

    inputs, targets = ("image",), ("boxes", "labels")

    def __init__(
        self,
        root: str | Path,
        *,
        split: str | None = None,
        classes: Sequence[str] = VOC_CLASSES,
        fast: bool = False,
    ):
        self.fast, self.decode = fast, True
        self.root, self._names = Path(root), list(classes)
        self.classes = self._names
        self.name = self.root.name
        folder = self.root / "Annotations"
        if not folder.is_dir():
            raise MissingFileError(f"there is no folder {folder}: VOCDetection wants the folder that has it")
        self.names = sorted(file.stem for file in folder.glob("*.xml"))
        if split is not None:
            self.names = read_split(self.root, "Main", split)

    def __len__(self) -> int:
        return len(self.names)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        name = self.names[index]
        file = self.root / "Annotations" / f"{name}.xml"
        picture = find_picture(self.root / "JPEGImages", name, SUFFIXES)
        root = _parse(file, self.root)
        image = read_picture(picture, self.root, size=_size(root), fast=self.fast, decode=self.decode)
        corners, labels, difficult = self._objects(root, file)
        try:
            return detection_sample(image, corners, labels, difficult=np.asarray(difficult, bool))
        except DataError as error:
            raise DataError(f"{file.name}: {error}") from None

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.fast else None

    def _objects(self, root: Any, file: Path) -> tuple[list[list[float]], list[int], list[bool]]:
        corners, labels, difficult = [], [], []
        for item in root.iter("object"):
            name, box = (item.findtext("name") or "").strip(), item.find("bndbox")
            if name not in self._names:
                raise DataError(
                    f"{file.name} has the class {name!r:.60}, which is not in classes{suggest_name(name, self._names)}"
                )
            try:
                left, top, right, bottom = (float(box.findtext(k)) for k in ("xmin", "ymin", "xmax", "ymax"))  # type: ignore[union-attr]
            except (AttributeError, TypeError, ValueError):
                raise DataError(f"{file.name}: an object {name!r:.60} has no bndbox of four numbers") from None
            corners.append([left - 1, top - 1, right, bottom])
            labels.append(self._names.index(name))
            difficult.append((item.findtext("difficult") or "0").strip() == "1")
        return corners, labels, difficult


def find_class_names(root: Path, most: int) -> list[str]:
    """Names of the objects in the first ``most`` annotations of a folder, in alphabetical order; damaged files are left out."""
    names: set[str] = set()
    for file in itertools.islice((root / "Annotations").glob("*.xml"), most):
        with suppress(DataError, OSError):
            names |= {(item.findtext("name") or "").strip() for item in _parse(file, root).iter("object")}
    return sorted(names - {""})


def _parse(file: Path, root: Path) -> Any:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    check_inside(file, root)
    content = read_file(file, _LARGEST, "VOC annotation")
    declared = _DECLARATION.match(content)
    try:
        if declared and declared[2].lower() in _CHINESE:  # the parser knows no characters of several bytes
            content = declared[1] + b"utf-8" + declared[3] + content[declared.end() :].decode("gb18030").encode()
        return fromstring(content)
    except (
        ParseError,
        DefusedXmlException,
        ValueError,
        LookupError,
    ) as error:  # of an encoding that Python does not know
        raise DataError(f"{file.name} is no XML of annotations: {str(error) or type(error).__name__}") from None


def _size(root: Any) -> tuple[int | None, int | None]:
    """Height and width that an annotation gives; some programs write 0."""
    texts = [(root.findtext(f"size/{name}") or "").strip() for name in ("height", "width")]
    return tuple([int(text) if text.isascii() and text.isdigit() else None for text in texts])  # type: ignore[return-value]


class VOCSegmentation(Dataset):
    """Pictures with masks of the pixels: ``{"image": Image, "mask": Mask (height, width)}``.

    ``root`` has the folders ``JPEGImages`` and ``SegmentationClass``, and ``ImageSets/Segmentation`` with a list of names for
    each ``split``; None takes all masks. Pixels number the 21 classes from 0, the background; the border around objects, which
    is of no class, is 255: train with ``ignore_index=255``. ``target="object"`` numbers the objects of a picture instead
    (``SegmentationObject``). ``fast`` decodes as that of `ImageFolder` does. As torchvision.datasets.VOCSegmentation.

    Example: ``data.VOCSegmentation("VOCdevkit/VOC2012", split="train")``. Raises MissingFileError, ConfigError.
    """

    inputs, targets = ("image",), ("mask",)

    def __init__(
        self,
        root: str | Path,
        *,
        split: str | None = None,
        target: Literal["class", "object"] = "class",
        fast: bool = False,
    ):
        if target not in _MASKS:
            raise ConfigError(f'VOCSegmentation wants the target "class" or "object", received {target!r:.40}')
        self.root, self.name = Path(root), Path(root).name
        self.fast, self.decode = fast, True
        self.classes = ["background", *VOC_CLASSES] if target == "class" else None
        self.folder = self.root / _MASKS[target]
        if not self.folder.is_dir():
            raise MissingFileError(f"there is no folder {self.folder}: VOCSegmentation wants the folder that has it")
        if split is None:
            self.names = sorted(file.stem for file in self.folder.glob("*.png"))
        else:
            self.names = read_split(self.root, "Segmentation", split)

    def __len__(self) -> int:
        return len(self.names)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        name = self.names[index]
        picture = find_picture(self.root / "JPEGImages", name, SUFFIXES)
        image = read_picture(picture, self.root, fast=self.fast, decode=self.decode)
        return {"image": image, "mask": read_mask(self.folder / f"{name}.png", self.root, image)}

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.fast else None


def read_split(root: Path, task: str, split: str) -> list[str]:
    """The names of pictures in a list of ``ImageSets``. Raises ConfigError for a split that has no list."""
    lists = root / "ImageSets" / task
    known = sorted(file.stem for file in lists.glob("*.txt"))
    if split not in known:
        raise ConfigError(f"{root} has the splits {', '.join(known) or 'none'}, not {split!r:.40}")
    file = check_inside(lists / f"{split}.txt", root)
    lines = read_file(file, _LARGEST, "list of names").decode("utf-8", "replace").splitlines()
    # a list of one class has a second column, 1, 0 or -1; names may have blanks in them
    return [re.sub(r"\s+(-1|0|1)$", "", line.strip()) for line in lines if line.strip()]
