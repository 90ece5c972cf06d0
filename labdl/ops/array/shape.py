"""Shape and order of elements (Python Array API standard; pad, flatten and diag as in PyTorch)."""

from typing import Any

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.math.arithmetic import equal
from labdl.ops.operator import ANY, NUMBERS_AND_BOOL, Axis, Choice, case, floats, ints, operator
from labdl.ops.operator.options import Dependent


@operator(
    rules.reshape,
    case(floats(2, 6), (3, 4)),
    case(floats(2, 3, 4), (2, -1)),
    case(floats(2, 3), 6),
    takes=ANY,
    cost=None,
)
def reshape(x, shape):
    """The same elements in another shape; one size may be -1 and is inferred from the others."""
    return np.reshape(x, shape)


@operator(
    rules.reshape_with,
    case([floats(2, 3, 8)], ((0, 0), (0, 1), 2, 4)),
    case([floats(6, 4), ints(5, 2)], ((1, 1), -1, 4)),
    takes=ANY,
    composite=True,
    cost=None,
)
def reshape_with(xs, shape):
    """The first of several tensors in another shape, in which a pair (tensor, axis) is the size of this axis.

    For models of several unknown sizes: ``reshape_with([x], ((0, 0), (0, 1), heads, -1))`` splits the last axis of x (N,
    steps, features), and ``reshape_with([x, y], ((1, 0), (1, 1), 8))`` takes two sizes from y. One size may be -1 and is
    inferred from the others.
    """
    sizes = rules.reshape_sizes([spec_of(x) for x in xs], shape)
    return reshape(xs[0], sizes)


@operator(
    rules.flatten,
    case(floats(2, 3, 4)),
    case(floats(2, 3, 4), 1),
    case(floats(2, 3, 4, 2), 1, -2),
    case(floats()),
    takes=ANY,
    composite=True,
    cost=0,
)
def flatten(x, start_axis=0, end_axis=-1):
    """The axes from ``start_axis`` to ``end_axis``, both included, as one. Semantics: torch.flatten."""
    shape = rules.flatten_shape(spec_of(x).shape, start_axis, end_axis)
    return reshape(x, tuple(-1 if n is None else n for n in shape))


@operator(
    rules.permute_dims, case(floats(2, 3, 4), (2, 0, 1)), case(floats(2, 3), (-1, 0)), takes=ANY, cost=0, checked=True
)
def permute_dims(x, axes):
    """Axes in another order."""
    return np.transpose(x, axes)


@operator(None, case(floats(2, 3, 4), 0, -1), case(floats(2, 3, 4), (0, 1), (-1, 0)), takes=ANY, cost=0)
def moveaxis(x, source, destination, /):
    """One axis, or several, moved to other places; the rest keep their order."""
    return permute_dims(x, rules.moveaxis_order(spec_of(x).ndim, source, destination))


@operator(None, case(floats(2, 3, 4), 0, 2), case(floats(2, 3, 4), -1, 1), takes=ANY, cost=0)
def swapaxes(x, axis1, axis2, /):
    """Two axes exchanged."""
    first, second = rules.one_axis(axis1, spec_of(x).ndim), rules.one_axis(axis2, spec_of(x).ndim)
    order = list(range(spec_of(x).ndim))
    order[first], order[second] = second, first
    return permute_dims(x, tuple(order))


@operator(None, case(floats(2, 3)), case(floats(4, 2, 3)), takes=ANY, cost=0)
def matrix_transpose(x, /):
    """The last two axes exchanged."""
    return swapaxes(x, -2, -1)


@operator(rules.expand, case(floats(2, 3), 1), case(floats(2, 3), -1), case(floats()), takes=ANY, cost=None)
def expand_dims(x, axis=0):
    """A new axis of size 1."""
    return np.expand_dims(x, axis)


@operator(rules.squeeze, case(floats(2, 1, 3), 1), case(floats(1, 3, 1), (0, -1)), takes=ANY, cost=None)
def squeeze(x, axis):
    """Without the named axes, which have size 1."""
    return np.squeeze(x, axis)


