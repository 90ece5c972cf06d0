"""Inputs of a graph."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Whole
from labdl.ops.operator import floats
from labdl.settings import ANY_FLOAT, INNER
from labdl.spec import Spec


@layer({"shape": (None, 1, 8, 8)}, floats(2, 1, 8, 8))
class Input(Module):
    """Input of a graph: shape of a batch (None for the batch size) and dtype.

    An ``optional`` input may be omitted in a call: then nodes that need it are left out, or it has the value ``default``.
    ``argument`` is its name in calls of the model, by default the node's own (x for a node named input). ``skips`` names the
    arguments before it that the model was built without; they keep their places.
    """

    shape: tuple[Whole | None, ...] = (None, 1, 8, 8)
    dtype: Literal[
        "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"
    ] = "float32"
    optional: bool = False
    # set by a trace, not in a form
    default: Annotated[float | int | bool | None, ANY_FLOAT] = dataclasses.field(default=None, metadata=INNER)
    argument: str = dataclasses.field(default="", metadata=INNER)
    skips: tuple[str, ...] = dataclasses.field(default=(), metadata=INNER)

    is_source = True

    def __post_init__(self):
        if not (self.default is None or type(self.default) in (bool, int, float)):
            raise ConfigError(f"Input: default wants a number or nothing, received {self.default!r:.200}")
        for word in (self.argument, *self.skips) if isinstance(self.skips, tuple) else (None,):
            if not isinstance(word, str) or not (word.isidentifier() or (word == "" and word is self.argument)):
                raise ConfigError(
                    f"Input: argument and skips want names of arguments, received {self.argument!r:.200} and "
                    f"{self.skips!r:.200}"
                )

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    def forward(self, x):
        return x
