"""Classes of mindspore.nn."""

from __future__ import annotations

from typing import Any

from labdl.interop.names.arguments import (
    TRANSFORMER_LAYER,
    activation_layers,
    complement,
    corners,
    mode_without_cubic,
    numbers,
    slope_value,
    slopes,
    spatial_pairs,
    whole_strides,
)
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, Entry, Table, all_missing, differs, only_defaults

ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("ReLU", {}),
    "relu6": ("ReLU6", {}),
    "tanh": ("Tanh", {}),
    "gelu": ("GELU", {"approximate": "tanh"}),
    "elu": ("ELU", {}),
    "sigmoid": ("Sigmoid", {}),
    "softmax": ("Softmax", {}),
    "leakyrelu": ("LeakyReLU", {"negative_slope": 0.2}),
    "hswish": ("Hardswish", {}),
    "hsigmoid": ("Hardsigmoid", {}),
    "logsigmoid": ("LogSigmoid", {}),
}


def _activation(name: Any) -> dict[str, Any]:
    """The layer of that activation follows"""
    return activation_layers(name, ACTIVATIONS)


def _padding(rank: int):
    def convert(pad_mode: str, padding: Any) -> dict[str, Any]:
        if pad_mode.lower() in ("same", "valid"):
            return {"padding": "same" if pad_mode.lower() == "same" else 0}
        if pad_mode.lower() != "pad":
            raise ValueError('"same", "valid" or "pad"')
        if isinstance(padding, int):
            return {"padding": padding}
        if len(padding) == 2 * rank and rank > 1:
            return {"padding": tuple(tuple(padding[at : at + 2]) for at in range(0, 2 * rank, 2))}
        raise ValueError("one number, or a pair for each axis")

    convert.__doc__ = '`padding`: "same", 0 for "valid", and the numbers for "pad"'
    return convert


def _transposed_settings(rank: int):
    def convert(pad_mode: str, padding: Any, kernel_size: Any, stride: Any, dilation: Any = 1) -> dict[str, Any]:
        sizes = {"kernel_size": kernel_size, "stride": stride, "dilation": dilation}
        gaps = whole_strides(rank, *sizes.values()) if pad_mode.lower() == "valid" else {}
        return {**sizes, **_padding(rank)(pad_mode, padding), **gaps}

    convert.__doc__ = f"the same with {_padding(rank).__doc__}, and `output_padding` where the stride is the larger"
    return convert


def _last_axes(shape: Any, begin_norm_axis: int, begin_params_axis: int) -> dict[str, Any]:
    """`axes` is the number of sizes"""
    count = 1 if isinstance(shape, int) else len(shape)
    if begin_norm_axis != begin_params_axis or (begin_norm_axis < 0 and begin_norm_axis != -count):
        raise ValueError("both axes must be the first of the sizes")
    return {"axes": count}


def _found_from_targets(sparse: bool) -> dict[str, Any]:
    """No setting: class numbers or rows of probabilities"""
    return {}


def _size(size: Any) -> dict[str, Any]:
    """`size`, which is needed"""
    if size is None:
        raise ValueError("give a size: MindSpore takes `scale_factor` for few modes and LabDL's `scale` for all")
    return {"size": size}


def _keep(keep_prob: float, p: float | None) -> dict[str, Any]:
    """`rate` is `p`, or 1 - `keep_prob`"""
    return {"rate": float(p) if p is not None else round(1 - keep_prob, 12)}


def _neighbors(depth_radius: int, alpha: float) -> dict[str, Any]:
    """`size` is 2 * depth_radius + 1, and `alpha` is multiplied by it"""
    size = 2 * depth_radius + 1
    return {"size": size, "alpha": float(alpha * size)}


_NONE = "dtype=None"
_to = Table(
    has_bias="use_bias",
    eps="epsilon",
    p="rate",
    group="groups",
    weight_init=DEFAULT_ONLY,
    bias_init=DEFAULT_ONLY,
    gamma_init=DEFAULT_ONLY,
    beta_init=DEFAULT_ONLY,
    moving_mean_init=DEFAULT_ONLY,
    moving_var_init=DEFAULT_ONLY,
    use_batch_statistics=DEFAULT_ONLY,
    return_indices=DEFAULT_ONLY,
    divisor_override=DEFAULT_ONLY,
    data_format=DEFAULT_ONLY,
    dtype=DEFAULT_ONLY,
    activation=_activation,
).to
_CLASSES_LAST = "the classes are on the last axis, in MindSpore on axis 1; both are the same for (N, classes)"


