"""Samples of pictures with objects: read from data sets of any kind, and brought to the form of a detector's batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.data.boxes import convert_boxes
from labdl.data.parts import BoundingBoxes, Image, Mask
from labdl.errors import DataError
from labdl.spec import show
from labdl.tasks.samples import read_picture

_LEAST_ROWS = 8  # of the objects of a batch, whose number is then a power of 2: each other number is compiled again


def read_objects(sample: Any, *, classes: int, masks: bool = False) -> dict[str, Any]:
    """A sample with "image", "boxes" (objects, 4) and "labels" (objects), of the numbers from 0 to ``classes`` - 1.

    The entries "iscrowd" (objects) and, with ``masks``, "masks" (objects, height, width) are taken too, others left out. Boxes
    that are a plain array are corners in pixels. Raises DataError for a sample that lacks something, or whose parts do not
    fit each other.
    """
    wanted = ("image", "boxes", "labels", *(["masks"] if masks else []))
    if not isinstance(sample, Mapping) or not all(name in sample for name in wanted):
        came = ", ".join(map(str, sample)) if isinstance(sample, Mapping) else type(sample).__name__
        raise DataError(f"a sample of a detector is a dictionary with {', '.join(wanted)}, received {came:.200}")
    image = read_picture(sample["image"])
    boxes = _read_boxes(sample["boxes"], image)
    labels = np.asarray(sample["labels"])
    labels = labels.reshape(0) if not labels.size else labels
    if labels.shape != boxes.shape[:1] or (labels.size and labels.dtype.kind not in "iu"):
        raise DataError(
            f"labels of objects want a class number for each of {len(boxes)} boxes, received {labels.dtype} of the shape "
            f"{labels.shape}"
        )
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        wrong = next(n for n in labels.tolist() if not 0 <= n < classes)
        raise DataError(f"an object has the class {wrong}, the classes are 0 to {classes - 1}")
    crowd = np.asarray(sample.get("iscrowd", np.zeros(len(boxes), bool))).astype(bool)
    if crowd.shape != labels.shape:
        raise DataError(f"iscrowd wants a value for each of {len(boxes)} boxes, received the shape {crowd.shape}")
    entries = {"image": image, "boxes": boxes, "labels": labels.astype("int64"), "iscrowd": crowd}
    return {**entries, "masks": _read_masks(sample["masks"], boxes, image)} if masks else entries


def _read_boxes(value: Any, image: Image) -> BoundingBoxes:
    boxes = value if isinstance(value, BoundingBoxes) else BoundingBoxes(value)
    if not np.isfinite(boxes).all():
        raise DataError("boxes want finite numbers, received NaN or an infinite one")
    corners = convert_boxes(boxes.array, boxes.format, "xyxy")
    if (corners[:, 2:] < corners[:, :2]).any():
        raise DataError('boxes want x1, y1, x2, y2 with x1 <= x2 and y1 <= y2: give BoundingBoxes(…, format="xywh")')
    return BoundingBoxes(corners, canvas_size=image.canvas)


def _read_masks(value: Any, boxes: BoundingBoxes, image: Image) -> Mask:
    masks = np.asarray(value)
    if not len(boxes):
        masks = np.zeros((0, *image.canvas), "uint8")
    if masks.shape != (len(boxes), *image.canvas):
        raise DataError(
            f"masks want the shape {(len(boxes), *image.canvas)}, one of the picture's size for each object, received "
            f"{masks.shape}"
        )
    return Mask((masks != 0).astype("uint8"))


def pad_picture(sample: Mapping[str, Any], *, canvas: tuple[int, int], first_class: int) -> dict[str, Any]:
    """The sample of `read_objects` on a canvas (height, width), zeros after the picture, with classes from ``first_class`` on.

    "rows" (objects, 2) are class and crowd, "size" (2,) the height and the width before the padding. Objects without an area,
    which a crop leaves, are left out.
    """
    image, boxes = sample["image"], sample["boxes"]
    height, width = image.canvas
    if height > canvas[0] or width > canvas[1]:
        raise DataError(f"a picture of {show((height, width))} does not fit into {show(canvas)}")
    whole = ((boxes.array[:, 2:] - boxes.array[:, :2]) > 0).all(axis=1)
    margin = ((0, canvas[0] - height), (0, canvas[1] - width))
    padded = {
        "image": image if (height, width) == canvas else Image(np.pad(image.array, (*margin, (0, 0)))),
        "boxes": boxes[whole],
        "rows": np.stack([sample["labels"] + first_class, sample["iscrowd"]], 1).astype("float32")[whole],
        "size": np.array([height, width], "float32"),
    }
    if "masks" in sample:
        padded["masks"] = Mask(np.pad(sample["masks"].array[whole], ((0, 0), *margin)))
    return padded


def pad_objects(batch: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    """Objects (N, objects, 6) of a batch of `pad_picture`, and their masks (N, objects, height, width) if it has some.

    Columns are x1, y1, x2, y2, class and crowd; rows of class -1 follow where a picture has fewer. The number of rows is a
    power of 2.
    """
    counts = [len(boxes) for boxes in batch["boxes"]]
    most = max(_LEAST_ROWS, 1 << max(max(counts, default=0) - 1, 0).bit_length())
    objects = np.zeros((len(counts), most, 6), "float32")
    objects[..., 4] = -1.0
    for row, boxes, kinds, count in zip(objects, batch["boxes"], batch["rows"], counts, strict=True):
        row[:count, :4], row[:count, 4:] = boxes, kinds
    if "masks" not in batch:
        return objects, None
    masks = np.zeros((len(counts), most, *batch["masks"][0].shape[1:]), "float32")
    for of_picture, own, count in zip(masks, batch["masks"], counts, strict=True):
        of_picture[:count] = own
    return objects, masks
