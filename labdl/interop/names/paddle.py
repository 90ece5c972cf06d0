"""Classes of paddle.nn."""

from __future__ import annotations

from typing import Any

from labdl.interop.names.arguments import (
    TRANSFORMER_LAYER,
    complement,
    corners,
    last_axes,
    numbers,
    per_axis,
    size_or_scale,
    slope_value,
    slopes,
    spatial_pairs,
)
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, Entry, Table, all_missing, differs, only_defaults

_LAYOUTS = {
    **dict.fromkeys(("NC", "NCL", "NCHW", "NCDHW"), "channels_first"),
    **dict.fromkeys(("NLC", "NHWC", "NDHWC"), "channels_last"),
}


def _layout(data_format: str) -> dict[str, Any]:
    """ "channels_first" for NCHW and so on, "channels_last" for NHWC"""
    if data_format not in _LAYOUTS:
        raise ValueError(f"one of {', '.join(_LAYOUTS)}")
    return {"data_format": _LAYOUTS[data_format]}


def _bias(bias_attr: Any) -> dict[str, Any]:
    """`use_bias`; an attribute object is refused"""
    if bias_attr not in (None, True, False):
        raise ValueError("None or False")
    return {"use_bias": bias_attr is not False}


def _affine(weight_attr: Any, bias_attr: Any) -> dict[str, Any]:
    """`affine`: False for both is without gamma and beta"""
    if {weight_attr, bias_attr} not in ({None}, {True}, {None, True}, {False}):
        raise ValueError("None or False for both")
    return {"affine": weight_attr is not False}


def _layer_norm(weight_attr: Any, bias_attr: Any, elementwise_affine: bool, bias: bool) -> dict[str, Any]:
    """`affine` and `use_bias`"""
    if not {weight_attr, bias_attr} <= {None, True, False}:
        raise ValueError("None or False")
    affine, use_bias = elementwise_affine and weight_attr is not False, bias and bias_attr is not False
    if elementwise_affine and use_bias and not affine:
        raise ValueError("a bias without a weight")
    return {"affine": affine, "use_bias": use_bias}


def _padding(rank: int):
    def convert(padding: Any) -> dict[str, Any]:
        if isinstance(padding, str):
            return {"padding": 0 if padding.lower() == "valid" else padding.lower()}
        if isinstance(padding, list | tuple) and len(padding) == 2 * rank and rank > 1:
            return {"padding": tuple(tuple(padding[at : at + 2]) for at in range(0, 2 * rank, 2))}
        if isinstance(padding, list | tuple) and (len(padding) != rank or not all(isinstance(p, int) for p in padding)):
            raise ValueError("one number, one for each axis, or a pair for each axis")
        return {"padding": padding}

    convert.__doc__ = '`padding`; "SAME" is "same", and pairs are one for each axis'
    return convert


def _is_same(padding: Any) -> bool:
    return isinstance(padding, str) and padding.lower() == "same"


def _check_dilation(padding: Any, dilation: Any) -> None:
    """dilation with "SAME" is refused"""
    if _is_same(padding) and set(per_axis(dilation, 1)) != {1}:
        raise ValueError('PaddlePaddle leaves the dilation out with "SAME": give one of both')


def _check_transposed_padding(padding: Any, stride: Any, dilation: Any) -> None:
    """stride or dilation with "SAME" is refused"""
    if _is_same(padding) and {*per_axis(stride, 1), *per_axis(dilation, 1)} != {1}:
        raise ValueError(
            'with padding="SAME" the output of LabDL has stride elements for each input; PaddlePaddle crops it by another '
            "number, and leaves the dilation out: give the padding in numbers"
        )


