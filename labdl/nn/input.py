"""Inputs of a graph."""

from __future__ import annotations

from typing import Literal

from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Whole
from labdl.ops.operator import floats
from labdl.spec import Spec


@layer({"shape": (None, 1, 8, 8)}, floats(2, 1, 8, 8))
class Input(Module):
    """Input of a graph: shape of a batch (None for the batch size) and dtype."""

    shape: tuple[Whole | None, ...] = (None, 1, 8, 8)
    dtype: Literal[
        "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"
    ] = "float32"

    is_source = True

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    def forward(self, x):
        return x
