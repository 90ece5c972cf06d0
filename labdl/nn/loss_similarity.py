"""Losses that draw alike things together and push others apart; vectors lie on the last axis."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le

from labdl import ops
from labdl.nn.loss import Reduction, alike, reduced
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats, ints

_EACH = {"reduction": "none"}
_VECTORS = (floats(4, 3), floats(4, 3))
_ALIKE = ints(4, low=0, high=2)


@layer(_EACH, floats(4, 3), ints(4, 3, low=0, high=2), category="loss")
class HingeEmbeddingLoss(Module):
    """The predicted distance where the label is 1, max(0, margin - distance) where it is -1.

    Semantics: torch.nn.HingeEmbeddingLoss.
    """

    margin: float = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.hinge_embedding_loss(output, target, self.margin, reduction=self.reduction)


@layer(_EACH, *_VECTORS, _ALIKE, category="loss")
class CosineEmbeddingLoss(Module):
    """1 - cosine of two vectors where the label is 1, max(0, cosine - margin) where it is -1.

    Vectors (..., features), labels (...). Semantics: torch.nn.CosineEmbeddingLoss.
    """

    margin: Annotated[float, Ge(-1), Le(1)] = 0.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        return ops.cosine_embedding_loss(first, second, target, self.margin, reduction=self.reduction)


@layer(_EACH, *_VECTORS, category="loss")
class CosineSimilarityLoss(Module):
    """1 - cosine of output and target, vectors on the last axis: 0 where they point the same way, 2 where opposite."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        alike("CosineSimilarityLoss", output, target)
        return reduced(1 - ops.cosine_similarity(output, target, axis=-1), self.reduction)


@layer(_EACH, floats(4), floats(4), floats(4), category="loss")
class MarginRankingLoss(Module):
    """max(0, margin - target * (first - second)): label 1 wants the first to be larger, -1 the second.

    Semantics: torch.nn.MarginRankingLoss.
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        return ops.margin_ranking_loss(first, second, target, self.margin, reduction=self.reduction)


@layer({**_EACH, "margin": 5.0}, *_VECTORS, floats(4, 3), category="loss")
class TripletMarginLoss(Module):
    """max(0, margin + distance of anchor and positive - distance of anchor and negative).

    Distances are p-norms of the differences plus ``epsilon``; ``swap`` measures the negative from the nearer of anchor and
    positive (Balntas et al., 2016). Semantics: torch.nn.TripletMarginLoss.
    """

    margin: Positive = 1.0
    p: Positive = 2.0
    swap: bool = False
    epsilon: Positive = 1e-6
    reduction: Reduction = "mean"

    def forward(self, anchor, positive, negative):
        return ops.triplet_margin_loss(anchor, positive, negative, self.margin, p=self.p, swap=self.swap,
                                       epsilon=self.epsilon, reduction=self.reduction)  # fmt: skip


@layer({**_EACH, "margin": 5.0}, *_VECTORS, _ALIKE, category="loss")
class ContrastiveLoss(Module):
    """Half of distance² where the label is 1, half of max(0, margin - distance)² where it is not (Hadsell et al., 2006).

    Vectors (..., features), labels (...); the distance is the Euclidean one.
    """

    margin: Positive = 1.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        distance = ops.pairwise_distance(first, second)
        apart = ops.square(ops.relu(self.margin - distance))
        return reduced(0.5 * ops.where(ops.greater(target, 0), ops.square(distance), apart), self.reduction)


@layer({**_EACH, "temperature": 0.5}, *_VECTORS, category="loss")
class InfoNCELoss(Module):
    """Cross-entropy of finding each sample's partner among those of the whole batch (van den Oord et al., 2018).

    Queries and keys (N, features), partners at the same place; their cosines over ``temperature`` are the logits.
    ``symmetric`` takes the mean of both directions, as CLIP does (Radford et al., 2021).
    """

    temperature: Positive = 0.07
    symmetric: bool = False
    reduction: Reduction = "mean"

    def forward(self, output, target):
        queries, keys = (ops.normalize(v, axis=-1) for v in (output, target))
        logits = ops.matmul(queries, ops.permute_dims(keys, (1, 0))) * (1 / self.temperature)
        own = ops.sum(queries * keys, axis=-1) * (1 / self.temperature)
        losses = ops.logsumexp(logits, axis=1) - own
        if self.symmetric:
            losses = 0.5 * (losses + ops.logsumexp(logits, axis=0) - own)
        return reduced(losses, self.reduction)