@operator(
    rules.concat,
    case([floats(2, 3), floats(4, 3)]),
    case([floats(2, 3), floats(2, 1)], axis=-1),
    case([floats(2, 3), floats(4)], axis=None),
    options={"axis": Axis((99,), none=True)},
    checked=False,
    takes=ANY,
    cost=0,
)
def concat(xs, axis=0):
    """Tensors joined along an axis, or flattened and joined with ``axis=None``."""
    return np.concatenate(xs, axis=axis)


@operator(rules.stack, case([floats(2, 3), floats(2, 3)]), case([floats(2), floats(2)], axis=-1), takes=ANY, cost=0)
def stack(xs, axis=0):
    """Tensors of one shape joined along a new axis."""
    return np.stack(xs, axis=axis)


@operator(rules.split, case(floats(4, 3), 2), case(floats(2, 6), (1, 2, 3), axis=-1), takes=ANY, cost=0)
def split(x, sections, axis=0):
    """A tuple of parts: ``sections`` equal ones, or parts of the given sizes."""
    at = sections if isinstance(sections, int) else np.cumsum(sections)[:-1].tolist()
    return tuple(np.split(x, at, axis=axis))


@operator(rules.unstack, case(floats(2, 3, 4), axis=1), case(floats(2, 3), axis=-1), takes=ANY, composite=True, cost=0)
def unstack(x, /, *, axis=0):
    """A tuple of the slices along an axis, without it. The size of that axis must be known."""
    count = len(rules.unstack(spec_of(x), axis))
    return tuple(squeeze(part, axis) for part in split(x, count, axis)) if count else ()


@operator(
    rules.tile,
    case(floats(2, 3), (2, 1)),
    case(floats(2, 3), (3,)),
    case(floats(3), (2, 1, 2)),
    takes=ANY,
    cost=0,
    checked=True,
)
def tile(x, repetitions, /):
    """The tensor repeated along each axis; axes that are missing on either side come first and count as 1."""
    return np.tile(x, repetitions)


@operator(
    rules.repeat,
    case(floats(2, 3), 2, axis=1),
    case(floats(2, 3), 2),
    case(floats(2, 3), ints(3, high=4), axis=-1),
    takes=ANY,
    cost=0,
    without_onnx="repeats must be known",
    checked=True,
)
def repeat(x, repeats, /, *, axis=None):
    """Each element several times in a row: ``repeats`` is one number or, as a tensor, one for each element of the axis.

    ``axis=None`` flattens first.
    """
    return np.repeat(x, repeats, axis=axis)


@operator(rules.broadcast_to, case(floats(3, 1), (2, 3, 4)), case(floats(), (2, 3)), takes=ANY, cost=0, checked=True)
def broadcast_to(x, shape):
    """The tensor broadcast to a shape."""
    return np.broadcast_to(x, shape)


@operator(rules.broadcast_arrays, case(floats(3, 1), floats(4)), case(floats(2, 3), floats(), floats(1, 3)), takes=ANY)
def broadcast_arrays(*arrays):
    """A tuple of the tensors, each broadcast to their common shape, with its own dtype."""
    return tuple(np.broadcast_arrays(*arrays))


@operator(
    None,
    case(floats(3), floats(4)),
    case(floats(3), floats(4), floats(2), indexing="ij"),
    takes=ANY,
    options={"indexing": Choice("xy", "ij")},
)
def meshgrid(*arrays, indexing="xy"):
    """A tuple of grids, one for each vector of coordinates; with "xy" the first two axes are rows and columns, y and x."""
    if any(spec_of(x).ndim != 1 for x in arrays):
        raise ValueError("meshgrid wants vectors: tensors of one axis")
    places = list(range(len(arrays)))
    if indexing == "xy":
        places[:2] = reversed(places[:2])
    grids = [_along_axis(x, at, len(arrays)) for x, at in zip(arrays, places, strict=True)]
    return broadcast_arrays(*grids) if grids else ()


def _along_axis(vector, axis: int, rank: int):
    """A vector along one of several axes, the others of size 1."""
    return reshape(vector, tuple(-1 if a == axis else 1 for a in range(rank)))


