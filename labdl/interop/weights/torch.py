"""PyTorch's names and layouts (torch.nn; the order of a state_dict's axes)."""

from labdl.interop.weights.mapping import (
    SCALE,
    SEPARABLE,
    WEIGHT,
    blocks,
    by_rank,
    cell,
    constant,
    packed_attention,
    recurrent,
    rename,
    transpose,
)

_TABLE = (rename("embeddings", "weight"),)

LAYERS = {
    "Linear": (transpose("kernel", "weight", (1, 0)), rename("bias")),
    "Bilinear": WEIGHT,
    **by_rank("Conv", lambda rank: WEIGHT),
    **by_rank("ConvTranspose", lambda rank: WEIGHT),
    **by_rank("DepthwiseConv", lambda rank: WEIGHT),  # a convolution with as many groups as channels
    **by_rank("SeparableConv", lambda rank: SEPARABLE),  # two convolutions of these names
    **dict.fromkeys(("LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm"), SCALE),
    "BatchNorm": (
        *SCALE,
        rename("moving_mean", "running_mean"),
        rename("moving_variance", "running_var"),
        constant("num_batches_tracked", 0, (), "int64"),
    ),
    "PReLU": (rename("slope", "weight"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": packed_attention,
    **blocks("multihead_attn", "linear1", "linear2"),
}
