"""Matching of detections with objects by their boxes or masks, with the rules of the COCO challenge (Lin et al., 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.detection_keypoints import keypoint_similarities

_EXACT = 1 << 24  # largest count of pixels that float32 adds up exactly


class Matches(NamedTuple):
    """Scores and classes of detections, whether they are found or ignored at each threshold, and classes of the objects."""

    scores: np.ndarray
    classes: np.ndarray
    found: np.ndarray
    ignored: np.ndarray
    objects: np.ndarray


def match_detections(
    name: str,
    output: Any,
    target: Any,
    *,
    thresholds: Sequence[float],
    limit: int,
    masks: bool = False,
    sigmas: Sequence[float] | None = None,
    area: tuple[float, float] = (0, np.inf),
) -> Matches:
    """Match the best ``limit`` detections of each class in each image; the inputs are those of `MeanAveragePrecision`.

    With ``sigmas`` keypoints are compared. Detections of crowds, of objects without labeled points, and of objects outside of
    the range ``area``, are ignored, as are unmatched ones outside of it. A detection whose score is NaN is none; one with NaN
    in its box finds nothing.
    Raises ModelError for inputs of other forms.
    """
    shapes, kind = None, "masks" if masks else "keypoints"
    if masks or sigmas is not None:
        output, found = _with_parts(name, output, kind)
        target, true = _with_parts(name, target, kind)
        shapes = found, true
    output, target = np.asarray(output, "float64"), np.asarray(target, "float64")
    if (
        output.ndim != 3
        or target.ndim != 3
        or output.shape[2] != 6
        or target.shape[2] not in (5, 6, 7)
        or len(output) != len(target)
    ):
        raise ModelError(
            f"{name} wants detections (N, boxes, 6) as x1, y1, x2, y2, score, class and objects (N, boxes, 5) as x1, y1, x2, "
            f"y2, class, with a crowd as 6th and an area as 7th if there are any, received {output.shape} and {target.shape}"
        )
    order = np.argsort(-np.where(output[..., 5] < 0, -np.inf, output[..., 4]), axis=1, kind="stable")
    output = np.take_along_axis(output, order[..., None], 1)
    crowd = target[..., 5] > 0 if target.shape[2] > 5 else np.zeros(target.shape[:2], bool)
    hidden: Any = False
    if sigmas is not None and shapes is not None:
        true = target[..., 6] if target.shape[2] > 6 else box_areas(target[..., :4], target[..., :4])[0]
        ratios, own, labeled = keypoint_similarities(name, *shapes, target[..., :4], true, sigmas)
        if own.shape != order.shape:
            raise ModelError(
                f"{name}(keypoints=True) has {order.shape[1]} boxes a picture and keypoints of {own.shape[1]}"
            )
        ratios, own = np.take_along_axis(ratios, order[..., None], 1), np.take_along_axis(own, order, 1)
        hidden = ~labeled
    else:
        if shapes is None:
            own, true, shared = box_areas(output[..., :4], target[..., :4])
        else:
            own, true, shared = _mask_areas(name, *shapes, order, target.shape[1])
        ratios = _overlaps(own, true, shared, crowd)
    classes, objects = output[..., 5], target[..., 4]
    real = (classes >= 0) & ~np.isnan(output[..., 4])
    alike = (classes[:, :, None] == classes[:, None]) & real[:, None]
    kept = real & (np.tril(alike).sum(-1) <= limit)  # the highest scores of each class in each image
    same = (classes[:, :, None] == objects[:, None]) & (objects >= 0)[:, None] & kept[:, :, None]
    size = target[..., 6] if target.shape[2] > 6 else true
    left_out = crowd | hidden | (size < area[0]) | (size > area[1])
    found, ignored = _match(np.where(same, ratios, -1.0), thresholds, left_out, crowd)
    ignored |= ~found & ((own < area[0]) | (own > area[1]))[..., None]
    return Matches(output[..., 4][kept], classes[kept], found[kept], ignored[kept], objects[(objects >= 0) & ~left_out])


def _match(ratios: np.ndarray, thresholds: Sequence[float], left_out: np.ndarray, crowd: np.ndarray):
    """Give each detection, by falling score, the free object with the largest overlap, or else one that is left out."""
    count, detections, objects = ratios.shape
    levels = np.minimum(np.array(thresholds), 1 - 1e-10)
    found, ignored = np.zeros((2, count, detections, len(levels)), bool)
    free = np.ones((count, len(levels), objects), bool)
    images = np.arange(count)
    for place in range(detections if objects else 0):
        hit = np.zeros((count, len(levels)), bool)
        for these in (~left_out, left_out):
            offered = np.where(free & these[:, None], ratios[:, place, None], -1.0)
            best = objects - 1 - offered[..., ::-1].argmax(-1)  # the last of equal ones
            enough = ~hit & (np.take_along_axis(offered, best[..., None], -1)[..., 0] >= levels)
            at, level = np.nonzero(enough)
            chosen = best[at, level]
            free[images[at], level, chosen] = crowd[images[at], chosen]  # a crowd is found any number of times
            found[at, place, level] = True
            ignored[at, place, level] = left_out[images[at], chosen]
            hit |= enough
            if not left_out.any():
                break
    return found, ignored


def _overlaps(own: np.ndarray, true: np.ndarray, shared: np.ndarray, crowd: np.ndarray) -> np.ndarray:
    """Intersection over union (N, D, G), for a crowd over the area of the detection."""
    union = own[:, :, None] + true[:, None] - shared
    whole = np.where(crowd[:, None], own[:, :, None], union)
    return np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)


def box_areas(boxes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Areas of boxes (N, D, 4) and (N, G, 4), and of their intersections in the same image (N, D, G)."""
    first, second = boxes[:, :, None], others[:, None]
    sides = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
    own, true = (np.clip(b[..., 2:] - b[..., :2], 0, None).prod(-1) for b in (boxes, others))
    return own, true, np.clip(sides, 0, None).prod(-1)


def _with_parts(name: str, value: Any, kind: str) -> tuple[Any, Any]:
    if not isinstance(value, Mapping) or "boxes" not in value or kind not in value:
        came = f"the keys {', '.join(map(str, value))}" if isinstance(value, Mapping) else type(value).__name__
        raise ModelError(f'{name}({kind}=True) wants a dictionary {{"boxes": ..., "{kind}": ...}}, received {came}')
    return value["boxes"], value[kind]


def _mask_areas(name: str, found: Any, true: Any, order: np.ndarray, objects: int):
    """Areas of masks and of their intersections as of `box_areas`, where ``order`` sorts the detections."""
    areas, others = np.zeros(order.shape), np.zeros((len(order), objects))
    shared = np.zeros((*order.shape, objects))
    for i, chosen in enumerate(order):
        sides = [np.asarray(masks[i]) if i < len(masks) else np.zeros(0) for masks in (found, true)]
        for side, wanted in zip(sides, (len(chosen), objects), strict=True):
            if side.ndim != 3 or len(side) != wanted or side.shape[1:] != sides[0].shape[1:]:
                raise ModelError(
                    f"{name}(masks=True) wants masks (boxes, height, width) of one size for the {len(chosen)} detections and "
                    f"{objects} objects of a picture, received {sides[0].shape} and {sides[1].shape}"
                )
        pixels = sides[0].shape[1] * sides[0].shape[2]
        ours, theirs = (
            (side > 0).reshape(len(side), -1).astype("float32" if pixels < _EXACT else "float64") for side in sides
        )
        ours = ours[chosen]
        areas[i], others[i], shared[i] = ours.sum(-1), theirs.sum(-1), ours @ theirs.T
    return areas, others, shared
