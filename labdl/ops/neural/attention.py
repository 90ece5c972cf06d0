"""Attention and rotary position embedding."""

import math

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import costs, rules
from labdl.ops.array.shape import astype, concat, expand_dims, permute_dims, roll, take
from labdl.ops.math.arithmetic import add, multiply
from labdl.ops.math.comparison import greater, where
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.trigonometry import cos, sin
from labdl.ops.neural.activation import softmax
from labdl.ops.neural.linear import dropout, tensor_like
from labdl.ops.neural.positions import step_positions
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import Number, Numbers, bools, case, floats, ints, operator


@operator(rules.causal_mask, case(floats(2, 3, 4)), differentiable=False)
def causal_mask(scores, /):
    """Attention scores (..., queries, keys) with minus infinity where the key comes after the query."""
    return np.where(np.tril(np.ones(scores.shape[-2:], dtype="bool")), scores, -np.inf)


@operator(
    rules.attention,
    case(floats(2, 3, 4, 5), floats(2, 3, 6, 5), floats(2, 3, 6, 5)),
    case(floats(2, 4, 5), floats(2, 4, 5), floats(2, 4, 5), causal=True),
    case(floats(2, 3, 4), floats(2, 5, 4), floats(2, 5, 3), bools(3, 5), scale=0.7),
    case(floats(2, 3, 4), floats(2, 5, 4), floats(2, 5, 3), bools(2, 3, 1), causal=True),
    case(floats(2, 3, 4), floats(2, 5, 4), floats(2, 5, 3), floats(2, 1, 5)),
    case(floats(1, 4, 3, 2), floats(1, 2, 5, 2), floats(1, 2, 5, 3), bools(3, 5)),
    composite=True,
    cost=costs.attention,
    precision="half",
    options={"scale": Number()},
)
def scaled_dot_product_attention(query, key, value, mask=None, causal=False, *, scale=None, rate=0.0, training=False):
    """softmax(query · keyᵀ * scale) · value over the last two axes (Vaswani et al., 2017); scale is 1 / sqrt(d) if left out.

    ``mask`` broadcasts to (..., queries, keys): booleans are true where attention is allowed, numbers are added to the
    scores. ``causal`` allows keys up to the query's own position. A query without allowed keys gets zeros.
    In training, `dropout` of ``rate`` applies to the weights. Tensors of four axes and more may have fewer heads (axis -3)
    of key and value than of query: neighboring query heads share them (Ainslie et al., 2023).
    Semantics: torch.nn.functional.scaled_dot_product_attention.
    """
    shared = rules.shared_heads(spec_of(query), spec_of(key))
    if shared > 1:
        heads = np.repeat(np.arange(sizes_of(key)[-3]), shared)
        key, value = (take(t, tensor_like(t, heads, "int64"), axis=len(t.shape) - 3) for t in (key, value))
    last = tuple(range(len(key.shape)))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = multiply(matmul(query, permute_dims(key, (*last[:-2], last[-1], last[-2]))), scale)
    if causal:
        scores = causal_mask(scores)
    if mask is None:
        return matmul(dropout(softmax(scores, axis=-1), rate, training), value)
    scores = where(mask, scores, -math.inf) if spec_of(mask).dtype == "bool" else add(scores, mask)
    some = greater(largest(scores, axis=-1, keepdims=True), -math.inf)
    weights = where(some, softmax(where(some, scores, 0.0), axis=-1), 0.0)
    return matmul(dropout(weights, rate, training), value)


@operator(
    rules.rotary_embedding,
    case(floats(2, 3, 4)),
    case(floats(1, 2, 3, 4), interleaved=True),
    case(floats(2, 3, 4), ints(3), base=100.0),
    case(floats(2, 3, 4), ints(2, 3), interleaved=True),
    case(floats(2, 3, 5), size=2),
    case(floats(2, 3, 6), ints(2, 3), size=4, interleaved=True),
    case(floats(2, 3, 8), base=100.0, scaling=(4.0, 1.0, 4.0, 16.0)),
    composite=True,
    options={"scaling": Numbers(Number(0, above=True), 4)},
)
def rotary_embedding(x, positions=None, *, base=10000.0, interleaved=False, size=None, scaling=None):
    """Features of x (..., steps, d) rotated in pairs by angles proportional to the position (Su et al., 2021).

    Pair i rotates by position * base ** (-2i / d): features i and i + d / 2, or with ``interleaved`` 2i and 2i + 1.
    ``positions`` broadcasts to (..., steps) and counts from 0 when left out. Only the first ``size`` features are rotated,
    and d is that size, if it is given (GPT-J, GPT-NeoX).

    ``scaling`` = (factor, low, high, length) makes a model of ``length`` steps read longer texts (Llama 3.1): pairs of more
    than ``high`` turns within ``length`` stay, those of fewer than ``low`` turn ``factor`` times slower, others between.
    """
    shape, dtype = sizes_of(x), spec_of(x).dtype
    if size is not None and size < shape[-1]:
        part, rest = x[(..., slice(0, size))], x[(..., slice(size, None))]
        turned = rotary_embedding(part, positions, base=base, interleaved=interleaved, scaling=scaling)
        return concat([turned, rest], axis=-1)
    size = shape[-1]
    places, half = np.arange(size), max(size // 2, 1)
    pair = places // 2 if interleaved else places % half
    rates = float(base) ** (-2 * pair / size)
    if scaling is not None:
        rates = _slow_down(rates, *scaling)
    signs = np.where(places % 2 if interleaved else places >= half, 1.0, -1.0)
    if positions is None and shape[-2] is not None:
        angles = np.arange(shape[-2])[:, None] * rates
        cosines, sines = tensor_like(x, np.cos(angles)), tensor_like(x, np.sin(angles) * signs)
    else:
        wide = "float64" if dtype == "float64" else "float32"
        counted = step_positions(x) if positions is None else positions
        turned = multiply(expand_dims(astype(counted, wide), -1), tensor_like(x, rates, wide))
        cosines = astype(cos(turned), dtype)
        sines = astype(multiply(sin(turned), tensor_like(x, signs, wide)), dtype)
    others = (
        take(x, tensor_like(x, places ^ 1, "int64"), axis=len(shape) - 1) if interleaved else roll(x, half, axis=-1)
    )
    return add(multiply(x, cosines), multiply(others, sines))


def _slow_down(rates: np.ndarray, factor: float, low: float, high: float, length: float) -> np.ndarray:
    """The rates of rotation of Llama 3.1 for texts longer than ``length`` steps."""
    turns = rates * length / (2 * math.pi)
    fast_share = np.clip((turns - low) / (high - low), 0.0, 1.0)  # 1 for fast pairs, 0 for slow ones
    return fast_share * rates + (1 - fast_share) * rates / factor
