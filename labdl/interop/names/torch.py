"""Classes of torch.nn."""

from typing import Any

from labdl.interop.names.arguments import (
    TRANSFORMER_LAYER,
    corners,
    last_axes,
    numbers,
    one_last_axis,
    required_axis,
    resize_mode,
    size_or_scale,
    slope_value,
    slopes,
    spatial_pairs,
)
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, Entry, Table, all_missing, differs, only_defaults

_table = Table(
    bias="use_bias",
    eps="epsilon",
    p="rate",
    dim=required_axis,
    inplace=IGNORED,
    device=DEFAULT_ONLY,
    dtype=DEFAULT_ONLY,
    size_average=DEFAULT_ONLY,
    reduce=DEFAULT_ONLY,
    return_indices=DEFAULT_ONLY,
)
_to = _table.to
_SIZES = "device=None, dtype=None"
_NORM = f"eps=1e-05, momentum=0.1, affine={{}}, track_running_stats={{}}, {_SIZES}, *, bias=True"
_LOSS = "size_average=None, reduce=None, reduction='mean'"
_LENGTH = "the outputs are (output, hidden) or (output, hidden, cell), and the batch is the first axis of the input"
_CLASSES_LAST = "the classes are on the last axis, in PyTorch on axis 1; both are the same for (N, classes)"


def _default_epsilon(eps: float | None) -> dict:
    """`epsilon`; None is 1.2e-7, the precision of float32"""
    return {"epsilon": 1.1920928955078125e-07 if eps is None else eps}


def _convolution(rank: int, lazy: str) -> dict[str, Entry]:
    sizes = "" if lazy else "in_channels, "
    plain = (
        f"{sizes}out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros'"
    )
    transposed = (
        f"{sizes}out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, "
        "padding_mode='zeros'"
    )
    return {
        f"{lazy}Conv{rank}d": _to(f"Conv{rank}d", f"{plain}, {_SIZES}"),
        f"{lazy}ConvTranspose{rank}d": _to(
            f"ConvTranspose{rank}d", f"{transposed}, {_SIZES}", padding_mode=DEFAULT_ONLY
        ),
    }


def _norms(rank: int, lazy: str) -> dict[str, Entry]:
    sizes = "" if lazy else "num_features, "
    rules: dict[str, Any] = {"track_running_stats": DEFAULT_ONLY, "bias": DEFAULT_ONLY} | (
        {} if lazy else {"num_features": IGNORED}
    )
    # torch's lazy classes have the defaults of batch norm in both
    instance = _NORM.format("True", "True") if lazy else _NORM.format("False", "False")
    entry = differs("InstanceNorm", "it has no running statistics, which the lazy class keeps by default")
    return {
        f"{lazy}BatchNorm{rank}d": _to("BatchNorm", sizes + _NORM.format("True", "True"), **rules),
        f"{lazy}InstanceNorm{rank}d": entry
        if lazy
        else _to("InstanceNorm", sizes + instance, momentum=IGNORED, fixed={"spatial_axes": rank}, **rules),
    }


def _of_rank(rank: int) -> dict[str, Entry]:
    window = "kernel_size, stride=None, padding=0"
    return {
        **_convolution(rank, ""),
        **_convolution(rank, "Lazy"),
        **_norms(rank, ""),
        **_norms(rank, "Lazy"),
        f"MaxPool{rank}d": _to(
            f"MaxPool{rank}d",
            f"{window}, dilation=1, return_indices=False, ceil_mode=False",
            note=f"With `return_indices=True` it is `nn.MaxPool{rank}dWithIndices`.",
        ),
        f"AvgPool{rank}d": _to(
            f"AvgPool{rank}d",
            f"{window}, ceil_mode=False, count_include_pad=True" + (", divisor_override=None" if rank > 1 else ""),
            **(only_defaults("divisor_override") if rank > 1 else {}),
        ),
        f"LPPool{rank}d": _to(
            f"LPPool{rank}d",
            "norm_type, kernel_size, stride=None, ceil_mode=False",
            norm_type=lambda p: {"p": float(p)},
        ),
        f"AdaptiveAvgPool{rank}d": _to(f"AdaptiveAvgPool{rank}d", "output_size"),
        f"AdaptiveMaxPool{rank}d": _to(f"AdaptiveMaxPool{rank}d", "output_size, return_indices=False"),
        f"MaxUnpool{rank}d": _to(f"MaxUnpool{rank}d", window),
        f"Dropout{rank}d": _to(
            # an input of three axes is (N, C, L) to Dropout2d
            "DropoutChannels",
            "p=0.5, inplace=False",
            fixed={} if rank == 2 else {"spatial_axes": rank},
        ),
        f"ConstantPad{rank}d": _to("Pad", "padding, value", padding=spatial_pairs(rank)),
        f"ZeroPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank)),
        f"ReflectionPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank), fixed={"mode": "reflect"}),
        f"ReplicationPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank), fixed={"mode": "replicate"}),
        f"CircularPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank), fixed={"mode": "circular"}),
    }


