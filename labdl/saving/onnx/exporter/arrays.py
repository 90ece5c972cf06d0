"""ONNX writers of operators on shape and order."""

from __future__ import annotations

import numpy as np

from labdl import dispatch, ops
from labdl.ops.rules import reshape_sizes
from labdl.saving.onnx.exporter.registry import writes
from labdl.saving.onnx.standard import DTYPES
from labdl.spec import normal_axes

_SMALL = 1024  # elements of a constant that is stored instead of computed at run time


@writes("reshape")
def reshape(e, x, shape):
    sizes = [-1 if n is None else n for n in ((shape,) if isinstance(shape, int) else shape)]
    return e("Reshape", x, sizes, allowzero=1 if 0 in sizes else None)


@writes("reshape_with")
def reshape_with(e, xs, shape):
    found = reshape_sizes(xs, shape)
    if sum(n in (None, -1) for n in found) < 2:
        return e("Reshape", xs[0], [-1 if n is None else n for n in found], allowzero=1 if 0 in found else None)
    kept = [item == (0, at) for at, item in enumerate(shape)]  # 0 stands for the size at the same place
    if 0 not in found and sum(n in (None, -1) and not k for n, k in zip(found, kept, strict=True)) < 2:
        return e("Reshape", xs[0], [-1 if n is None and not k else n or 0 for n, k in zip(found, kept, strict=True)])
    parts = []
    for item, n in zip(shape, found, strict=True):
        if isinstance(item, int) or n is not None:
            parts.append(e.constant(np.array([-1 if n is None else n], "int64")))
        else:
            axis = item[1] % xs[item[0]].ndim
            parts.append(e("Shape", xs[item[0]], start=axis, end=axis + 1))
    return e("Reshape", xs[0], e("Concat", *parts, axis=0), allowzero=1 if 0 in found else None)


@writes("permute_dims")
def permute_dims(e, x, axes):
    return e("Transpose", x, perm=list(normal_axes(axes, x.ndim)))


@writes("expand_dims")
def expand_dims(e, x, axis):
    return e("Unsqueeze", x, [axis % (x.ndim + 1)])


@writes("squeeze")
def squeeze(e, x, axis):
    return e("Squeeze", x, list(normal_axes(axis, x.ndim)))


@writes("concat")
def concat(e, xs, axis):
    if axis is None:
        xs, axis = [ops.reshape(x, (-1,)) for x in xs], 0
    return e("Concat", *xs, axis=axis % xs[0].ndim)


@writes("stack")
def stack(e, xs, axis):
    axis = axis % (xs[0].ndim + 1)
    return e("Concat", *(e("Unsqueeze", x, [axis]) for x in xs), axis=axis)


