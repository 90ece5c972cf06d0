"""PyTorch's names and layouts (torch.nn; the order of a state_dict's axes)."""

from labdl.twins.layout import (
    SCALE,
    SEPARABLE,
    WEIGHT,
    blocks,
    by_rank,
    cell,
    filled,
    packed_attention,
    recurrent,
    same,
    turned,
)

_TABLE = (same("embeddings", "weight"),)

LAYERS = {
    "Linear": (turned("kernel", "weight", (1, 0)), same("bias")),
    "Bilinear": WEIGHT,
    **by_rank("Conv", lambda rank: WEIGHT),
    **by_rank("ConvTranspose", lambda rank: WEIGHT),
    **by_rank("DepthwiseConv", lambda rank: WEIGHT),  # a convolution with as many groups as channels
    **by_rank("SeparableConv", lambda rank: SEPARABLE),  # two convolutions of these names
    **dict.fromkeys(("LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm"), SCALE),
    "BatchNorm": (*SCALE, same("moving_mean", "running_mean"), same("moving_variance", "running_var"),
                  filled("num_batches_tracked", 0, (), "int64")),
    "PReLU": (same("slope", "weight"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": packed_attention,
    **blocks("multihead_attn", "linear1", "linear2"),
}  # fmt: skip
