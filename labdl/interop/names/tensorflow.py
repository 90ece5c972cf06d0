"""Classes of keras.layers and keras.losses."""

from __future__ import annotations

from typing import Any

from labdl.interop.names.arguments import activation_layers, complement, equal_sizes, mode_without_cubic, whole_strides
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, THEN, Entry, Table, all_missing, differs, only_defaults

_LAST = {"data_format": "channels_last"}
ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("ReLU", {}),
    "relu6": ("ReLU6", {}),
    "sigmoid": ("Sigmoid", {}),
    "tanh": ("Tanh", {}),
    "softmax": ("Softmax", {}),
    "log_softmax": ("LogSoftmax", {}),
    "softplus": ("Softplus", {}),
    "softsign": ("Softsign", {}),
    "elu": ("ELU", {}),
    "selu": ("SELU", {}),
    "gelu": ("GELU", {}),
    "silu": ("SiLU", {}),
    "swish": ("SiLU", {}),
    "mish": ("Mish", {}),
    "celu": ("CELU", {}),
    "hard_sigmoid": ("Hardsigmoid", {}),
    "hard_silu": ("Hardswish", {}),
    "hard_swish": ("Hardswish", {}),
    "log_sigmoid": ("LogSigmoid", {}),
}
# the variances are Keras's, whose he_normal and so on are truncated
INITIALIZERS = {
    **{
        name: name
        for name in (
            "glorot_uniform",
            "he_uniform",
            "lecun_uniform",
            "orthogonal",
            "zeros",
            "ones",
            "uniform",
            "identity",
        )
    },
    "glorot_normal": "variance_scaling(mode='fan_avg')",
    "he_normal": "variance_scaling(scale=2.0)",
    "lecun_normal": "variance_scaling()",
    "random_normal": "normal(std=0.05)",
    "random_uniform": "uniform",
    "truncated_normal": "truncated_normal(std=0.05)",
}


def _activation(name: Any) -> dict[str, Any]:
    """The layer of that activation follows"""
    return activation_layers(name, ACTIVATIONS)


def _initializer(setting: str):
    def convert(name: Any) -> dict[str, Any]:
        if name not in INITIALIZERS:
            raise ValueError(f"the initializers are {', '.join(INITIALIZERS)}")
        return {setting: INITIALIZERS[name]}

    convert.__doc__ = f"`{setting}`"
    return convert


def _both_initializers(depthwise: Any, pointwise: Any) -> dict[str, Any]:
    """`kernel_init`, the same for both"""
    if depthwise != pointwise:
        raise ValueError("one initializer for both kernels")
    return _initializer("kernel_init")(depthwise)


def _layout(data_format: str | None) -> dict[str, Any]:
    """The same; None is "channels_last\""""
    return {"data_format": data_format or "channels_last"}


def _padding(padding: Any) -> dict[str, Any]:
    """ "valid" or "same" """
    if padding not in ("valid", "same"):
        raise ValueError('"valid" or "same"')
    return {"padding": 0 if padding == "valid" else "same"}


def _transposed_settings(rank: int):
    """The settings of a transposed convolution, whose output has at least ``strides`` elements for each input."""

    def convert(kernel_size: Any, strides: Any, padding: Any) -> dict[str, Any]:
        gaps = whole_strides(rank, kernel_size, strides) if padding == "valid" else {}
        return {"kernel_size": kernel_size, **equal_sizes("stride")(strides), **_padding(padding), **gaps}

    convert.__doc__ = "the same, `stride` and `padding`, with `output_padding` where the stride is the larger"
    return convert


def _channel_axis(axis: int) -> dict[str, Any]:
    """`data_format`: -1 is "channels_last", 1 "channels_first\""""
    if axis not in (-1, 1):
        raise ValueError("-1 or 1")
    return {"data_format": "channels_last" if axis == -1 else "channels_first"}


def _last_axes(axis: Any) -> dict[str, Any]:
    """`axes` is the number of the last axes"""
    wanted = [axis] if isinstance(axis, int) else sorted(axis)
    if wanted != list(range(-len(wanted), 0)):
        raise ValueError("the last axes, such as -1 or [-2, -1]")
    return {"axes": len(wanted)}


