"""Linear layers, dropout and embedding (PyTorch's semantics)."""

import numpy as np

from labdl import dispatch
from labdl.ops import costs, rules
from labdl.ops.array.shape import astype, expand_dims, ones_like, permute_dims, reshape
from labdl.ops.math.arithmetic import add, multiply
from labdl.ops.math.comparison import greater, greater_equal, where
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import mean
from labdl.ops.math.reduction import sum as total
from labdl.ops.operator import Choice, case, floats, ints, operator
from labdl.ops.random.like import random_uniform_like
from labdl.spec import REALS


@operator(
    rules.tensor_like,
    case(floats(2, 3), floats(4)),
    case(floats(2), ints(2, 3), dtype="int64"),
    case(floats(2), ints(3)),
    takes=REALS,
    differentiable=False,
    composite=True,
)
def tensor_like(x, values, dtype=None):
    """A constant on the backend of a tensor, in its dtype or the one given.

    ``values`` is a NumPy array. Composite operators use it for tables.
    """
    owner, dtype = dispatch.owner(x), dtype or dispatch.spec_of(x).dtype
    if isinstance(values, np.ndarray) and hasattr(owner, "tensor"):
        values = owner.tensor(values.astype("float32" if dtype in ("float16", "bfloat16") else dtype))
    return astype(values, dtype)


@operator(
    rules.linear,
    case(floats(2, 3), floats(3, 4), floats(4)),
    case(floats(2, 5, 3), floats(3, 4)),
    cost=costs.linear,
    precision="half",
)
def linear(x, kernel, bias=None):
    """x @ kernel + bias over the last axis; kernel (in, out), bias (out,)."""
    y = np.matmul(x, kernel)
    return y if bias is None else y + bias


@operator(
    rules.bilinear,
    case(floats(2, 3), floats(2, 4), floats(5, 3, 4), floats(5)),
    case(floats(2, 3, 2), floats(2, 3, 2), floats(1, 2, 2)),
    composite=True,
    cost=costs.bilinear,
    precision="half",
)
def bilinear(x, y, kernel, bias=None):
    """x · kernel[o] · y + bias[o] over the last axes, for each output o; kernel (out, in1, in2), bias (out,).

    Semantics: torch.nn.functional.bilinear.
    """
    out, left, right = kernel.shape
    lead = tuple(-1 if n is None else n for n in rules.bilinear(*map(dispatch.spec_of, (x, y, kernel))).shape[:-1])
    flat = reshape(permute_dims(kernel, (1, 0, 2)), (left, out * right))
    halves = reshape(matmul(x, flat), (*lead, out, right))
    result = total(multiply(halves, expand_dims(y, -2)), axis=-1)
    return result if bias is None else add(result, bias)


@operator(rules.maxout, case(floats(2, 6, 3), 2), case(floats(2, 4), 4, axis=-1), composite=True, precision="half")
def maxout(x, pieces, axis=1):
    """The largest of each ``pieces`` neighbors along an axis, which shrinks by that factor (Goodfellow et al., 2013)."""
    at = axis % len(x.shape)
    shape = tuple(-1 if n is None else n for n in rules.maxout(dispatch.spec_of(x), pieces, axis).shape)
    return largest(reshape(x, (*shape[: at + 1], pieces, *shape[at + 1 :])), axis=at + 1)


@operator(
    rules.dropout,
    case(floats(2, 3), 0.5),
    case(floats(2, 3), 0.0, training=True),
    case(floats(4, 5), 0.4, training=True),
    composite=True,
    random=True,
)
def dropout(x, rate, training=False):
    """In training, zero for a random share ``rate`` of the elements and x / (1 - rate) for the rest; else x."""
    if not training or rate == 0:
        return x
    kept = greater_equal(random_uniform_like(x), rate)
    return where(kept, multiply(x, 1 / (1 - rate) if rate < 1 else 0.0), 0.0)


@operator(
    rules.dropout_channels,
    case(floats(2, 3, 4), 0.5),
    case(floats(3, 4, 2, 2), 0.4, training=True),
    case(floats(3, 2, 4), 0.4, training=True, data_format="channels_last"),
    composite=True,
    random=True,
)
def dropout_channels(x, rate, training=False, data_format="channels_first"):
    """In training, zero for a random share ``rate`` of the channels of x (N, C, ...) and x / (1 - rate) for the rest.

    Semantics: torch.nn.functional.dropout1d to dropout3d (Tompson et al., 2015).
    """
    if not training or rate == 0:
        return x
    each, first = slice(None), slice(0, 1)
    inner = (first,) * (len(x.shape) - 2)
    index = (each, each, *inner) if data_format == "channels_first" else (each, *inner, each)
    return multiply(x, dropout(ones_like(x[index]), rate, training=True))


@operator(
    rules.drop_path, case(floats(2, 3), 0.5), case(floats(5, 2, 3), 0.4, training=True), composite=True, random=True
)
def drop_path(x, rate, training=False):
    """In training, zero for a random share ``rate`` of the samples of a batch and x / (1 - rate) for the rest.

    Also called stochastic depth (Huang et al., 2016): put it before the sum of a residual block.
    """
    if not training or rate == 0:
        return x
    index = (slice(None), *(slice(0, 1),) * (len(x.shape) - 1))
    return multiply(x, dropout(ones_like(x[index]), rate, training=True))


@operator(rules.dropout, case(floats(2, 3), 0.5), case(floats(4, 5), 0.4, training=True), composite=True, random=True)
def alpha_dropout(x, rate, training=False):
    """Dropout that keeps mean and variance of the outputs of `selu` (Klambauer et al., 2017).

    In training, a random share ``rate`` of the elements becomes selu's limit, then all are scaled and shifted.
    Semantics: torch.nn.functional.alpha_dropout.
    """
    if not training or rate == 0:
        return x
    if rate == 1:
        return multiply(x, 0.0)
    limit = -1.7580993408473766
    scale = ((1 - rate) * (1 + rate * limit**2)) ** -0.5
    kept = greater(dropout(ones_like(x), rate, training=True), 0.0)
    return add(multiply(where(kept, x, limit), scale), -scale * limit * rate)


@operator(rules.embedding, case(ints(2, 3), floats(5, 4)), cost=0)
def embedding(indices, table):
    """Rows of the table (size, features) at the given positions, 0 to size - 1. Raises IndexError for others."""
    if np.size(indices) and np.min(indices) < 0:
        raise IndexError(f"embedding wants positions of 0 or more, received {np.min(indices)}")
    return np.take(table, indices, axis=0)


@operator(
    rules.embedding_bag,
    case(ints(2, 3), floats(5, 4)),
    case(ints(2, 3), floats(5, 4), mode="max"),
    case(ints(3, 2), floats(5, 4), mode="sum"),
    case(ints(3, 2), floats(5, 4), floats(3, 2), mode="sum"),
    composite=True,
    options={"mode": Choice("mean", "sum", "max")},
)
def embedding_bag(indices, table, weights=None, *, mode="mean"):
    """Mean, sum or maximum of the table's rows at the indices (..., bag): (..., features).

    ``weights`` in the shape of ``indices`` multiply the rows of a sum. Semantics: torch.nn.functional.embedding_bag.
    """
    rows = embedding(indices, table)
    if weights is not None:
        rows = multiply(rows, expand_dims(weights, -1))
    return {"mean": mean, "sum": total, "max": largest}[mode](rows, axis=-2)