_ACTIVATIONS = {
    **{
        name: _to(name, "inplace=False")
        for name in ("Hardsigmoid", "Hardswish", "Mish", "ReLU", "ReLU6", "SELU", "SiLU")
    },
    **{name: _to(name) for name in ("LogSigmoid", "Sigmoid", "Softsign", "Tanh", "Tanhshrink")},
    **{name: _to(name, "dim=None") for name in ("LogSoftmax", "Softmax", "Softmin")},
    "CELU": _to("CELU", "alpha=1.0, inplace=False"),
    "ELU": _to("ELU", "alpha=1.0, inplace=False"),
    "GELU": _to("GELU", "approximate='none'"),
    "GLU": _to("GLU", "dim=-1"),
    "Hardshrink": _to("Hardshrink", "lambd=0.5", lambd="threshold"),
    "Hardtanh": _to(
        "Hardtanh",
        "min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None",
        min_val="low",
        max_val="high",
        min_value=DEFAULT_ONLY,
        max_value=DEFAULT_ONLY,
    ),
    "LeakyReLU": _to("LeakyReLU", "negative_slope=0.01, inplace=False"),
    "PReLU": _to("PReLU", f"num_parameters=1, init=0.25, {_SIZES}", num_parameters=slopes, init=slope_value),
    "RReLU": _to("RReLU", "lower=0.125, upper=0.3333333333333333, inplace=False"),
    "Softmax2d": _to("Softmax", fixed={"axis": -3}),
    "Softplus": _to("Softplus", "beta=1.0, threshold=20.0", threshold=DEFAULT_ONLY),
    "Softshrink": _to("Softshrink", "lambd=0.5", lambd="threshold"),
    "Threshold": _to("Threshold", "threshold, value, inplace=False"),
}

