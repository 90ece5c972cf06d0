"""Vectors for tokens."""

from __future__ import annotations

from labdl import ops
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initialiser
from labdl.ops.operator import ints


@layer({"size": 1000, "features": 16}, ints(2, 3))
class Embedding(Module):
    """A learnt vector for each of ``size`` tokens: integers (...) to (..., features)."""

    size: Count
    features: Count
    embeddings_init: Initialiser = "unit_normal"

    def setup(self, x):
        if "int" not in x.dtype:
            raise ValueError(f"Embedding wants integers, received {x.dtype}")
        self.embeddings = Parameter((self.size, self.features), self.embeddings_init)

    def forward(self, x):
        return ops.embedding(x, self.embeddings)
