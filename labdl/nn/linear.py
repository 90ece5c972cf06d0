"""Fully connected layers."""

from __future__ import annotations

from labdl import ops
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initialiser
from labdl.ops.operator import floats


def sized(layer_name: str, what: str, given: int | None, found: int | None) -> int:
    """The input size that was given, or the one found in the input's Spec; they must not contradict each other."""
    if found is None and given is None:
        raise ValueError(f"{layer_name} needs a known size on its {what} axis: give {what}=")
    if None not in (given, found) and given != found:
        raise ValueError(f"{layer_name} was made for {what}={given}, received {found}")
    return given if given is not None else found  # type: ignore[return-value]


@layer({"out_features": 10}, floats(2, 3))
class Linear(Module):
    """Fully connected layer: x @ kernel + bias over the last axis, (..., in) to (..., out)."""

    out_features: Count
    use_bias: bool = True
    kernel_init: Initialiser = "fan_in_uniform"
    in_features: Count | None = None

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"Linear wants (N, ..., features), received {x.shape}")
        size = sized("Linear", "in_features", self.in_features, x.shape[-1])
        self.kernel = Parameter((size, self.out_features), self.kernel_init)
        self.bias = Parameter((self.out_features,)) if self.use_bias else None

    def forward(self, x):
        return ops.linear(x, self.kernel, self.bias)
