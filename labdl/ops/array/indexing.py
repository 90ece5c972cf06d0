"""Reading and writing of elements by index, mask and position (Python Array API standard, NumPy, torch.scatter)."""

from typing import Any

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import broadcast_arrays, moveaxis, reshape, take
from labdl.ops.math.arithmetic import where
from labdl.ops.operator import ANY, NUMBERS, NUMBERS_AND_BOOL, Choice, bools, case, floats, ints, operator


@operator(
    rules.getitem,
    case(floats(3, 4), (slice(None), 1)),
    case(floats(3, 5, 2), (..., slice(1, 4, 2), None, 0)),
    case(floats(3, 5), (slice(None), slice(3, None, -2))),
    case(floats(3, 4), bools(3, 4)),
    case(floats(3, 4), bools(3)),
    case(floats(4, 3), ints(2, 3, low=-4, high=4)),
    case(floats(3, 4), (ints(5, high=3), ints(5, high=4))),
    case(floats(2, 5, 3), (..., ints(4), slice(1, None))),
    takes=ANY,
    checked=False,
    cost=0,
)
def getitem(x, index):
    """``x[index]`` with integers, slices, ``None``, ``...``, a mask, or tensors of integers.

    Tensors of integers must be adjacent (integers between them count as such); they are broadcast to one shape, which
    replaces the indexed axes. A mask selects from as many axes as it has; the number of selected elements depends on its
    values, so a trace gives that size as unknown. Semantics: NumPy, where it agrees with PyTorch.
    """
    return x[index]


@operator(
    rules.setitem,
    case(floats(3, 4), (slice(None), 1), floats()),
    case(floats(3, 4), (..., slice(1, 3)), floats(3, 2)),
    case(floats(5, 2), slice(1, None, 2), floats(2)),
    case(floats(3, 4), bools(3, 4), floats()),
    case(floats(3, 4), bools(3), -1),
    case(floats(2, 5), (slice(None), ints(1)), floats(2, 1)),
    case(floats(3, 4), (ints(1, high=3), ints(1, high=4)), 0.5),
    takes=ANY,
    checked=False,
    without_onnx="no scattering of whole slices",
)
def setitem(x, index, value):
    """A new tensor: ``x`` with ``value`` at ``index``, which is one of `getitem`.

    The value is broadcast to the place, and converted to the dtype of ``x``. If a tensor of integers
    contains a position twice, it is unspecified which value is kept.
    """
    result = np.array(x, np.promote_types(x.dtype, np.asarray(value).dtype) if x.dtype.kind == "U" else x.dtype)
    result[index] = value
    return result


_REDUCTIONS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


@operator(
    rules.scatter,
    case(floats(2, 5), ints(2, 1, low=-5), floats(2, 1)),
    case(floats(2, 5), ints(2, 3), floats(2, 3), axis=1, reduce="add"),
    case(floats(3, 4), ints(5, 1, high=3), floats(5, 4), axis=0, reduce="add"),
    case(floats(2, 5, low=0.5), ints(2, 3), floats(1, 3, low=0.5), reduce="multiply"),
    case(floats(2, 5), ints(2, 4), floats(2, 4), reduce="max"),
    case(floats(2, 5), ints(2, 4), floats(2, 4), reduce="min"),
    takes=NUMBERS_AND_BOOL,
    options={"reduce": Choice(None, "add", "multiply", "max", "min")},
)
def scatter(x, indices, updates, axis=-1, *, reduce=None):
    """A new tensor: ``x`` with updates at positions along an axis; ``reduce`` combines them with the elements.

    ``reduce`` is "add", "multiply", "max" or "min" (numbers only). ``indices`` has as many axes as ``x``, and on the others
    its size or 1; ``updates`` is broadcast to that shape. Negative positions count from the end. Without ``reduce`` it is
    unspecified which update is kept for a repeated position. Semantics: torch.scatter_reduce, NumPy's put_along_axis.
    """
    result = np.array(x)
    shape: Any = rules.along_axis(spec_of(x), spec_of(indices), axis, "scatter")
    places = list(np.indices(shape, sparse=True))
    places[axis] = np.broadcast_to(indices, shape)
    values = np.broadcast_to(updates, shape)
    if reduce is None:
        result[tuple(places)] = values
    else:
        _REDUCTIONS[reduce].at(result, tuple(places), values)
    return result


