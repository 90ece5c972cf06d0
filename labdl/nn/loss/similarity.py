"""Metric learning losses; vectors are on the last axis."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from labdl import ops
from labdl.nn.loss.classification import Reduction, check_same_rank, reduce_losses
from labdl.nn.loss.target_values import SIGNS, TargetValues
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Positive
from labdl.ops.operator import floats, ints

_EACH = {"reduction": "none"}
_VECTORS = (floats(4, 3), floats(4, 3))
_ALIKE = ints(4, low=0, high=2)


@layer(_EACH, floats(4, 3), ints(4, 3, low=0, high=2), task="similarity")
class HingeEmbeddingLoss(Module):
    """The predicted distance where the label is 1, max(0, margin - distance) where it is -1.

    Semantics: torch.nn.HingeEmbeddingLoss.
    """

    target_values: ClassVar[TargetValues] = SIGNS

    margin: float = 1.0
    reduction: Reduction = "mean"

    def forward(self, output, target):
        return ops.hinge_embedding_loss(output, target, self.margin, reduction=self.reduction)


@layer(_EACH, *_VECTORS, _ALIKE, task="similarity")
class CosineEmbeddingLoss(Module):
    """1 - cosine of two vectors where the label is 1, max(0, cosine - margin) where it is -1.

    Vectors (..., features), labels (...). Semantics: torch.nn.CosineEmbeddingLoss.
    """

    margin: Annotated[float, Ge(-1), Le(1)] = 0.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        return ops.cosine_embedding_loss(first, second, target, self.margin, reduction=self.reduction)


@layer(_EACH, *_VECTORS, task="similarity")
class CosineSimilarityLoss(Module):
    """1 - cosine of output and target along the last axis: 0 for the same direction, 2 for opposite ones."""

    reduction: Reduction = "mean"

    def forward(self, output, target):
        check_same_rank("CosineSimilarityLoss", output, target)
        return reduce_losses(1 - ops.cosine_similarity(output, target, axis=-1), self.reduction)


@layer(_EACH, floats(4), floats(4), floats(4), task="similarity")
class MarginRankingLoss(Module):
    """max(0, margin - target * (first - second)): label 1 if the first should be larger, -1 if the second.

    Semantics: torch.nn.MarginRankingLoss.
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        return ops.margin_ranking_loss(first, second, target, self.margin, reduction=self.reduction)


@layer({**_EACH, "margin": 5.0}, *_VECTORS, floats(4, 3), task="similarity")
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
        return ops.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            p=self.p,
            swap=self.swap,
            epsilon=self.epsilon,
            reduction=self.reduction,
        )


@layer({**_EACH, "margin": 5.0}, *_VECTORS, _ALIKE, task="similarity")
class ContrastiveLoss(Module):
    """Half of distance² where the label is 1, half of max(0, margin - distance)² elsewhere (Hadsell et al., 2006).

    Vectors (..., features), labels (...); the distance is the Euclidean one.
    """

    margin: Positive = 1.0
    reduction: Reduction = "mean"

    def forward(self, first, second, target):
        distance = ops.pairwise_distance(first, second)
        apart = ops.square(ops.relu(self.margin - distance))
        return reduce_losses(0.5 * ops.where(ops.greater(target, 0), ops.square(distance), apart), self.reduction)


@layer({**_EACH, "temperature": 0.5}, *_VECTORS, task="similarity")
class InfoNCELoss(Module):
    """InfoNCE: cross-entropy of identifying each sample's positive within the batch (van den Oord et al., 2018).

    Queries and keys (N, features), positives at the same index; their cosines over ``temperature`` are the logits.
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
        return reduce_losses(losses, self.reduction)
