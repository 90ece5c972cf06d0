"""Recurrent layers."""

from __future__ import annotations

from labdl import ops
from labdl.nn.initialisers import uniform
from labdl.nn.linear import sized
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count
from labdl.ops.operator import floats
from labdl.spec import show


@layer({"hidden_size": 16}, floats(2, 5, 3), outputs=("output", "hidden", "cell"))
class LSTM(Module):
    """Long short-term memory: (N, steps, in) to outputs (N, steps, hidden), last hidden and last cell state."""

    hidden_size: Count

    def setup(self, x):
        if x.ndim != 3:
            raise ValueError(f"LSTM wants 3 axes (N, steps, features), received {show(x.shape)}")
        size, init = sized("LSTM", "in_features", None, x.shape[-1]), uniform(self.hidden_size**-0.5)
        self.kernel = Parameter((size, 4 * self.hidden_size), init)
        self.recurrent_kernel = Parameter((self.hidden_size, 4 * self.hidden_size), init)
        self.bias = Parameter((4 * self.hidden_size,), init)

    def forward(self, x):
        return ops.lstm(x, self.kernel, self.recurrent_kernel, self.bias)
