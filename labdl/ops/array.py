"""Shape, order and selection of elements (Python Array API standard; pad and one_hot as in PyTorch)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import case, floats, ints, operator


@operator(rules.reshape, case(floats(2, 6), (3, 4)), case(floats(2, 3, 4), (2, -1)))
def reshape(x, shape):
    """The same elements in another shape; one size may be -1 and is found from the rest."""
    return np.reshape(x, shape)


@operator(rules.permute, case(floats(2, 3, 4), (2, 0, 1)), case(floats(2, 3), (-1, 0)))
def permute(x, axes):
    """Axes in another order (``permute_dims`` of the Array API)."""
    return np.transpose(x, axes)


@operator(rules.expand, case(floats(2, 3), 1), case(floats(2, 3), -1))
def expand_dims(x, axis=0):
    """A new axis of size 1."""
    return np.expand_dims(x, axis)


@operator(rules.squeeze, case(floats(2, 1, 3), 1), case(floats(1, 3, 1), (0, -1)))
def squeeze(x, axis):
    """Without the named axes, which have size 1."""
    return np.squeeze(x, axis)


@operator(rules.concat, case([floats(2, 3), floats(4, 3)]), case([floats(2, 3), floats(2, 1)], axis=-1))
def concat(xs, axis=0):
    """Tensors joined along an axis."""
    return np.concatenate(xs, axis=axis)


@operator(rules.stack, case([floats(2, 3), floats(2, 3)]), case([floats(2), floats(2)], axis=-1))
def stack(xs, axis=0):
    """Tensors of one shape joined along a new axis."""
    return np.stack(xs, axis=axis)


@operator(rules.split, case(floats(4, 3), 2), case(floats(2, 6), (1, 2, 3), axis=-1))
def split(x, sections, axis=0):
    """A tuple of parts: ``sections`` equal ones, or parts of the given sizes."""
    at = sections if isinstance(sections, int) else np.cumsum(sections)[:-1].tolist()
    return tuple(np.split(x, at, axis=axis))


@operator(rules.tile, case(floats(2, 3), (2, 1)))
def tile(x, repeats):
    """The tensor repeated along each axis."""
    return np.tile(x, repeats)


@operator(rules.broadcast_to, case(floats(3, 1), (2, 3, 4)))
def broadcast_to(x, shape):
    """The tensor spread to a larger shape by the broadcasting rule."""
    return np.broadcast_to(x, shape)


@operator(rules.elementwise, case(floats(2, 3), axis=1))
def flip(x, axis):
    """Elements in reverse order along an axis."""
    return np.flip(x, axis=axis)


@operator(rules.elementwise, case(floats(2, 5), 2, axis=1))
def roll(x, shift, axis):
    """Elements shifted along an axis; those that leave enter at the other end."""
    return np.roll(x, shift, axis=axis)


@operator(rules.pad, case(floats(2, 3), ((1, 0), (0, 2))), case(floats(2, 3), ((0, 0), (1, 1)), value=1.5))
def pad(x, padding, value=0.0):
    """A constant border: one pair (before, after) for each axis."""
    return np.pad(x, padding, constant_values=value)


@operator(rules.take, case(floats(5, 3), ints(2, 4)), case(floats(3, 5), ints(4), axis=1))
def take(x, indices, axis=0):
    """Slices of ``x`` at the given positions along an axis."""
    return np.take(x, indices, axis=axis)


@operator(rules.getitem, case(floats(3, 4), (slice(None), 1)), case(floats(5, 3), slice(1, 4, 2)))
def getitem(x, index):
    """Basic indexing ``x[index]`` with integers, slices, ``None`` and ``...``."""
    return x[index]


@operator(rules.astype, case(floats(2, 3), "int32"), case(ints(2, 3), "float32"), differentiable=False)
def astype(x, dtype):
    """Elements converted to another dtype, given by name."""
    return np.asarray(x).astype(dtype)


@operator(rules.elementwise, case(floats(2, 3)), differentiable=False)
def zeros_like(x, /):
    """Zeros in the shape and dtype of ``x``."""
    return np.zeros_like(x)


@operator(rules.elementwise, case(floats(2, 3)), differentiable=False)
def ones_like(x, /):
    """Ones in the shape and dtype of ``x``."""
    return np.ones_like(x)


@operator(rules.one_hot, case(ints(2, 3), 5), differentiable=False)
def one_hot(x, classes):
    """Rows of zeros with a one at the given class, float32, on a new last axis."""
    return np.eye(classes, dtype="float32")[x]