@operator(
    rules.flip,
    case(floats(2, 3), axis=1),
    case(floats(2, 3)),
    case(floats(2, 3, 2), axis=(0, -1)),
    takes=ANY,
    cost=0,
    checked=True,
)
def flip(x, axis=None):
    """Elements in reverse order along an axis, several, or with None all."""
    return np.flip(x, axis=axis)


@operator(
    rules.roll,
    case(floats(2, 5), 2, axis=1),
    case(floats(2, 3), -1),
    case(floats(4, 3), (1, -5), axis=(0, 1)),
    case(floats(4, 3), 2, axis=(0, -1)),
    takes=ANY,
    cost=0,
    checked=True,
)
def roll(x, shift, axis=None):
    """Elements shifted along an axis; those that leave enter at the other end.

    ``axis=None`` shifts the flattened elements. One shift may serve several axes.
    """
    return np.roll(x, shift, axis=axis)


@operator(
    None, case(floats(2, 3)), case(floats(2, 3, 4), -1, axes=(1, 2)), case(floats(2, 3), 2), takes=ANY, checked=True
)
def rot90(x, k=1, *, axes=(0, 1)):
    """Rotated by 90 degrees ``k`` times, from the first of two axes toward the second."""
    first, second = rules.two_axes(axes, spec_of(x).ndim)
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return flip(x, axis=(first, second))
    return flip(swapaxes(x, first, second), axis=first) if k % 4 == 1 else swapaxes(flip(x, axis=first), first, second)


_MODES: dict[str, Any] = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@operator(
    rules.pad,
    case(floats(2, 3), ((1, 0), (0, 2))),
    case(floats(2, 3), ((0, 0), (1, 1)), value=2.0),
    case(floats(2, 4), ((1, 0), (1, 3)), mode="reflect"),
    case(floats(2, 3), ((0, 3), (1, 2)), mode="replicate"),
    case(floats(2, 3), ((2, 1), (0, 3)), mode="circular"),
    takes=NUMBERS_AND_BOOL,
    cost=0,
    options={"mode": Choice("constant", "reflect", "replicate", "circular"), "padding": Dependent((((-1, 0),),))},
)
def pad(x, padding, mode="constant", value=0.0):
    """Padding around the tensor: one pair (before, after) for each axis.

    It holds ``value`` (in the dtype of ``x``), or with ``mode`` "reflect" the elements mirrored at the last one (less than
    the size), "replicate" the last one, "circular" those of the other end. Semantics: torch.nn.functional.pad.
    """
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x, padding, mode=_MODES[mode], **options)


@operator(
    rules.matrices, case(floats(3, 4)), case(floats(2, 4, 3), k=1), case(floats(4, 4), k=-2), takes=NUMBERS_AND_BOOL
)
def tril(x, /, *, k=0):
    """The lower triangle of matrices, up to the ``k``-th diagonal; zeros above."""
    return np.tril(x, k)


@operator(
    rules.matrices, case(floats(3, 4)), case(floats(2, 4, 3), k=1), case(floats(4, 4), k=-2), takes=NUMBERS_AND_BOOL
)
def triu(x, /, *, k=0):
    """The upper triangle of matrices, from the ``k``-th diagonal; zeros below."""
    return np.triu(x, k)


@operator(
    rules.diagonal,
    case(floats(2, 3, 4)),
    case(floats(3, 4), offset=-1),
    case(floats(3, 2, 4), offset=1, axes=(0, 2)),
    takes=ANY,
    checked=True,
)
def diagonal(x, /, *, offset=0, axes=(-2, -1)):
    """The diagonal of two axes, as the last axis; ``offset`` above 0 for one further right."""
    return np.diagonal(x, offset, *axes)


@operator(
    rules.diag,
    case(floats(3)),
    case(floats(2, 3), offset=1),
    case(floats(2, 2), offset=-2),
    takes=NUMBERS_AND_BOOL,
    checked=True,
)
def diag(x, /, *, offset=0):
    """Square matrices with the last axis on their diagonal and zeros elsewhere. Semantics: torch.diag_embed."""
    size = x.shape[-1] + abs(offset)
    result = np.zeros((*x.shape[:-1], size, size), x.dtype)
    steps = np.arange(x.shape[-1])
    result[..., steps + max(-offset, 0), steps + max(offset, 0)] = x
    return result


