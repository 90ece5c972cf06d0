"""Attention layers."""

from __future__ import annotations

import math

from labdl import dispatch, ops
from labdl.nn.linear import Linear
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Rate
from labdl.ops.operator import floats
from labdl.spec import show


def as_boolean(mask):
    """Convert a mask to booleans; in a numeric mask, 0 is false."""
    return mask if dispatch.spec_of(mask).dtype == "bool" else ops.astype(mask, "bool")


def combine_masks(mask, key_mask):
    """Combine a mask of the scores (N, heads, queries, keys) and a mask of the keys (N, keys) into one."""
    if key_mask is None:
        return mask
    keys = ops.getitem(as_boolean(key_mask), (slice(None), None, None, slice(None)))
    if mask is None:
        return keys
    both = dispatch.spec_of(mask).dtype == "bool"
    return ops.logical_and(mask, keys) if both else ops.where(keys, mask, -math.inf)


@layer({"heads": 2}, floats(2, 3, 4))
class MultiHeadAttention(Module):
    """Multi-head attention (Vaswani et al., 2017) of (N, steps, features); self-attention without ``context``.

    ``context`` (N, keys, ...) gives keys and values, or only keys if ``values`` (N, keys, ...) is connected too.
    ``mask`` broadcasts to (N, heads, queries, keys): booleans are true where attention is allowed, numbers are added to the
    scores. ``key_mask`` (N, keys) is true, or not 0, for keys that are attended to; it masks padding. The attention output
    of a query without any allowed key is zero.

    Each head has ``key_size`` features of query and key and ``value_size`` of value: features / heads by default.
    Fewer ``key_heads`` than heads share keys and values (grouped-query attention, Ainslie et al., 2023). ``rotary`` applies
    rotary position embeddings to query and key (Su et al., 2021). In training, dropout of ``rate`` is applied to the
    attention weights.
    Semantics: torch.nn.MultiheadAttention with batch first, whose boolean masks are true where attention is forbidden.
    """

    heads: Count
    causal: bool = False
    rate: Rate = 0.0
    use_bias: bool = True
    key_heads: Count | None = None
    key_size: Count | None = None
    value_size: Count | None = None
    rotary: bool = False
    kernel_init: Initializer = "glorot_uniform"

    def setup(self, x, context=None, mask=None, key_mask=None, values=None):
        features = x.shape[-1] if x.ndim == 3 else None
        if features is None or (self.key_size is None and features % self.heads):
            raise ValueError(
                f"MultiHeadAttention wants (N, steps, features) with features divisible by heads="
                f"{self.heads}, received {show(x.shape)}"
            )
        for name, other in (("context", context), ("values", values)):
            if other is not None and other.ndim != 3:
                raise ValueError(f"MultiHeadAttention wants {name} (N, keys, features), received {show(other.shape)}")
        shared = self.heads if self.key_heads is None else self.key_heads
        if self.heads % shared:
            raise ValueError(f"MultiHeadAttention: key_heads={shared} must divide heads={self.heads}")
        size = features // self.heads if self.key_size is None else self.key_size
        if self.rotary and size % 2:
            raise ValueError(f"MultiHeadAttention: rotary=True wants an even key_size, received {size}")
        self.query = self._linear(self.heads * size)
        self.key = self._linear(shared * size)
        self.value = self._linear(shared * (size if self.value_size is None else self.value_size))
        self.projection = self._linear(features)

    def _linear(self, features: int) -> Linear:
        return Linear(features, use_bias=self.use_bias, kernel_init=self.kernel_init)

    def forward(self, x, context=None, mask=None, key_mask=None, values=None):
        source = x if context is None else context
        shared = self.heads if self.key_heads is None else self.key_heads
        query = _split_heads(self.query(x), self.heads)
        key = _split_heads(self.key(source), shared)
        value = _split_heads(self.value(source if values is None else values), shared)
        if self.rotary:
            query, key = ops.rotary_embedding(query), ops.rotary_embedding(key)
        heads = ops.scaled_dot_product_attention(
            query, key, value, combine_masks(mask, key_mask), causal=self.causal, rate=self.rate, training=self.training
        )
        return self.projection(_merge_heads(heads))


def _split_heads(x, heads: int):
    """(N, steps, heads * size) to (N, heads, steps, size)."""
    steps, features = x.shape[1:]
    if steps is None:  # a reshape infers one size only, and that is the batch
        return ops.stack(ops.split(x, heads, axis=-1), axis=1)
    return ops.permute_dims(ops.reshape(x, (-1, steps, heads, features // heads)), (0, 2, 1, 3))


def _merge_heads(x):
    """(N, heads, steps, size) to (N, steps, heads * size)."""
    heads, steps, size = x.shape[1:]
    if steps is None:
        return ops.concat([ops.squeeze(part, 1) for part in ops.split(x, heads, axis=1)], axis=-1)
    return ops.reshape(ops.permute_dims(x, (0, 2, 1, 3)), (-1, steps, heads * size))


@layer({"hidden_size": 5}, floats(2, 3, 4), floats(2, 6, 3))
class AdditiveAttention(Module):
    """Additive attention (Bahdanau et al., 2015) of (N, queries, ...) to a context (N, keys, features).

    The weights are softmax over keys of v · tanh(W query + U key + b) with ``hidden_size`` units; the result
    (N, queries, features) is the weighted mean of the context. ``key_mask`` (N, keys) is true, or not 0, for keys that are
    attended to.
    """

    hidden_size: Count
    kernel_init: Initializer = "glorot_uniform"

    def setup(self, x, context, key_mask=None):
        if x.ndim != 3 or context.ndim != 3:
            raise ValueError(
                f"AdditiveAttention wants (N, queries, features) and (N, keys, features), received "
                f"{show(x.shape)} and {show(context.shape)}"
            )
        self.query = Linear(self.hidden_size, use_bias=False, kernel_init=self.kernel_init)
        self.key = Linear(self.hidden_size, kernel_init=self.kernel_init)
        self.score = Linear(1, use_bias=False, kernel_init=self.kernel_init)

    def forward(self, x, context, key_mask=None):
        sums = ops.add(ops.expand_dims(self.query(x), 2), ops.expand_dims(self.key(context), 1))
        scores = ops.squeeze(self.score(ops.tanh(sums)), -1)
        if key_mask is not None:
            # with -inf the softmax of a sample without any key would be NaN
            scores = ops.where(ops.expand_dims(as_boolean(key_mask), 1), scores, -1e30)
        return ops.matmul(ops.softmax(scores, axis=-1), context)