def _affine(center: bool, scale: bool) -> dict[str, Any]:
    """`affine`, for both"""
    if center != scale:
        raise ValueError("both or none")
    return {"affine": center}


def _affine_or_scale(center: bool, scale: bool) -> dict[str, Any]:
    """`use_bias` and `affine`"""
    if center and not scale:
        raise ValueError("center=True without scale=True")
    return {"affine": scale, "use_bias": center}


def _pairs(name: str):
    """One number, one for each axis, or pairs."""

    def convert(value: Any) -> dict[str, Any]:
        if isinstance(value, int):
            return {name: value}
        return {name: tuple(tuple(v) if isinstance(v, list | tuple) else v for v in value)}

    convert.__doc__ = f"`{name}`"
    return convert


def _pair_of_line(name: str):
    """One number, or a pair for the only axis."""

    def convert(value: Any) -> dict[str, Any]:
        return {name: value if isinstance(value, int) else (tuple(value),)}

    convert.__doc__ = f"`{name}`"
    return convert


def _scale(size: Any) -> dict[str, Any]:
    """`scale`"""
    return {"scale": tuple(map(float, size)) if isinstance(size, list | tuple) else float(size)}


def _mean_only(reduction: str | None) -> dict[str, Any]:
    """The mean only: other reductions are of the means of the samples"""
    if reduction not in ("sum_over_batch_size", "mean"):
        raise ValueError('"sum_over_batch_size" or "mean"')
    return {"reduction": "mean"}


def _dimensions(dims: Any) -> dict[str, Any]:
    """`axes`, the same numbers after the 0 of the batch"""
    return {"axes": (0, *dims)}


def _whole_shape(shape: Any) -> dict[str, Any]:
    """`shape`"""
    return {"shape": tuple(shape)}


def _repeat(n: int) -> dict[str, Any]:
    """`repeats` of `nn.Repeat`"""
    return {THEN: [("ExpandDims", {}), ("Repeat", {"repeats": n})]}


_REGULARIZED = {
    f"{part}_{what}": DEFAULT_ONLY
    for part in (
        "kernel",
        "bias",
        "activity",
        "depthwise",
        "pointwise",
        "beta",
        "gamma",
        "embeddings",
        "recurrent",
    )
    for what in ("regularizer", "constraint")
}
_to = Table(
    **_REGULARIZED,
    units="out_features",
    filters="out_channels",
    strides=equal_sizes("stride"),
    pool_size=equal_sizes("kernel_size"),
    dilation_rate=equal_sizes("dilation"),
    depth_multiplier="multiplier",
    data_format=_layout,
    padding=_padding,
    activation=_activation,
    kernel_initializer=_initializer("kernel_init"),
    depthwise_initializer=_initializer("kernel_init"),
    embeddings_initializer=_initializer("embeddings_init"),
    bias_initializer=DEFAULT_ONLY,
    beta_initializer=DEFAULT_ONLY,
    gamma_initializer=DEFAULT_ONLY,
    moving_mean_initializer=DEFAULT_ONLY,
    moving_variance_initializer=DEFAULT_ONLY,
    noise_shape=DEFAULT_ONLY,
    seed=DEFAULT_ONLY,
    lora_rank=DEFAULT_ONLY,
    lora_alpha=DEFAULT_ONLY,
    quantization_config=DEFAULT_ONLY,
    keepdims=DEFAULT_ONLY,
    dtype=DEFAULT_ONLY,
    name=IGNORED,
    input_shape=IGNORED,
    input_dim=IGNORED,
).to
# what every layer takes among its **kwargs
_LAYER = "*, name=None, input_shape=None"
_REGULAR = (
    "kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, "
    "bias_constraint=None"
)
_AFTER = f"activation=None, use_bias=True, kernel_initializer='glorot_uniform', bias_initializer='zeros', {_REGULAR}, {_LAYER}"
_NORM = (
    "center=True, scale=True, beta_initializer='zeros', gamma_initializer='ones'{}, beta_regularizer=None, "
    "gamma_regularizer=None, beta_constraint=None, gamma_constraint=None"
)