_LOSSES = {
    "BCELoss": _to(
        "BinaryCrossEntropyLoss", f"weight=None, {_LOSS}", weight=DEFAULT_ONLY, fixed={"from_logits": False}
    ),
    "BCEWithLogitsLoss": _to(
        "BinaryCrossEntropyLoss",
        f"weight=None, {_LOSS}, pos_weight=None",
        weight=DEFAULT_ONLY,
        pos_weight=numbers("positive_weights"),
    ),
    "CosineEmbeddingLoss": _to("CosineEmbeddingLoss", f"margin=0.0, {_LOSS}"),
    "CrossEntropyLoss": differs("CrossEntropyLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "GaussianNLLLoss": _to("GaussianNLLLoss", "*, full=False, eps=1e-06, reduction='mean'"),
    "HingeEmbeddingLoss": _to("HingeEmbeddingLoss", f"margin=1.0, {_LOSS}"),
    "HuberLoss": _to("HuberLoss", "reduction='mean', delta=1.0"),
    "KLDivLoss": _to("KLDivergenceLoss", f"{_LOSS}, log_target=False"),
    "L1Loss": _to("MeanAbsoluteErrorLoss", _LOSS),
    "MSELoss": _to("MeanSquaredErrorLoss", _LOSS),
    "MarginRankingLoss": _to("MarginRankingLoss", f"margin=0.0, {_LOSS}"),
    "MultiLabelMarginLoss": _to("MultilabelMarginLoss", _LOSS),
    "MultiLabelSoftMarginLoss": _to(
        "MultilabelSoftMarginLoss", f"weight=None, {_LOSS}", weight=numbers("class_weights")
    ),
    "MultiMarginLoss": differs("MultiMarginLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "NLLLoss": differs("NLLLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "NLLLoss2d": differs("NLLLoss", _CLASSES_LAST),
    "PoissonNLLLoss": _to(
        "PoissonNLLLoss",
        "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'",
    ),
    "SmoothL1Loss": _to("SmoothL1Loss", f"{_LOSS}, beta=1.0"),
    "SoftMarginLoss": _to("SoftMarginLoss", _LOSS),
    "TripletMarginLoss": _to("TripletMarginLoss", f"margin=1.0, p=2.0, eps=1e-06, swap=False, {_LOSS}", p="p"),
    "CTCLoss": differs(
        "CTCLoss", "it takes logits (N, steps, classes), in PyTorch log-probabilities (steps, N, classes)"
    ),
}

_RECURRENT = {
    name: differs(
        name,
        _LENGTH,
        other_order=True,
        input_size=IGNORED,
        num_layers="layers",
        dropout="rate",
        batch_first=IGNORED,
    )
    for name in ("RNN", "LSTM", "GRU")
}


def recurrent_call(layer: Any) -> tuple[str, dict[str, Any]]:
    """The class of a recurrent layer, and its arguments besides the sizes."""
    options: dict[str, Any] = {"batch_first": True}
    if layer.bidirectional:
        options["bidirectional"] = True
    if getattr(layer, "activation", "tanh") != "tanh":
        options["nonlinearity"] = layer.activation
    return type(layer).__name__, options


_MASKS = "the batch is the first axis, and boolean masks are true where attention is allowed"
_STACK = f"it takes the settings of its layers, not a layer; {_MASKS}"
_TRANSFORMERS = {
    **{
        name: differs(
            name,
            _MASKS,
            other_order=True,
            batch_first=IGNORED,
            **TRANSFORMER_LAYER,
        )
        for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")
    },
    "TransformerEncoder": differs("TransformerEncoder", _STACK, encoder_layer=IGNORED, num_layers="layers"),
    "TransformerDecoder": differs("TransformerDecoder", _STACK, decoder_layer=IGNORED, num_layers="layers"),
}

CLASSES: dict[str, Entry] = {
    **{name: _to(name, "*args") for name in ("Module", "Sequential")},
    "ModuleList": _to("ModuleList", "modules=None"),
    "ModuleDict": _to("ModuleDict", "modules=None"),
    "ParameterList": _to("ParameterList", "values=None"),
    "ParameterDict": _to("ParameterDict", "parameters=None"),
    "Linear": _to("Linear", f"in_features, out_features, bias=True, {_SIZES}"),
    "LazyLinear": _to("Linear", f"out_features, bias=True, {_SIZES}"),
    "Bilinear": _to("Bilinear", f"in1_features, in2_features, out_features, bias=True, {_SIZES}"),
    "Identity": _to("Identity", "*args, **kwargs", args=IGNORED, kwargs=IGNORED),
    **_of_rank(1),
    **_of_rank(2),
    **_of_rank(3),
    **_ACTIVATIONS,
    "SyncBatchNorm": differs(
        "SyncBatchNorm",
        "it has no process_group, uses all processes, and synchronizes on CPUs as well",
        num_features=IGNORED,
        eps="epsilon",
        track_running_stats=IGNORED,
    ),
    "GroupNorm": _to(
        "GroupNorm",
        f"num_groups, num_channels, eps=1e-05, affine=True, {_SIZES}, *, bias=True",
        num_groups="groups",
        num_channels=IGNORED,
        bias=DEFAULT_ONLY,
    ),
    "LayerNorm": _to(
        "LayerNorm",
        f"normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, {_SIZES}",
        normalized_shape=last_axes,
        elementwise_affine="affine",
    ),
    "RMSNorm": _to(
        "RMSNorm",
        f"normalized_shape, eps=None, elementwise_affine=True, {_SIZES}",
        normalized_shape=one_last_axis,
        eps=_default_epsilon,
        elementwise_affine="affine",
    ),
    "LocalResponseNorm": _to("LocalResponseNorm", "size, alpha=0.0001, beta=0.75, k=1.0"),
    "CrossMapLRN2d": differs(
        "LocalResponseNorm", "each channel has its neighbors on both sides; PyTorch's window grows"
    ),
    "Dropout": _to("Dropout", "p=0.5, inplace=False"),
    "AlphaDropout": _to("AlphaDropout", "p=0.5, inplace=False"),
    "Flatten": _to("Flatten", "start_dim=1, end_dim=-1", start_dim="start_axis", end_dim="end_axis"),
    "Unflatten": _to("Unflatten", "dim, unflattened_size", dim="axis", unflattened_size="sizes"),
    "Unfold": _to("Unfold", "kernel_size, dilation=1, padding=0, stride=1"),
    "Fold": _to("Fold", "output_size, kernel_size, dilation=1, padding=0, stride=1", output_size="size"),
    "Upsample": _to(
        "Upsample",
        "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
        together={"size scale_factor": size_or_scale},
        mode=resize_mode,
        align_corners=corners,
        recompute_scale_factor=DEFAULT_ONLY,
    ),
    "UpsamplingNearest2d": _to(
        "Upsample", "size=None, scale_factor=None", together={"size scale_factor": size_or_scale}
    ),
    "UpsamplingBilinear2d": _to(
        "Upsample",
        "size=None, scale_factor=None",
        together={"size scale_factor": size_or_scale},
        fixed={"mode": "bilinear", "align_corners": True},
    ),
    "PixelShuffle": _to("PixelShuffle", "upscale_factor", upscale_factor="factor"),
    "PixelUnshuffle": _to("PixelUnshuffle", "downscale_factor", downscale_factor="factor"),
    "ChannelShuffle": _to("ChannelShuffle", "groups"),
    "CosineSimilarity": _to("CosineSimilarity", "dim=1, eps=1e-08"),
    "PairwiseDistance": _to("PairwiseDistance", "p=2.0, eps=1e-06, keepdim=False", p="p", keepdim="keepdims"),
    "Embedding": _to(
        "Embedding",
        "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
        f"sparse=False, _weight=None, _freeze=False, {_SIZES}",
        num_embeddings="size",
        embedding_dim="features",
        padding_idx="padding_index",
        **only_defaults("max_norm", "norm_type", "scale_grad_by_freq", "sparse", "_weight", "_freeze"),
    ),
    "EmbeddingBag": differs(
        "EmbeddingBag",
        "it is called with (indices, weights): bags are rows of indices, and there are no offsets",
        num_embeddings="size",
        embedding_dim="features",
    ),
    "RNNCell": _to(
        "RNNCell",
        f"input_size, hidden_size, bias=True, nonlinearity='tanh', {_SIZES}",
        input_size=IGNORED,
        bias=DEFAULT_ONLY,
        nonlinearity="activation",
    ),
    "GRUCell": _to("GRUCell", f"input_size, hidden_size, bias=True, {_SIZES}", input_size=IGNORED, bias=DEFAULT_ONLY),
    "LSTMCell": differs(
        "LSTMCell",
        "it is called with (x, hidden, cell), not with (x, (hidden, cell))",
        other_order=True,
        input_size=IGNORED,
    ),
    **_RECURRENT,
    "MultiheadAttention": differs(
        "MultiHeadAttention",
        "it is called with (x), or with (query, context=key, values=value), returns the output alone, has the batch first "
        "and boolean masks that are true where attention is allowed",
        embed_dim=IGNORED,
        num_heads="heads",
        dropout="rate",
        bias="use_bias",
        batch_first=IGNORED,
    ),
    **_TRANSFORMERS,
    **_LOSSES,
    "AdaptiveLogSoftmaxWithLoss": differs(
        "AdaptiveLogSoftmaxWithLoss",
        "it infers the number of features, and the classes come first",
        other_order=True,
        in_features=IGNORED,
        n_classes="classes",
    ),
    **all_missing("use `nn.Linear` and `nn.CrossEntropyLoss`", "LinearCrossEntropyLoss"),
    **all_missing("its windows are random", "FractionalMaxPool2d FractionalMaxPool3d"),
    **all_missing("only single elements or all of a sample's channels are dropped", "FeatureAlphaDropout"),
    **all_missing("`nn.TransformerEncoder` and `nn.TransformerDecoder` are its parts", "Transformer"),
    **all_missing("a distance function is no setting: use `nn.TripletMarginLoss`", "TripletMarginWithDistanceLoss"),
    **all_missing("it is a base class", "Container RNNBase RNNCellBase"),
    **all_missing("a model runs on one device", "DataParallel"),
}

FUNCTIONS = {  # of torch.nn.utils and torch.nn.utils.parametrizations, whose arguments are layers
    "spectral_norm": Entry(
        "spectral_norm",
        "module, name='weight', n_power_iterations=1, eps=1e-12, dim=None",
        {"module": "layer", "name": DEFAULT_ONLY, "eps": DEFAULT_ONLY, "dim": DEFAULT_ONLY},
    ),
    "weight_norm": Entry("weight_norm", "module, name='weight', dim=0", {"module": "layer", "name": DEFAULT_ONLY}),
}
