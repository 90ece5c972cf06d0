"""Shape rules of indexing by position or by mask."""

from __future__ import annotations

from labdl.errors import OutOfRangeError
from labdl.ops.rules.array import one_axis, replace_axis
from labdl.ops.rules.elementwise import common_dtype, float_of, operand, promoting
from labdl.ops.rules.traits import layout
from labdl.spec import COMPLEX, INTEGERS, Shape, Size, Spec, broadcast, show


@layout("take")
def take(x, indices, axis=0) -> Spec:
    return replace_axis(x, one_axis(axis, x.ndim), *operand(indices).shape)


@layout("getitem")
def getitem(x, index) -> Spec:
    items = list(index) if isinstance(index, tuple) else [index]
    chosen = [i for i in items if isinstance(i, Spec)]
    _check_items(items, chosen)
    used = sum(_width(i) for i in items)
    if used > x.ndim:
        raise OutOfRangeError(f"an index of {used} axes is too long for {show(x.shape)}")
    at = next((a for a, item in enumerate(items) if item is Ellipsis), None)  # `in` would compare tensors
    if at is not None:
        items[at : at + 1] = [slice(None)] * (x.ndim - used)
    shape: list[Size] = []
    axis, place = 0, None
    for item in items:
        n = x.shape[axis] if axis < x.ndim else None
        if item is None:
            shape.append(1)
        elif isinstance(item, slice):
            shape.append(_slice_size(item, n))
        elif isinstance(item, int) and n is not None and not -n <= item < n:
            raise OutOfRangeError(f"index {item} is out of range for axis {axis} of size {n}")
        elif isinstance(item, Spec):
            if item.dtype == "bool":
                _check_mask(item, x.shape[axis : axis + item.ndim])
            place = len(shape) if place is None else place
        axis += _width(item)
    if place is not None:
        shape[place:place] = broadcast(*((None,) if i.dtype == "bool" else i.shape for i in chosen))
    return x.with_shape([*shape, *x.shape[axis:]])


def _check_items(items, chosen) -> None:
    for item in items:
        if isinstance(item, bool) or not (
            item is None
            or item is Ellipsis
            or isinstance(item, int | slice)
            or (isinstance(item, Spec) and item.dtype in (*INTEGERS, "bool"))
        ):
            kind = f"a tensor of dtype {item.dtype}" if isinstance(item, Spec) else type(item).__name__
            raise TypeError(
                f"an index is an integer, a slice, None, ..., a mask or a tensor of integers, received {kind}"
            )
    if sum(i is Ellipsis for i in items) > 1:
        raise OutOfRangeError("an index has at most one ...")
    if not chosen:
        return
    if len(chosen) > 1 and any(i.dtype == "bool" for i in chosen):
        raise OutOfRangeError("an index has one mask, or tensors of integers")
    places = [a for a, i in enumerate(items) if isinstance(i, int | Spec)]
    if places[-1] - places[0] >= len(places):
        raise OutOfRangeError("integers and tensors of an index must be adjacent: index twice, or use ops.take")


