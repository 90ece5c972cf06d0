"""Metric learning losses (PyTorch's semantics).

``reduction`` is "mean", "sum" or "none"; labels are 1 for similar (or first before second) and -1 for the contrary.
"""

from labdl.ops import rules
from labdl.ops.losses.regression import _reduce
from labdl.ops.math.arithmetic import add, minimum, multiply, rsqrt, square, subtract
from labdl.ops.math.comparison import greater, where
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import relu
from labdl.ops.neural.similarity import pairwise_distance
from labdl.ops.operator import case, floats, operator


@operator(
    rules.paired_loss,
    case(floats(4, 3), floats(4, 3)),
    case(floats(3), floats(3), 0.5, reduction="sum"),
    case(floats(2, 3), floats(2, 3), reduction="none"),
    composite=True,
    precision="float32",
)
def hinge_embedding_loss(prediction, target, margin=1.0, *, reduction="mean"):
    """The predicted distance where the label is 1, max(0, margin - distance) where it is -1.

    Semantics: torch.nn.functional.hinge_embedding_loss.
    """
    return _reduce(where(greater(target, 0), prediction, relu(subtract(margin, prediction))), reduction)


@operator(
    rules.labeled_pair,
    case(floats(4), floats(4), floats(4)),
    case(floats(4), floats(4), floats(4), 0.5, reduction="sum"),
    case(floats(2, 3), floats(2, 3), floats(2, 3), reduction="none"),
    composite=True,
    precision="float32",
)
def margin_ranking_loss(first, second, target, margin=0.0, *, reduction="mean"):
    """max(0, margin - target * (first - second)): label 1 wants the first to be larger, -1 the second.

    Semantics: torch.nn.functional.margin_ranking_loss.
    """
    return _reduce(relu(subtract(margin, multiply(target, subtract(first, second)))), reduction)


@operator(
    rules.labeled_vectors,
    case(floats(4, 3), floats(4, 3), floats(4)),
    case(floats(4, 3), floats(4, 3), floats(4), 0.2, reduction="sum"),
    case(floats(3), floats(3), floats()),
    case(floats(2, 3), floats(2, 3), floats(2), reduction="none"),
    composite=True,
    precision="float32",
)
def cosine_embedding_loss(first, second, target, margin=0.0, *, reduction="mean"):
    """1 - cosine where the label is 1, max(0, cosine - margin) where it is -1, for vectors on the last axis.

    Semantics: torch.nn.functional.cosine_embedding_loss.
    """
    lengths = [add(total(square(v), axis=-1), 1e-12) for v in (first, second)]
    cosine = multiply(total(multiply(first, second), axis=-1), rsqrt(multiply(*lengths)))
    return _reduce(where(greater(target, 0), subtract(1, cosine), relu(subtract(cosine, margin))), reduction)


@operator(
    rules.triplet,
    case(floats(4, 3), floats(4, 3), floats(4, 3)),
    case(floats(4, 3), floats(4, 3), floats(4, 3), 2.0, p=1.0, reduction="sum"),
    case(floats(4, 3), floats(4, 3), floats(4, 3), 5.0, p=3.0, swap=True, reduction="none"),
    composite=True,
    precision="float32",
)
def triplet_margin_loss(anchor, positive, negative, margin=1.0, *, p=2.0, swap=False, epsilon=1e-6, reduction="mean"):
    """max(0, margin + distance to the positive - distance to the negative), for vectors on the last axis.

    Distances are p-norms of the differences plus ``epsilon``; ``swap`` takes the nearer of anchor and positive as the one that
    the negative is measured from (Balntas et al., 2016). Semantics: torch.nn.functional.triplet_margin_loss.
    """
    near, far = (pairwise_distance(anchor, other, p=p, epsilon=epsilon) for other in (positive, negative))
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p=p, epsilon=epsilon))
    return _reduce(relu(add(subtract(near, far), margin)), reduction)
