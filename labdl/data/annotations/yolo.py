"""Annotations of YOLO: a text file for each picture, with a line for each object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.annotations.objects import check_inside, detection_sample, read_picture
from labdl.data.annotations.run_length import draw_polygons
from labdl.data.codecs.image import SUFFIXES
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import leave_encoded
from labdl.data.folders.file_list import find_classes, list_files
from labdl.data.parts import KeyPoints, Mask
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

_LARGEST = 16 << 20  # bytes of a text file
_MOST_POINTS = 10_000


class YOLODetection(Dataset):
    """Pictures with the boxes of YOLO's text files: ``{"image", "boxes", "labels"}``, "masks" for polygons, and "keypoints".

    ``root`` has the folders ``images`` and ``labels`` of the same names. A line is a class number and the box as shares of the
    picture (center x, center y, width, height), or a polygon (x1, y1, x2, y2 and so on); with ``kpt_shape`` in ``data.yaml``
    the box is followed by that many points. A picture without a text file has no objects. ``split`` is a folder in ``images``
    whose pictures are taken, such as "train"; None takes all. ``classes`` are names, by default those of ``data.yaml`` in the
    folder, if there is one. ``fast`` decodes as that of `ImageFolder` does.
    Source: the data format of Darknet and Ultralytics. Raises MissingFileError, FileFormatError, ConfigError.
    """

    inputs, targets = ("image",), ("boxes", "labels")

    def __init__(
        self,
        root: str | Path,
        *,
        split: str | None = None,
        classes: Sequence[str] | None = None,
        fast: bool = False,
    ):
        self.fast, self.decode = fast, True
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
        file = self.root / "data.yaml"
        self.classes = list(classes) if classes is not None else read_class_names(file)
        self.points = read_points(file)

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        path = self.paths[index]
        image = read_picture(self.root / "images" / path, self.root, fast=self.fast, decode=self.decode)
        file = check_inside((self.root / "labels" / path).with_suffix(".txt"), self.root)
        height, width = image.canvas
        corners, labels, masks, points_of_all, polygons = [], [], [], [], False
        for number, line in enumerate(_lines(file), 1):
            label, values = self._parse(line, f"{file.name}, line {number}")
            if self.points is not None:
                own = values[4:].reshape(self.points.count, self.points.numbers)
                own[:, :2] *= width, height
                points_of_all.append(own)
                values = values[:4]
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
        entries: dict[str, Any] = {}
        if self.points is not None:
            whole = np.array(points_of_all, "float32").reshape(-1, self.points.count, self.points.numbers)
            entries["keypoints"] = KeyPoints(whole, canvas_size=image.canvas, swaps=self.points.swaps)
        if polygons:
            entries["masks"] = Mask(np.stack([draw_polygons([m], image.canvas) for m in masks]))
        try:
            return detection_sample(image, corners, labels, **entries)
        except DataError as error:
            raise DataError(f"{file.name}: {error}") from None

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.fast else None

    def _parse(self, line: str, place: str) -> tuple[int, np.ndarray]:
        try:
            label, *numbers = line.replace(",", " ").split()
            values, known = np.array(numbers, "float64"), int(float(label))
            if known != float(label):
                raise ValueError
        except OverflowError:  # of infinity
            raise DataError(f"{place} wants a class number and numbers, received {line!r:.60}") from None
        except ValueError:
            raise DataError(f"{place} wants a class number and numbers, received {line!r:.60}") from None
        if known < 0 or (self.classes is not None and known >= len(self.classes)):
            count = "0 or more" if self.classes is None else f"0 to {len(self.classes) - 1}"
            raise DataError(f"{place}: the class number is {known}, it wants {count}")
        shares = values
        if self.points is not None:
            count, size, _ = self.points
            if len(values) != 4 + count * size or not np.isfinite(values).all():
                raise DataError(
                    f"{place} wants 4 numbers of a box and {count} points of {size} numbers, as kpt_shape says, received "
                    f"{len(values)} numbers"
                )
            shares = np.concatenate([values[:4], values[4:].reshape(count, size)[:, :2].ravel()])
        elif (len(values) != 4 and (len(values) < 6 or len(values) % 2)) or not np.isfinite(values).all():
            raise DataError(
                f"{place} wants 4 numbers of a box, or a polygon of at least 3 points, received {len(values)} numbers"
            )
        if shares.min() < -0.01 or shares.max() > 1.01:
            raise DataError(
                f"{place} wants shares of the picture from 0 to 1, received {shares.min():g} to {shares.max():g}"
            )
        return known, values


def _lines(file: Path) -> list[str]:
    try:
        text = read_file(file, _LARGEST, "file of YOLO labels")
    except MissingFileError:
        return []
    return [line for line in text.decode("utf-8-sig", "replace").splitlines() if line.strip()]


def read_class_names(file: Path) -> list[str] | None:
    """The names of the classes in a file ``data.yaml``; None if there is no file. Raises FileFormatError."""
    content = _read_yaml(file)
    if content is None:
        return None
    names, count = content.get("names"), content.get("nc")
    if isinstance(names, dict):
        numbered = {
            int(key) if isinstance(key, str) and key.isascii() and key.isdigit() else key: names[key] for key in names
        }
        if set(numbered) != set(range(len(names))):
            raise FileFormatError(
                f"{file.name} numbers its names {', '.join(map(str, names)):.80}: it wants 0, 1, 2 and so on"
            )
        names = [numbered[number] for number in range(len(names))]
    if not isinstance(names, list):
        raise FileFormatError(f"{file.name} wants a list of names")
    if isinstance(count, int) and count != len(names):
        raise FileFormatError(f"{file.name} has {len(names)} names, and nc is {count}")
    return [str(name) for name in names]


class Points(NamedTuple):
    """How many points an object has, of how many numbers, and which change places when it is mirrored."""

    count: int
    numbers: int
    swaps: tuple[tuple[int, int], ...]


def read_points(file: Path) -> Points | None:
    """``kpt_shape`` and ``flip_idx`` of a file ``data.yaml``; None without them. Raises FileFormatError."""
    content = _read_yaml(file) or {}
    shape, flipped = content.get("kpt_shape"), content.get("flip_idx")
    if shape is None:
        return None
    if not isinstance(shape, list) or len(shape) != 2 or not all(isinstance(n, int) for n in shape):
        raise FileFormatError(f"{file.name}: kpt_shape wants two integers, received {shape!r:.80}")
    count, numbers = shape
    if not 1 <= count <= _MOST_POINTS or numbers not in (2, 3):
        raise FileFormatError(
            f"{file.name}: kpt_shape wants 1 to {_MOST_POINTS} points of 2 or 3 numbers, received {shape}"
        )
    if flipped is None:
        return Points(count, numbers, ())
    if not isinstance(flipped, list) or sorted(map(str, flipped)) != sorted(map(str, range(count))):
        raise FileFormatError(f"{file.name}: flip_idx wants the numbers 0 to {count - 1}, received {flipped!r:.80}")
    swaps = [(at, int(other)) for at, other in enumerate(flipped) if at < int(other) and int(flipped[int(other)]) == at]
    return Points(count, numbers, tuple(swaps))


def _read_yaml(file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    import yaml

    try:
        content = yaml.safe_load(read_file(file, _LARGEST, "data.yaml"))
    except yaml.YAMLError as error:
        raise FileFormatError(f"{file.name} is no YAML: {error}") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"{file.name} wants a list of names")
    return content
