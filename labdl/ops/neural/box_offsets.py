"""Offsets of boxes to anchors, and a mask of non-maximum suppression: operators inside detectors."""

import math

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import concat, expand_dims, ones_like
from labdl.ops.control_flow import while_loop
from labdl.ops.math.arithmetic import divide, minimum, multiply
from labdl.ops.math.arithmetic import exp as exponential
from labdl.ops.math.arithmetic import log as logarithm
from labdl.ops.math.comparison import equal, greater, less, logical_and, logical_not, logical_or, not_equal
from labdl.ops.math.reduction import any as some
from labdl.ops.math.reduction import cumulative_sum
from labdl.ops.neural.boxes import _boxes, _iou, _of_pairs
from labdl.ops.neural.linear import tensor_like
from labdl.ops.operator import Number, Numbers, case, floats, ints, operator
from labdl.ops.precision.float32 import _narrow, _wide

_LIMIT = math.log(1000 / 16)  # of the logarithm of a change of size


def _centers_and_sizes(boxes):
    sizes = boxes[..., 2:] - boxes[..., :2]
    return boxes[..., :2] + 0.5 * sizes, sizes


def _pairs(weights, like):
    """The weights of centers and of sizes, as tensors of the backend of another one."""
    first, second, third, fourth = map(float, weights)
    return [tensor_like(like, np.array(pair), "float32") for pair in ([first, second], [third, fourth])]


@operator(
    rules.box_offsets,
    case(floats(3, 4), _boxes(3, 4)),
    case(floats(2, 3, 4), _boxes(1, 3, 4), (10.0, 10.0, 5.0, 5.0)),
    composite=True,
    precision="float32",
    options={"weights": Numbers(Number(0, above=True), 4)},
)
def box_decode(offsets, anchors, weights=(1.0, 1.0, 1.0, 1.0)):
    """Boxes (..., 4) as corners from their offsets to anchors (..., 4), which are corners too.

    Offsets are those of the center, in widths and heights of the anchor, and the logarithms of the changes of width and height,
    each times its weight. A size grows by 62.5 at most. Semantics: torchvision's BoxCoder (Girshick, 2014).
    """
    moves, changes = (
        divide(part, weight) for part, weight in zip(_halves(_wide(offsets)), _pairs(weights, anchors), strict=True)
    )
    centers, sizes = _centers_and_sizes(_wide(anchors))
    centers = multiply(moves, sizes) + centers
    half = multiply(exponential(minimum(changes, _LIMIT)), sizes) * 0.5
    return _narrow(concat([centers - half, centers + half], axis=-1), offsets, anchors)


def _halves(offsets):
    return offsets[..., :2], offsets[..., 2:]


@operator(
    rules.box_offsets,
    case(_boxes(3, 4), _boxes(3, 4)),
    case(_boxes(2, 3, 4), _boxes(1, 3, 4), (10.0, 10.0, 5.0, 5.0)),
    composite=True,
    precision="float32",
    options={"weights": Numbers(Number(0, above=True), 4)},
)
def box_encode(boxes, anchors, weights=(1.0, 1.0, 1.0, 1.0)):
    """The offsets (..., 4) from which `box_decode` finds the boxes (..., 4) again, which have an area.

    Semantics: torchvision's BoxCoder (Girshick, 2014).
    """
    centers, sizes = _centers_and_sizes(_wide(boxes))
    places, scales = _centers_and_sizes(_wide(anchors))
    moves, changes = divide(centers - places, scales), logarithm(divide(sizes, scales))
    parts = [multiply(part, weight) for part, weight in zip((moves, changes), _pairs(weights, anchors), strict=True)]
    return _narrow(concat(parts, axis=-1), boxes, anchors)


@operator(
    rules.nms_mask,
    case(_boxes(6, 4), floats(6), 0.5),
    case(_boxes(2, 6, 4), floats(2, 6), 0.3, ints(2, 6, high=2)),
    case(_boxes(0, 4), floats(0), 0.5),
    composite=True,
    differentiable=False,
    precision="float32",
    without_onnx="a loop whose length depends on the boxes",
)
def nms_mask(boxes, scores, iou_threshold, classes=None):
    """Whether each of the boxes (..., K, 4) is kept by `nms`, boolean (..., K); of ``classes`` (..., K) each for itself.

    Unlike `nms` it takes batches and has a shape that does not depend on the values, so models with it can be compiled. Of
    equal scores (..., K) the first counts as higher. It needs memory for K² numbers.
    """
    # starting from "all are kept", each iteration decides at least the boxes whose suppressors are decided
    one = ones_like(scores)
    rank = cumulative_sum(one, axis=-1)
    mine, others = expand_dims(scores, -1), expand_dims(scores, -2)
    first = less(expand_dims(rank, -1), expand_dims(rank, -2))
    earlier = logical_or(greater(mine, others), logical_and(equal(mine, others), first))
    suppresses = logical_and(greater(_of_pairs(_iou, _wide(boxes), _wide(boxes)), iou_threshold), earlier)
    if classes is not None:
        suppresses = logical_and(suppresses, equal(expand_dims(classes, -1), expand_dims(classes, -2)))

    def settle(survivors, _):
        settled = logical_not(some(logical_and(suppresses, expand_dims(survivors, -1)), axis=-2))
        return settled, some(not_equal(settled, survivors))

    survivors = equal(one, one)
    return while_loop(lambda survivors, changed: changed, settle, (survivors, True))[0]