def _of_rank(rank: int) -> dict[str, Entry]:
    ones = "1" if rank == 1 else "(1, 1)" if rank == 2 else "(1, 1, 1)"
    twos = ones.replace("1", "2")
    pool = f"pool_size={twos}, strides=None, padding='valid', data_format=None, name=None, *, input_shape=None"
    mean = pool.replace(f"={twos}", "")
    order = ("output_padding=None, data_format=None", "data_format=None, output_padding=None")[rank == 3]
    sides = "1" if rank == 1 else "(1, 1)" if rank == 2 else "((1, 1), (1, 1), (1, 1))"
    crops = ("(1, 1)", "((0, 0), (0, 0))", "((1, 1), (1, 1), (1, 1))")[rank - 1]
    size = "data_format=None, "
    pairs = _pair_of_line if rank == 1 else _pairs
    interpolation: dict[str, Any] = {"interpolation": mode_without_cubic} if rank == 2 else {}
    dropout = (
        f"rate, seed=None, {_LAYER}".replace("*, name=None", "name=None, dtype=None, *")
        if rank == 1
        else f"rate, data_format=None, seed=None, {_LAYER}".replace("*, name=None", "name=None, dtype=None, *")
    )
    found = {
        f"Conv{rank}D": _to(
            f"Conv{rank}d",
            f"filters, kernel_size, strides={ones}, padding='valid', data_format=None, dilation_rate={ones}, groups=1, "
            + _AFTER,
        ),
        f"Conv{rank}DTranspose": _to(
            f"ConvTranspose{rank}d",
            f"filters, kernel_size, strides={ones}, padding='valid', {order}, dilation_rate={ones}, {_AFTER}",
            together={"kernel_size strides padding": _transposed_settings(rank)},
            output_padding=DEFAULT_ONLY,
            note="With `padding='same'` LabDL needs the sizes of the input.",
        ),
        f"MaxPooling{rank}D": _to(f"MaxPool{rank}d", pool),
        f"AveragePooling{rank}D": _to(f"AvgPool{rank}d", mean, fixed={"count_include_pad": False}),
        f"GlobalAveragePooling{rank}D": _to("GlobalAvgPool", f"data_format=None, keepdims=False, {_LAYER}"),
        f"GlobalMaxPooling{rank}D": _to("GlobalMaxPool", f"data_format=None, keepdims=False, {_LAYER}"),
        f"AdaptiveAveragePooling{rank}D": _to(f"AdaptiveAvgPool{rank}d", f"output_size, data_format=None, {_LAYER}"),
        f"AdaptiveMaxPooling{rank}D": _to(f"AdaptiveMaxPool{rank}d", f"output_size, data_format=None, {_LAYER}"),
        f"SpatialDropout{rank}D": _to("DropoutChannels", dropout, fixed=_LAST),
        f"ZeroPadding{rank}D": _to("Pad", f"padding={sides}, {size}{_LAYER}", padding=pairs("padding")),
        f"Cropping{rank}D": _to(
            "Crop",
            f"cropping={crops}, {'' if rank == 1 else size}{_LAYER}",
            cropping=pairs("cropping"),
            fixed=_LAST,
        ),
        f"UpSampling{rank}D": _to(
            "Upsample",
            ("size=2, ", f"size=(2, 2), {size}interpolation='nearest', ", f"size=(2, 2, 2), {size}")[rank - 1] + _LAYER,
            size=_scale,
            fixed=_LAST,
            **interpolation,
        ),
    }
    aliases = {
        f"Convolution{rank}D": f"Conv{rank}D",
        f"Convolution{rank}DTranspose": f"Conv{rank}DTranspose",
        f"MaxPool{rank}D": f"MaxPooling{rank}D",
        f"AvgPool{rank}D": f"AveragePooling{rank}D",
        f"GlobalAvgPool{rank}D": f"GlobalAveragePooling{rank}D",
        f"GlobalMaxPool{rank}D": f"GlobalMaxPooling{rank}D",
    }
    if rank < 3:
        found[f"DepthwiseConv{rank}D"] = _to(
            f"DepthwiseConv{rank}d",
            f"kernel_size, strides={ones}, padding='valid', depth_multiplier=1, data_format=None, dilation_rate={ones}, "
            + _AFTER.replace("kernel_", "depthwise_"),
        )
        found[f"SeparableConv{rank}D"] = _to(
            f"SeparableConv{rank}d",
            f"filters, kernel_size, strides={ones}, padding='valid', data_format=None, dilation_rate={ones}, "
            "depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer='glorot_uniform', "
            "pointwise_initializer='glorot_uniform', bias_initializer='zeros', depthwise_regularizer=None, "
            "pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, "
            f"pointwise_constraint=None, bias_constraint=None, {_LAYER}",
            together={"depthwise_initializer pointwise_initializer": _both_initializers},
        )
        aliases[f"SeparableConvolution{rank}D"] = f"SeparableConv{rank}D"
    return found | {alias: found[name] for alias, name in aliases.items()}


