"""Attention layers."""

from __future__ import annotations

from labdl import ops
from labdl.nn.linear import Linear
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, Rate
from labdl.ops.operator import floats
from labdl.spec import show


@layer({"heads": 2}, floats(2, 3, 4))
class MultiHeadAttention(Module):
    """Multi-head attention (Vaswani et al., 2017) of (N, steps, features); attends to itself without ``context``."""

    heads: Count
    causal: bool = False
    rate: Rate = 0.0
    use_bias: bool = True

    def setup(self, x, context=None):
        if x.ndim != 3 or x.shape[-1] is None or x.shape[-1] % self.heads:
            raise ValueError(f"MultiHeadAttention wants (N, steps, features) with features divisible by heads="
                             f"{self.heads}, received {show(x.shape)}")  # fmt: skip
        features = x.shape[-1]
        self.query, self.key = self._linear(features), self._linear(features)
        self.value, self.projection = self._linear(features), self._linear(features)

    def _linear(self, features: int) -> Linear:
        return Linear(features, use_bias=self.use_bias, kernel_init="glorot_uniform")

    def _split(self, x):
        features = x.shape[-1]
        return ops.permute_dims(ops.reshape(x, (-1, self._steps(x), self.heads, features // self.heads)), (0, 2, 1, 3))

    @staticmethod
    def _steps(x) -> int:
        if x.shape[1] is None:
            raise ValueError(f"MultiHeadAttention needs a known number of steps, received {show(x.shape)}")
        return x.shape[1]

    def forward(self, x, context=None):
        source = x if context is None else context
        heads = ops.scaled_dot_product_attention(
            self._split(self.query(x)),
            self._split(self.key(source)),
            self._split(self.value(source)),
            causal=self.causal,
        )
        joined = ops.reshape(ops.permute_dims(heads, (0, 2, 1, 3)), (-1, x.shape[1], x.shape[-1]))
        return ops.dropout(self.projection(joined), self.rate, training=self.training)
