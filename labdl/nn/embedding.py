"""Embeddings of tokens and positions."""

from __future__ import annotations

from typing import ClassVar, Literal

from labdl import ops
from labdl.nn.initializers import read
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Positive, Whole
from labdl.ops.operator import floats, ints


def _check_integers(layer_name: str, x) -> None:
    if "int" not in x.dtype:
        raise ValueError(f"{layer_name} wants integers, received {x.dtype}")


@layer({"size": 1000, "features": 16}, ints(2, 3))
class Embedding(Module):
    """A learned vector for each of ``size`` tokens: integers (...) to (..., features).

    The vector at ``padding_index`` is initialized to zero and not trained. Semantics: torch.nn.Embedding.
    """

    index_limit: ClassVar[str] = "size"  # the setting that the indices stay below

    size: Count
    features: Count
    embeddings_init: Initializer = "unit_normal"
    padding_index: Whole | None = None

    def setup(self, x):
        _check_integers("Embedding", x)
        if self.padding_index is not None and self.padding_index >= self.size:
            raise ValueError(f"Embedding: padding_index={self.padding_index} must be below size={self.size}")
        padded = self.padding_index is not None
        self.embeddings = Parameter(
            (self.size, self.features), self._init_with_padding if padded else self.embeddings_init
        )

    def _init_with_padding(self, rng, shape):
        table = read(self.embeddings_init)(rng, shape)
        table[self.padding_index] = 0
        return table

    def forward(self, x):
        rows = ops.embedding(x, self.embeddings)
        if self.padding_index is None:
            return rows
        padding = ops.expand_dims(ops.equal(x, self.padding_index), -1)
        return ops.where(padding, ops.stop_gradient(rows), rows)


@layer({"size": 1000, "features": 16}, ints(2, 3))
class EmbeddingBag(Module):
    """Mean, sum or maximum of the vectors of a bag of tokens: integers (..., bag) to (..., features).

    The optional ``weights`` (..., bag) multiply the vectors of a sum. Semantics: torch.nn.EmbeddingBag.
    """

    index_limit: ClassVar[str] = "size"

    size: Count
    features: Count
    mode: Literal["mean", "sum", "max"] = "mean"
    embeddings_init: Initializer = "unit_normal"

    def setup(self, x, weights=None):
        _check_integers("EmbeddingBag", x)
        self.embeddings = Parameter((self.size, self.features), self.embeddings_init)

    def forward(self, x, weights=None):
        return ops.embedding_bag(x, self.embeddings, weights, mode=self.mode)


@layer({}, floats(2, 3, 4))
class RotaryEmbedding(Module):
    """Rotates pairs of features of (..., steps, features) by angles proportional to the position (Su et al., 2021).

    Pairs are features i and i + features / 2, or neighbors with ``interleaved``. Only the first ``size`` features are rotated
    if it is given. The optional ``positions`` broadcast to (..., steps) and count from 0 when left out.
    """

    base: Positive = 10000.0
    interleaved: bool = False
    size: Count | None = None

    def forward(self, x, positions=None):
        return ops.rotary_embedding(x, positions, base=self.base, interleaved=self.interleaved, size=self.size)


@layer({"classes": 5}, ints(2, 3))
class OneHot(Module):
    """One-hot encoding of class numbers on a new axis; all zeros for a number out of range."""

    classes: Count
    axis: int = -1

    def forward(self, x):
        return ops.one_hot(x, self.classes, axis=self.axis)
