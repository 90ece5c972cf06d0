"""Pictures with objects put together: four side by side, or the objects of one on another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import cv2
import numpy as np
from annotated_types import Ge

from labdl.data.boxes import clip_boxes, convert_boxes
from labdl.data.parts import BoundingBoxes, Canvas, Image, KeyPoints, Mask
from labdl.data.transforms.objects import join_objects, keep_objects
from labdl.data.transforms.ranges import check_order
from labdl.data.transforms.transform import Transform, transform
from labdl.data.vision.pixels import brightest
from labdl.errors import DataError
from labdl.settings import Amount, Share

Side = Annotated[int, Ge(2)]


@transform({"size": (96, 128)})
class Mosaic(Transform):
    """Put four pictures around a point, with their boxes, masks, key points and the labels of objects.

    The result has ``size`` (height, width); each picture is scaled to fit into a half of it and touches the point, which is
    drawn within ``center``, a range of shares of the sides. ``fill`` is a share of white. Boxes smaller than ``min_size``
    pixels are dropped with their labels. Samples are dictionaries. Source: Bochkovskiy et al. 2020, YOLOv4.
    """

    others = 3

    size: tuple[Side, Side]
    center: tuple[Share, Share] = (0.25, 0.75)
    fill: Share = 114 / 255
    min_size: Amount = 1.0

    def check_settings(self) -> None:
        check_order(self, "center")

    def apply_together(self, samples: Sequence[Any], rng: np.random.Generator) -> Any:
        y, x = (round(float(rng.uniform(*self.center)) * side) for side in self.size)
        names = [_image_name(sample, "Mosaic") for sample in samples]
        first = samples[0][names[0]]
        if len({(s[n].dtype, s[n].shape[-1]) for s, n in zip(samples, names, strict=True)}) > 1:
            raise DataError("Mosaic wants pictures of the same number type and channels: write T.ToDtype before it")
        white = brightest(first.dtype)
        canvas = np.full((*self.size, first.shape[-1]), self.fill * white, first.dtype)
        moved = []
        for at, (sample, name) in enumerate(zip(samples, names, strict=True)):
            height, width = sample[name].canvas
            scale = min(self.size[0] / 2 / height, self.size[1] / 2 / width)
            shape = max(1, round(height * scale)), max(1, round(width * scale))
            corner = y - shape[0] if at < 2 else y, x - shape[1] if at % 2 == 0 else x
            _paste(canvas, _resize(sample[name].array, shape), corner)
            moved.append({key: _move(v, sample[name].canvas, shape, corner, self.size) for key, v in sample.items()})
        result = join_objects(moved)
        for key, value in result.items():
            if isinstance(value, Mask) and value.ndim == 2:
                layers = [m[key].array for m in moved if isinstance(m.get(key), Mask)]
                result[key] = value.like(np.maximum.reduce(layers))
        result[names[0]] = first.like(canvas)
        boxes = next((value for value in result.values() if isinstance(value, BoundingBoxes)), None)
        if boxes is None:
            return result
        left, top, right, bottom = convert_boxes(boxes.array, boxes.format, "xyxy").T
        large = (right - left >= self.min_size) & (bottom - top >= self.min_size) & (right > left) & (bottom > top)
        return keep_objects(result, boxes, large)


@transform
class CopyPaste(Transform):
    """Paste some objects of another picture, by their masks, with their boxes, masks, key points and labels.

    Each object is pasted with the probability ``share``. The other picture is resized to the first. Masks lose what is
    covered, boxes are those of the masks, and objects that are covered are dropped with their labels. Samples are
    dictionaries with an image and Mask (objects, height, width). Source: Ghiasi et al. 2021, Simple Copy-Paste.
    """

    others = 1

    share: Share = 0.5
    p: Share = 1.0

    def apply_together(self, samples: Sequence[Any], rng: np.random.Generator) -> Any:
        first, second = samples
        names = [_image_name(sample, "CopyPaste") for sample in samples]
        masks = [_masks_name(sample) for sample in samples]
        image, other = first[names[0]], second[names[1]]
        if other.dtype != image.dtype or other.shape[-1] != image.shape[-1]:
            raise DataError("CopyPaste wants pictures of the same number type and channels: write T.ToDtype before it")
        picked = rng.random(len(second[masks[1]])) < self.share
        size = image.canvas
        second = keep_objects(second, second[masks[1]], picked)
        moved = {key: _move(value, other.canvas, size, (0, 0), size) for key, value in second.items()}
        pasted = moved[masks[1]].array
        cover = pasted.any(0) if len(pasted) else np.zeros(size, bool)
        visible = first[masks[0]].array * ~cover
        result = join_objects(
            [{**first, masks[0]: first[masks[0]].like(visible)}, {**moved, masks[0]: moved[masks[1]]}]
        )
        result[masks[0]] = first[masks[0]].like(np.concatenate([visible, pasted.astype(visible.dtype)]))
        mixed = np.where(cover[..., None], _resize(other.array, size), image.array)
        result[names[0]] = image.like(mixed)
        for key, value in result.items():
            if isinstance(value, BoundingBoxes):
                corners = _boxes_of(result[masks[0]].array)
                result[key] = value.like(convert_boxes(corners, "xyxy", value.format).astype(value.dtype))
        return keep_objects(result, result[masks[0]], result[masks[0]].array.any((1, 2)))


def _image_name(sample: Any, name: str) -> str:
    found = [key for key, value in sample.items() if isinstance(value, Image)] if isinstance(sample, dict) else []
    if not found:
        raise DataError(f"{name} wants dictionaries with a data.Image, received {type(sample).__name__}")
    return found[0]


def _masks_name(sample: dict[str, Any]) -> str:
    found = [key for key, value in sample.items() if isinstance(value, Mask) and value.ndim == 3]
    if not found:
        raise DataError("CopyPaste wants a data.Mask (objects, height, width) in both samples")
    return found[0]


def _move(value: Any, source: Canvas, shape: Canvas, corner: tuple[int, int], canvas: Canvas) -> Any:
    """A part of a picture of the size ``source`` that becomes ``shape`` at a corner (top, left) of a canvas."""
    down, across = shape[0] / source[0], shape[1] / source[1]
    top, left = corner
    if isinstance(value, BoundingBoxes):
        corners = convert_boxes(value.array, value.format, "xyxy") * np.array([across, down, across, down])
        clipped = clip_boxes(corners + np.array([left, top, left, top]), canvas)
        return value.like(convert_boxes(clipped, "xyxy", value.format).astype(value.dtype), canvas_size=canvas)
    if isinstance(value, KeyPoints):
        points = np.array(value.array)
        points[..., :2] = (points[..., :2] + 0.5) * [across, down] - 0.5 + [left, top]
        return value.like(points, canvas_size=canvas)
    if isinstance(value, Mask):
        if value.canvas != source:
            raise DataError(
                f"a Mask of {value.canvas} pixels does not fit the picture of {source}: T.Resize both alike"
            )
        layers = value.array if value.ndim == 3 else value.array[None]
        moved = np.zeros((len(layers), *canvas), value.dtype)
        for layer, target in zip(layers, moved, strict=True):
            _paste(target, layer[_nearest(source[0], shape[0])][:, _nearest(source[1], shape[1])], corner)
        return value.like(moved if value.ndim == 3 else moved[0])
    return value


def _nearest(before: int, after: int) -> np.ndarray:
    return ((np.arange(after) + 0.5) * before / after).astype("int64")


def _resize(array: np.ndarray, shape: Canvas) -> np.ndarray:
    if array.shape[:2] == shape:
        return array
    smaller = shape[0] < array.shape[0]
    resized = cv2.resize(array, shape[::-1], interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return resized.reshape(*shape, array.shape[-1])


def _paste(canvas: np.ndarray, picture: np.ndarray, corner: tuple[int, int]) -> None:
    """Write a picture into a canvas at (top, left), without what lies outside."""
    top, left = corner
    bottom, right = min(top + picture.shape[0], canvas.shape[0]), min(left + picture.shape[1], canvas.shape[1])
    up, aside = max(0, -top), max(0, -left)
    canvas[top + up : bottom, left + aside : right] = picture[up : bottom - top, aside : right - left]


def _boxes_of(masks: np.ndarray) -> np.ndarray:
    corners = np.zeros((len(masks), 4), "float32")
    for at, mask in enumerate(masks):
        ys, xs = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        if len(ys):
            corners[at] = xs[0], ys[0], xs[-1] + 1, ys[-1] + 1
    return corners
