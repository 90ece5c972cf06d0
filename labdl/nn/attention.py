"""Attention layers."""

from __future__ import annotations

import functools
import math

from labdl import dispatch, ops
from labdl.nn.decoding import current
from labdl.nn.linear import Linear
from labdl.nn.module import Module
from labdl.nn.positions import count_steps
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Positive, Rate
from labdl.ops.operator import floats
from labdl.spec import show


def as_boolean(mask):
    """Convert a mask to booleans; in a numeric mask, 0 is false."""
    return mask if dispatch.spec_of(mask).dtype == "bool" else ops.astype(mask, "bool")


def combine_masks(mask, key_mask, window=None, bias=None):
    """Combine masks of the scores (N, heads, queries, keys), a mask of the keys (N, keys) and numbers for the scores."""
    allowed = [each for each in (window,) if each is not None]
    if key_mask is not None:
        allowed.append(ops.getitem(as_boolean(key_mask), (slice(None), None, None, slice(None))))
    added = [each for each in (bias,) if each is not None]
    if mask is not None:
        (allowed if dispatch.spec_of(mask).dtype == "bool" else added).insert(0, mask)
    both = functools.reduce(ops.logical_and, allowed) if allowed else None
    if not added:
        return both
    numbers = functools.reduce(ops.add, added)
    return numbers if both is None else ops.where(both, numbers, -math.inf)


