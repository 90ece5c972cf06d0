"""Features of boxes from the maps of a pyramid, each box from the map of its size."""

from typing import Any

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import astype, concat, expand_dims, permute_dims, reshape, take
from labdl.ops.math.arithmetic import clip, divide, floor, log2, maximum, minimum, multiply, sqrt
from labdl.ops.math.comparison import greater_equal, less_equal, logical_and, where
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.boxes import _boxes, _count, box_area
from labdl.ops.neural.gradient import stop_gradient
from labdl.ops.neural.linear import tensor_like
from labdl.ops.operator import Number, Numbers, case, floats, ints, operator
from labdl.ops.operator.checks import refuse_beyond_memory
from labdl.ops.precision.float32 import _narrow, _wide
from labdl.spec import Spec, per_axis


def _points(start, size, bins, samples, limit):
    """Positions and weights of the lower and upper neighbors of points along one axis: four (K, bins * samples).

    ``limit`` (K, 1) is the length of the axis in the map of each box; points outside of it have weight 0.
    """
    step = divide(size, float(bins * samples))
    at = start + multiply(_count(start, bins * samples) + 0.5, step)
    inside = logical_and(greater_equal(at, -1.0), less_equal(at, limit))
    at = where(inside, minimum(maximum(at, 0.0), limit - 1.0), 0.0)  # NaN is not a position
    low = floor(at)
    share = where(inside, 1.0 / samples, 0.0)
    above = multiply(at - low, share)
    return astype(low, "int64"), astype(minimum(low + 1, limit - 1.0), "int64"), share - above, above


def _levels(boxes, count, canonical):
    """The map of each box (K), int64: that of its size among maps that double (Lin et al., 2017, equation 1).

    As in torchvision, a box that rounding leaves a little below a level counts as on it.
    """
    level, size, first = canonical
    side = sqrt(maximum(box_area(boxes), 1e-12))
    return astype(clip(floor(log2(side / size) + (level + 1e-6)) - first, 0.0, count - 1.0), "int64")


@operator(
    rules.pyramid_roi_align,
    case(
        [floats(2, 3, 8, 8), floats(2, 3, 4, 4)], _boxes(3, 4, low=0, high=30), ints(3, high=2), (2, 3), (0.25, 0.125)
    ),
    case([floats(1, 2, 5, 4)], _boxes(2, 4, low=-3, high=9), ints(2, high=1), 2, (0.5,), canonical=(4, 224, 2)),
    composite=True,
    precision="float32",
    options={"canonical": Numbers(Number(0), 3)},
)
def pyramid_roi_align(
    maps, boxes, batch_indices, output_size, spatial_scales, *, sampling_ratio=2, canonical=(4, 224, 2)
):
    """Features (K, C, height, width) of boxes (K, 4) from the maps (N, C, H, W) of a pyramid, the finest first.

    As `roi_align` without ``aligned``, each box on one map. ``canonical`` is a level, the side of a square box of it and
    the level of the first map; boxes of the next level are twice as large. ``spatial_scales`` are the sizes of the maps by
    that of the image. Semantics: torchvision.ops.MultiScaleRoIAlign (Lin et al., 2017).
    """
    shapes: list[Any] = [spec_of(x).shape for x in maps]
    channels, heights, widths = shapes[0][1], [s[2] for s in shapes], [s[3] for s in shapes]
    starts = np.cumsum([0, *(s[0] * s[2] * s[3] for s in shapes[:-1])])
    table = concat([reshape(permute_dims(_wide(x), (0, 2, 3, 1)), (-1, channels)) for x in maps], axis=0)
    boxes = _wide(boxes)
    level = _levels(stop_gradient(boxes), len(maps), canonical)

    def of_level(values, dtype="int64"):
        return take(tensor_like(boxes, np.array(values), dtype), level, axis=0)

    height, width = of_level(heights), of_level(widths)
    corners = multiply(boxes, expand_dims(of_level(spatial_scales, "float32"), -1))
    sizes = maximum(corners[:, 2:] - corners[:, :2], 1.0)
    rows, columns = per_axis(output_size, 2, "output_size")
    refuse_beyond_memory(
        "pyramid_roi_align", Spec((*boxes.shape[:1], rows, sampling_ratio, columns, sampling_ratio, channels))
    )
    limits = [expand_dims(astype(n, "float32"), -1) for n in (height, width)]
    down = _points(corners[:, 1:2], sizes[:, 1:2], rows, sampling_ratio, limits[0])
    right = _points(corners[:, 0:1], sizes[:, 0:1], columns, sampling_ratio, limits[1])
    images = clip(astype(batch_indices, "int64"), 0, shapes[0][0] - 1)
    first = of_level(starts) + multiply(multiply(images, height), width)
    result = None
    for y, share_y in ((down[0], down[2]), (down[1], down[3])):
        for z, share_x in ((right[0], right[2]), (right[1], right[3])):
            place = expand_dims(multiply(y, expand_dims(width, -1)) + expand_dims(first, -1), 2) + expand_dims(z, 1)
            share = multiply(expand_dims(share_y, 2), expand_dims(share_x, 1))
            part = multiply(take(table, place, axis=0), expand_dims(share, -1))
            result = part if result is None else result + part
    split = reshape(result, (-1, rows, sampling_ratio, columns, sampling_ratio, channels))
    return permute_dims(_narrow(total(split, axis=(2, 4)), maps[0]), (0, 3, 1, 2))