_LIST = "it is called with the tensors, `layer(x, y)`, not with a list of them"
_SEQUENCE = (
    "it returns (output, hidden) or (output, hidden, cell) with all steps, as with return_sequences=True and "
    "return_state=True"
)
_SWAPPED = "it is called with (output, target), not with (y_true, y_pred)"
_PROBABILITIES = f"{_SWAPPED}, and outputs are logits, as with from_logits=True"
_MEAN = "reduction='sum_over_batch_size', name='{}', dtype=None"

# activations by name, which other layers take as an argument, too
ACTIVATION = _to("", f"activation, {_LAYER}", note="the layer of that name, such as `nn.ReLU`")

_LOSSES = {
    "MeanSquaredError": _to("MeanSquaredErrorLoss", _MEAN.format("mean_squared_error"), reduction=_mean_only),
    "MeanAbsoluteError": _to("MeanAbsoluteErrorLoss", _MEAN.format("mean_absolute_error"), reduction=_mean_only),
    "LogCosh": _to("LogCoshLoss", _MEAN.format("log_cosh"), reduction=_mean_only),
    "Huber": _to("HuberLoss", "delta=1.0, " + _MEAN.format("huber_loss"), reduction=_mean_only),
    "MeanSquaredLogarithmicError": _to(
        "MeanSquaredLogarithmicErrorLoss", _MEAN.format("mean_squared_logarithmic_error"), reduction=_mean_only
    ),
    "BinaryCrossentropy": differs("BinaryCrossEntropyLoss", _PROBABILITIES),
    "BinaryFocalCrossentropy": differs("FocalLoss", _PROBABILITIES),
    "CategoricalCrossentropy": differs("CrossEntropyLoss", _PROBABILITIES),
    "SparseCategoricalCrossentropy": differs("CrossEntropyLoss", _PROBABILITIES),
    "Hinge": differs("HingeLoss", _SWAPPED),
    "SquaredHinge": differs("SquaredHingeLoss", _SWAPPED),
    "CategoricalHinge": differs("MultiMarginLoss", f"{_SWAPPED}, and targets are class numbers"),
    "KLDivergence": differs("KLDivergenceLoss", f"{_SWAPPED}, and outputs are log-probabilities"),
    "Poisson": differs("PoissonNLLLoss", f"{_SWAPPED}, and outputs are logarithms unless log_input=False"),
    "Dice": differs("DiceLoss", f"{_SWAPPED}, and the loss is the mean over the samples"),
    "Tversky": differs("TverskyLoss", f"{_SWAPPED}, and the loss is the mean over the samples"),
    "CTC": differs("CTCLoss", "it is called with (output, target, output_lengths, target_lengths)"),
    **all_missing(
        "write the formula with `labdl.ops` as a function (output, target)",
        "CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy Circle MeanAbsolutePercentageError",
    ),
    **all_missing("it is a base class: a function (output, target) is a loss", "Loss"),
}