def _width(item) -> int:
    """The number of axes that an item of an index consumes."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Spec) and item.dtype == "bool" else 1


def _slice_size(item: slice, n: Size) -> Size:
    if n is None:
        return None if item != slice(None) else n
    return len(range(*item.indices(n)))


def _check_mask(mask: Spec, sizes: Shape) -> None:
    if any(None not in (n, m) and m not in (n, 0) for n, m in zip(sizes, mask.shape, strict=True)):
        raise OutOfRangeError(f"a mask of {show(mask.shape)} does not fit the axes of {show(sizes)}")


def _check_fit(given: Shape, wanted: Shape, name: str) -> None:
    """Check that values broadcast to the indexed shape, which itself does not broadcast."""
    if len(given) > len(wanted) or any(
        m not in (1, None, n) and n is not None for n, m in zip(reversed(wanted), reversed(given), strict=False)
    ):
        raise OutOfRangeError(f"{name} wants values that fit {show(wanted)}, received {show(given)}")


def setitem(x, index, value) -> Spec:
    given = () if isinstance(value, str) else operand(value).shape
    _check_fit(given, getitem(x, index).shape, "setitem")
    return x


def along_axis(x: Spec, indices: Spec, axis: int, name: str) -> Shape:
    """The shape of positions along an axis, broadcast over the other axes of ``x``."""
    at = one_axis(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise OutOfRangeError(
            f"{name} wants indices of as many axes as x, received {show(indices.shape)} and {show(x.shape)}"
        )
    for a, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True)):
        if a != at and None not in (n, m) and m not in (1, n):
            raise OutOfRangeError(
                f"{name} of {show(x.shape)} with indices {show(indices.shape)}: sizes differ on axis {a}"
            )
    return tuple(m if a == at else n for a, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True)))


def take_along_axis(x, indices, axis=-1) -> Spec:
    return x.with_shape(along_axis(x, operand(indices), axis, "take_along_axis"))


@promoting
def scatter(x, indices, updates, axis=-1, *, reduce=None) -> Spec:
    x, dtype = operand(x), common_dtype(x, updates)
    if reduce and (dtype == "bool" or (dtype in COMPLEX and reduce in ("max", "min"))):
        raise TypeError(f"scatter cannot reduce {dtype} by {reduce!r}")
    _check_fit(operand(updates).shape, along_axis(x, operand(indices), axis, "scatter"), "scatter")
    return Spec(x.shape, dtype)


@promoting
def put_along_axis(x, indices, values, axis=-1) -> Spec:
    return scatter(x, indices, values, axis)


@promoting
def index_add(x, indices, updates, axis=0) -> Spec:
    x, count = operand(x), operand(indices)
    if count.ndim != 1:
        raise ValueError(f"index_add wants positions of one axis, received {show(count.shape)}")
    wanted = replace_axis(x, one_axis(axis, x.ndim), count.shape[0]).shape
    _check_fit(operand(updates).shape, wanted, "index_add")
    return Spec(x.shape, common_dtype(x, updates))


def gather_nd(x, indices) -> Spec:
    depth = _depth(indices, x.shape, "gather_nd")
    return x.with_shape((*indices.shape[:-1], *x.shape[depth:]))


def scatter_nd(indices, updates, shape) -> Spec:
    depth = _depth(indices, shape, "scatter_nd")
    wanted = (*indices.shape[:-1], *shape[depth:])
    given = updates.shape
    if len(wanted) != len(given) or any(None not in (n, m) and n != m for n, m in zip(wanted, given, strict=True)):
        raise ValueError(f"scatter_nd wants updates of {show(wanted)}, received {show(given)}")
    return updates.with_shape(shape)


def _depth(indices, shape, name: str) -> int:
    if indices.ndim < 1 or not indices.shape[-1] or indices.shape[-1] > len(shape):
        raise ValueError(
            f"{name} wants positions of 1 to {len(shape)} numbers on the last axis, received {show(indices.shape)}"
        )
    return indices.shape[-1]


def segment_rows(x, segment_ids, segments) -> Spec:
    """One row for each segment."""
    if x.ndim < 1 or segment_ids.ndim != 1:
        raise ValueError(f"segments of {show(x.shape)} want one number per row, received {show(segment_ids.shape)}")
    n, m = x.shape[0], segment_ids.shape[0]
    if None not in (n, m) and n != m:
        raise ValueError(f"{n} rows want {n} numbers of segments, received {m}")
    return replace_axis(x, 0, segments)


def segment_means(x, segment_ids, segments) -> Spec:
    return Spec(segment_rows(x, segment_ids, segments).shape, float_of(x.dtype))


def sliding_window(x, size, step=1, axis=-1) -> Spec:
    at = one_axis(axis, x.ndim)
    if size < 1 or step < 1:
        raise ValueError(f"sliding_window wants a size and a step of at least 1, received {size} and {step}")
    n = x.shape[at]
    if n is not None and n < size:
        raise ValueError(f"a window of {size} does not fit into axis {at} of size {n}")
    return x.with_shape((*replace_axis(x, at, None if n is None else (n - size) // step + 1).shape, size))
