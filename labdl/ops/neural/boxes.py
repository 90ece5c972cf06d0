"""Boxes of object detection, (x1, y1, x2, y2) with x1 <= x2 and y1 <= y2 (torchvision's semantics)."""

import math

import numpy as np

from labdl import dispatch
from labdl.ops import rules
from labdl.ops.array.shape import astype, concat, expand_dims, ones_like, permute_dims, reshape, stack, take, tile
from labdl.ops.array.sorting import argsort, nonzero
from labdl.ops.math.arithmetic import ceil, clip, divide, floor, maximum, minimum, multiply, square
from labdl.ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    not_equal,
    where,
)
from labdl.ops.math.reduction import any as some
from labdl.ops.math.reduction import cumulative_sum
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum as total
from labdl.ops.math.trigonometry import atan2
from labdl.ops.neural.activation import relu
from labdl.ops.neural.gradient import stop_gradient
from labdl.ops.operator import Choice, case, floats, ints, operator
from labdl.ops.operator.checks import refuse_beyond_memory
from labdl.ops.precision.float32 import _narrow, _wide
from labdl.spec import Spec, per_axis


def _order_corners(values):
    """Sort random numbers to valid boxes with a minimum size."""
    if values.shape[-1:] != (4,):
        return values
    corners = np.sort(values.reshape(*values.shape[:-1], 2, 2), axis=-2).reshape(values.shape)
    return corners + np.array([0, 0, 0.5, 0.5])


def _boxes(*shape: int, low: float = -2.0, high: float = 2.0):
    return floats(*shape, low=low, high=high, transform=_order_corners)


_PAIRS = (case(_boxes(3, 4), _boxes(2, 4)), case(_boxes(2, 3, 4), _boxes(2, 2, 4)), case(_boxes(2, 4), _boxes(0, 4)))


@operator(rules.box_area, case(_boxes(3, 4)), case(_boxes(2, 3, 4)), composite=True, precision="float32")
def box_area(boxes, /):
    """Areas (...) of boxes (..., 4)."""
    return _area(boxes[..., 2:] - boxes[..., :2])


def _area(sides):
    return multiply(sides[..., 0], sides[..., 1])


# conversions of the first and the last two numbers of a box
_TO_CORNERS = {
    "xyxy": lambda a, b: (a, b),
    "xywh": lambda a, b: (a, a + b),
    "cxcywh": lambda a, b: (a - 0.5 * b, a + 0.5 * b),
}
_FROM_CORNERS = {
    "xyxy": lambda a, b: (a, b),
    "xywh": lambda a, b: (a, b - a),
    "cxcywh": lambda a, b: (0.5 * (a + b), b - a),
}


@operator(
    rules.box_convert,
    case(floats(3, 4), "xyxy", "cxcywh"),
    case(floats(3, 4), "cxcywh", "xyxy"),
    case(floats(2, 3, 4), "xywh", "xyxy"),
    case(floats(4), "xyxy", "xywh"),
    composite=True,
    precision="float32",
    options={"in_format": Choice(*rules.FORMATS), "out_format": Choice(*rules.FORMATS)},
)
def box_convert(boxes, in_format, out_format):
    """Boxes (..., 4) in another format: "xyxy" two corners, "xywh" corner and size, "cxcywh" center and size.

    Semantics: torchvision.ops.box_convert.
    """
    return concat(_FROM_CORNERS[out_format](*_TO_CORNERS[in_format](boxes[..., :2], boxes[..., 2:])), axis=-1)


@operator(
    rules.clip_boxes,
    case(floats(3, 4, low=-4, high=9), (5, 6)),
    case(floats(2, 3, 4), 1),
    composite=True,
    precision="float32",
)
def clip_boxes(boxes, size):
    """Boxes (..., 4) clipped to an image of size (height, width).

    Semantics: torchvision.ops.clip_boxes_to_image.
    """
    height, width = per_axis(size, 2, "size (height, width)")
    ends = (width, height, width, height)
    return concat([clip(boxes[..., k : k + 1], 0.0, float(end)) for k, end in enumerate(ends)], axis=-1)


def _overlap(first, second):
    """Areas of the intersection and of the union of boxes that broadcast."""
    sides = relu(minimum(first[..., 2:], second[..., 2:]) - maximum(first[..., :2], second[..., :2]))
    common = _area(sides)
    return common, box_area(first) + box_area(second) - common


