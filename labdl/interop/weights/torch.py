"""PyTorch's names and layouts (torch.nn; the order of a state_dict's axes)."""

from labdl.interop.weights.mapping import (
    SCALE,
    SEPARABLE,
    WEIGHT,
    WeightMapping,
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


def _weight_norm(*axes: int) -> tuple[WeightMapping, ...]:
    """Gain and direction as torch.nn.utils.parametrizations.weight_norm has them, in earlier files weight_norm."""
    gain, direction = "parametrizations/weight/original0", "parametrizations/weight/original1"
    return tuple(
        (transpose(own, name, axes) if axes else rename(own, name))._replace(earlier=(earlier,))
        for own, name, earlier in (("kernel_gain", gain, "weight_g"), ("kernel_direction", direction, "weight_v"))
    )


def _spectral_norm(*axes: int) -> tuple[WeightMapping, ...]:
    """Weight and vectors as torch.nn.utils.parametrizations.spectral_norm has them, in earlier files spectral_norm."""
    name = "parametrizations/weight/original"
    weight = transpose("kernel_original", name, axes) if axes else rename("kernel_original", name)
    return (
        weight._replace(earlier=("weight_orig",)),
        rename("kernel_u", "parametrizations/weight/0/_u")._replace(earlier=("weight_u",)),
        rename("kernel_v", "parametrizations/weight/0/_v")._replace(earlier=("weight_v",)),
    )


_WEIGHT = (*WEIGHT, *_weight_norm(), *_spectral_norm())

LAYERS = {
    "Linear": (
        transpose("kernel", "weight", (1, 0)),
        *_weight_norm(1, 0),
        *_spectral_norm(1, 0),
        rename("bias"),
    ),
    "Bilinear": WEIGHT,
    **by_rank("Conv", lambda rank: _WEIGHT),
    **by_rank("ConvTranspose", lambda rank: _WEIGHT),
    **by_rank("DepthwiseConv", lambda rank: WEIGHT),  # a convolution with as many groups as channels
    **by_rank("SeparableConv", lambda rank: SEPARABLE),  # two convolutions of these names
    **dict.fromkeys(("LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm"), SCALE),
    # torchvision's frozen one takes, and drops, the number of batches of the other
    **dict.fromkeys(
        ("BatchNorm", "SyncBatchNorm", "FrozenBatchNorm"),
        (
            *SCALE,
            rename("moving_mean", "running_mean"),
            rename("moving_variance", "running_var"),
            constant("num_batches_tracked", 0, (), "int64"),
        ),
    ),
    "BinaryCrossEntropyLoss": (rename("positive_weight", "pos_weight"),),
    "PReLU": (rename("slope", "weight"),),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PositionEmbedding"), _TABLE),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), cell),
    "MultiHeadAttention": packed_attention,
    **blocks("multihead_attn", "linear1", "linear2"),
}