@operator(
    rules.astype,
    case(floats(2, 3), "bool"),
    case(floats(2, 3), "float64"),
    case(ints(2, 3), "float32"),
    case(floats(2, 3), "complex64"),
    takes=NUMBERS_AND_BOOL,
    differentiable=False,
    cost=0,
    without_onnx="complex numbers",
)
def astype(x, dtype):
    """Elements converted to another dtype, given by name; fractions are truncated toward 0.

    Gradients flow between dtypes with fractions. Raises TypeError for strings, and for conversions of complex to
    real.
    """
    return x if dtype == "bfloat16" else np.asarray(x).astype(dtype)


@operator(
    rules.like,
    case(floats(2, 3)),
    case(floats(2, 3), dtype="int32"),
    takes=NUMBERS_AND_BOOL,
    differentiable=False,
    cost=0,
)
def zeros_like(x, /, *, dtype=None):
    """Zeros in the shape of ``x``, and in its dtype unless one is given."""
    return np.zeros_like(x)


@operator(
    rules.like,
    case(floats(2, 3)),
    case(floats(2, 3), dtype="bool"),
    takes=NUMBERS_AND_BOOL,
    differentiable=False,
    cost=0,
)
def ones_like(x, /, *, dtype=None):
    """Ones in the shape of ``x``, and in its dtype unless one is given."""
    return np.ones_like(x)


@operator(
    rules.like,
    case(floats(2, 3), 2),
    case(floats(2, 3), -1.5, dtype="float64"),
    case(floats(2), True, dtype="bool"),
    takes=NUMBERS_AND_BOOL,
    differentiable=False,
    cost=0,
    checked=True,
)
def full_like(x, value, /, *, dtype=None):
    """One number everywhere in the shape of ``x``, and in its dtype unless one is given."""
    return np.full_like(x, value, dtype=None if dtype == "bfloat16" else dtype)


@operator(None, case(floats(2, 3)), case(floats(2, 3), dtype="int64"), takes=NUMBERS_AND_BOOL, differentiable=False)
def empty_like(x, /, *, dtype=None):
    """A tensor in the shape of ``x`` whose values do not matter: zeros, equal on every backend."""
    return zeros_like(x, dtype=dtype)


@operator(
    rules.one_hot,
    case(ints(2, 3), 5),
    case(ints(4, low=-2, high=4), 3, axis=0, dtype="int64"),
    differentiable=False,
    composite=True,
    checked=True,
)
def one_hot(x, classes, *, axis=-1, dtype="float32"):
    """Zeros with a one at the given class, on a new axis; all zeros for a number that is not a class."""
    found = equal(expand_dims(astype(x, "int64"), -1), np.arange(classes))
    return moveaxis(astype(found, dtype), -1, axis)


@operator(
    rules.take,
    case(floats(2, 5), ints(4, low=-5), axis=1),
    case(floats(2, 5), ints(2, 3), -1),
    case(floats(5, 3), ints(2, 4)),
    takes=ANY,
    cost=0,
)
def take(x, indices, axis=0):
    """Slices of ``x`` at the given positions along an axis; negative ones count from the end.

    The axes of ``indices`` replace that axis.
    """
    return np.take(x, indices, axis=axis)


@operator(
    rules.take_along_axis,
    case(floats(2, 5), ints(2, 3, low=-5), axis=1),
    case(floats(2, 3, 5), ints(2, 1, 5, high=3), 1),
    case(floats(4, 3), ints(2, 3, high=4), 0),
    takes=ANY,
)
def take_along_axis(x, indices, axis=-1):
    """Elements at individual positions along an axis; negative ones count from the end.

    ``indices`` has as many axes as ``x``, and on the others its size or 1. Semantics: torch.take_along_dim.
    """
    shape: Any = rules.along_axis(spec_of(x), spec_of(indices), axis, "take_along_axis")
    return np.take_along_axis(x, np.broadcast_to(indices, shape), axis)