@writes("split")
def split(e, x, sections, axis):
    axis = axis % x.ndim
    count = sections if isinstance(sections, int) else len(sections)
    if isinstance(sections, int) and x.shape[axis] is None:
        found = e("Split", x, axis=axis, num_outputs=count, outputs=count)
    else:
        sizes = [x.shape[axis] // sections] * count if isinstance(sections, int) else list(sections)
        found = e("Split", x, sizes, axis=axis, outputs=count)
    return [found] if count == 1 else found


@writes("tile")
def tile(e, x, repetitions):
    times = [repetitions] if isinstance(repetitions, int) else list(repetitions)
    if len(times) > x.ndim:
        x = e("Unsqueeze", x, list(range(len(times) - x.ndim)))
        return e("Tile", x, times)
    return e("Tile", x, [1] * (x.ndim - len(times)) + times)


@writes("repeat")
def repeat(e, x, repeats, axis):
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    size = x.shape[axis]
    if not isinstance(repeats, int) and repeats.array is None:
        raise e.lacks("repeats must be known")
    if size is not None:
        times = repeats if isinstance(repeats, int) else repeats.array
        return e("Gather", x, e.constant(np.repeat(np.arange(size), times)), axis=axis % x.ndim)
    if not isinstance(repeats, int) or x.shape.count(None) > 1:
        raise e.lacks("the size of the axis must be known")
    apart = e("Concat", *[e("Unsqueeze", x, [axis % x.ndim + 1])] * repeats, axis=axis % x.ndim + 1)
    return e("Reshape", apart, [-1 if n is None else n for n in x.shape])


@writes("broadcast_to")
def broadcast_to(e, x, shape):
    return e("Expand", x, [1 if n is None else n for n in ((shape,) if isinstance(shape, int) else shape)])


@writes("broadcast_arrays")
def broadcast_arrays(e, *arrays):
    if None not in e.spec[0].shape:
        return [e("Expand", x, list(e.spec[0].shape)) for x in arrays]
    shapes = [e("Shape", x) for x in arrays]
    results = []
    for x in arrays:
        for shape in shapes:
            x = e("Expand", x, shape)
        results.append(x)
    return results


@writes("flip")
def flip(e, x, axis):
    axes = list(normal_axes(axis, x.ndim))
    if not axes:
        return e("Identity", x)
    lowest = np.iinfo("int64").min  # before the first element
    return e("Slice", x, [-1] * len(axes), [lowest] * len(axes), axes, [-1] * len(axes))


@writes("roll")
def roll(e, x, shift, axis):
    if axis is None:
        flat = ops.roll(ops.reshape(x, (-1,)), shift, 0)
        return e("Reshape", flat, [-1 if n is None else n for n in x.shape])
    axes = normal_axes(axis, x.ndim)
    shifts = [shift] * len(axes) if isinstance(shift, int) else shift
    for at, by in zip(axes, shifts, strict=True):
        by = by if x.shape[at] is None else by % max(x.shape[at], 1)
        if by:
            end = np.iinfo("int64").max
            parts = e("Slice", x, [-by], [end], [at]), e("Slice", x, [0], [-by], [at])
            x = e.value(e("Concat", *parts, axis=at), e.spec.shape, e.spec.dtype)
    return x


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@writes("pad")
def pad(e, x, padding, mode, value):
    if not any(map(any, padding)):
        return x
    pads = [before for before, _ in padding] + [after for _, after in padding]
    given = e.number(np.asarray(value).astype(x.dtype).item(), x.dtype) if mode == "constant" and value else None
    return e("Pad", x, pads, given, mode=_MODES[mode])


def triangle(upper: int):
    def write(e, x, k):
        found = e("Trilu", e.cast(x, "int64") if x.dtype == "bool" else x, e.number(k, "int64"), upper=upper)
        return e("Cast", found, to=DTYPES["bool"]) if x.dtype == "bool" else found

    return write


@writes("diagonal")
def diagonal(e, x, offset, axes):
    first, second = normal_axes(axes, x.ndim)
    rows, columns = x.shape[first], x.shape[second]
    if rows is None or columns is None:
        raise e.lacks("the two axes must be known")
    x = ops.permute_dims(x, (*(a for a in range(x.ndim) if a not in (first, second)), first, second))
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset)
    flat = ops.reshape(x, tuple(-1 if n is None else n for n in (*x.shape[:-2], rows * columns)))
    return ops.take(flat, places, axis=-1)


@writes("diag")
def diag(e, x, offset):
    size = e.spec.shape[-1]
    if size is None:
        raise e.lacks("the last axis must be known")
    beside = (max(-offset, 0), max(offset, 0))
    wide = ops.pad(x, ((0, 0),) * (x.ndim - 1) + (beside,))
    return e(
        "Where", e.constant(np.eye(size, k=offset, dtype="bool")), e("Unsqueeze", wide, [x.ndim]), e.number(0, x.dtype)
    )


@writes("astype")
def astype(e, x, dtype):
    return e("Cast", x, to=DTYPES[dtype]) if x.dtype != dtype else x


@writes("full_like")
def full_like(e, x, value, dtype):
    number = e.number(value, e.spec.dtype)
    if None not in x.shape and x.element_count <= _SMALL:
        return e.constant(np.full(x.shape, number.array), e.spec.dtype)
    tensor = e.writer.tensor(e.constant(np.reshape(number.array, (1,)), e.spec.dtype), "value")
    return e("ConstantOfShape", e("Shape", x), value=tensor)


@writes("tensor_like")
def tensor_like(e, x, values, dtype):
    return (
        e.cast(values, e.spec.dtype)
        if values.array is None
        else e.constant(np.asarray(values.array, dispatch.load("numpy").dtype(e.spec.dtype)), e.spec.dtype)
    )


writes("tril")(triangle(0))
writes("triu")(triangle(1))


@writes("zeros_like")
def zeros_like(e, x, dtype):
    return full_like(e, x, 0, dtype)


@writes("ones_like")
def ones_like(e, x, dtype):
    return full_like(e, x, 1, dtype)
