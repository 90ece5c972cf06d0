"""Fully connected layers."""

from __future__ import annotations

from typing import Literal

from labdl import ops
from labdl.nn.initializers import uniform
from labdl.nn.kernels import kernel_of, set_kernel
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Iterations
from labdl.ops.operator import floats


def resolve_size(layer_name: str, what: str, given: int | None, found: int | None) -> int:
    """Input size from the setting or from the input's Spec. Raises ValueError where both are known and differ."""
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
    kernel_init: Initializer = "fan_in_uniform"
    in_features: Count | None = None
    weight_norm: Literal[0, 1, "all"] | None = None
    spectral_norm: Iterations | None = None

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"Linear wants (N, ..., features), received {x.shape}")
        size = resolve_size("Linear", "in_features", self.in_features, x.shape[-1])
        kernel = Parameter((size, self.out_features), self.kernel_init, order="F")
        set_kernel(self, kernel, self._norm_axis, 1)
        self.bias = Parameter((self.out_features,)) if self.use_bias else None

    def forward(self, x):
        return ops.linear(x, kernel_of(self, self._norm_axis, 1), self.bias)

    @property
    def _norm_axis(self) -> int | Literal["all"] | None:
        """The axis of the kernel (in, out) with norms of its own; ``weight_norm`` counts as in PyTorch, (out, in)."""
        return 1 - self.weight_norm if isinstance(self.weight_norm, int) else self.weight_norm


@layer({"out_features": 4}, floats(2, 3), floats(2, 5))
class Bilinear(Module):
    """Bilinear map of x and y: (..., in1) and (..., in2) to (..., out).

    Output o is x · kernel[o] · y + bias[o]. Semantics: torch.nn.Bilinear.
    """

    out_features: Count
    use_bias: bool = True
    in1_features: Count | None = None
    in2_features: Count | None = None

    def setup(self, x, y):
        first = resolve_size("Bilinear", "in1_features", self.in1_features, x.shape[-1])
        second = resolve_size("Bilinear", "in2_features", self.in2_features, y.shape[-1])
        self.kernel = Parameter((self.out_features, first, second), uniform(first**-0.5))
        self.bias = Parameter((self.out_features,)) if self.use_bias else None

    def forward(self, x, y):
        return ops.bilinear(x, y, self.kernel, self.bias)


@layer({}, floats(2, 3))
class Identity(Module):
    """Returns its input; a placeholder for a layer."""

    def forward(self, x):
        return x
