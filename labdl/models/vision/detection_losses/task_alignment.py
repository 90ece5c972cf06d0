"""Task-aligned assignment: the cells of an object are those whose class and box are good together (Feng et al., 2021)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from labdl import ops
from labdl.errors import ModelError
from labdl.models.vision.cells import STRIDES
from labdl.models.vision.detection_losses.objects import Objects, choose
from labdl.spec import show

_TINY = 1e-9


class Assignment(NamedTuple):
    """Of each cell: whether it has an object (N, A), its box (N, A, 4), and the target probabilities (N, A, classes)."""

    positive: Any
    boxes: Any
    scores: Any


def cells_of_image(name: str, image_size: tuple[int, int], count: int):
    """Centers (1, A, 2) in cells and strides (1, A, 1) in pixels. Raises ModelError unless there are so many cells."""
    centers, strides = [], []
    for stride in STRIDES:
        rows, columns = (n // stride for n in image_size)
        y, x = np.meshgrid(np.arange(rows) + 0.5, np.arange(columns) + 0.5, indexing="ij")
        centers.append(np.stack([x.ravel(), y.ravel()], axis=-1))
        strides.append(np.full((rows * columns, 1), stride))
    whole = np.concatenate(centers).astype("float32")[None]
    if count != whole.shape[1]:
        raise ModelError(
            f"{name} is for images of {show(image_size)}, which have {whole.shape[1]} cells, received "
            f"outputs of {count} cells: give it the image_size of the images"
        )
    return whole, np.concatenate(strides).astype("float32")[None]


def assign_cells(
    probabilities, boxes, centers, objects: Objects, *, overlap: Callable, candidates: int, alpha: float, beta: float
) -> Assignment:
    """The cells (N, A) of objects, by probabilities (N, A, classes), boxes (N, A, 4) and centers (1, A, 2) in pixels.

    ``overlap`` is the measure of `labdl.ops` by which boxes and objects are compared; see `TaskAlignedLoss` for the others.
    """
    first, last = (ops.expand_dims(part, 2) for part in (objects.boxes[:, :, :2], objects.boxes[:, :, 2:]))
    middle = centers[:, None]
    reach = ops.min(ops.concat([middle - first, last - middle], axis=-1), axis=-1)  # (N, G, A)
    inside = ops.logical_and(ops.greater(reach, _TINY), ops.expand_dims(objects.valid, -1))
    shared = ops.where(inside, ops.maximum(overlap(objects.boxes, boxes), 0.0), 0.0)
    kinds = ops.one_hot(objects.classes, probabilities.shape[-1])
    scores = ops.where(inside, ops.matmul(kinds, ops.permute_dims(probabilities, (0, 2, 1))), 0.0)
    measure = ops.pow(scores, alpha) * ops.pow(shared, beta)
    best, _ = ops.topk(measure, min(candidates, centers.shape[1]), axis=2)
    # a cell of measure 0 would have no weight
    is_best = ops.logical_and(ops.greater_equal(measure, best[:, :, -1:]), ops.greater(measure, 0.0))
    # a cell of several objects goes to the one that its box overlaps most
    several = ops.greater(ops.sum(ops.astype(is_best, "int64"), axis=1, keepdims=True), 1)
    rows = ops.cumulative_sum(ops.astype(ops.greater(shared, -1.0), "int64"), axis=1) - 1
    winner = ops.equal(rows, ops.argmax(shared, axis=1, keepdims=True))
    share = ops.astype(ops.where(several, winner, is_best), "float32")
    places = ops.argmax(share, axis=1)
    positive = ops.greater(ops.sum(share, axis=1), 0.0)
    measure = measure * share
    most = ops.max(shared * share, axis=2, keepdims=True)
    weights = ops.max(measure * most / (ops.max(measure, axis=2, keepdims=True) + _TINY), axis=1)
    targets = ops.one_hot(choose(objects.classes, places), probabilities.shape[-1])
    level = ops.expand_dims(ops.where(positive, weights, 0.0), -1)
    return Assignment(positive, choose(objects.boxes, places), ops.stop_gradient(targets * level))
