"""Similarity and distance of two inputs."""

from __future__ import annotations

from labdl import ops
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats
from labdl.settings import Amount


@layer({}, floats(2, 3, 4), floats(2, 3, 4), category="merge")
class CosineSimilarity(Module):
    """Cosine of the angle between x and y along an axis, which is removed. Semantics: torch.nn.CosineSimilarity."""

    axis: int = 1
    epsilon: Positive = 1e-8

    def forward(self, x, y):
        return ops.cosine_similarity(x, y, axis=self.axis, epsilon=self.epsilon)


@layer({}, floats(2, 3), floats(2, 3), category="merge")
class PairwiseDistance(Module):
    """Distance of x from y along the last axis: the Lp norm of x - y + epsilon. Semantics: torch.nn.PairwiseDistance."""

    p: Positive = 2.0
    epsilon: Amount = 1e-6
    keepdims: bool = False

    def forward(self, x, y):
        return ops.pairwise_distance(x, y, p=self.p, epsilon=self.epsilon, keepdims=self.keepdims)
