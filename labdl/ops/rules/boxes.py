"""Shape rules of operators on boxes."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.ops.rules.loss import reduce_loss
from labdl.spec import Spec, broadcast, per_axis, show

FORMATS = ("xyxy", "xywh", "cxcywh")


def _check_boxes(boxes, ndim: int | None = None) -> None:
    if boxes.ndim == 0 or boxes.shape[-1] not in (4, None) or ndim not in (boxes.ndim, None):
        wanted = "(N, 4)" if ndim == 2 else "(..., 4)"
        raise ValueError(f"boxes are {wanted}, four coordinates on the last axis, received {show(boxes.shape)}")


def box_area(boxes) -> Spec:
    _check_boxes(boxes)
    return boxes.with_shape(boxes.shape[:-1])


def box_convert(boxes, in_format, out_format) -> Spec:
    _check_boxes(boxes)
    return boxes


def clip_boxes(boxes, size) -> Spec:
    _check_boxes(boxes)
    per_axis(size, 2, "size (height, width)")
    return boxes


@promoting
def box_pairs(first, second) -> Spec:
    """One number for each pair of a first and a second box."""
    for boxes in (first, second):
        _check_boxes(boxes)
        if boxes.ndim < 2:
            raise ValueError(f"boxes are (..., N, 4), received {show(boxes.shape)}")
    batch = broadcast(first.shape[:-2], second.shape[:-2])
    return Spec((*batch, first.shape[-2], second.shape[-2]), common_dtype(first, second))


@promoting
def box_loss(prediction, target, *, reduction="mean", **options) -> Spec:
    """A loss of each box and its target."""
    for boxes in (prediction, target):
        _check_boxes(boxes)
    shape = broadcast(prediction.shape, target.shape)[:-1]
    return reduce_loss(shape, common_dtype(prediction, target), reduction)


def _check_each(boxes, numbers, what: str) -> None:
    if numbers.ndim != 1 or (None not in (numbers.shape[0], boxes.shape[0]) and numbers.shape[0] != boxes.shape[0]):
        raise ValueError(f"boxes {show(boxes.shape)} want one {what} each, received {show(numbers.shape)}")


@promoting
def nms(boxes, scores, *args, **options) -> Spec:
    _check_boxes(boxes, 2)
    _check_each(boxes, scores, "score")
    return Spec((None,), "int64")


@promoting
def batched_nms(boxes, scores, classes, *args, **options) -> Spec:
    kept = nms(boxes, scores)
    _check_each(boxes, classes, "class")
    return kept


def pooled_boxes(x, boxes, batch_indices, output_size, *, data_format="channels_first", **options) -> Spec:
    """Features of boxes in images, one grid of output_size for each."""
    if x.ndim != 4:
        raise ValueError(f"features must have 4 axes, received {show(x.shape)}")
    _check_boxes(boxes, 2)
    _check_each(boxes, batch_indices, "picture's number")
    if 0 in (x.shape[1:3] if data_format == "channels_last" else x.shape[2:]):
        raise ValueError(f"features must not be empty, received {show(x.shape)}")
    size = per_axis(output_size, 2, "output_size")
    count = boxes.shape[0] if batch_indices.shape[0] is None else batch_indices.shape[0]
    if data_format == "channels_last":
        return Spec((count, *size, x.shape[3]), x.dtype)
    return Spec((count, x.shape[1], *size), x.dtype)


@promoting
def box_offsets(first, second, *args, **options) -> Spec:
    """Four numbers for each box and its anchor."""
    for boxes in (first, second):
        _check_boxes(boxes)
    return Spec(broadcast(first.shape, second.shape), common_dtype(first, second))


@promoting
def nms_mask(boxes, scores, iou_threshold, classes=None) -> Spec:
    """One truth for each box."""
    _check_boxes(boxes)
    for numbers, what in ((scores, "score"), (classes, "class")):
        if numbers is not None and not _is_one_each(boxes.shape, numbers.shape):
            raise ValueError(f"boxes {show(boxes.shape)} want one {what} each, received {show(numbers.shape)}")
    return Spec(broadcast(boxes.shape[:-1], scores.shape), "bool")


def _is_one_each(boxes: tuple[int | None, ...], numbers: tuple[int | None, ...]) -> bool:
    """Whether there can be one number for each of the boxes (..., K, 4), where sizes may be unknown."""
    if len(boxes) < 2 or len(numbers) != len(boxes) - 1:
        return False
    return all(None in sizes or sizes[0] == sizes[1] for sizes in zip(boxes, numbers, strict=False))


def pyramid_roi_align(maps, boxes, batch_indices, output_size, spatial_scales, **options) -> Spec:
    """Features of boxes in the maps of a pyramid, one grid of output_size for each."""
    if len(maps) != len(spatial_scales):
        raise ValueError(f"{len(maps)} maps want one spatial scale each, received {len(spatial_scales)}")
    first = maps[0]
    for x in maps:
        pooled_boxes(x, boxes, batch_indices, output_size)
        if x.shape[:2] != first.shape[:2]:
            raise ValueError(f"maps want the same batch and channels, received {show(first.shape)} and {show(x.shape)}")
    return pooled_boxes(first, boxes, batch_indices, output_size)
