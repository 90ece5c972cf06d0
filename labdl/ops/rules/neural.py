"""Shape rules of linear layers, dropout, embedding, similarity and attention."""

from __future__ import annotations

from labdl.ops.rules.convolution import first_format
from labdl.ops.rules.elementwise import common_dtype, operand, promoting
from labdl.ops.rules.traits import layout
from labdl.spec import Spec, broadcast, normal_axes, show


def _fits(shape, wanted) -> bool:
    """True when known sizes are equal."""
    return len(shape) == len(wanted) and all(None in (n, m) or n == m for n, m in zip(shape, wanted, strict=True))


def tensor_like(x, values, dtype=None) -> Spec:
    return Spec(operand(values).shape, dtype or x.dtype)


@promoting
def bilinear(x, y, kernel, bias=None) -> Spec:
    if kernel.ndim != 3:
        raise ValueError(f"bilinear wants a kernel (out, in1, in2), received {show(kernel.shape)}")
    out, left, right = kernel.shape
    for name, t, size in (("x", x, left), ("y", y, right)):
        if not t.ndim or t.shape[-1] not in (size, None):
            raise ValueError(f"bilinear wants {name} with a last axis of {size}, received {show(t.shape)}")
    if len(x.shape) != len(y.shape):
        raise ValueError(f"bilinear wants inputs of one shape but for the last axis: {show(x.shape)}, {show(y.shape)}")
    lead = [n if n is not None else m for n, m in zip(x.shape[:-1], y.shape[:-1], strict=True)]
    if any(None not in (n, m) and n != m for n, m in zip(lead, y.shape[:-1], strict=True)):
        raise ValueError(f"bilinear wants inputs of one shape but for the last axis: {show(x.shape)}, {show(y.shape)}")
    if bias is not None and bias.shape not in ((out,), (None,)):
        raise ValueError(f"bilinear wants a bias of shape ({out},), received {show(bias.shape)}")
    return Spec((*lead, out), common_dtype(x, y, kernel))


def maxout(x, pieces, axis=1) -> Spec:
    at = normal_axes(axis, x.ndim)[0]
    n = x.shape[at]
    if pieces < 1 or (n is not None and n % pieces):
        raise ValueError(f"maxout cannot cut {n} features into pieces of {pieces}")
    return x.with_shape([*x.shape[:at], None if n is None else n // pieces, *x.shape[at + 1 :]])


@layout("elementwise")
def dropout(x, rate, *args, **options) -> Spec:
    return x


def drop_path(x, rate, training=False) -> Spec:
    if x.ndim < 1:
        raise ValueError("drop_path wants a batch on the first axis")
    return dropout(x, rate)


def dropout_channels(x, rate, training=False, data_format="channels_first") -> Spec:
    first_format(data_format)
    if x.ndim < 2:
        raise ValueError(f"dropout_channels wants (N, C, ...), received {show(x.shape)}")
    return dropout(x, rate)


def embedding(indices, table) -> Spec:
    if len(table.shape) != 2:
        raise ValueError(f"embedding wants a table (size, features), received {show(table.shape)}")
    return Spec((*indices.shape, table.shape[-1]), table.dtype)


@promoting
def embedding_bag(indices, table, weights=None, *, mode="mean") -> Spec:
    if not indices.ndim or indices.shape[-1] == 0:
        raise ValueError(
            f"embedding_bag wants bags of at least one index on the last axis, received {show(indices.shape)}"
        )
    if weights is not None and (mode != "sum" or not _fits(weights.shape, indices.shape)):
        raise ValueError(f'weights want mode="sum" and the shape of the indices, {show(indices.shape)}')
    rows = embedding(indices, table)
    return Spec((*indices.shape[:-1], rows.shape[-1]), common_dtype(*(t for t in (table, weights) if t is not None)))


@promoting
def similarity(x, y, *, axis=1, epsilon=1e-8) -> Spec:
    shape = broadcast(x.shape, y.shape)
    at = normal_axes(axis, len(shape))[0]
    return Spec(shape[:at] + shape[at + 1 :], common_dtype(x, y))


@promoting
def distance(x, y, *, p=2.0, epsilon=1e-6, keepdims=False) -> Spec:
    shape = broadcast(x.shape, y.shape)
    if not shape or not p > 0:
        raise ValueError(
            f"pairwise_distance wants tensors of at least one axis and p above 0, received {show(shape)}, p={p}"
        )
    return Spec((*shape[:-1], 1) if keepdims else shape[:-1], common_dtype(x, y))


def normalize(x, p=2.0, axis=1, epsilon=1e-12) -> Spec:
    normal_axes(axis, x.ndim)
    if not p > 0:
        raise ValueError(f"normalize wants p above 0, received {p}")
    return x


def causal_mask(scores) -> Spec:
    if scores.ndim < 2:
        raise ValueError(f"causal_mask wants scores (..., queries, keys), received {show(scores.shape)}")
    return scores


def attention(query, key, value, mask=None, causal=False, **options) -> Spec:
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError(
            f"attention wants query, key and value (..., steps, features), received {show(query.shape)}, "
            f"{show(key.shape)}, {show(value.shape)}"
        )
    if None not in (query.shape[-1], key.shape[-1]) and query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has {query.shape[-1]} features and key {key.shape[-1]}: they must agree")
    if None not in (key.shape[-2], value.shape[-2]) and key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key has {key.shape[-2]} steps and value {value.shape[-2]}: they must agree")
    lead = query.shape[:-2]
    if shared_heads(query, key) > 1:
        broadcast(lead[:-1], key.shape[:-3], value.shape[:-3])
    else:
        lead = broadcast(lead, key.shape[:-2], value.shape[:-2])
    if mask is not None:
        scores = (*lead, query.shape[-2], key.shape[-2])
        if broadcast(scores, mask.shape) != scores and None not in (*scores, *mask.shape):
            raise ValueError(f"a mask of {show(mask.shape)} does not broadcast to the scores {show(scores)}")
    return Spec((*lead, query.shape[-2], value.shape[-1]), common_dtype(query, key, value))


def shared_heads(query, key) -> int:
    """The number of query heads per key head: axis -3 of tensors with four axes or more."""
    if query.ndim < 4 or key.ndim < 4:
        return 1
    heads, fewer = query.shape[-3], key.shape[-3]
    if None in (heads, fewer) or fewer in (1, heads) or heads == 1:
        return 1
    if heads % fewer:
        raise ValueError(f"{heads} query heads cannot share {fewer} key heads evenly")
    return heads // fewer


def rotary_embedding(x, positions=None, *, size=None, **options) -> Spec:
    if x.ndim < 2 or (size is None and x.shape[-1] is not None and x.shape[-1] % 2):
        raise ValueError(f"rotary_embedding wants (..., steps, an even number of features), received {show(x.shape)}")
    if size is not None and (size < 2 or size % 2 or (x.shape[-1] is not None and size > x.shape[-1])):
        raise ValueError(
            f"rotary_embedding wants an even size of at most the number of features in {show(x.shape)}, received {size}"
        )
    if x.shape[-1] is None:
        raise ValueError(f"rotary_embedding wants a known number of features, received {show(x.shape)}")
    if positions is not None and not _fits(broadcast(x.shape[:-1], positions.shape), x.shape[:-1]):
        raise ValueError(f"positions {show(positions.shape)} do not fit {show(x.shape[:-1])}")
    return x
