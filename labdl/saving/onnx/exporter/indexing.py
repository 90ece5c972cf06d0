"""ONNX writers of indexing, gathering and scattering."""

from __future__ import annotations

import numpy as np

from labdl import ops
from labdl.saving.onnx.exporter.registry import writes
from labdl.saving.onnx.exporter.value import Value

_LOWEST, _HIGHEST = np.iinfo("int64").min, np.iinfo("int64").max


def as_integers(e, indices):
    """Cast positions to a dtype that ONNX accepts."""
    return indices if indices.dtype in ("int32", "int64") else e.cast(indices, "int64")


@writes("take")
def take(e, x, indices, axis):
    return e("Gather", x, as_integers(e, indices), axis=axis % x.ndim)


def _spread(e, indices, x, axis):
    """Broadcast positions to the sizes of ``x`` on the other axes."""
    at = axis % x.ndim
    if all(n == m and n is not None for a, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True)) if a != at):
        return as_integers(e, indices)
    one = ops.getitem(x, (*(slice(None),) * at, slice(0, 1)))
    return ops.add(as_integers(e, indices), ops.zeros_like(one, dtype=as_integers(e, indices).dtype))


@writes("take_along_axis")
def take_along_axis(e, x, indices, axis):
    return e("GatherElements", x, _spread(e, indices, x, axis), axis=axis % x.ndim)


_REDUCE = {None: None, "add": "add", "multiply": "mul", "max": "max", "min": "min"}


@writes("scatter")
def scatter(e, x, indices, updates, axis, reduce):
    places = _spread(e, indices, x, axis)
    if updates.shape != places.shape or None in places.shape:
        updates = e("Expand", updates, e("Shape", places))
    return e("ScatterElements", x, places, updates, axis=axis % x.ndim, reduction=_REDUCE[reduce])


@writes("gather_nd")
def gather_nd(e, x, indices):
    return e("GatherND", x, e.cast(indices, "int64"))


@writes("scatter_nd")
def scatter_nd(e, indices, updates, shape):
    start = e("Expand", e.number(0, updates.dtype), list(shape))
    return e("ScatterND", start, e.cast(indices, "int64"), updates, reduction="add")


@writes("getitem")
def getitem(e, x, index):
    """Slices first, then items that remove axes, then new axes; with at most one index tensor or mask."""
    items = _expand_index(x, index)
    x = _slice(e, x, items)
    chosen = [(axis, item) for axis, item in enumerate(i for i in items if i is not None) if isinstance(item, Value)]
    if any(item.dtype == "bool" for _, item in chosen):
        return _mask(e, x, items, chosen)
    if len(chosen) > 1 or (chosen and any(isinstance(i, int) for i in items)):
        return _several(e, x, items)
    gone = [axis for axis, item in enumerate(i for i in items if i is not None) if isinstance(item, int)]
    if chosen:
        axis, places = chosen[0]
        x = ops.take(x, places, axis=axis)
        at = next(i for i, item in enumerate(items) if item is places)
        items[at : at + 1] = [slice(None)] * places.ndim
    elif gone:
        x = ops.squeeze(x, tuple(gone))
        items = [i for i in items if not isinstance(i, int)]
    new = [at for at, item in enumerate(items) if item is None]
    return e("Unsqueeze", x, new) if new else x