def _hull(first, second):
    """Width and height (..., 2) of the enclosing boxes."""
    return maximum(first[..., 2:], second[..., 2:]) - minimum(first[..., :2], second[..., :2])


def _of_pairs(measure, first, second):
    """A measure of every first box (..., N, 4) with every second one (..., M, 4)."""
    return _narrow(measure(expand_dims(_wide(first), -2), expand_dims(_wide(second), -3)), first, second)


def _iou(first, second, epsilon=0.0):
    common, union = _overlap(first, second)
    return divide(common, union + epsilon)


def _giou(first, second, epsilon=0.0):
    common, union = _overlap(first, second)
    area = _area(_hull(first, second))
    return divide(common, union + epsilon) - divide(area - union, area + epsilon)


def _diou(first, second, epsilon=0.0):
    """`_iou` less the squared distance of the centers over the squared diagonal of the hull."""
    centers = 0.5 * (first[..., :2] + first[..., 2:] - second[..., :2] - second[..., 2:])
    diagonal = total(square(_hull(first, second)), axis=-1)
    return _iou(first, second, epsilon) - divide(total(square(centers), axis=-1), diagonal + 1e-7)


def _slant(sides):
    """The arc tangent of width by height, also of boxes without height; theirs without width too is 0."""
    width, height = sides[..., 0], sides[..., 1]
    turned = where(less(height, 0), -1.0, 1.0)
    return atan2(multiply(width, turned), multiply(height, turned))


def _ciou(first, second, epsilon=0.0):
    """`_diou` less a penalty for unlike aspect ratios; its trade-off is a constant to the gradient, as in the paper."""
    angles = [_slant(b[..., 2:] - b[..., :2]) for b in (first, second)]
    gap = square(angles[0] - angles[1]) * (4 / math.pi**2)
    trade_off = stop_gradient(divide(gap, 1 - _iou(first, second, epsilon) + gap + 1e-7))
    return _diou(first, second, epsilon) - multiply(trade_off, gap)


@operator(rules.box_pairs, *_PAIRS, composite=True, precision="float32")
def box_iou(first, second, /):
    """Intersection over union (..., N, M) of every first box (..., N, 4) with every second one (..., M, 4).

    Semantics: torchvision.ops.box_iou.
    """
    return _of_pairs(_iou, first, second)


@operator(rules.box_pairs, *_PAIRS, composite=True, precision="float32")
def generalized_box_iou(first, second, /):
    """`box_iou` less the share of the enclosing box that neither covers (Rezatofighi et al., 2019)."""
    return _of_pairs(_giou, first, second)


@operator(rules.box_pairs, *_PAIRS, composite=True, precision="float32")
def distance_box_iou(first, second, /):
    """`box_iou` less the squared distance of the centers over that of the enclosing diagonal (Zheng et al., 2020)."""
    return _of_pairs(_diou, first, second)


# differentiable, but not equal to finite differences: the trade-off factor counts as a constant
@operator(rules.box_pairs, *_PAIRS, composite=True, differentiable=False, precision="float32")
def complete_box_iou(first, second, /):
    """`distance_box_iou` less a penalty for unlike aspect ratios, whose trade-off gets no gradient (Zheng et al., 2020)."""
    return _of_pairs(_ciou, first, second)


def _select_boxes(boxes, scores, iou_threshold, classes=None):
    """Positions of the boxes kept by non-maximum suppression, best first.

    A box is kept unless a kept one before it overlaps it. Starting from "all are kept", each iteration decides at least the
    boxes whose suppressors are decided, so the iterations are at most the length of the longest chain of overlapping boxes.
    """
    order = argsort(scores, descending=True, stable=True)
    ranked = _wide(take(boxes, order, axis=0))
    rank = cumulative_sum(ones_like(order), axis=0)
    earlier = less(expand_dims(rank, 1), expand_dims(rank, 0))
    suppresses = logical_and(greater(_of_pairs(_iou, ranked, ranked), iou_threshold), earlier)
    if classes is not None:
        of = take(classes, order, axis=0)
        suppresses = logical_and(suppresses, equal(expand_dims(of, 1), expand_dims(of, 0)))
    kept, changed = equal(order, order), True
    while changed:
        settled = logical_not(some(logical_and(suppresses, expand_dims(kept, 1)), axis=0))
        changed = bool(dispatch.owner(settled).to_numpy(some(not_equal(settled, kept))))
        kept = settled
    return take(order, nonzero(kept)[0], axis=0)


