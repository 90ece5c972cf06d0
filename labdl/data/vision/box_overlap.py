"""Areas of boxes and how much they overlap. Boxes are (N, 4) in the format "xyxy"."""

from __future__ import annotations

import math

import numpy as np


def box_area(boxes: np.ndarray) -> np.ndarray:
    """Areas (N,) of boxes. Source: torchvision.ops.box_area."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union (N, M) of boxes (N, 4) and others (M, 4). Source: torchvision.ops.box_iou."""
    overlap, union = _overlap(boxes, others)
    return _divide(overlap, union)


def generalized_box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """IoU less the part of the smallest common box that neither covers, (N, M).

    Source: torchvision.ops.generalized_box_iou (Rezatofighi et al. 2019).
    """
    overlap, union = _overlap(boxes, others)
    around = np.prod(_common_box(boxes, others), -1)
    return _divide(overlap, union) - _divide(around - union, around)


def distance_box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """IoU less the squared distance of centers over the squared diagonal of the smallest common box, (N, M).

    Source: torchvision.ops.distance_box_iou (Zheng et al. 2020).
    """
    diagonal = np.square(_common_box(boxes, others)).sum(-1)
    centers, other_centers = ((b[:, :2] + b[:, 2:]) / 2 for b in (boxes, others))
    distance = np.square(centers[:, None] - other_centers[None]).sum(-1)
    return box_iou(boxes, others) - _divide(distance, diagonal)


def complete_box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """`distance_box_iou` less a term for different proportions, (N, M).

    Source: torchvision.ops.complete_box_iou (Zheng et al. 2020).
    """
    angle, other_angle = (np.arctan2(b[:, 2] - b[:, 0], b[:, 3] - b[:, 1]) for b in (boxes, others))
    proportions = 4 / math.pi**2 * np.square(angle[:, None] - other_angle[None])
    iou = box_iou(boxes, others)
    weight = _divide(proportions, 1 - iou + proportions)
    return distance_box_iou(boxes, others) - weight * proportions


def find_large_boxes(boxes: np.ndarray, min_size: float) -> np.ndarray:
    """Positions of boxes with both sides of at least ``min_size``. Source: torchvision.ops.remove_small_boxes."""
    return np.flatnonzero((boxes[:, 2] - boxes[:, 0] >= min_size) & (boxes[:, 3] - boxes[:, 1] >= min_size))


def masks_to_boxes(masks: np.ndarray) -> np.ndarray:
    """Boxes (N, 4) around the non-zero pixels of masks (N, height, width), float32; of an empty mask zeros.

    The right and bottom edges are the last pixels, not one behind them. Source: torchvision.ops.masks_to_boxes.
    """
    boxes = np.zeros((len(masks), 4), "float32")
    for box, mask in zip(boxes, np.asarray(masks), strict=True):
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        if len(rows):
            box[:] = columns[0], rows[0], columns[-1], rows[-1]
    return boxes


def _overlap(boxes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.maximum(boxes[:, None, :2], others[None, :, :2]), np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    overlap = np.prod(np.clip(high - low, 0, None), -1)
    return overlap, box_area(boxes)[:, None] + box_area(others)[None] - overlap


def _common_box(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    low, high = np.minimum(boxes[:, None, :2], others[None, :, :2]), np.maximum(boxes[:, None, 2:], others[None, :, 2:])
    return np.clip(high - low, 0, None)


def _divide(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The quotient; 0 where both are 0, as of boxes without area."""
    return np.divide(
        one,
        other,
        out=np.zeros(np.broadcast_shapes(one.shape, other.shape), np.result_type(one, other, "f4")),
        where=other != 0,
    )