def _expand_index(x, index) -> list:
    """One item for each axis and each new axis; a mask covers as many axes as it has."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(
        0 if i is None or i is Ellipsis else i.ndim if isinstance(i, Value) and i.dtype == "bool" else 1 for i in items
    )
    at = next((a for a, i in enumerate(items) if i is Ellipsis), len(items))
    items[at : at + 1] = [slice(None)] * (x.ndim - used)
    return items


def _slice(e, x, items):
    """Apply the slices; an integer becomes a slice of size 1."""
    starts, ends, axes, steps, shape = [], [], [], [], []
    axis = 0
    for item in items:
        if item is None:
            continue
        size = x.shape[axis] if axis < x.ndim else None
        if isinstance(item, int):
            starts, ends = [*starts, item], [*ends, item + 1 if item != -1 else _HIGHEST]
            axes, steps, size = [*axes, axis], [*steps, 1], 1
        elif isinstance(item, slice) and item != slice(None):
            step = 1 if item.step is None else item.step
            first, last = (0, _HIGHEST) if step > 0 else (_HIGHEST, _LOWEST)
            starts, ends = (
                [*starts, first if item.start is None else item.start],
                [*ends, last if item.stop is None else item.stop],
            )
            axes, steps = [*axes, axis], [*steps, step]
            size = None if size is None else len(range(*item.indices(size)))
        width = item.ndim if isinstance(item, Value) and item.dtype == "bool" else 1
        shape += [size, *x.shape[axis + 1 : axis + width]]
        axis += width
    if not axes:
        return x
    return e.value(e("Slice", x, starts, ends, axes, steps), shape, x.dtype)


def _mask(e, x, items, chosen):
    axis, mask = chosen[0]
    if len(items) != len([i for i in items if isinstance(i, slice | Value)]):
        raise e.lacks("a mask beside integers or new axes")
    places = e.value(e("Transpose", e("NonZero", mask), perm=[1, 0]), (None, mask.ndim), "int64")
    return _gather_positions(e, x, axis, mask.ndim, places)


def _several(e, x, items):
    """Several index tensors, also with integers between them."""
    if None in items:
        raise e.lacks("positions beside new axes")
    axis = next(a for a, i in enumerate(items) if isinstance(i, int | Value))
    group = [i for i in items if isinstance(i, int | Value)]
    # the slice of an integer left one element
    spread = [0 if isinstance(i, int) else e.cast(as_integers(e, i), "int64") for i in group]
    sizes = [i for i in spread if isinstance(i, Value)]
    base = sizes[0]
    for other in sizes[1:]:
        base = ops.add(base, ops.zeros_like(other))
    zero = ops.zeros_like(base)
    own = [
        ops.where(ops.less(i, 0), ops.add(i, _size(e, x, axis + at)), i) if isinstance(i, Value) else i
        for at, i in enumerate(spread)
    ]
    places = ops.stack([ops.add(zero, i) for i in own], axis=-1)
    return _gather_positions(e, x, axis, len(group), places)


def _size(e, x, axis: int):
    """A size as a number, or as a tensor if it is unknown."""
    if x.shape[axis] is not None:
        return x.shape[axis]
    return e.value(e("Gather", e("Shape", x), e.number(axis, "int64"), axis=0), (), "int64")


def _gather_positions(e, x, axis: int, count: int, places):
    """Gather at positions of ``count`` numbers each, for as many axes from ``axis`` on; the result's axes go there."""
    ahead = tuple(range(axis, axis + count))
    rest = tuple(a for a in range(x.ndim) if a not in ahead)
    found = ops.gather_nd(ops.permute_dims(x, (*ahead, *rest)) if axis else x, places)
    if not axis:
        return found
    wide = places.ndim - 1
    order = (*range(wide, wide + axis), *range(wide), *range(wide + axis, found.ndim))
    return ops.permute_dims(found, order)


def max_unpool(rank: int):
    """Elements scattered over the flattened spatial axes."""

    def write(e, x, indices, kernel_size, stride, padding, size):
        sizes = e.spec.shape[2:]
        if None in sizes or x.shape[1] is None:
            raise e.lacks("channels and spatial sizes must be known")
        flat = ops.reshape(x, (-1, x.shape[1], int(np.prod(x.shape[2:]))))
        places = ops.reshape(indices, (-1, x.shape[1], int(np.prod(x.shape[2:]))))
        empty = ops.tile(ops.zeros_like(ops.getitem(flat, (..., slice(0, 1)))), (1, 1, int(np.prod(sizes))))
        full = e("ScatterElements", empty, as_integers(e, places), flat, axis=2)
        return e("Reshape", full, [-1, x.shape[1], *sizes])

    return write


@writes("isin")
def isin(e, x1, x2, invert):
    found = ops.any(ops.equal(ops.expand_dims(x1, -1), ops.reshape(x2, (-1,))), axis=-1)
    return ops.logical_not(found) if invert else found


@writes("embedding")
def embedding(e, indices, table):
    return e("Gather", table, as_integers(e, indices), axis=0)


for rank in (1, 2, 3):
    writes(f"max_unpool{rank}d")(max_unpool(rank))