def _of_rank(rank: int) -> dict[str, Entry]:
    channels = "in_channels, out_channels, kernel_size, stride=1, pad_mode='same', padding=0, "
    layout = ("", "data_format='NCHW', ", "data_format='NCDHW', ")[rank - 1]
    plain = f"{channels}dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, {layout}{_NONE}"
    transposed = (
        f"{channels}dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, {_NONE}",
        f"{channels}output_padding=0, dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, {_NONE}",
        f"{channels}dilation=1, group=1, output_padding=0, has_bias=False, weight_init=None, bias_init=None, {layout}{_NONE}",
    )[rank - 1]
    padding: dict[str, Any] = {"pad_mode padding": _padding(rank)}
    window = "kernel_size=1, stride=1, pad_mode='valid', padding=0, "
    pool = f"{window}dilation=1, return_indices=False, ceil_mode=False"
    mean = f"{window}ceil_mode=False, count_include_pad=True" + (", divisor_override=None" if rank > 1 else "")
    batch = (
        "num_features, eps=1e-05, momentum=0.9, affine=True, gamma_init='ones', beta_init='zeros', "
        "moving_mean_init='zeros', moving_var_init='ones', use_batch_statistics=None, "
        + ("data_format='NCHW', " if rank < 3 else "")
        + _NONE
    )
    return {
        f"Conv{rank}d": _to(f"Conv{rank}d", plain, together=padding),
        f"Conv{rank}dTranspose": _to(
            f"ConvTranspose{rank}d",
            transposed,
            together={"pad_mode padding kernel_size stride" + " dilation" * (rank < 3): _transposed_settings(rank)},
            **(only_defaults("output_padding") if rank > 1 else {}),
            **(only_defaults("dilation") if rank == 3 else {}),
            note="With `pad_mode='same'` LabDL needs the sizes of the input.",
        ),
        f"MaxPool{rank}d": _to(
            f"MaxPool{rank}d", f"{pool}, data_format='NCHW'" if rank == 2 else pool, together=padding
        ),
        f"AvgPool{rank}d": _to(
            f"AvgPool{rank}d", f"{mean}, data_format='NCHW'" if rank == 2 else mean, together=padding
        ),
        f"AdaptiveAvgPool{rank}d": _to(f"AdaptiveAvgPool{rank}d", "output_size"),
        f"AdaptiveMaxPool{rank}d": _to(
            f"AdaptiveMaxPool{rank}d", "output_size, return_indices=False" if rank > 1 else "output_size"
        ),
        f"MaxUnpool{rank}d": _to(f"MaxUnpool{rank}d", "kernel_size, stride=None, padding=0"),
        f"Dropout{rank}d": _to("DropoutChannels", "p=0.5", fixed={} if rank == 2 else {"spatial_axes": rank}),
        f"BatchNorm{rank}d": _to(
            "BatchNorm",
            batch,
            num_features=IGNORED,
            momentum=complement,
        ),
        f"InstanceNorm{rank}d": _to(
            "InstanceNorm",
            f"num_features, eps=1e-05, momentum=0.1, affine=True, gamma_init='ones', beta_init='zeros', {_NONE}",
            num_features=IGNORED,
            momentum=IGNORED,
            fixed={"spatial_axes": rank},
        ),
        f"ConstantPad{rank}d": _to("Pad", "padding, value", padding=spatial_pairs(rank)),
        f"ReflectionPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank), fixed={"mode": "reflect"}),
        f"ReplicationPad{rank}d": _to("Pad", "padding", padding=spatial_pairs(rank), fixed={"mode": "replicate"}),
    }


ACTIVATION = _to("", "activation")  # activations by name, which other layers take as an argument

