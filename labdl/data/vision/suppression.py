"""Overlapping detections: which boxes remain. Boxes are (N, 4) in the format "xyxy"."""

from __future__ import annotations

from typing import Literal

import numpy as np

from labdl.data.boxes import clip_boxes
from labdl.data.vision.box_overlap import box_iou, find_large_boxes
from labdl.errors import ConfigError


def nms(boxes: np.ndarray, scores: np.ndarray, iou_threshold: float) -> np.ndarray:
    """Positions of the boxes that overlap no box of a higher score by more than the threshold, by falling score.

    Source: torchvision.ops.nms.
    """
    order = np.argsort(-np.asarray(scores), kind="stable")
    kept = []
    while len(order):
        first, order = order[0], order[1:]
        kept.append(first)
        order = order[~(box_iou(boxes[first : first + 1], boxes[order])[0] > iou_threshold)]
    return np.array(kept, "int64")


def batched_nms(boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray, iou_threshold: float) -> np.ndarray:
    """`nms` in which only boxes of one class compete, by falling score. Source: torchvision.ops.batched_nms."""
    if not len(boxes):
        return np.zeros(0, "int64")
    kept = [
        np.flatnonzero(classes == c)[nms(boxes[classes == c], scores[classes == c], iou_threshold)]
        for c in np.unique(classes)
    ]
    positions = np.concatenate(kept)
    return positions[np.argsort(-scores[positions], kind="stable")]


def soft_nms(
    boxes: np.ndarray,
    scores: np.ndarray,
    *,
    method: Literal["gaussian", "linear"] = "gaussian",
    sigma: float = 0.5,
    iou_threshold: float = 0.3,
    score_threshold: float = 0.001,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and lowered scores of boxes: a box loses score by its overlap with boxes of higher scores.

    "gaussian" multiplies by exp(-iou² / sigma), "linear" by 1 - iou above the threshold. Boxes below ``score_threshold`` are
    left out. Source: Bodla et al. 2017.
    """
    if method not in ("gaussian", "linear"):
        raise ConfigError(f'soft_nms wants the method "gaussian" or "linear", received {method!r}')
    left = np.arange(len(boxes))
    values = np.array(scores, "float64")
    kept: list[int] = []
    while len(left):
        best = left[np.argmax(values[left])]
        if values[best] < score_threshold:
            break
        kept.append(int(best))
        left = left[left != best]
        overlap = box_iou(boxes[best : best + 1], boxes[left])[0]
        if method == "gaussian":
            values[left] *= np.exp(-(overlap**2) / sigma)
        else:
            values[left] *= np.where(overlap > iou_threshold, 1 - overlap, 1)
    return np.array(kept, "int64"), values[kept].astype(np.result_type(scores, "float32"))


def generate_proposals(
    scores: np.ndarray,
    deltas: np.ndarray,
    anchors: np.ndarray,
    canvas: tuple[int, int],
    *,
    variances: np.ndarray | None = None,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes (K, 4) and scores (K,) of a region proposal network for one picture of ``canvas`` (height, width).

    ``scores`` are (anchors of a place, rows, columns), ``deltas`` (4 × anchors of a place, rows, columns), ``anchors`` and
    ``variances`` (rows, columns, anchors of a place, 4). Source: paddle.vision.ops.generate_proposals with
    pixel_offset=False.
    """
    count = scores.shape[0]
    flat = scores.transpose(1, 2, 0).reshape(-1)
    moves = deltas.reshape(count, 4, *deltas.shape[1:]).transpose(2, 3, 0, 1).reshape(-1, 4)
    order = np.argsort(-flat, kind="stable")[: pre_nms_top_n if pre_nms_top_n > 0 else None]
    flat, moves = flat[order], moves[order]
    base = np.asarray(anchors).reshape(-1, 4)[order]
    if variances is not None:
        moves = moves * np.asarray(variances).reshape(-1, 4)[order]
    sizes = base[:, 2:] - base[:, :2]
    centers = base[:, :2] + sizes / 2 + moves[:, :2] * sizes
    halves = np.exp(np.minimum(moves[:, 2:], np.log(1000 / 16))) * sizes / 2
    boxes = clip_boxes(np.concatenate([centers - halves, centers + halves], 1).astype("float32"), canvas)
    large = find_large_boxes(boxes, max(min_size, 1.0))
    boxes, flat = boxes[large], flat[large]
    kept = nms(boxes, flat, nms_thresh)[: post_nms_top_n if post_nms_top_n > 0 else None]
    return boxes[kept], flat[kept]
