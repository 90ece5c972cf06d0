"""PaddlePaddle's names and layouts (paddle.nn)."""

import numpy as np

from labdl.interop.weights.mapping import (
    SCALE,
    SEPARABLE,
    WEIGHT,
    PartMapping,
    WeightMapping,
    blocks,
    by_rank,
    cell,
    convert,
    directions,
    has_two_biases,
    recurrent_direction,
    rename,
)

_TABLE = (rename("embeddings", "weight"),)


def _recurrent(branch) -> list[WeightMapping]:
    """As PyTorch; files contain the arrays again under the names of the inner cells."""
    both = any(reverse for _, reverse, _ in directions(branch))
    return [
        mapping
        for at, reverse, own in directions(branch)
        for mapping in recurrent_direction(
            has_two_biases(branch),
            own,
            f"{{}}_l{at}" + "_reverse" * reverse,
            f"{at}/cell{('_bw' if reverse else '_fw') if both else ''}/{{}}",
        )
    ]


LAYERS = {
    "Linear": WEIGHT,  # its kernel is in x out, as LabDL's
    "Bilinear": (rename("kernel", "weight"), convert("bias", "bias", lambda a: a[np.newaxis], lambda a: a[0])),
    **by_rank("Conv", lambda rank: WEIGHT),
    **by_rank("ConvTranspose", lambda rank: WEIGHT),
    **by_rank("DepthwiseConv", lambda rank: WEIGHT),
    **by_rank("SeparableConv", lambda rank: SEPARABLE),
    **dict.fromkeys(("LayerNorm", "GroupNorm", "RMSNorm"), SCALE),
    "InstanceNorm": (rename("gamma", "scale"), rename("beta", "bias")),
    **dict.fromkeys(
        ("BatchNorm", "SyncBatchNorm", "FrozenBatchNorm"),
        (*SCALE, rename("moving_mean", "_mean"), rename("moving_variance", "_variance")),
    ),
    "PReLU": (rename("slope", "_weight"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": (
        PartMapping("query", "q_proj"),
        PartMapping("key", "k_proj"),
        PartMapping("value", "v_proj"),
        PartMapping("projection", "out_proj"),
    ),
    **blocks("cross_attn", "linear1", "linear2"),
}
