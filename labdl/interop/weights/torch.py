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
# weight normalization; before torch.nn.utils.parametrizations the names were weight_g and weight_v
_NORMED = {
    "kernel_gain": ("parametrizations/weight/original0", "weight_g"),
    "kernel_direction": ("parametrizations/weight/original1", "weight_v"),
}
_WEIGHT = (*WEIGHT, *(rename(own, *names) for own, names in _NORMED.items()))

LAYERS = {
    "Linear": (
        transpose("kernel", "weight", (1, 0)),
        *(transpose(own, names[0], (1, 0), names[1]) for own, names in _NORMED.items()),
        rename("bias"),
    ),
    "Bilinear": WEIGHT,
    **by_rank("Conv", lambda rank: _WEIGHT),
    **by_rank("ConvTranspose", lambda rank: _WEIGHT),
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
