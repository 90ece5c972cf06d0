"""Transformer layers: patches, feed-forward blocks, encoders and decoders."""

from __future__ import annotations

import dataclasses
from typing import Any

from labdl import ops
from labdl.nn.activation import ACTIVATIONS, Activation
from labdl.nn.attention import MultiHeadAttention
from labdl.nn.containers import ModuleList
from labdl.nn.convolution import Conv2d
from labdl.nn.linear import Linear
from labdl.nn.module import Module
from labdl.nn.normalization import LayerNorm
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Depth, Initializer, Positive, Rate, Size
from labdl.ops.operator import floats
from labdl.spec import per_axis, show


@layer({"hidden_features": 6}, floats(2, 3, 4))
class FeedForward(Module):
    """Two linear layers with an activation between them, (..., features) to the same shape (Vaswani et al., 2017).

    In training, dropout of ``rate`` follows the activation.
    """

    hidden_features: Count
    activation: Activation = "relu"
    rate: Rate = 0.0
    out_features: Count | None = None
    use_bias: bool = True
    kernel_init: Initializer = "glorot_uniform"

    def setup(self, x):
        out = x.shape[-1] if self.out_features is None else self.out_features
        if out is None:
            raise ValueError(f"FeedForward wants a known number of features, received {show(x.shape)}")
        self.expand = Linear(self.hidden_features, use_bias=self.use_bias, kernel_init=self.kernel_init)
        self.contract = Linear(out, use_bias=self.use_bias, kernel_init=self.kernel_init)

    def forward(self, x):
        hidden = ACTIVATIONS[self.activation](self.expand(x))
        return self.contract(ops.dropout(hidden, self.rate, training=self.training))


@layer({"features": 5, "patch_size": 2}, floats(2, 3, 4, 6))
class PatchEmbedding(Module):
    """Linear projection of image patches: (N, C, H, W) to (N, patches, features) (Dosovitskiy et al., 2021)."""

    features: Count
    patch_size: Size = 16
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"

    def setup(self, x):
        sizes = per_axis(self.patch_size, 2, "patch_size")
        spatial = x.shape[2:] if self.data_format == "channels_first" else x.shape[1:3]
        if x.ndim == 4 and any(n is not None and n % p for n, p in zip(spatial, sizes, strict=True)):
            raise ValueError(
                f"PatchEmbedding: patch_size={self.patch_size} must divide height and width, received {show(x.shape)}"
            )
        self.projection = Conv2d(
            self.features, kernel_size=sizes, stride=sizes, data_format=self.data_format, kernel_init=self.kernel_init
        )

    def forward(self, x):
        patches = self.projection(x)
        if self.data_format == "channels_last":
            return ops.flatten(patches, 1, 2)
        return ops.permute_dims(ops.flatten(patches, 2), (0, 2, 1))


@dataclasses.dataclass(eq=False, repr=False)
class _Transformer(Module):
    """Base class of the layers of encoders and decoders."""

    heads: Count
    feed_forward: Count = 2048
    activation: Activation = "relu"
    norm_first: bool = False
    rate: Rate = 0.1
    epsilon: Positive = 1e-5
    causal: bool = False
    attention_rate: Rate | None = None
    activation_rate: Rate | None = None
    kernel_init: Initializer = "glorot_uniform"
    query_bias: bool | None = None
    key_bias: bool | None = None
    value_bias: bool | None = None

    def _settings(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(_Transformer)}

    def _attention(self, causal: bool) -> MultiHeadAttention:
        rate = self.rate if self.attention_rate is None else self.attention_rate
        return MultiHeadAttention(
            self.heads,
            causal=causal,
            rate=rate,
            kernel_init=self.kernel_init,
            query_bias=self.query_bias,
            key_bias=self.key_bias,
            value_bias=self.value_bias,
        )

    def _mlp(self) -> FeedForward:
        rate = self.rate if self.activation_rate is None else self.activation_rate
        return FeedForward(self.feed_forward, self.activation, rate, kernel_init=self.kernel_init)

    def _residual(self, x, norm, sublayer, *inputs, **options):
        """A sub-layer with its skip connection, normalized before it or after the sum."""
        y = sublayer(norm(x) if self.norm_first else x, *inputs, **options)
        y = ops.add(x, ops.dropout(y, self.rate, training=self.training))
        return y if self.norm_first else norm(y)