@layer({"heads": 2}, floats(2, 3, 4))
class MultiHeadAttention(Module):
    """Multi-head attention (Vaswani et al., 2017) of (N, steps, features); self-attention without ``context``.

    ``context`` (N, keys, ...) gives keys and values, or only keys if ``values`` (N, keys, ...) is connected too.
    ``mask`` broadcasts to (N, heads, queries, keys): booleans are true where attention is allowed, numbers are added to the
    scores. ``key_mask`` (N, keys) is true, or not 0, for keys that are attended to; it masks padding. The attention output
    of a query without any allowed key is zero.

    Each head has ``key_size`` features of query and key and ``value_size`` of value: features / heads by default.
    Fewer ``key_heads`` than heads share keys and values (grouped-query attention, Ainslie et al., 2023). ``rotary`` applies
    rotary position embeddings to query and key (Su et al., 2021); in self-attention ``positions`` (N, steps) replace 0, 1,
    2 ...; ``rotary_scaling`` is the ``scaling`` of `ops.rotary_embedding`. In training, dropout of ``rate`` is applied to the
    attention weights. ``bias``, which layers may share, is added to the scores beside any mask, such as that of
    RelativePositionBias.
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
    query_bias: bool | None = None
    key_bias: bool | None = None
    value_bias: bool | None = None
    output_bias: bool | None = None
    rotary_size: Count | None = None
    rotary_base: Positive = 10000.0
    rotary_interleaved: bool = False
    scale: Positive | None = None
    window: Count | None = None
    query_init: Initializer | None = None
    rotary_scaling: tuple[Positive, Positive, Positive, Positive] | None = None

    def setup(self, x, context=None, mask=None, key_mask=None, values=None, bias=None, positions=None):
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
        self.any_steps = None in (x.shape[1], *(() if context is None else context.shape[1:2]))
        self._check_rotary(size, context, positions)
        self.query = self._linear(self.heads * size, self.query_bias, self.query_init)
        self.key = self._linear(shared * size, self.key_bias)
        self.value = self._linear(shared * (size if self.value_size is None else self.value_size), self.value_bias)
        self.projection = self._linear(features, self.output_bias)

    def _check_rotary(self, size: int, context, positions) -> None:
        part = self.rotary_size
        if not self.rotary and (part is not None or self.rotary_interleaved):
            raise ValueError("MultiHeadAttention has rotary_size and rotary_interleaved for rotary=True only")
        if self.rotary_scaling is not None and not (self.rotary and self.rotary_scaling[1] < self.rotary_scaling[2]):
            raise ValueError(
                "MultiHeadAttention: rotary_scaling=(factor, low, high, length) is for rotary=True, with low below high, "
                f"received {self.rotary_scaling}"
            )
        if self.rotary and part is None and size % 2:
            raise ValueError(f"MultiHeadAttention: rotary=True wants an even key_size, received {size}")
        if part is not None and (part % 2 or part > size):
            raise ValueError(f"MultiHeadAttention: rotary_size wants an even number of at most {size}, received {part}")
        if positions is None:
            return
        if not self.rotary or context is not None:
            raise ValueError("MultiHeadAttention takes positions for rotary=True in self-attention only")
        if positions.ndim not in (1, 2):
            raise ValueError(f"MultiHeadAttention wants positions (N, steps), received {show(positions.shape)}")

    def _linear(self, features: int, bias: bool | None, kernel_init: Initializer | None = None) -> Linear:
        return Linear(
            features,
            use_bias=self.use_bias if bias is None else bias,
            kernel_init=self.kernel_init if kernel_init is None else kernel_init,
        )

    def forward(self, x, context=None, mask=None, key_mask=None, values=None, bias=None, positions=None):
        if mask is not None and (mask is x or mask is context):
            raise ValueError(
                "MultiHeadAttention has the places (x, context, mask), and received as mask what it attends to: write "
                "attention(x) for self-attention, attention(query, key), or attention(query, key, values=value)"
            )
        source = x if context is None else context
        state = current.get()
        step = state is not None and state.is_step
        query = split_heads(self.query(x), self.heads)
        key = value = None
        if not (step and context is not None):  # a step reads those of the prompt
            shared = self.heads if self.key_heads is None else self.key_heads
            key = split_heads(self.key(source), shared)
            value = split_heads(self.value(source if values is None else values), shared)
        if self.rotary:
            if state is not None and step:
                positions = state.positions
            query, key = (
                part
                if part is None
                else self._rotate(part, count_steps(of) if positions is None and self.any_steps else positions)
                for part, of in ((query, x), (key, source))
            )
        if state is not None:
            key, value = state.extend(key, value) if context is None else state.keep_context(key, value)
        window = None
        if state is not None and step and context is None:
            window = state.mask(self.window)
        elif self.window is not None:
            window = ops.local_attention_mask(x, source, self.window, causal=self.causal)
        heads = ops.scaled_dot_product_attention(
            query,
            key,
            value,
            combine_masks(mask, key_mask, window, bias),
            causal=self.causal and window is None,
            scale=self.scale,
            rate=self.rate,
            training=self.training,
        )
        return self.projection(merge_heads(heads))

    def _rotate(self, x, positions):
        """Rotate query or key (N, heads, steps, size)."""
        if positions is not None and len(positions.shape) == 2:
            positions = ops.expand_dims(positions, 1)
        return ops.rotary_embedding(
            x,
            positions,
            base=self.rotary_base,
            interleaved=self.rotary_interleaved,
            size=self.rotary_size,
            scaling=self.rotary_scaling,
        )


def split_heads(x, heads: int):
    """(N, steps, heads * size) to (N, heads, steps, size)."""
    steps, features = x.shape[1:]
    if steps is None:  # a reshape infers one size only, and that is the batch
        return ops.stack(ops.split(x, heads, axis=-1), axis=1)
    return ops.permute_dims(ops.reshape(x, (-1, steps, heads, features // heads)), (0, 2, 1, 3))


def merge_heads(x):
    """(N, heads, steps, size) to (N, steps, heads * size)."""
    heads, steps, size = x.shape[1:]
    if steps is None:
        return ops.concat([ops.squeeze(part, 1) for part in ops.split(x, heads, axis=1)], axis=-1)
    return ops.reshape(ops.permute_dims(x, (0, 2, 1, 3)), (-1, steps, heads * size))
