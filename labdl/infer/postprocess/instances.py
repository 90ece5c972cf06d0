"""Post-processor of instance segmentation: detections with a mask each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl import ops
from labdl.data.vision.mask_pasting import paste_mask
from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import PostProcessor, Share, Side, array_of, postprocessor


@dataclass(frozen=True, eq=False)
class Instances:
    """Objects by descending score: boxes (k, 4) as x1, y1, x2, y2, scores (k), class numbers (k), names, and masks.

    ``masks`` (k, height, width) are boolean, in pixels of the image.
    """

    boxes: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    masks: np.ndarray
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.scores)


@postprocessor
class InstanceSegmentation(PostProcessor):
    """Instance segmentation: detections above a score threshold, with their masks in pixels of the image.

    Outputs are boxes (n, 4) as corners, scores (n), classes (n) and masks (n, height, width) of probabilities over each box,
    after non-maximum suppression, as Mask R-CNN gives them. A pixel is in the mask where the probability is above
    ``mask_threshold``. Boxes are in pixels of ``image_size`` (height, width), the model's input without padding, and are
    converted to those of ``original_size`` where it is given. Source: torchvision's Mask R-CNN.
    Raises ModelError for outputs of other forms, ConfigError without ``image_size``.
    """

    threshold: Share = 0.05
    mask_threshold: Share = 0.5
    image_size: tuple[Side, Side] | None = None
    original_size: tuple[Side, Side] | None = None
    names: tuple[str, ...] | None = None

    def __call__(self, output: Any) -> Instances:
        if self.image_size is None:
            raise ConfigError("InstanceSegmentation wants image_size, the height and width of the model's input")
        parts = [array_of(part) for part in output] if isinstance(output, list | tuple) else []
        if [part.ndim for part in parts] != [2, 1, 1, 3] or len({len(part) for part in parts}) != 1:
            raise ModelError(
                "InstanceSegmentation wants boxes (n, 4), scores (n), classes (n) and masks (n, height, width), received "
                f"{', '.join(str(part.shape) for part in parts) or type(output).__name__}"
            )
        confident = parts[1] > self.threshold
        boxes, scores, labels, masks = (part[confident] for part in parts)
        size = self.original_size or self.image_size
        shares = [whole / part for whole, part in zip(size, self.image_size, strict=True)]
        boxes = ops.clip_boxes(boxes * np.array(shares[::-1] * 2, boxes.dtype), size)
        labels = labels.astype("int64")
        if self.names is not None and labels.size and not 0 <= labels.min() <= labels.max() < len(self.names):
            raise ModelError(f"InstanceSegmentation has {len(self.names)} names, the output has a class {labels.max()}")
        whole = [paste_mask(mask, box, size, self.mask_threshold) for mask, box in zip(masks, boxes, strict=True)]
        names = self.names and tuple(self.names[i] for i in labels)
        return Instances(boxes, scores, labels, np.array(whole, bool).reshape(-1, *size), names)
