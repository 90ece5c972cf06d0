"""MindSpore's names and layouts (mindspore.nn). Norms have LabDL's own names: gamma, beta, moving_mean, moving_variance."""

import numpy as np

from labdl.interop.weights.mapping import (
    SEPARABLE,
    WEIGHT,
    WeightMapping,
    blocks,
    by_rank,
    cell,
    constant,
    convert,
    packed_attention,
    recurrent,
    rename,
    transpose,
)

_TABLE = (rename("embeddings", "embedding_table"),)


def _with_height(own: str, native: str) -> WeightMapping:
    """1-d convolutions of MindSpore are 2-d ones with a first axis of size 1."""
    return convert(own, native, lambda a: np.expand_dims(a, 2), lambda a: np.squeeze(a, 2))


def _window(rank: int) -> tuple[WeightMapping, ...]:
    return (_with_height("kernel", "weight"), rename("bias")) if rank == 1 else WEIGHT


def _separable(rank: int) -> tuple[WeightMapping, ...]:
    if rank > 1:
        return SEPARABLE
    return (
        _with_height("depthwise_kernel", "depthwise/weight"),
        _with_height("pointwise_kernel", "pointwise/weight"),
        rename("bias", "pointwise/bias"),
    )


def _instance_norm(branch) -> list[WeightMapping]:
    """MindSpore stores statistics that it does not use."""
    gamma = branch.parameters.get("gamma")
    if gamma is None:
        return []
    return [
        rename("gamma"),
        rename("beta"),
        constant("moving_mean", 0, gamma.shape),
        constant("moving_variance", 1, gamma.shape),
    ]


LAYERS = {
    "Linear": (transpose("kernel", "weight", (1, 0)), rename("bias")),
    "Bilinear": WEIGHT,
    **by_rank("Conv", _window),
    **by_rank("ConvTranspose", _window),
    **by_rank("DepthwiseConv", _window),
    **by_rank("SeparableConv", _separable),
    "InstanceNorm": _instance_norm,
    "PReLU": (rename("slope", "w"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": packed_attention,
    **blocks("multihead_attn", "dense1", "dense2"),
}
