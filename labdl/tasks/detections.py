"""Detections of a batch as metrics take them: those of low scores too, because precision is measured at every recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl import ops
from labdl.data.boxes import clip_boxes, convert_boxes
from labdl.data.vision.mask_pasting import paste_mask
from labdl.models.vision.detector_form import DetectorForm

_LEAST = 0.01  # score of a detection
_CANDIDATES, _MOST = 1000, 100  # before and after the suppression, of a picture


def select_detections(form: DetectorForm, output: Sequence[np.ndarray], canvas: tuple[int, int]) -> Any:
    """Detections (N, most, 6) as x1, y1, x2, y2, score, class, of the outputs of a detector in evaluation.

    Pictures with fewer have rows of class -1 at their end. ``canvas`` is the height and width of the inputs. Of a form with
    masks the result is a dictionary of these "boxes" and of "masks", an array (most, height, width) for each picture. Those
    with a score above 0.01 count, the best 100 of a picture.
    """
    read = [form.read([part[at] for part in output]) for at in range(len(output[0]))]
    if form.postprocess == "instance_segmentation":
        return _with_masks(read, canvas)
    return _pad([_select(form, parts, canvas) for parts in read])


def _select(form: DetectorForm, parts: Sequence[np.ndarray], canvas: tuple[int, int]) -> np.ndarray:
    boxes, scores, *rest = parts
    if rest:
        owners, kinds, scores = np.arange(len(boxes)), rest[0], scores
    else:
        if (background := form.settings.get("background")) is not None:
            scores = scores.copy()
            scores[:, background] = 0.0
        if form.settings.get("best_class_only"):
            best = scores.argmax(1)
            scores = np.where(np.arange(scores.shape[1]) == best[:, None], scores, 0.0)
        owners, kinds = np.nonzero(scores > _LEAST)
        scores = scores[owners, kinds]
    order = np.argsort(-scores, kind="stable")[:_CANDIDATES]
    order = order[scores[order] > _LEAST]
    owners, kinds, scores = owners[order], np.asarray(kinds)[order], scores[order]
    corners = convert_boxes(boxes[owners], form.settings.get("box_format", "xyxy"), "xyxy")
    corners = clip_boxes(corners, canvas)
    best = ops.batched_nms(corners, scores, kinds, form.settings.get("iou_threshold", 0.5))[:_MOST]
    return np.concatenate([corners[best], scores[best, None], kinds[best, None]], 1)


def _with_masks(read: Sequence[Sequence[np.ndarray]], canvas: tuple[int, int]) -> dict[str, Any]:
    rows, masks = [], []
    for boxes, scores, kinds, shares in read:
        chosen = np.flatnonzero(scores > _LEAST)[:_MOST]
        rows.append(np.concatenate([boxes[chosen], scores[chosen, None], kinds[chosen, None]], 1))
        masks.append([paste_mask(shares[at], boxes[at], canvas) for at in chosen])
    whole = _pad(rows)
    stacks = [np.zeros((whole.shape[1], *canvas), bool) for _ in masks]
    for stack, own in zip(stacks, masks, strict=True):
        for at, mask in enumerate(own):
            stack[at] = mask
    return {"boxes": whole, "masks": stacks}


def _pad(rows: Sequence[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows), default=0), 6), -1.0)
    for row, own in zip(padded, rows, strict=True):
        row[: len(own)] = own
    return padded