_ACTIVATIONS = {
    **{
        name: _to(name)
        for name in ("LogSigmoid", "Mish", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softsign", "Tanh", "Tanhshrink")
    },
    "SeLU": _to("SELU"),
    "HSigmoid": _to("Hardsigmoid"),
    "HSwish": _to("Hardswish"),
    "CELU": _to("CELU", "alpha=1.0"),
    "ELU": _to("ELU", "alpha=1.0", alpha=DEFAULT_ONLY),
    "GELU": _to("GELU", "approximate=True", approximate=lambda a: {"approximate": "tanh" if a else "none"}),
    "GLU": _to("GLU", "axis=-1"),
    "HShrink": _to("Hardshrink", "lambd=0.5", lambd="threshold"),
    "Hardtanh": _to("Hardtanh", "min_val=-1.0, max_val=1.0", min_val="low", max_val="high"),
    "LeakyReLU": _to("LeakyReLU", "alpha=0.2", alpha="negative_slope"),
    "LogSoftmax": _to("LogSoftmax", "axis=-1"),
    "PReLU": _to("PReLU", "channel=1, w=0.25", channel=slopes, w=slope_value),
    "RReLU": differs("RReLU", "in evaluation the slope is the mean of both bounds, in MindSpore it is random"),
    "SoftShrink": _to("Softshrink", "lambd=0.5", lambd="threshold"),
    "Softmax": _to("Softmax", "axis=-1"),
    "Softmax2d": _to("Softmax", fixed={"axis": -3}),
    "Softmin": _to("Softmin", "axis=-1"),
    "Threshold": _to("Threshold", "threshold, value"),
}

_LOSSES = {
    "BCELoss": differs(
        "BinaryCrossEntropyLoss",
        "it has from_logits=False, and its logarithms are at least -100, in MindSpore at least -27.6, which shows for "
        "outputs of 0 and 1",
    ),
    "BCEWithLogitsLoss": _to(
        "BinaryCrossEntropyLoss",
        "reduction='mean', weight=None, pos_weight=None",
        weight=DEFAULT_ONLY,
        pos_weight=numbers("positive_weights"),
    ),
    "CosineEmbeddingLoss": _to("CosineEmbeddingLoss", "margin=0.0, reduction='mean'"),
    "CrossEntropyLoss": differs("CrossEntropyLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "DiceLoss": differs("DiceLoss", "the loss is the mean over the samples, in MindSpore that of the whole batch"),
    "FocalLoss": differs("FocalLoss", "it is that of binary labels, in MindSpore that of classes on axis 1"),
    "GaussianNLLLoss": _to("GaussianNLLLoss", "*, full=False, eps=1e-06, reduction='mean'"),
    "HingeEmbeddingLoss": _to("HingeEmbeddingLoss", "margin=1.0, reduction='mean'"),
    "HuberLoss": _to("HuberLoss", "reduction='mean', delta=1.0"),
    "KLDivLoss": _to("KLDivergenceLoss", "reduction='mean'"),
    "L1Loss": _to("MeanAbsoluteErrorLoss", "reduction='mean'"),
    "MAELoss": _to("MeanAbsoluteErrorLoss", "reduction='mean'"),
    "MSELoss": _to("MeanSquaredErrorLoss", "reduction='mean'"),
    "MarginRankingLoss": _to("MarginRankingLoss", "margin=0.0, reduction='mean'"),
    "MultiLabelSoftMarginLoss": _to(
        "MultilabelSoftMarginLoss", "weight=None, reduction='mean'", weight=numbers("class_weights")
    ),
    "MultiMarginLoss": _to(
        "MultiMarginLoss",
        "p=1, margin=1.0, reduction='mean', weight=None",
        p="p",
        weight=numbers("class_weights"),
    ),
    "NLLLoss": differs("NLLLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "PoissonNLLLoss": _to("PoissonNLLLoss", "log_input=True, full=False, eps=1e-08, reduction='mean'"),
    "SmoothL1Loss": _to("SmoothL1Loss", "beta=1.0, reduction='none'"),
    "SoftmaxCrossEntropyWithLogits": _to(
        "CrossEntropyLoss",
        "sparse=False, reduction='none'",
        sparse=_found_from_targets,
        note="The targets may be class numbers or rows of probabilities without a setting.",
    ),
    "CTCLoss": differs(
        "CTCLoss", "it takes logits (N, steps, classes), in MindSpore log-probabilities (steps, N, classes)"
    ),
    **all_missing(
        "write the formula with `labdl.ops` as a function (output, target)",
        "MultiClassDiceLoss RMSELoss SampledSoftmaxLoss",
    ),
    **all_missing("it is a base class: a function (output, target) is a loss", "LossBase"),
}

_SEQUENCE = "it returns (output, hidden) or (output, hidden, cell), and the batch is the first axis"
_MASKS = "the batch is the first axis, and boolean masks are true where attention is allowed"
_STACK = f"it takes the settings of its layers, not a layer; {_MASKS}"

CLASSES: dict[str, Entry] = {
    "Cell": differs("Module", "a module has `forward` in place of `construct`"),
    "SequentialCell": differs("Sequential", "it takes the layers as arguments, not as a list"),
    "CellList": differs("ModuleList", "it takes a list"),
    "CellDict": differs("ModuleDict", "it takes a dictionary"),
    "Dense": _to(
        "Linear",
        f"in_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, activation=None, {_NONE}",
        in_channels="in_features",
        out_channels="out_features",
        note="The activation becomes a layer of its own.",
    ),
    "Linear": _to(
        "Linear", "in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None", bias="use_bias"
    ),
    "BiDense": _to(
        "Bilinear",
        f"in1_channels, in2_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, {_NONE}",
        in1_channels="in1_features",
        in2_channels="in2_features",
        out_channels="out_features",
    ),
    "Identity": _to("Identity", "*args, **kwargs", args=IGNORED, kwargs=IGNORED),
    **_of_rank(1),
    **_of_rank(2),
    **_of_rank(3),
    **_ACTIVATIONS,
    "LPPool1d": _to(
        "LPPool1d", "norm_type, kernel_size, stride=None, ceil_mode=False", norm_type=lambda p: {"p": float(p)}
    ),
    "LPPool2d": _to(
        "LPPool2d", "norm_type, kernel_size, stride=None, ceil_mode=False", norm_type=lambda p: {"p": float(p)}
    ),
    "SyncBatchNorm": differs(
        "SyncBatchNorm",
        "momentum is the weight of the new value, it uses all processes, and synchronizes on CPUs as well",
        num_features=IGNORED,
        eps="epsilon",
        momentum=lambda momentum: {"momentum": 1 - momentum},
    ),
    "GroupNorm": _to(
        "GroupNorm",
        f"num_groups, num_channels, eps=1e-05, affine=True, gamma_init='ones', beta_init='zeros', {_NONE}",
        num_groups="groups",
        num_channels=IGNORED,
    ),
    "LayerNorm": _to(
        "LayerNorm",
        "normalized_shape, begin_norm_axis=-1, begin_params_axis=-1, gamma_init='ones', beta_init='zeros', epsilon=1e-07, "
        + _NONE,
        together={"normalized_shape begin_norm_axis begin_params_axis": _last_axes},
    ),
    "LRN": _to(
        "LocalResponseNorm",
        "depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS'",
        together={"depth_radius alpha": _neighbors},
        bias="k",
        norm_region=DEFAULT_ONLY,
    ),
    "Dropout": _to("Dropout", f"keep_prob=0.5, p=None, {_NONE}", together={"keep_prob p": _keep}),
    "Flatten": _to("Flatten", "start_dim=1, end_dim=-1", start_dim="start_axis", end_dim="end_axis"),
    "Unflatten": _to("Unflatten", "axis, unflattened_size", unflattened_size="sizes"),
    "ZeroPad2d": _to("Pad", "padding", padding=spatial_pairs(2)),
    "Upsample": _to(
        "Upsample",
        "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
        size=_size,
        mode=mode_without_cubic,
        scale_factor=DEFAULT_ONLY,
        align_corners=corners,
        recompute_scale_factor=DEFAULT_ONLY,
    ),
    "PixelShuffle": _to("PixelShuffle", "upscale_factor", upscale_factor="factor"),
    "PixelUnshuffle": _to("PixelUnshuffle", "downscale_factor", downscale_factor="factor"),
    "ChannelShuffle": _to("ChannelShuffle", "groups"),
    "OneHot": _to(
        "OneHot",
        f"axis=-1, depth=1, on_value=1.0, off_value=0.0, {_NONE}",
        depth="classes",
        on_value=DEFAULT_ONLY,
        off_value=DEFAULT_ONLY,
    ),
    "Embedding": _to(
        "Embedding",
        f"vocab_size, embedding_size, use_one_hot=False, embedding_table='normal', {_NONE}, padding_idx=None",
        vocab_size="size",
        embedding_size="features",
        use_one_hot=IGNORED,
        embedding_table=DEFAULT_ONLY,
        padding_idx=DEFAULT_ONLY,
        fixed={"embeddings_init": "normal(std=0.01)"},
    ),
    # these cannot be compared without the hardware
    **{
        name: differs(ours, "MindSpore computes it on Ascend alone")
        for name, ours in (
            ("AvgPool1dExt", "AvgPool1d"),
            ("AvgPool2dExt", "AvgPool2d"),
            ("AvgPool3dExt", "AvgPool3d"),
            ("Dropout2dExt", "DropoutChannels"),
            ("DropoutExt", "Dropout"),
            ("EmbeddingExt", "Embedding"),
            ("L1LossExt", "MeanAbsoluteErrorLoss"),
            ("LayerNormExt", "LayerNorm"),
            ("LogSoftmaxExt", "LogSoftmax"),
            ("MaxPool2dExt", "MaxPool2d"),
            ("MultilabelMarginLoss", "MultilabelMarginLoss"),
            ("PReLUExt", "PReLU"),
            ("SoftMarginLoss", "SoftMarginLoss"),
            ("TripletMarginLoss", "TripletMarginLoss"),
        )
    },
    "MatMul": differs("MatMul", "transpose an input with `nn.Permute` before it"),
    "RNNCell": _to(
        "RNNCell",
        f"input_size, hidden_size, has_bias=True, nonlinearity='tanh', {_NONE}",
        input_size=IGNORED,
        has_bias=DEFAULT_ONLY,
        nonlinearity="activation",
    ),
    "GRUCell": _to(
        "GRUCell", f"input_size, hidden_size, has_bias=True, {_NONE}", input_size=IGNORED, has_bias=DEFAULT_ONLY
    ),
    "LSTMCell": differs(
        "LSTMCell", "it is called with (x, hidden, cell), not with (x, (hidden, cell))", input_size=IGNORED
    ),
    **{
        name: differs(name, _SEQUENCE, input_size=IGNORED, num_layers="layers", dropout="rate", batch_first=IGNORED)
        for name in ("RNN", "LSTM", "GRU")
    },
    "MultiheadAttention": differs(
        "MultiHeadAttention",
        "it is called with (x), or with (query, context=key, values=value), returns the output alone, has the batch first "
        "and boolean masks that are true where attention is allowed",
        embed_dim=IGNORED,
        num_heads="heads",
        dropout="rate",
        has_bias="use_bias",
        batch_first=IGNORED,
    ),
    **{
        name: differs(
            name,
            _MASKS,
            batch_first=IGNORED,
            **TRANSFORMER_LAYER,
        )
        for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")
    },
    "TransformerEncoder": differs("TransformerEncoder", _STACK, encoder_layer=IGNORED, num_layers="layers"),
    "TransformerDecoder": differs("TransformerDecoder", _STACK, decoder_layer=IGNORED, num_layers="layers"),
    "Pad": differs("Pad", "it pads the spatial axes alone: `padding` has no pairs for the batch and the channels"),
    "Unfold": differs(
        "Unfold", "`kernel_size`, `stride` and `dilation` are those of the spatial axes alone, as in PyTorch"
    ),
    "EmbeddingLookup": differs("Embedding", "it has no cache and no shards"),
    "FastGelu": differs("GELU", "it is exact or the tanh approximation, not x * sigmoid(1.702 * x)"),
    "TimeDistributed": differs("Linear", "layers treat all axes but the last as samples"),
    **_LOSSES,
    **all_missing("its windows are random", "FractionalMaxPool2d FractionalMaxPool3d"),
    **all_missing("`nn.TransformerEncoder` and `nn.TransformerDecoder` are its parts", "Transformer"),
    **all_missing("a distance function is no setting: use `nn.TripletMarginLoss`", "TripletMarginWithDistanceLoss"),
    **all_missing(
        "it is an operator: see `labdl.ops`", "ClipByNorm L1Regularizer Moments Norm Range ReduceLogSumExp Roll"
    ),
    **all_missing(
        "it is an operator: see `labdl.ops`", "MatDet MatInverse MatrixDiag MatrixDiagPart MatrixSetDiag Tril Triu"
    ),
    **all_missing(
        "it is an operator: see `labdl.ops`", "DiGamma IGamma LBeta LGamma SparseTensorDenseMatmul SparseToDense"
    ),
    **all_missing("it is a metric of pictures", "ImageGradients MSSSIM PSNR SSIM CentralCrop"),
    **all_missing(
        "its layers are separate: `nn.Sequential(nn.Conv2d(...), nn.BatchNorm(), ...)`", "Conv2dBnAct DenseBnAct"
    ),
    **all_missing("its optimizer has no counterpart", "Conv2dThor DenseThor EmbeddingThor EmbeddingLookupThor"),
    **all_missing("a table is on one device", "MultiFieldEmbeddingLookup"),
    **all_missing(
        "`labdl.fit` and `Trainer` take its place",
        "AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell DistributedGradReducer DynamicLossScaleUpdateCell",
        "FixedLossScaleUpdateCell ForwardValueAndGrad GetNextSingleOp GradAccumulationCell GraphCell Jvp MicroBatchInterleaved",
        "ParameterUpdate PipelineCell PipelineGradReducer TrainOneStepCell TrainOneStepWithLossScaleCell",
        "VirtualDatasetCellTriple Vjp WithEvalCell WithGradCell WithLossCell",
    ),
}