CLASSES: dict[str, Entry] = {
    "Layer": differs("Module", "a module has `setup` and `forward` in place of `build` and `call`"),
    "Sequential": differs("Sequential", "it takes the layers as arguments, not as a list"),
    "Model": differs("Module", "a module has `forward` in place of `call`"),
    "InputLayer": differs("Input", "its `shape` has the batch as first size: (None, 28, 28, 1)"),
    "Input": differs("Input", "its `shape` has the batch as first size: (None, 28, 28, 1)"),
    "Dense": _to(
        "Linear",
        "units, activation=None, use_bias=True, kernel_initializer='glorot_uniform', bias_initializer='zeros', "
        f"{_REGULAR}, lora_rank=None, lora_alpha=None, quantization_config=None, {_LAYER}, input_dim=None",
        note="The activation becomes a layer of its own.",
    ),
    **_of_rank(1),
    **_of_rank(2),
    **_of_rank(3),
    "Activation": ACTIVATION,
    "BatchNormalization": _to(
        "BatchNorm",
        "axis=-1, momentum=0.99, epsilon=0.001, "
        + _NORM.format(", moving_mean_initializer='zeros', moving_variance_initializer='ones'").replace(
            "beta_constraint=None, gamma_constraint=None",
            "beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, "
            f"synchronized=False, {_LAYER}",
        ),
        together={"center scale": _affine},
        axis=_channel_axis,
        momentum=complement,
        **only_defaults("renorm", "renorm_clipping", "renorm_momentum", "synchronized"),
        note="The running variance is that of the sample (n - 1), Keras's that of the batch (n).",
    ),
    "LayerNormalization": _to(
        "LayerNorm",
        f"axis=-1, epsilon=0.001, {_NORM.format('')}, {_LAYER}",
        together={"center scale": _affine_or_scale},
        axis=_last_axes,
    ),
    "GroupNormalization": _to(
        "GroupNorm",
        f"groups=32, axis=-1, epsilon=0.001, {_NORM.format('')}, {_LAYER}",
        together={"center scale": _affine},
        axis=_channel_axis,
    ),
    "RMSNormalization": _to("RMSNorm", f"axis=-1, epsilon=1e-06, {_LAYER}", axis=DEFAULT_ONLY),
    "UnitNormalization": _to("L2Normalize", f"axis=-1, {_LAYER}", fixed={"epsilon": 1e-6}),
    "Dropout": _to("Dropout", f"rate, noise_shape=None, seed=None, {_LAYER}"),
    "AlphaDropout": _to("AlphaDropout", f"rate, noise_shape=None, seed=None, {_LAYER}"),
    "GaussianDropout": _to("GaussianDropout", f"rate, seed=None, {_LAYER}"),
    "GaussianNoise": _to("GaussianNoise", f"stddev, seed=None, {_LAYER}", stddev="std"),
    "ReLU": _to(
        "ReLU",
        f"max_value=None, negative_slope=0.0, threshold=0.0, {_LAYER}",
        **only_defaults("max_value", "negative_slope", "threshold"),
        note="`nn.ReLU6` and `nn.LeakyReLU` are layers of their own.",
    ),
    "LeakyReLU": _to("LeakyReLU", f"negative_slope=0.3, {_LAYER}"),
    "ELU": _to("ELU", f"alpha=1.0, {_LAYER}"),
    "PReLU": differs("PReLU", "it has one slope, or with shared=False one for each channel, not one for each element"),
    "Softmax": _to("Softmax", f"axis=-1, {_LAYER}"),
    "Identity": _to("Identity", _LAYER),
    "Flatten": _to("Flatten", f"data_format=None, {_LAYER}", data_format=DEFAULT_ONLY),
    "Reshape": _to("Reshape", f"target_shape, {_LAYER}", target_shape=_whole_shape),
    "Permute": _to("Permute", f"dims, {_LAYER}", dims=_dimensions),
    "RepeatVector": _to("", f"n, {_LAYER}", n=_repeat, note="`nn.ExpandDims` and `nn.Repeat`"),
    "Embedding": _to(
        "Embedding",
        "input_dim, output_dim, embeddings_initializer='uniform', embeddings_regularizer=None, embeddings_constraint=None, "
        f"mask_zero=False, weights=None, lora_rank=None, lora_alpha=None, quantization_config=None, {_LAYER}",
        input_dim="size",
        output_dim="features",
        mask_zero=DEFAULT_ONLY,
        weights=DEFAULT_ONLY,
    ),
    **{name: differs(name, _LIST) for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract")},
    "Concatenate": differs("Concat", f"{_LIST}, and its `axis` is 1 unless given"),
    "Dot": differs("Dot", f"{_LIST}, and has one axis, the last unless given", axes="axis"),
    **{
        name: differs(ours, _SEQUENCE, units="hidden_size", return_sequences=IGNORED, return_state=IGNORED)
        for name, ours in (("LSTM", "LSTM"), ("GRU", "GRU"), ("SimpleRNN", "RNN"))
    },
    **{
        name: differs(
            ours, "it is called with (x, hidden) and, for LSTM, cell, and returns the new states", units="hidden_size"
        )
        for name, ours in (("LSTMCell", "LSTMCell"), ("GRUCell", "GRUCell"), ("SimpleRNNCell", "RNNCell"))
    },
    "RNN": differs("LSTM", "`nn.RNN`, `nn.GRU` and `nn.LSTM` take sizes, not a cell"),
    "StackedRNNCells": differs("LSTM", "`nn.RNN`, `nn.GRU` and `nn.LSTM` are stacked with `layers`"),
    "Bidirectional": differs("LSTM", "`nn.RNN`, `nn.GRU` and `nn.LSTM` read both directions with bidirectional=True"),
    "MultiHeadAttention": differs(
        "MultiHeadAttention",
        "it is called with (query, context) or (query, context=key, values=value)",
        num_heads="heads",
        key_dim="key_size",
        value_dim="value_size",
        dropout="rate",
    ),
    "GroupQueryAttention": differs(
        "MultiHeadAttention",
        "it is called with (query, context) or (query, context=key, values=value)",
        num_query_heads="heads",
        num_key_value_heads="key_heads",
        head_dim="key_size",
        dropout="rate",
    ),
    "AdditiveAttention": differs(
        "AdditiveAttention", "it has projections of the query and the keys with `hidden_size` units"
    ),
    "Attention": differs(
        "MultiHeadAttention", "it has projections; without them it is the operator `ops.scaled_dot_product_attention`"
    ),
    "Resizing": differs("Upsample", "`size` is (height, width), and `data_format` is channels_first unless given"),
    "CategoryEncoding": differs("OneHot", "it encodes each index", num_tokens="classes"),
    **_LOSSES,
    "CosineSimilarity": differs("CosineSimilarityLoss", f"{_SWAPPED}, and is 1 - the cosine, not its negative"),
    **all_missing(
        "a penalty is a term of the loss: write a function (output, target) or a Trainer with weight_decay",
        "ActivityRegularization",
    ),
    **all_missing("write a module with `forward`", "Lambda EinsumDense Wrapper Masking"),
    **all_missing("layers treat all axes but the last as samples", "TimeDistributed"),
    **dict.fromkeys(
        ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
        differs(
            "ConvLSTM",
            "the outputs are (output, hidden, cell), of which hidden is that without return_sequences; by default padding is "
            '"same" and the channels are first',
            filters="out_channels",
            strides="stride",
            dilation_rate="dilation",
            return_sequences=IGNORED,
            return_state=IGNORED,
        ),
    ),
    **all_missing("give the same `nn.Embedding` to both ends", "ReversibleEmbedding"),
    **all_missing("it is a setting of the layer: `nn.Linear(10, spectral_norm=1)`", "SpectralNormalization"),
    **all_missing("scale the data before training", "Normalization Rescaling CenterCrop MaxNumBoundingBoxes"),
    **all_missing(
        "augmentation is done where the data is read",
        "AugMix AutoContrast ContrastLimitedAdaptiveHistogramEqualization CutMix Equalization MixUp Pipeline RandAugment",
        "RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform",
        "RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective",
        "RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom",
        "Solarization",
    ),
    **all_missing(
        "text and categories become numbers where the data is read",
        "Discretization HashedCrossing Hashing IntegerLookup StringLookup TextVectorization",
    ),
    **all_missing("spectrograms are computed where the data is read", "MelSpectrogram STFTSpectrogram"),
    **all_missing("use `nn.from_native`", "FlaxLayer JaxLayer TFSMLayer TorchModuleWrapper"),
}
