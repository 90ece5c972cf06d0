"""Boxes in another format, within the picture, and without those that are too small."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data.boxes import convert_boxes
from labdl.data.parts import BoundingBoxes, BoxFormat
from labdl.data.transforms.objects import keep_objects
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, transform
from labdl.errors import DataError
from labdl.settings import Amount


@transform({"format": "cxcywh"})
class ConvertBoundingBoxFormat(Transform):
    """Write boxes in the format "xyxy", "xywh" or "cxcywh".

    Source: torchvision.transforms.v2.ConvertBoundingBoxFormat.
    """

    format: BoxFormat

    def apply_to(self, part: Any, params: Parameters) -> Any:
        if not isinstance(part, BoundingBoxes):
            return part
        boxes = convert_boxes(part.array, part.format, self.format)
        return part.like(boxes.astype(part.dtype, copy=False), format=self.format)

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        return convert_boxes(boxes, "xyxy", self.format)


@transform
class ClampBoundingBoxes(Transform):
    """Clip boxes to the picture. Source: torchvision.transforms.v2.ClampBoundingBoxes."""

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        return boxes  # every transform of boxes clips them afterwards


@transform
class SanitizeBoundingBoxes(Transform):
    """Remove boxes smaller than ``min_size`` or ``min_area`` in pixels, and those that leave the picture.

    The labels, masks, key points and other arrays with a row for each box, in the same dictionary or tuple, lose the same
    rows. Stands at the end of a pipeline with crops; ClampBoundingBoxes before it keeps boxes that leave the picture in part.
    Source: torchvision.transforms.v2.SanitizeBoundingBoxes.
    """

    min_size: Amount = 1.0
    min_area: Amount = 1.0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        found = [part for part in iterate_parts(sample) if isinstance(part, BoundingBoxes)]
        for boxes in found:
            sample = keep_objects(sample, boxes, self._large_enough(boxes))
        return sample

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        return boxes[self._large_enough(BoundingBoxes(boxes, canvas_size=params["canvas"]))]

    def _large_enough(self, boxes: BoundingBoxes) -> np.ndarray:
        if boxes.canvas is None:
            raise DataError(
                "SanitizeBoundingBoxes wants the size of the picture that BoundingBoxes belong to: write "
                "BoundingBoxes(…, canvas_size=(height, width))"
            )
        height, width = boxes.canvas
        left, top, right, bottom = convert_boxes(boxes.array, boxes.format, "xyxy").T
        across, down = right - left, bottom - top
        large = (across >= self.min_size) & (down >= self.min_size) & (across * down >= self.min_area)
        return large & (left >= 0) & (top >= 0) & (right <= width) & (bottom <= height)
