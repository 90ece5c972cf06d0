"""Fully connected layer with a low-rank adapter."""

from __future__ import annotations

from labdl import ops
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Positive, Rate
from labdl.ops.operator import floats


@layer({"out_features": 10, "r": 2}, floats(2, 3), category="linear")
class LoRALinear(Module):
    """Linear layer of frozen weights and a learned update of low rank (Hu et al., 2021): (..., in) to (..., out).

    Returns x @ kernel + bias + lora_alpha / r * dropout(x) @ lora_a @ lora_b. lora_a (in, r) is drawn, lora_b (r, out) begins
    with zeros, so that at first the layer computes as a Linear with its kernel. `labdl.nn.add_lora` puts it in place of the
    Linear layers of a model. ``r`` is the rank of the update, ``lora_alpha`` / r its factor, and ``lora_dropout`` the fraction
    of elements of x that dropout sets to zero before the update. Semantics: peft.tuners.lora.Linear.
    """

    out_features: Count
    r: Count = 8
    lora_alpha: Positive = 8.0
    lora_dropout: Rate = 0.0
    use_bias: bool = True
    kernel_init: Initializer = "fan_in_uniform"
    in_features: Count | None = None

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"LoRALinear wants (N, ..., features), received {x.shape}")
        size = resolve_size("LoRALinear", "in_features", self.in_features, x.shape[-1])
        self.kernel = Parameter((size, self.out_features), self.kernel_init, trainable=False, order="F")
        self.bias = Parameter((self.out_features,), trainable=False) if self.use_bias else None
        self.lora_a = Parameter((size, self.r), "fan_in_uniform")
        self.lora_b = Parameter((self.r, self.out_features))

    def forward(self, x):
        y = ops.linear(x, self.kernel, self.bias)
        dropped = ops.dropout(x, self.lora_dropout, training=self.training) if self.lora_dropout else x
        update = ops.matmul(ops.matmul(dropped, self.lora_a), self.lora_b)
        return ops.add(y, ops.multiply(update, self.lora_alpha / self.r))
