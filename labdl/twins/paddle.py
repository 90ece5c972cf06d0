"""PaddlePaddle's names and layouts (paddle.nn)."""

import numpy as np

from labdl.twins.layout import (
    SCALE,
    SEPARABLE,
    WEIGHT,
    Link,
    Part,
    blocks,
    by_rank,
    cell,
    directions,
    formed,
    same,
    stepped,
)

_TABLE = (same("embeddings", "weight"),)


def _recurrent(branch) -> list[Link]:
    """As PyTorch's; its files hold the arrays once more, under the names of the cells inside."""
    both = any(reverse for _, reverse, _ in directions(branch))
    return [link for at, reverse, own in directions(branch)
            for link in stepped(branch, own, f"{{}}_l{at}" + "_reverse" * reverse,
                                f"{at}/cell{('_bw' if reverse else '_fw') if both else ''}/{{}}")]  # fmt: skip


LAYERS = {
    "Linear": WEIGHT,  # its kernel is in x out, as LabDL's
    "Bilinear": (same("kernel", "weight"), formed("bias", "bias", lambda a: a[np.newaxis], lambda a: a[0])),
    **by_rank("Conv", lambda rank: WEIGHT),
    **by_rank("ConvTranspose", lambda rank: WEIGHT),
    **by_rank("DepthwiseConv", lambda rank: WEIGHT),
    **by_rank("SeparableConv", lambda rank: SEPARABLE),
    **dict.fromkeys(("LayerNorm", "GroupNorm", "RMSNorm"), SCALE),
    "InstanceNorm": (same("gamma", "scale"), same("beta", "bias")),
    "BatchNorm": (*SCALE, same("moving_mean", "_mean"), same("moving_variance", "_variance")),
    "PReLU": (same("slope", "_weight"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": (Part("query", "q_proj"), Part("key", "k_proj"), Part("value", "v_proj"),
                           Part("projection", "out_proj")),
    **blocks("cross_attn", "linear1", "linear2"),
}  # fmt: skip
