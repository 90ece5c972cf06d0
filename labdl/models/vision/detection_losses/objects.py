"""The objects that are the targets of detectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ModelError
from labdl.spec import show


class Objects(NamedTuple):
    """Boxes (N, G, 4), classes (N, G) and which rows are objects (N, G); there is at least one row."""

    boxes: Any
    classes: Any
    valid: Any


def read_objects(name: str, target) -> Objects:
    """Objects (N, G, 5) with one more row, which is none. Raises ModelError for targets of another form."""
    shape = tuple(dispatch.spec_of(target).shape)
    if len(shape) != 3 or shape[2] != 5:
        raise ModelError(
            f"{name} wants objects (N, objects, 5) as x1, y1, x2, y2, class, padded with rows of class -1, received "
            f"{show(shape)}"
        )
    target = ops.astype(target, "float32")
    # an image, or a whole batch, may have no objects
    row = ops.tensor_like(target, np.array([[[0, 0, 1, 1, -1]]]), "float32")
    none = ops.zeros_like(ops.sum(target, axis=(1, 2), keepdims=True)) + row
    target = ops.concat([target, none], axis=1)
    sides = target[:, :, 2:4] - target[:, :, :2]
    valid = ops.logical_and(ops.greater_equal(target[:, :, 4], 0.0), ops.all(ops.greater(sides, 0.0), axis=-1))
    # what is no object gets a box with an area, so that no logarithm and no quotient of it is infinite
    boxes = ops.where(ops.expand_dims(valid, -1), target[:, :, :4], row[:, :, :4])
    return Objects(boxes, ops.astype(ops.where(valid, target[:, :, 4], 0.0), "int64"), valid)


def choose(rows, places):
    """Of rows (N, G, ...) those at the places (N, A)."""
    extra = len(rows.shape) - len(places.shape)
    return ops.take_along_axis(rows, places if not extra else ops.expand_dims(places, -1), axis=1)


def overlaps(objects: Objects, boxes):
    """Intersection over union (N, G, A) of objects and boxes (N, A, 4); -1 of what is no object."""
    return ops.where(ops.expand_dims(objects.valid, -1), ops.box_iou(objects.boxes, boxes), -1.0)


def paired_iou(boxes, targets):
    """Intersection over union (...) of each box (..., 4), as corners, and its own target."""
    sides = ops.minimum(boxes[..., 2:], targets[..., 2:]) - ops.maximum(boxes[..., :2], targets[..., :2])
    sides = ops.relu(sides)
    shared = sides[..., 0] * sides[..., 1]
    areas = [(part[..., 2] - part[..., 0]) * (part[..., 3] - part[..., 1]) for part in (boxes, targets)]
    return shared / (areas[0] + areas[1] - shared + 1e-9)