@layer({"heads": 2, "feed_forward": 6, "rate": 0.0}, floats(2, 3, 4))
class TransformerEncoderLayer(_Transformer):
    """Self-attention and a feed-forward block, each with a skip connection and normalization (Vaswani et al., 2017).

    (N, steps, features) to the same shape. ``mask`` and ``key_mask`` are those of MultiHeadAttention. ``norm_first``
    normalizes before each block instead of after it. In training, dropout of ``rate`` follows each block;
    ``attention_rate`` (of attention weights) and ``activation_rate`` (inside the feed-forward block) default to it.
    ``query_bias``, ``key_bias`` and ``value_bias`` are those of MultiHeadAttention, which has all three by default.
    Semantics: torch.nn.TransformerEncoderLayer with batch first.
    """

    def setup(self, x, mask=None, key_mask=None):
        self.attention, self.attention_norm = self._attention(self.causal), LayerNorm(epsilon=self.epsilon)
        self.mlp, self.mlp_norm = self._mlp(), LayerNorm(epsilon=self.epsilon)

    def forward(self, x, mask=None, key_mask=None):
        x = self._residual(x, self.attention_norm, self.attention, mask=mask, key_mask=key_mask)
        return self._residual(x, self.mlp_norm, self.mlp)


@layer({"heads": 2, "feed_forward": 6, "rate": 0.0}, floats(2, 3, 4), floats(2, 5, 4))
class TransformerDecoderLayer(_Transformer):
    """Self-attention, attention to a context and a feed-forward block (Vaswani et al., 2017).

    (N, steps, features) and a context (N, keys, ...), such as the encoder's output, to (N, steps, features). The
    self-attention is causal unless ``causal`` is false. ``mask`` and ``key_mask`` are for the steps, ``context_mask`` and
    ``context_key_mask`` for the context. Settings: as in TransformerEncoderLayer.
    Semantics: torch.nn.TransformerDecoderLayer with batch first.
    """

    causal: bool = True

    def setup(self, x, context, mask=None, key_mask=None, context_mask=None, context_key_mask=None):
        self.attention, self.attention_norm = self._attention(self.causal), LayerNorm(epsilon=self.epsilon)
        self.cross_attention, self.cross_norm = self._attention(False), LayerNorm(epsilon=self.epsilon)
        self.mlp, self.mlp_norm = self._mlp(), LayerNorm(epsilon=self.epsilon)

    def forward(self, x, context, mask=None, key_mask=None, context_mask=None, context_key_mask=None):
        x = self._residual(x, self.attention_norm, self.attention, mask=mask, key_mask=key_mask)
        x = self._residual(
            x, self.cross_norm, self.cross_attention, context, mask=context_mask, key_mask=context_key_mask
        )
        return self._residual(x, self.mlp_norm, self.mlp)


@layer({"heads": 2, "feed_forward": 6, "rate": 0.0, "layers": 2}, floats(2, 3, 4))
class TransformerEncoder(_Transformer):
    """A stack of TransformerEncoderLayer, (N, steps, features) to the same shape.

    ``final_norm`` normalizes what the last one gives. Settings and masks: as in TransformerEncoderLayer.
    """

    layers: Depth = 6
    final_norm: bool = False

    def setup(self, x, mask=None, key_mask=None):
        self.blocks = ModuleList(TransformerEncoderLayer(**self._settings()) for _ in range(self.layers))
        self.norm = LayerNorm(epsilon=self.epsilon) if self.final_norm else None

    def forward(self, x, mask=None, key_mask=None):
        for block in self.blocks:
            x = block(x, mask=mask, key_mask=key_mask)
        return x if self.norm is None else self.norm(x)


@layer({"heads": 2, "feed_forward": 6, "rate": 0.0, "layers": 2}, floats(2, 3, 4), floats(2, 5, 4))
class TransformerDecoder(_Transformer):
    """A stack of TransformerDecoderLayer, (N, steps, features) and a context to (N, steps, features).

    ``final_norm`` normalizes what the last one gives. Settings and masks: as in TransformerDecoderLayer.
    """

    causal: bool = True
    layers: Depth = 6
    final_norm: bool = False

    def setup(self, x, context, mask=None, key_mask=None, context_mask=None, context_key_mask=None):
        self.blocks = ModuleList(TransformerDecoderLayer(**self._settings()) for _ in range(self.layers))
        self.norm = LayerNorm(epsilon=self.epsilon) if self.final_norm else None

    def forward(self, x, context, mask=None, key_mask=None, context_mask=None, context_key_mask=None):
        for block in self.blocks:
            x = block(
                x, context, mask=mask, key_mask=key_mask, context_mask=context_mask, context_key_mask=context_key_mask
            )
        return x if self.norm is None else self.norm(x)
