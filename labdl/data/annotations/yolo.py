"""Annotations of YOLO: a text file for each picture, with a line for each object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.annotations.objects import check_inside, detection_sample, read_picture
from labdl.data.annotations.run_length import draw_polygons
from labdl.data.codecs.image import SUFFIXES
from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import find_classes, list_files
from labdl.data.parts import Mask
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

_LARGEST = 16 << 20  # bytes of a text file


class YOLODetection(Dataset):
    """Pictures with the boxes of YOLO's text files: ``{"image", "boxes", "labels"}``, and "masks" for polygons.

    ``root`` has the folders ``images`` and ``labels`` of the same names. A line is a class number and the box as shares of the
    picture (center x, center y, width, height), or a polygon (x1, y1, x2, y2 and so on). A picture without a text file has no
    objects. ``split`` is a folder in ``images`` whose pictures are taken, such as "train"; None takes all. ``classes`` are
    names, by default those of ``data.yaml`` in the folder, if there is one.
    Source: the data format of Darknet and Ultralytics. Raises MissingFileError, FileFormatError, ConfigError.
    """

    inputs, targets = ("image",), ("boxes", "labels")

    def __init__(self, root: str | Path, *, split: str | None = None, classes: Sequence[str] | None = None):
        self.root = Path(root)
        self.name = self.root.name
        if not (self.root / "images").is_dir():
            raise MissingFileError(
                f"there is no folder {self.root / 'images'}: YOLODetection wants the folder that has it"
            )
        if split is None:
            self.paths = list(list_files(self.root / "images", SUFFIXES))
        else:
            known = find_classes(self.root / "images")
            if split not in known:
                raise ConfigError(f"{self.root} has the splits {', '.join(known) or 'none'}, not {split!r:.40}")
            self.paths = [f"{split}/{path}" for path in list_files(self.root / "images" / split, SUFFIXES)]
        self.classes = list(classes) if classes is not None else read_class_names(self.root / "data.yaml")

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        path = self.paths[index]
        image = read_picture(self.root / "images" / path, self.root)
        file = check_inside((self.root / "labels" / path).with_suffix(".txt"), self.root)
        height, width = image.canvas
        corners, labels, masks, polygons = [], [], [], False
        for number, line in enumerate(_lines(file), 1):
            label, values = self._parse(line, f"{file.name}, line {number}")
            if len(values) == 4:
                x, y, w, h = values * np.array([width, height, width, height])
                box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
                points = np.array([box[0], box[1], box[2], box[1], box[2], box[3], box[0], box[3]])
            else:
                polygons = True
                points = (values.reshape(-1, 2) * np.array([width, height])).reshape(-1)
                box = [points[::2].min(), points[1::2].min(), points[::2].max(), points[1::2].max()]
            corners.append(box)
            labels.append(label)
            masks.append(points)
        entries = {}
        if polygons:
            entries["masks"] = Mask(np.stack([draw_polygons([m], image.canvas) for m in masks]))
        return detection_sample(image, corners, labels, **entries)

    def _parse(self, line: str, place: str) -> tuple[int, np.ndarray]:
        try:
            label, *numbers = line.split()
            values, known = np.array(numbers, "float64"), int(label)
        except ValueError:
            raise DataError(f"{place} wants a class number and numbers, received {line!r:.60}") from None
        if known < 0 or (self.classes is not None and known >= len(self.classes)):
            count = "0 or more" if self.classes is None else f"0 to {len(self.classes) - 1}"
            raise DataError(f"{place}: the class number is {known}, it wants {count}")
        if (len(values) != 4 and (len(values) < 6 or len(values) % 2)) or not np.isfinite(values).all():
            raise DataError(
                f"{place} wants 4 numbers of a box, or a polygon of at least 3 points, received {len(values)} numbers"
            )
        if values.min() < -0.01 or values.max() > 1.01:
            raise DataError(
                f"{place} wants shares of the picture from 0 to 1, received {values.min():g} to {values.max():g}"
            )
        return known, values


def _lines(file: Path) -> list[str]:
    try:
        text = read_file(file, _LARGEST, "file of YOLO labels")
    except MissingFileError:
        return []
    return [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]


def read_class_names(file: Path) -> list[str] | None:
    """The names of the classes in a file ``data.yaml``; None if there is no file. Raises FileFormatError."""
    if not file.exists():
        return None
    import yaml

    try:
        content = yaml.safe_load(read_file(file, _LARGEST, "data.yaml"))
    except yaml.YAMLError as error:
        raise FileFormatError(f"{file.name} is no YAML: {error}") from None
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, dict):
        names = [names[key] for key in sorted(names)]
    if not isinstance(names, list):
        raise FileFormatError(f"{file.name} wants a list of names")
    return [str(name) for name in names]
