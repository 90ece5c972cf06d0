"""Transforms that look at the boxes of a sample: crops that keep objects, changes within boxes."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from labdl.data.boxes import convert_boxes
from labdl.data.parts import BoundingBoxes, Canvas, Image
from labdl.data.transforms.image.flip import HorizontalFlip
from labdl.data.transforms.image.region import Region
from labdl.data.transforms.image.sizes import Pixels
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, map_parts, transform
from labdl.data.vision.box_overlap import box_iou
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER, Share


@transform
class IoUCrop(Region):
    """Cut out a random rectangle that overlaps some box by at least one of ``sampler_options``.

    An option of 1 or more keeps the sample; of others, ``trials`` rectangles are tried before another is drawn. Sides are
    ``min_scale`` to ``max_scale`` of the picture's. Boxes whose center is outside get no area: put SanitizeBoundingBoxes
    behind it. Raises DataError for samples without boxes. Source: torchvision.transforms.v2.RandomIoUCrop (SSD, Liu et al.
    2016).
    """

    min_scale: Share = 0.3
    max_scale: Share = 1.0
    min_aspect_ratio: float = 0.5
    max_aspect_ratio: float = 2.0
    sampler_options: tuple[float, ...] = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    trials: Pixels = 40

    def check_settings(self) -> None:
        if not 0 < self.min_scale <= self.max_scale:
            raise ConfigError(f"IoUCrop: min_scale wants more than 0 and at most max_scale, received {self.min_scale}")
        if not 0 < self.min_aspect_ratio <= self.max_aspect_ratio:
            raise ConfigError(
                f"IoUCrop: min_aspect_ratio wants more than 0 and at most max_aspect_ratio, received {self.min_aspect_ratio}"
            )
        if max(self.sampler_options, default=0) < 1:
            raise ConfigError("IoUCrop: sampler_options wants an option of 1, which keeps the sample, besides others")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        boxes = next((part for part in iterate_parts(sample) if isinstance(part, BoundingBoxes)), None)
        if boxes is None or boxes.canvas is None:
            raise DataError("IoUCrop wants BoundingBoxes with their canvas_size in the sample, received none")
        params = self._search(rng, boxes.canvas, convert_boxes(boxes.array, boxes.format, "xyxy"))
        return sample if params is None else map_parts(lambda part: self.apply_to(part, params), sample)

    def _search(self, rng: np.random.Generator, canvas: Canvas, boxes: np.ndarray) -> Parameters | None:
        rows, columns = canvas
        while True:
            least = self.sampler_options[int(rng.integers(len(self.sampler_options)))]
            if least >= 1:
                return None
            for _ in range(self.trials):
                width, height = (int(length * s) for length, s in zip((columns, rows), self._sides(rng), strict=True))
                if not width or not height:
                    continue
                if not self.min_aspect_ratio <= width / height <= self.max_aspect_ratio:
                    continue
                top, left = int((rows - height) * rng.random()), int((columns - width) * rng.random())
                rectangle = np.array([[left, top, left + width, top + height]], boxes.dtype)
                inside = _centers_inside(boxes, rectangle[0])
                if inside.any() and box_iou(boxes[inside], rectangle).max() >= least:
                    return self.region(canvas, top, left, height, width)

    def _sides(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(self.min_scale, self.max_scale, 2)

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        (top, left), (height, width) = params["at"], params["size"]
        inside = _centers_inside(boxes, np.array([left, top, left + width, top + height], boxes.dtype))
        return np.where(inside[:, None], super().apply_to_boxes(boxes, params), 0)


def _centers_inside(boxes: np.ndarray, rectangle: np.ndarray) -> np.ndarray:
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    return (rectangle[0] < x) & (x < rectangle[2]) & (rectangle[1] < y) & (y < rectangle[3])


@transform({"transform": HorizontalFlip(p=1.0), "ratio": 0.5})
class BoundingBoxAugment(Transform):
    """Apply a transform to the picture within some of the boxes, chosen at random; the boxes stay.

    ``ratio`` is the probability of each box. The transform must keep the size of a picture. Raises DataError for samples
    without a picture or boxes. Source: mindspore.dataset.vision.BoundingBoxAugment (Zoph et al. 2019).
    """

    transform: Transform = field(metadata=INNER)
    ratio: Share = 0.3

    def check_settings(self) -> None:
        if not isinstance(self.transform, Transform) or self.transform.others:
            raise ConfigError(f"BoundingBoxAugment wants a transform of one picture, received {self.transform!r:.80}")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        image = next((part for part in iterate_parts(sample) if isinstance(part, Image)), None)
        boxes = next((part for part in iterate_parts(sample) if isinstance(part, BoundingBoxes)), None)
        if image is None or boxes is None:
            raise DataError("BoundingBoxAugment wants an Image and BoundingBoxes in the sample, received not both")
        corners = convert_boxes(boxes.array, boxes.format, "xyxy")
        chosen = corners[rng.random(len(corners)) < self.ratio]
        if not len(chosen):
            return sample
        changed = self._change(image, chosen, rng)
        return map_parts(lambda part: changed if part is image else part, sample)

    def _change(self, image: Image, corners: np.ndarray, rng: np.random.Generator) -> Image:
        height, width = image.canvas
        result = np.array(image.array)
        for left, top, right, bottom in np.rint(corners).astype("int64"):
            place = slice(max(top, 0), min(bottom, height)), slice(max(left, 0), min(right, width))
            if not result[place].size:
                continue
            inner = np.asarray(self.transform.apply(image.like(result[place].copy()), rng))
            if inner.shape != result[place].shape or inner.dtype != result.dtype:
                raise DataError(
                    f"BoundingBoxAugment wants a transform that keeps size and dtype, {type(self.transform).__name__} made "
                    f"{inner.shape} {inner.dtype} of {result[place].shape} {result.dtype}"
                )
            result[place] = inner
        return image.like(result)