@operator(
    rules.put_along_axis,
    case(floats(2, 5), ints(2, 1), floats(2, 1)),
    case(floats(2, 3, 2), ints(2, 1, 2, low=-3, high=3), floats(2), 1),
    case(floats(3, 4), ints(1, 4, high=3), 1, axis=0),
    takes=NUMBERS_AND_BOOL,
    composite=True,
)
def put_along_axis(x, indices, values, axis=-1):
    """A new tensor: ``x`` with other values at positions along an axis; `scatter` without a reduction, under NumPy's name."""
    return scatter(x, indices, values, axis)


@operator(
    rules.index_add,
    case(floats(2, 5), ints(3), floats(2, 3), axis=1),
    case(floats(2, 5), ints(4, low=-5), floats(), -1),
    case(floats(4, 3), ints(5, high=4), floats(5, 3)),
    takes=NUMBERS,
    composite=True,
)
def index_add(x, indices, updates, axis=0):
    """A new tensor: ``x`` with slices added at the positions of a vector along an axis. Semantics: torch.index_add."""
    spec = spec_of(x)
    at = rules.one_axis(axis, spec.ndim)
    return scatter(
        x, reshape(indices, tuple(-1 if a == at else 1 for a in range(spec.ndim))), updates, at, reduce="add"
    )


@operator(
    rules.gather_nd,
    case(floats(2, 4), ints(2, 1, high=1)),
    case(floats(2, 3, 2), ints(2, 2, 2, high=1)),
    case(floats(4, 3), ints(5, 1, high=4)),
    case(floats(3, 4), ints(2, 5, 2, high=3)),
    takes=ANY,
)
def gather_nd(x, indices):
    """Slices at positions of several numbers each, which stand on the last axis of ``indices``. Semantics: tf.gather_nd."""
    return x[tuple(np.moveaxis(indices, -1, 0))]


@operator(
    rules.scatter_nd, case(ints(4, 1), floats(4, 2), (5, 2)), case(ints(6, 2, high=3), floats(6), (3, 4)), takes=NUMBERS
)
def scatter_nd(indices, updates, shape):
    """Zeros of a shape with updates added at positions: the last axis of ``indices``. Semantics: tf.scatter_nd."""
    result = np.zeros(shape, updates.dtype)
    np.add.at(result, tuple(np.moveaxis(indices, -1, 0)), updates)
    return result


@operator(
    None,
    case(floats(2, 3), bools(2, 3), 2),
    case(floats(2, 3), bools(3), -1.5),
    case(floats(2, 3), bools(2, 1), floats()),
    takes=NUMBERS_AND_BOOL,
)
def masked_fill(x, mask, value):
    """The tensor with one value wherever the mask is true; dtypes are promoted as in `where`. Semantics: torch.masked_fill."""
    return where(mask, value, x)


@operator(None, case(floats(2, 3), bools(2, 3)), case(floats(2, 3), bools(3)), takes=ANY)
def masked_select(x, mask):
    """A vector of the elements at which the mask is true; the two broadcast. Semantics: torch.masked_select."""
    return getitem(*broadcast_arrays(x, mask))


@operator(
    rules.sliding_window,
    case(floats(2, 6), 3),
    case(floats(2, 7, 3), 3, 2, axis=1),
    case(floats(5), 2, 3),
    takes=ANY,
    composite=True,
)
def sliding_window(x, size, step=1, axis=-1):
    """Windows along an axis, ``step`` apart; their elements are on a new last axis. Semantics: torch.Tensor.unfold.

    The size of that axis must be known.
    """
    spec = spec_of(x)
    at = rules.one_axis(axis, spec.ndim)
    count = rules.sliding_window(spec, size, step, at).shape[at]
    if count is None:
        raise ValueError(f"sliding_window wants a known size on axis {at}")
    return moveaxis(take(x, np.arange(size) + step * np.arange(count)[:, None], at), at + 1, -1)
