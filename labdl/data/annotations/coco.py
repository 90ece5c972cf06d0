"""Annotations of COCO: one JSON file for all pictures."""

from __future__ import annotations

import codecs
import collections
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.annotations.objects import detection_sample, read_picture
from labdl.data.annotations.run_length import decode_run_length, draw_polygons
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import leave_encoded
from labdl.data.parts import KeyPoints, Mask
from labdl.errors import DataError, FileFormatError

_LARGEST = 2 << 30  # bytes; the annotations of COCO's training part have 450 MB


class CocoDetection(Dataset):
    """Pictures with the objects of a COCO file: ``{"image", "boxes", "labels", "area", "iscrowd", "image_id"}``.

    ``root`` is the folder of the pictures, ``annotations`` the JSON file. ``masks=True`` adds "masks" (objects, height,
    width) from polygons and run lengths, ``keypoints=True`` "keypoints" (objects, points, 3). Labels count the categories in
    the order of their ids; ``classes`` are their names. Groups of objects (iscrowd) are left out unless ``crowds``. ``fast``
    decodes as that of `ImageFolder` does. As torchvision.datasets.CocoDetection. Raises MissingFileError, FileFormatError.
    """

    inputs, targets = ("image",), ("boxes", "labels")

    def __init__(
        self,
        root: str | Path,
        annotations: str | Path,
        *,
        masks: bool = False,
        keypoints: bool = False,
        crowds: bool = False,
        fast: bool = False,
    ):
        self.fast, self.decode = fast, True
        self.root, self.name = Path(root), Path(annotations).stem
        self.masks, self.keypoints = masks, keypoints
        content = _read(Path(annotations))
        categories = sorted(content["categories"], key=lambda c: c["id"])
        self.classes = [str(c["name"]) for c in categories]
        numbers = {c["id"]: n for n, c in enumerate(categories)}
        _check_ids(Path(annotations), content)
        self._swaps = _swaps(categories)
        self.images = sorted(content["images"], key=lambda i: i["id"])
        places = {image["id"]: at for at, image in enumerate(self.images)}
        self.objects: list[list[dict[str, Any]]] = [[] for _ in self.images]
        for entry in content["annotations"]:
            if entry.get("iscrowd") and not crowds:
                continue
            at, number = places.get(entry.get("image_id")), numbers.get(entry.get("category_id"))
            if at is None or number is None:
                raise FileFormatError(
                    f"{Path(annotations).name}: the annotation {entry.get('id')!r:.40} names the image "
                    f"{entry.get('image_id')!r:.40} and the category {entry.get('category_id')!r:.40}, one of which is missing"
                )
            self.objects[at].append({**entry, "label": number})

    def renumber(self, classes: Sequence[str]) -> None:
        """Number the categories in the order of ``classes``, which has all of them."""
        numbers = [classes.index(name) for name in self.classes or ()]
        for objects in self.objects:
            for entry in objects:
                entry["label"] = numbers[entry["label"]]
        self.classes = list(classes)

    def __len__(self) -> int:
        return len(self.images)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        entry, objects = self.images[index], self.objects[index]
        name = str(entry.get("file_name", ""))
        path = self.root / name
        if "\\" in name and not path.exists():  # written on Windows
            path = self.root / name.replace("\\", "/")
        size = entry.get("height"), entry.get("width")
        image = read_picture(path, self.root, size=size, fast=self.fast, decode=self.decode)
        try:
            boxes = np.asarray([_box(o) for o in objects], "float32").reshape(-1, 4)
            corners = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], 1)
            sample = detection_sample(
                image,
                corners,
                [o["label"] for o in objects],
                area=np.asarray([_area(o, b) for o, b in zip(objects, boxes, strict=True)], "float32"),
                iscrowd=np.asarray([bool(o.get("iscrowd")) for o in objects], bool),
                image_id=entry["id"],
            )
            if self.masks:
                masks = [_mask(o.get("segmentation") or [], image.canvas) for o in objects]
                sample["masks"] = Mask(np.stack(masks) if masks else np.zeros((0, *image.canvas), np.uint8))
            if self.keypoints:
                sample["keypoints"] = _keypoints(objects, image.canvas, self._swaps)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the annotations of {name} are damaged: {error}") from None
        return sample

    def as_bytes(self) -> Dataset | None:
        return leave_encoded(self) if self.fast else None


def _read(file: Path) -> dict[str, Any]:
    import orjson

    try:
        content = orjson.loads(read_file(file, _LARGEST, "COCO file").removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise FileFormatError(f"{file.name} is no JSON: {error}") from None
    for key in ("images", "annotations", "categories"):
        entries = content.get(key) if isinstance(content, dict) else None
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            raise FileFormatError(f"{file.name} is no COCO file: it wants lists of images, annotations and categories")
        if key != "annotations" and not all(isinstance(e.get("id"), int) for e in entries):
            raise FileFormatError(f"{file.name}: {key} want an integer id each")
    return content


def _check_ids(file: Path, content: dict[str, Any]) -> None:
    """Raise FileFormatError for an id of two images or categories, as merged files have them."""
    for key in ("images", "categories"):
        count = collections.Counter(entry["id"] for entry in content[key])
        if len(count) < len(content[key]):
            number, times = count.most_common(1)[0]
            raise FileFormatError(f"{file.name}: the id {number} is that of {times} {key}: give each its own")


def _box(entry: dict[str, Any]) -> list[float]:
    box = entry.get("bbox")
    if not isinstance(box, list) or len(box) != 4:
        raise DataError(f"the annotation {entry.get('id')!r:.40} has no bbox of four numbers")
    return box


def _area(entry: dict[str, Any], box: np.ndarray) -> float:
    area = entry.get("area")
    return box[2] * box[3] if area is None else area


def _mask(segmentation: Any, size: tuple[int, int]) -> np.ndarray:
    return (
        draw_polygons(segmentation, size) if isinstance(segmentation, list) else decode_run_length(segmentation, size)
    )


def _keypoints(objects: list[dict[str, Any]], size: tuple[int, int], swaps: tuple) -> KeyPoints:
    points = [_points(o) for o in objects]
    count = max((len(p) for p in points), default=0)
    whole = np.zeros((len(points), count, 3), "float32")  # an object without points: not visible
    for row, own in zip(whole, points, strict=True):
        row[: len(own)] = own
    return KeyPoints(whole, canvas_size=size, swaps=swaps if count else ())


def _points(entry: dict[str, Any]) -> np.ndarray:
    numbers = np.asarray(entry.get("keypoints") or (), "float32")
    if numbers.ndim != 1 or len(numbers) % 3:
        raise DataError(f"the annotation {entry.get('id')!r:.40} has no keypoints of three numbers each")
    return numbers.reshape(-1, 3)


def _swaps(categories: list[dict[str, Any]]) -> tuple[tuple[int, int], ...]:
    """Pairs of the left and the right form of a point, by the names that a category gives to its points."""
    names = next((c["keypoints"] for c in categories if isinstance(c.get("keypoints"), list)), [])
    return tuple(
        (at, names.index(other))
        for at, name in enumerate(names)
        if isinstance(name, str) and "left" in name and (other := name.replace("left", "right")) in names
    )
