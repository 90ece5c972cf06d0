"""Post-processor of object detectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl import ops
from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import (
    PostProcessor,
    Share,
    Side,
    array_of,
    postprocessor,
    sigmoid,
    softmax,
    top_k_indices,
)


@dataclass(frozen=True, eq=False)
class Detections:
    """Detected objects by descending score: boxes (k, 4) as x1, y1, x2, y2, scores (k), class numbers (k), their names."""

    boxes: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.scores)


@postprocessor
class Detection(PostProcessor):
    """Object detection: boxes above a score threshold, after non-maximum suppression.

    Outputs are boxes (n, 4) and scores (n, classes), or boxes, scores (n) and class numbers (n); a tuple in this order or a
    dictionary of "boxes", "scores" and "labels". Boxes are in ``box_format``, with ``normalized=True`` relative to the size
    of the image. ``activation`` converts scores to probabilities; the column ``background`` is excluded. Each class above
    ``threshold`` gives a detection of its box, or with ``best_class_only=True`` the best class only.

    The best ``candidates``, and of each class the best ``candidates_per_class``, enter the suppression at ``iou_threshold``
    (per class, or with ``class_agnostic=True`` over all), of which ``max_detections`` are kept. With ``image_size`` (height,
    width) of the model's input and ``original_size`` of the image, boxes are in pixels of the original and clipped to it;
    ``resize`` is the method by which it was resized: "stretch", or "letterbox" with equal margins. ``clip_first=True`` clips
    boxes to ``image_size`` before the suppression, too; boxes with a side below ``least_side`` are left out.

    Sources: torchvision's RetinaNet and Faster R-CNN; Jocher's YOLOv5 for the letterbox. Raises ModelError for invalid
    outputs, ConfigError for a missing size.
    """

    threshold: Share = 0.05
    iou_threshold: Share = 0.5
    max_detections: Annotated[int, Ge(1)] = 100
    candidates: Annotated[int, Ge(1)] = 1000
    candidates_per_class: Annotated[int, Ge(1)] | None = None
    box_format: Literal["xyxy", "xywh", "cxcywh"] = "xyxy"
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    background: int | None = None
    best_class_only: bool = False
    class_agnostic: bool = False
    normalized: bool = False
    image_size: tuple[Side, Side] | None = None
    original_size: tuple[Side, Side] | None = None
    resize: Literal["stretch", "letterbox"] = "stretch"
    clip_first: bool = False
    least_side: Annotated[float, Ge(0)] = 0.0
    names: tuple[str, ...] | None = None

    def check(self) -> None:
        if self.image_size is None and (self.normalized or self.original_size is not None):
            raise ConfigError(
                "Detection wants image_size, the height and width of the model's input, for boxes in pixels"
            )

    def __call__(self, output) -> Detections:
        boxes, scores, labels = self._candidates(*self._parts(output))
        if self.clip_first and self.image_size is not None:
            boxes = ops.clip_boxes(boxes, (1, 1) if self.normalized else self.image_size)
        selection = scores > self.threshold
        if self.least_side:
            selection &= (boxes[:, 2:] - boxes[:, :2]).min(1, initial=np.inf) >= self.least_side
        boxes, scores, labels = boxes[selection], scores[selection], labels[selection]
        if self.candidates_per_class is not None and len(labels):
            places = [np.flatnonzero(labels == label) for label in np.unique(labels)]
            selection = np.concatenate([at[top_k_indices(scores[at], self.candidates_per_class)] for at in places])
            boxes, scores, labels = boxes[selection], scores[selection], labels[selection]
        first = top_k_indices(scores, self.candidates)
        boxes, scores, labels = boxes[first], scores[first], labels[first]
        kinds = np.zeros_like(labels) if self.class_agnostic else labels
        selection = ops.batched_nms(boxes, scores, kinds, self.iou_threshold)[: self.max_detections]
        boxes, scores, labels = self._to_original(boxes[selection]), scores[selection], labels[selection]
        if self.names is not None and labels.size and not 0 <= labels.min() <= labels.max() < len(self.names):
            raise ModelError(f"Detection has {len(self.names)} names, the output has a class {labels.max()}")
        return Detections(boxes, scores, labels, self.names and tuple(self.names[i] for i in labels))

    def _parts(self, output: Any) -> list[np.ndarray]:
        if isinstance(output, dict):
            output = tuple(output[name] for name in ("boxes", "scores", "labels") if name in output)
        parts = [array_of(part) for part in (output if isinstance(output, list | tuple) else (output,))]
        shapes = [part.shape for part in parts]
        ranks = [len(shape) for shape in shapes]
        if ranks not in ([2, 1], [2, 2], [2, 1, 1]) or shapes[0][1] != 4 or len({shape[0] for shape in shapes}) > 1:
            raise ModelError(
                f"Detection wants boxes (n, 4) and scores (n, classes), or boxes, scores (n) and classes (n), "
                f"received {', '.join(map(str, shapes))}"
            )
        return parts

    def _candidates(self, boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray | None = None):
        """Boxes as corners, scores and classes of all pairs of a box and a class."""
        boxes = ops.box_convert(boxes, self.box_format, "xyxy")
        if self.activation == "softmax" and scores.ndim == 2:
            scores = softmax(scores)
        elif self.activation != "none":
            scores = sigmoid(scores)
        if labels is not None:
            return boxes, scores, labels.astype("int64")
        scores = scores if scores.ndim == 2 else scores[:, None]
        kinds = np.arange(scores.shape[1])
        if self.background is not None:
            if not -len(kinds) <= self.background < len(kinds):
                raise ModelError(f"Detection: the output has {len(kinds)} classes and none numbered {self.background}")
            scores, kinds = np.delete(scores, self.background, axis=1), np.delete(kinds, self.background)
        if self.best_class_only and kinds.size:
            chosen = scores.argmax(1)
            return boxes, scores[np.arange(len(boxes)), chosen], kinds[chosen]
        return boxes.repeat(len(kinds), axis=0), scores.ravel(), np.tile(kinds, len(boxes))

    def _to_original(self, boxes: np.ndarray) -> np.ndarray:
        """Convert boxes to pixels of the original image."""
        if self.image_size is None:
            return boxes
        height, width = self.image_size
        if self.normalized:
            boxes = boxes * np.array((width, height) * 2, boxes.dtype)
        if self.original_size is None:
            return ops.clip_boxes(boxes, self.image_size)
        rows, columns = self.original_size
        shares, margins = (columns / width, rows / height), (0.0, 0.0)
        if self.resize == "letterbox":
            shrunk = min(height / rows, width / columns)
            shares, margins = (1 / shrunk,) * 2, ((width - columns * shrunk) / 2, (height - rows * shrunk) / 2)
        boxes = (boxes - np.array(margins * 2, boxes.dtype)) * np.array(shares * 2, boxes.dtype)
        return ops.clip_boxes(boxes, self.original_size)

    def for_metrics(self, results) -> np.ndarray:
        """(N, most, 6) as x1, y1, x2, y2, score, class, for `MeanAveragePrecision`, padded with rows of class -1."""
        return _pad_rows([np.concatenate([r.boxes, r.scores[:, None], r.labels[:, None]], 1) for r in results], 6)

    def targets_for_metrics(self, targets) -> np.ndarray:
        """(N, most, 5) as x1, y1, x2, y2, class, from the objects (k, 5) of each image."""
        return _pad_rows([np.asarray(objects) for objects in targets], 5)


def _pad_rows(parts: list[np.ndarray], columns: int) -> np.ndarray:
    """Stack the rows of all images, padded with -1."""
    rows = np.full((len(parts), max(map(len, parts)), columns), -1.0)
    for at, part in enumerate(parts):
        rows[at, : len(part)] = part.reshape(-1, columns)
    return rows
