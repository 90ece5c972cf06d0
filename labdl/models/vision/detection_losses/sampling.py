"""Random samples of anchors and of regions, of one number for all images, so that a training step can be compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

from labdl import ops
from labdl.models.vision.detection_losses.objects import Objects, choose, overlaps, read_objects


class Matches(NamedTuple):
    """Of each anchor or region: the place of its object (N, A), whether it has one, and whether it is background (N, A)."""

    places: Any
    positive: Any
    negative: Any


def match_regions(objects: Objects, boxes, threshold: float) -> Matches:
    """The object that each box (N, K, 4) overlaps most, from the threshold on; the others with an area are background."""
    quality = overlaps(objects, boxes)
    best = ops.max(quality, axis=1)
    real = ops.all(ops.greater(boxes[:, :, 2:] - boxes[:, :, :2], 0.0), axis=-1)
    positive = ops.logical_and(real, ops.greater_equal(best, threshold))
    return Matches(ops.argmax(quality, axis=1), positive, ops.logical_and(real, ops.less(best, threshold)))


def sample_balanced(matches: Matches, size: int, share: float):
    """Two masks (N, A): the sampled ones with an object, at most ``share`` of ``size``, and background for the rest.

    Each is as likely as another; the numbers are those of the backend's generator, which `labdl.seed` sets.
    """
    noise = ops.random_uniform_like(ops.astype(matches.positive, "float32"))
    positive = _sample(matches.positive, noise, size, int(size * share))
    rest = size - ops.sum(ops.astype(positive, "int64"), axis=1, keepdims=True)
    return positive, _sample(matches.negative, noise, size, rest)


def _sample(candidates, noise, size: int, count):
    """Those of the candidates (N, A) with the largest noise, ``count`` of them, at most ``size``; a number or (N, 1)."""
    scores = ops.where(candidates, noise, -1.0)
    # there may be fewer anchors than are sampled
    none = ops.tile(ops.zeros_like(scores[:, :1]) - 1.0, (1, size))
    best, _ = ops.topk(ops.concat([scores, none], axis=1), size, axis=1)
    # the least noise that is sampled; nothing has the first of the list
    best = ops.concat([none[:, :1] + 3.0, best], axis=1)
    least = best[:, count : count + 1] if isinstance(count, int) else ops.take_along_axis(best, count, axis=1)
    return ops.logical_and(candidates, ops.greater_equal(noise, least))


def sample_regions(name: str, proposals, target, *, size: int, share: float, threshold: float):
    """Regions (N, size, 4) of the proposals (N, K, 4) and of the objects themselves, those with an object first.

    ``target`` are objects (N, G, 5) as for the losses of detectors. Where there are fewer regions, boxes of zeros follow.
    """
    objects = read_objects(name, target)
    none = ops.zeros_like(proposals[:, :1])
    own = ops.where(ops.expand_dims(objects.valid, -1), objects.boxes, 0.0)
    boxes = ops.concat([proposals, own, ops.tile(none, (1, size, 1))], axis=1)
    positive, negative = sample_balanced(match_regions(objects, boxes, threshold), size, share)
    score = ops.where(positive, 2.0, ops.where(negative, 1.0, ops.zeros_like(boxes[:, :, 0])))
    score, order = ops.topk(score, size, axis=1)
    return ops.where(ops.expand_dims(ops.greater(score, 0.0), -1), choose(boxes, order), 0.0)
