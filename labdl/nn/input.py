"""Where data enters a graph."""

from __future__ import annotations

from typing import Literal

from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Whole
from labdl.ops.operator import floats
from labdl.spec import Spec


@layer({"shape": (None, 1, 8, 8)}, floats(2, 1, 8, 8))
class Input(Module):
    """Where data enters: shape of a batch (None for the batch size) and dtype."""

    shape: tuple[Whole | None, ...] = (None, 1, 8, 8)
    dtype: Literal["float32", "int64", "int32", "bool"] = "float32"

    is_source = True

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    def forward(self, x):
        return x