@operator(
    rules.nms,
    case(_boxes(6, 4), floats(6), 0.5),
    case(_boxes(0, 4), floats(0), 0.5),
    composite=True,
    differentiable=False,
    precision="float32",
    without_onnx="computed on the host",
)
def nms(boxes, scores, iou_threshold):
    """Positions of boxes (N, 4) that overlap no kept box of a higher score by more than a threshold, best first, int64.

    Their number depends on the values. Semantics: torchvision.ops.nms.
    """
    return _select_boxes(boxes, scores, iou_threshold)


@operator(
    rules.batched_nms,
    case(_boxes(6, 4), floats(6), ints(6, high=2), 0.5),
    composite=True,
    differentiable=False,
    precision="float32",
    without_onnx="computed on the host",
)
def batched_nms(boxes, scores, classes, iou_threshold):
    """`nms` within each class (N): positions of the kept boxes of all classes, best first, int64.

    Semantics: torchvision.ops.batched_nms.
    """
    return _select_boxes(boxes, scores, iou_threshold, classes)


def _count(reference, n):
    """Rows (K, n) of the numbers 0 to n - 1, for a reference (K, 1)."""
    return cumulative_sum(tile(ones_like(reference), (1, n)), axis=1) - 1


def _interpolation(start, size, bins, samples, most, limit):
    """Positions and weights along one axis of ``limit`` elements, of lower and upper neighbors: four (K, bins, samples).

    Bilinear interpolation reads each point from a lower and an upper neighbor; points outside have weight 0, and a bin is
    the mean of its points. ``samples`` of 0 or less takes one point for each unit of length of a bin, and ``most`` in one.
    """
    length = expand_dims(divide(size, float(bins)), -1)
    points = ones_like(length) * samples if samples > 0 else maximum(ceil(length), 0.0)
    weight = divide(1.0, maximum(points, 1.0))
    bin_, point = (
        expand_dims(_count(start, bins), -1),
        expand_dims(_count(start, most), 1),
    )
    at = expand_dims(start, -1) + multiply(bin_, length) + multiply(point + 0.5, multiply(length, weight))
    inside = logical_and(greater_equal(at, -1.0), less_equal(at, float(limit)))
    share = where(logical_and(inside, less(point, points)), weight, 0.0)
    at = where(inside, clip(at, 0.0, limit - 1.0), 0.0)  # NaN is not a position
    low = floor(at)
    high = minimum(low + 1, limit - 1.0)
    above = multiply(at - low, share)
    return astype(low, "int64"), astype(high, "int64"), share - above, above


def _most(points):
    """The largest number of points of any box; depends on values, so for eager use only."""
    return int(dispatch.owner(points).to_numpy(points).max(initial=1))