def _windows(rank: int):
    def check(kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> None:
        """`ceil_mode=True` is refused where a window may begin after the last element"""
        pads = _padding(rank)(padding)["padding"]
        ends = [p[-1] if isinstance(p, tuple) else 0 if p == "same" else p for p in per_axis(pads, rank)]
        sizes = zip(
            per_axis(kernel_size, rank), per_axis(kernel_size if stride is None else stride, rank), ends, strict=True
        )
        if ceil_mode and any(step + end > size for size, step, end in sizes):
            raise ValueError(
                "LabDL leaves out windows that begin after the last element, which PaddlePaddle keeps: with ceil_mode=True "
                "the stride and the padding must be at most the kernel size together"
            )

    return check


def _check_exclusive(padding: Any, exclusive: bool) -> None:
    """`exclusive=False` with "SAME" is refused"""
    if _is_same(padding) and not exclusive:
        raise ValueError('PaddlePaddle counts the padding of "SAME" in another way: give it in numbers')


def _borders(paddings: Any) -> dict[str, Any]:
    """`padding`; four numbers are top, left, bottom and right"""
    if isinstance(paddings, list | tuple) and len(paddings) == 4:
        top, left, bottom, right = paddings
        return {"padding": ((top, bottom), (left, right))}
    return _padding(2)(paddings)


def _ignored_class(index: int) -> dict[str, Any]:
    """`ignore_index`, -100 or a class"""
    if index < 0 and index != -100:
        raise ValueError("-100 or a class: the mean of PaddlePaddle is over all targets where it is negative")
    return {"ignore_index": index}


def _approximate(approximate: Any) -> dict[str, Any]:
    """ "tanh" for True"""
    return {"approximate": {True: "tanh", False: "none"}.get(approximate, approximate)}


_to = Table(
    bias="use_bias",
    eps="epsilon",
    p="rate",
    keepdim="keepdims",
    bias_attr=_bias,
    weight_attr=DEFAULT_ONLY,
    data_format=_layout,
    return_mask=DEFAULT_ONLY,
    device=DEFAULT_ONLY,
    dtype=DEFAULT_ONLY,
    inplace=IGNORED,
    name=IGNORED,
).to
_FORMATS = ("NCL", "NCHW", "NCDHW")
_CLASSES_LAST = "the classes are on the last axis, in PaddlePaddle on axis 1; both are the same for (N, classes)"


def _of_rank(rank: int) -> dict[str, Entry]:
    layout = f"data_format='{_FORMATS[rank - 1]}'"
    padding = _padding(rank)
    window = "kernel_size, stride=None, padding=0"
    end = f", data_format='{_FORMATS[rank - 1]}', name=None" if rank > 1 else ", name=None"
    order = ("groups=1, dilation=1", "dilation=1, groups=1")[rank > 1]
    plain = {
        f"Conv{rank}D": _to(
            f"Conv{rank}d",
            "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, *, bias=True, "
            f"padding_mode='zeros', device=None, dtype=None, weight_attr=None, bias_attr=None, {layout}",
            together={"bias bias_attr": lambda bias, bias_attr: {"use_bias": bias and _bias(bias_attr)["use_bias"]}},
            padding=padding,
            checks={"padding dilation": _check_dilation},
        ),
        f"Conv{rank}DTranspose": _to(
            f"ConvTranspose{rank}d",
            f"in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, {order}, weight_attr=None, "
            f"bias_attr=None, {layout}",
            padding=padding,
            checks={"padding stride dilation": _check_transposed_padding},
        ),
        f"MaxPool{rank}D": _to(
            f"MaxPool{rank}d",
            f"{window}, return_mask=False, ceil_mode=False{end}",
            padding=padding,
            checks={"kernel_size stride padding ceil_mode": _windows(rank)},
        ),
        f"AvgPool{rank}D": _to(
            f"AvgPool{rank}d",
            f"{window}, exclusive=True, ceil_mode=False{end}"
            if rank == 1
            else f"{window}, ceil_mode=False, exclusive=True, divisor_override=None{end}",
            padding=padding,
            exclusive=lambda exclusive: {"count_include_pad": not exclusive},
            checks={"kernel_size stride padding ceil_mode": _windows(rank), "padding exclusive": _check_exclusive},
            **(only_defaults("divisor_override") if rank > 1 else {}),
        ),
        f"AdaptiveAvgPool{rank}D": _to(f"AdaptiveAvgPool{rank}d", f"output_size{end}"),
        f"AdaptiveMaxPool{rank}D": _to(f"AdaptiveMaxPool{rank}d", "output_size, return_mask=False, name=None"),
        f"MaxUnPool{rank}D": _to(
            f"MaxUnpool{rank}d",
            f"{window}, {layout}, output_size=None, name=None",
            output_size="size" if rank > 1 else DEFAULT_ONLY,  # PaddlePaddle rejects any of one axis
            data_format=DEFAULT_ONLY,
        ),
        f"BatchNorm{rank}D": _to(
            "BatchNorm",
            f"num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, {layout}, "
            "use_global_stats=None, name=None",
            together={"weight_attr bias_attr": _affine},
            num_features=IGNORED,
            momentum=complement,
            use_global_stats=DEFAULT_ONLY,
            note="The running variance is that of the sample (n - 1), PaddlePaddle's that of the batch (n).",
        ),
        f"InstanceNorm{rank}D": _to(
            "InstanceNorm",
            f"num_features, epsilon=1e-05, momentum=0.9, weight_attr=None, bias_attr=None, {layout}, name=None",
            together={"weight_attr bias_attr": _affine},
            num_features=IGNORED,
            momentum=IGNORED,
            fixed={"spatial_axes": rank},
            data_format=DEFAULT_ONLY,  # PaddlePaddle computes with channels first in any case
        ),
        f"ConstantPad{rank}D": _to("Pad", f"padding, value, {layout}, name=None", padding=spatial_pairs(rank)),
        f"ZeroPad{rank}D": _to("Pad", f"padding, {layout}, name=None", padding=spatial_pairs(rank)),
        f"ReflectionPad{rank}D": _to(
            "Pad", f"padding, {layout}, name=None", padding=spatial_pairs(rank), fixed={"mode": "reflect"}
        ),
        f"ReplicationPad{rank}D": _to(
            "Pad", f"padding, {layout}, name=None", padding=spatial_pairs(rank), fixed={"mode": "replicate"}
        ),
        f"CircularPad{rank}D": _to(
            "Pad", f"padding, {layout}, name=None", padding=spatial_pairs(rank), fixed={"mode": "circular"}
        ),
        f"Pad{rank}D": _to(
            "Pad", f"padding, mode='constant', value=0.0, {layout}, name=None", padding=spatial_pairs(rank)
        ),
    }
    if rank < 3:
        plain[f"LPPool{rank}D"] = _to(
            f"LPPool{rank}d",
            f"norm_type, kernel_size, stride=None, padding=0, ceil_mode=False, {layout}, name=None",
            norm_type=lambda p: {"p": float(p)},
            padding=DEFAULT_ONLY,
        )
    # paddle spells some of them as PyTorch does, too
    again = ("Conv", "Adaptive", "LPPool", "Constant", "Zero", "Reflection", "Replication", "Circular")
    for name in [n for n in plain if n.startswith(again) and not n.endswith("Transpose")]:
        plain[name.replace("D", "d")] = plain[name]
    plain[f"MaxUnpool{rank}d"] = plain[f"MaxUnPool{rank}D"]
    if rank > 1:
        plain[f"Dropout{rank}D"] = _to("DropoutChannels", f"p=0.5, {layout}, name=None")
    return plain


_ACTIVATIONS = {
    **{
        name: _to(name, "name=None")
        for name in (
            "Hardsigmoid",
            "Hardswish",
            "LogSigmoid",
            "Mish",
            "ReLU",
            "ReLU6",
            "Sigmoid",
            "Softsign",
            "Tanh",
            "Tanhshrink",
        )
    },
    "Swish": _to("SiLU", "name=None"),
    "SiLU": _to("SiLU", "inplace=False, name=None"),
    "Silu": _to("SiLU", "inplace=False, name=None"),
    "CELU": _to("CELU", "alpha=1.0, name=None"),
    "ELU": _to("ELU", "alpha=1.0, name=None"),
    "GELU": _to("GELU", "approximate=False, name=None", approximate=_approximate),
    "GLU": _to("GLU", "axis=-1, name=None"),
    "Hardshrink": _to("Hardshrink", "threshold=0.5, name=None"),
    "Hardtanh": _to("Hardtanh", "min=-1.0, max=1.0, name=None", min="low", max="high"),
    "LeakyReLU": _to("LeakyReLU", "negative_slope=0.01, name=None"),
    "LogSoftmax": _to("LogSoftmax", "axis=-1, name=None"),
    "Maxout": _to("Maxout", "groups, axis=1, name=None", groups="pieces"),
    "PReLU": _to(
        "PReLU",
        "num_parameters=1, init=0.25, weight_attr=None, data_format='NCHW', name=None",
        num_parameters=slopes,
        init=slope_value,
        data_format=lambda data_format: {"axis": 1 if _layout(data_format)["data_format"] == "channels_first" else -1},
    ),
    "RReLU": _to("RReLU", "lower=0.125, upper=0.3333333333333333, name=None"),
    "SELU": _to(
        "SELU",
        "scale=1.0507009873554805, alpha=1.6732632423543772, name=None",
        scale=DEFAULT_ONLY,
        alpha=DEFAULT_ONLY,
    ),
    "Softmax": _to("Softmax", "axis=-1, name=None"),
    "Softmax2D": _to("Softmax", "name=None", fixed={"axis": -3}),
    "Softplus": _to("Softplus", "beta=1, threshold=20, name=None", threshold=DEFAULT_ONLY),
    "Softshrink": _to("Softshrink", "threshold=0.5, name=None"),
    "ThresholdedReLU": _to("Threshold", "threshold=1.0, value=0.0, name=None"),
}

_MEAN = "reduction='mean', name=None"
_LOSSES = {
    "BCELoss": _to(
        "BinaryCrossEntropyLoss", f"weight=None, {_MEAN}", weight=DEFAULT_ONLY, fixed={"from_logits": False}
    ),
    "BCEWithLogitsLoss": _to(
        "BinaryCrossEntropyLoss",
        "weight=None, reduction='mean', pos_weight=None, name=None",
        weight=DEFAULT_ONLY,
        pos_weight=numbers("positive_weights"),
    ),
    "CosineEmbeddingLoss": _to("CosineEmbeddingLoss", f"margin=0, {_MEAN}", margin=lambda m: {"margin": float(m)}),
    "CrossEntropyLoss": _to(
        "CrossEntropyLoss",
        "weight=None, ignore_index=-100, reduction='mean', soft_label=False, axis=-1, use_softmax=True, "
        "label_smoothing=0.0, name=None",
        weight=numbers("class_weights"),
        ignore_index=_ignored_class,
        **only_defaults("soft_label", "axis", "use_softmax", "label_smoothing"),
        note="A target of -100 has the loss 0 in both; PaddlePaddle's mean counts it, LabDL's does not.",
    ),
    "GaussianNLLLoss": _to("GaussianNLLLoss", f"full=False, epsilon=1e-06, {_MEAN}"),
    "HingeEmbeddingLoss": _to("HingeEmbeddingLoss", f"margin=1.0, {_MEAN}"),
    **dict.fromkeys(
        ("HuberLoss", "SmoothL1Loss"),
        _to(
            "HuberLoss",
            "reduction='mean', delta=1.0, is_huber=True, name=None",
            is_huber=DEFAULT_ONLY,
            note="`nn.SmoothL1Loss` of LabDL is this divided by delta.",
        ),
    ),
    "KLDivLoss": _to("KLDivergenceLoss", "reduction='mean', log_target=False"),
    "L1Loss": _to("MeanAbsoluteErrorLoss", _MEAN),
    "MSELoss": _to("MeanSquaredErrorLoss", "reduction='mean'"),
    "MarginRankingLoss": _to("MarginRankingLoss", f"margin=0.0, {_MEAN}"),
    "MultiLabelMarginLoss": _to("MultilabelMarginLoss", _MEAN),
    "MultiLabelSoftMarginLoss": _to(
        "MultilabelSoftMarginLoss", f"weight=None, {_MEAN}", weight=numbers("class_weights")
    ),
    "MultiMarginLoss": _to(
        "MultiMarginLoss", f"p=1, margin=1.0, weight=None, {_MEAN}", p="p", weight=numbers("class_weights")
    ),
    "NLLLoss": differs("NLLLoss", _CLASSES_LAST, weight=numbers("class_weights")),
    "PoissonNLLLoss": _to("PoissonNLLLoss", f"log_input=True, full=False, epsilon=1e-08, {_MEAN}"),
    "SoftMarginLoss": _to("SoftMarginLoss", _MEAN),
    "TripletMarginLoss": _to("TripletMarginLoss", f"margin=1.0, p=2.0, epsilon=1e-06, swap=False, {_MEAN}", p="p"),
    "CTCLoss": differs("CTCLoss", "it takes logits (N, steps, classes), in PaddlePaddle (steps, N, classes)"),
    "RNNTLoss": differs("RNNTLoss", "it has no `fastemit_lambda`, which is 0.001 in PaddlePaddle"),
}

_UPSAMPLE = "size=None, scale_factor=None, data_format='NCHW', name=None"
_SIZE = {"size scale_factor": size_or_scale}
_STATES = "it returns (output, hidden) or (output, hidden, cell)"
_NO_ATTRIBUTES = "it has no `weight_attr` and no `bias_attr`"
_STACK = "it takes the settings of its layers, not a layer"


def recurrent_call(layer: Any) -> tuple[str, dict[str, Any]]:
    """The class of a recurrent layer, and its arguments besides the sizes."""
    options: dict[str, Any] = {"direction": "bidirect"} if layer.bidirectional else {}
    if getattr(layer, "activation", "tanh") != "tanh":
        options["activation"] = layer.activation
    name = type(layer).__name__
    return "SimpleRNN" if name == "RNN" else name, options


CLASSES: dict[str, Entry] = {
    "Layer": differs("Module", "a module's parameters are attributes, `nn.Parameter(shape)`, not of create_parameter"),
    "Module": _to("Module", "*args"),
    "Sequential": _to("Sequential", "*layers"),
    "ParameterList": _to("ParameterList", "parameters=None", parameters="values"),
    "ParameterDict": _to("ParameterDict", "parameters=None"),
    "LayerList": _to("ModuleList", "sublayers=None", sublayers=lambda layers: {"modules": layers or ()}),
    "LayerDict": _to("ModuleDict", "sublayers=None", sublayers="modules"),
    "ModuleList": _to("ModuleList", "sublayers=None", sublayers=lambda layers: {"modules": layers or ()}),
    "ModuleDict": _to("ModuleDict", "sublayers=None", sublayers="modules"),
    "Linear": _to("Linear", "in_features, out_features, weight_attr=None, bias_attr=None, name=None"),
    "Bilinear": _to(
        "Bilinear", "in1_features, in2_features, out_features, weight_attr=None, bias_attr=None, name=None"
    ),
    "Identity": _to("Identity", "*args, **kwargs", args=IGNORED, kwargs=IGNORED),
    **_of_rank(1),
    **_of_rank(2),
    **_of_rank(3),
    **_ACTIVATIONS,
    "BatchNorm": _to(
        "BatchNorm",
        "num_channels, act=None, is_test=False, momentum=0.9, epsilon=1e-05, param_attr=None, bias_attr=None, "
        "dtype='float32', data_layout='NCHW', in_place=False, moving_mean_name=None, moving_variance_name=None, "
        "do_model_average_for_mean_and_var=True, use_global_stats=False, trainable_statistics=False",
        num_channels=IGNORED,
        in_place=IGNORED,
        momentum=complement,
        data_layout=_layout,
        **only_defaults(
            "act",
            "is_test",
            "param_attr",
            "bias_attr",
            "moving_mean_name",
            "moving_variance_name",
            "do_model_average_for_mean_and_var",
            "use_global_stats",
            "trainable_statistics",
        ),
        note="The running variance is that of the sample (n - 1), PaddlePaddle's that of the batch (n).",
    ),
    "SyncBatchNorm": differs(
        "SyncBatchNorm",
        "momentum is the weight of the new value, and it synchronizes on CPUs as well",
        num_features=IGNORED,
        momentum=lambda momentum: {"momentum": 1 - momentum},
    ),
    "GroupNorm": _to(
        "GroupNorm",
        "num_groups, num_channels, epsilon=1e-05, *, affine=True, device=None, dtype=None, weight_attr=None, "
        "bias_attr=None, data_format='NCHW', name=None",
        together={
            "weight_attr bias_attr affine": lambda weight_attr, bias_attr, affine: {
                "affine": affine and _affine(weight_attr, bias_attr)["affine"]
            }
        },
        num_groups="groups",
        num_channels=IGNORED,
    ),
    "LayerNorm": _to(
        "LayerNorm",
        "normalized_shape, epsilon=1e-05, *, elementwise_affine=True, bias=True, device=None, dtype=None, "
        "weight_attr=None, bias_attr=None, name=None",
        together={"weight_attr bias_attr elementwise_affine bias": _layer_norm},
        normalized_shape=last_axes,
    ),
    "LocalResponseNorm": _to(
        "LocalResponseNorm", "size, alpha=0.0001, beta=0.75, k=1.0, data_format='NCHW', name=None"
    ),
    "Dropout": _to(
        "Dropout",
        "p=0.5, inplace=False, axis=None, mode='upscale_in_train', name=None",
        axis=DEFAULT_ONLY,
        mode=DEFAULT_ONLY,
    ),
    "AlphaDropout": _to("AlphaDropout", "p=0.5, name=None"),
    "Flatten": _to("Flatten", "start_axis=1, stop_axis=-1", stop_axis="end_axis"),
    "Unflatten": _to("Unflatten", "axis, shape, name=None", shape="sizes"),
    "Unfold": _to(
        "Unfold",
        "kernel_sizes, dilations=1, paddings=0, strides=1, name=None",
        kernel_sizes="kernel_size",
        dilations="dilation",
        paddings=_borders,
        strides="stride",
    ),
    "Fold": _to(
        "Fold",
        "output_sizes, kernel_sizes, dilations=1, paddings=0, strides=1, name=None",
        output_sizes="size",
        kernel_sizes="kernel_size",
        dilations="dilation",
        paddings=_borders,
        strides="stride",
    ),
    "Upsample": _to(
        "Upsample",
        "size=None, scale_factor=None, mode='nearest', align_corners=False, align_mode=0, data_format=None, "
        "recompute_scale_factor=None, name=None",
        together=_SIZE,
        align_corners=corners,
        align_mode=DEFAULT_ONLY,
        recompute_scale_factor=DEFAULT_ONLY,
        data_format=lambda data_format: {} if data_format is None else _layout(data_format),
    ),
    "UpsamplingNearest2D": _to("Upsample", _UPSAMPLE, together=_SIZE),
    "UpsamplingNearest2d": _to("Upsample", _UPSAMPLE, together=_SIZE),
    "UpsamplingBilinear2D": _to(
        "Upsample", _UPSAMPLE, together=_SIZE, fixed={"mode": "bilinear", "align_corners": True}
    ),
    "UpsamplingBilinear2d": _to(
        "Upsample", _UPSAMPLE, together=_SIZE, fixed={"mode": "bilinear", "align_corners": True}
    ),
    "PixelShuffle": _to("PixelShuffle", "upscale_factor, data_format='NCHW', name=None", upscale_factor="factor"),
    "PixelUnshuffle": _to(
        "PixelUnshuffle", "downscale_factor, data_format='NCHW', name=None", downscale_factor="factor"
    ),
    "ChannelShuffle": _to("ChannelShuffle", "groups, data_format='NCHW', name=None"),
    "CosineSimilarity": _to(
        "CosineSimilarity",
        "axis=1, eps=1e-08",
        eps=DEFAULT_ONLY,
        note="`epsilon` is a bound of each length in LabDL, in PaddlePaddle of their product.",
    ),
    "PairwiseDistance": _to("PairwiseDistance", "p=2.0, epsilon=1e-06, keepdim=False, name=None", p="p"),
    "Embedding": _to(
        "Embedding",
        "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, *, scale_grad_by_freq=False, "
        "sparse=False, _weight=None, _freeze=False, device=None, dtype=None, weight_attr=None, name=None",
        num_embeddings="size",
        embedding_dim="features",
        padding_idx=DEFAULT_ONLY,
        **only_defaults("max_norm", "norm_type", "scale_grad_by_freq", "sparse", "_weight", "_freeze"),
    ),
    **{
        name: differs(ours, _STATES, input_size=IGNORED, num_layers="layers", dropout="rate")
        for name, ours in (("LSTM", "LSTM"), ("GRU", "GRU"), ("SimpleRNN", "RNN"))
    },
    **{
        name: differs(ours, "it returns the new states alone, the hidden one first", input_size=IGNORED)
        for name, ours in (("LSTMCell", "LSTMCell"), ("GRUCell", "GRUCell"), ("SimpleRNNCell", "RNNCell"))
    },
    "RNN": differs("RNN", "it takes sizes, not a cell"),
    "BiRNN": differs("RNN", "it takes sizes, not cells, and bidirectional=True"),
    "MultiHeadAttention": differs(
        "MultiHeadAttention",
        "it is called with (x) or (query, context=key, values=value), and masks are given by name",
        embed_dim=IGNORED,
        num_heads="heads",
        dropout="rate",
    ),
    **{
        name: differs(
            name,
            _NO_ATTRIBUTES,
            attn_dropout="attention_rate",
            act_dropout="activation_rate",
            normalize_before="norm_first",
            **TRANSFORMER_LAYER,
        )
        for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")
    },
    "TransformerEncoder": differs("TransformerEncoder", _STACK, encoder_layer=IGNORED, num_layers="layers"),
    "TransformerDecoder": differs("TransformerDecoder", _STACK, decoder_layer=IGNORED, num_layers="layers"),
    **_LOSSES,
    "AdaptiveLogSoftmaxWithLoss": differs(
        "AdaptiveLogSoftmaxWithLoss",
        "it infers the number of features, and the classes come first",
        other_order=True,
        in_features=IGNORED,
        n_classes="classes",
    ),
    **all_missing("use `nn.AdaptiveLogSoftmaxWithLoss`", "HSigmoidLoss"),
    **all_missing("its windows are random", "FractionalMaxPool2D FractionalMaxPool3D"),
    **all_missing("only single elements or all of a sample's channels are dropped", "FeatureAlphaDropout"),
    **all_missing("`nn.TransformerEncoder` and `nn.TransformerDecoder` are its parts", "Transformer"),
    **all_missing("a distance function is no setting: use `nn.TripletMarginLoss`", "TripletMarginWithDistanceLoss"),
    **all_missing("it is a base class", "RNNCellBase"),
    **all_missing("it is a setting of the layer: `nn.Linear(10, spectral_norm=1)`", "SpectralNorm"),
}