@operator(
    rules.pooled_boxes,
    case(floats(2, 3, 6, 7), _boxes(3, 4, low=-0.9, high=6), ints(3, high=2), (2, 3), sampling_ratio=2),
    case(
        floats(1, 2, 5, 5),
        _boxes(2, 4, low=0, high=9),
        ints(2, high=1),
        2,
        spatial_scale=0.5,
        sampling_ratio=1,
        aligned=True,
    ),
    case(
        floats(2, 5, 5, 2),
        _boxes(2, 4, low=0, high=5),
        ints(2, high=2),
        2,
        sampling_ratio=2,
        data_format="channels_last",
    ),
    composite=True,
    precision="float32",
)
def roi_align(
    x,
    boxes,
    batch_indices,
    output_size,
    *,
    spatial_scale=1.0,
    sampling_ratio=-1,
    aligned=False,
    data_format="channels_first",
):
    """Features (K, C, height, width) of each of K boxes: means of points interpolated between the features x (N, C, H, W).

    ``boxes`` (K, 4) times ``spatial_scale`` are positions in x, ``batch_indices`` (K) are the image of each.
    A bin of the output is the mean of ``sampling_ratio`` squared points; 0 or less takes about one for each element of x,
    which depends on the values and cannot be compiled.
    ``aligned`` puts the center of the first element at 0.5 (He et al., 2017, as corrected by Detectron2).
    Semantics: torchvision.ops.roi_align, with gradients for x and for the boxes.
    """
    features = x if data_format == "channels_last" else permute_dims(x, (0, 2, 3, 1))
    _, height, width, channels = features.shape
    rows, columns = per_axis(output_size, 2, "output_size")
    corners = _wide(boxes) * spatial_scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    sizes = sizes if aligned else maximum(sizes, 1.0)
    most = [
        sampling_ratio if sampling_ratio > 0 else _most(ceil(divide(sizes[:, a : a + 1], float(bins))))
        for a, bins in ((1, rows), (0, columns))
    ]
    refuse_beyond_memory("roi_align", Spec((boxes.shape[0], rows, most[0], columns, most[1], channels)))
    down = _interpolation(corners[:, 1:2], sizes[:, 1:2], rows, sampling_ratio, most[0], height)
    right = _interpolation(corners[:, 0:1], sizes[:, 0:1], columns, sampling_ratio, most[1], width)
    table = reshape(_wide(features), (-1, channels))
    images = clip(
        astype(batch_indices, "int64"), -(2**30), 2**30
    )  # the products of larger ones could be valid positions
    first = reshape(images, (-1, 1, 1, 1, 1)) * height
    result = None
    for y, share_y in ((down[0], down[2]), (down[1], down[3])):
        for z, share_x in ((right[0], right[2]), (right[1], right[3])):
            place = (first + y[:, :, :, None, None]) * width + z[:, None, None, :, :]
            share = multiply(share_y[:, :, :, None, None], share_x[:, None, None, :, :])
            part = multiply(take(table, place, axis=0), expand_dims(share, -1))
            result = part if result is None else result + part
    result = _narrow(total(result, axis=(2, 4)), x)
    return result if data_format == "channels_last" else permute_dims(result, (0, 3, 1, 2))


def _bins(start, end, bins, limit):
    """Masks of the positions in each bin from start to end: (K, bins, limit)."""
    size = divide(maximum(end - start + 1, 1.0), float(bins))
    k = _count(start, bins)
    first = clip(floor(multiply(k, size)) + start, 0.0, float(limit))
    after = clip(ceil(multiply(k + 1, size)) + start, 0.0, float(limit))
    at = expand_dims(_count(start, limit), 1)
    return logical_and(greater_equal(at, expand_dims(first, -1)), less(at, expand_dims(after, -1)))


def _nearest(x):
    """Round to the nearest integer, halves away from 0 as in C."""
    return where(less(x, 0), ceil(x - 0.5), floor(x + 0.5))


@operator(
    rules.pooled_boxes,
    case(floats(2, 3, 6, 7), _boxes(3, 4, low=0, high=6), ints(3, high=2), (2, 3)),
    case(
        floats(1, 5, 5, 2),
        _boxes(2, 4, low=0, high=9),
        ints(2, high=1),
        2,
        spatial_scale=0.5,
        data_format="channels_last",
    ),
    composite=True,
    precision="float32",
)
def roi_pool(x, boxes, batch_indices, output_size, *, spatial_scale=1.0, data_format="channels_first"):
    """The largest features (K, C, height, width) in each bin of each of K boxes, of features x (N, C, H, W).

    ``boxes`` (K, 4) times ``spatial_scale``, rounded, are positions in x; ``batch_indices`` (K) are the image of each;
    an empty bin gives 0. Source: Girshick, 2015. Semantics: torchvision.ops.roi_pool.
    """
    features = permute_dims(x, (0, 3, 1, 2)) if data_format == "channels_last" else x
    height, width = features.shape[2:]
    rows, columns = per_axis(output_size, 2, "output_size")
    corners = _nearest(_wide(stop_gradient(boxes)) * spatial_scale)
    down = _bins(corners[:, 1:2], corners[:, 3:4], rows, height)
    right = _bins(corners[:, 0:1], corners[:, 2:3], columns, width)
    own = take(features, batch_indices, axis=0)
    # bin by bin along each axis: all bins at once would multiply the memory
    lines = [largest(where(right[:, k, None, None, :], own, -math.inf), axis=3) for k in range(columns)]
    lines = stack(lines, axis=3)
    result = stack([largest(where(down[:, k, None, :, None], lines, -math.inf), axis=2) for k in range(rows)], axis=2)
    covered = logical_and(expand_dims(some(down, axis=2), 2), expand_dims(some(right, axis=2), 1))
    result = where(expand_dims(covered, 1), result, 0.0)
    return permute_dims(result, (0, 2, 3, 1)) if data_format == "channels_last" else result
