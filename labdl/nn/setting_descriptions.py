"""Descriptions of settings that several layers share, for `help()` and forms.

A layer's docstring describes the settings that are special to it; the others are described here, once, under the name of the
setting, or under ``Layer.setting`` where one layer means something else by it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable

DESCRIPTIONS = {
    # sizes
    "out_features": "Size of the last axis of the output.",
    "in_features": "Size of the last axis of the input; None takes it from the first input.",
    "in1_features": "Size of the last axis of x; None takes it from the first input.",
    "in2_features": "Size of the last axis of y; None takes it from the first input.",
    "hidden_features": "Size between the two linear layers.",
    "hidden_size": "Number of hidden units, the size of the last axis of the outputs.",
    "out_channels": "Number of channels of the output.",
    "in_channels": "Number of channels of the input; None takes it from the first input.",
    "multiplier": "Number of outputs of each input channel.",
    "heads": "Number of attention heads; divides the number of features.",
    "layers": "Number of layers, one after the other.",
    "feed_forward": "Size between the two linear layers of the feed-forward block.",
    "classes": "Number of classes.",
    "size": "Number of different tokens.",
    "sizes": "Sizes of the new axes, of which one may be -1.",
    "shape": "Sizes of the axes.",
    "patch_size": "Height and width of a patch in pixels: one number, or one per axis.",
    # windows
    "kernel_size": "Size of the window: one number for all spatial axes, or one per axis.",
    "stride": "Step of the window: one number, or one per axis.",
    "padding": (
        'Padding of both ends of each spatial axis: a number, one per axis or a pair (before, after) per axis; "same" keeps '
        'sizes at stride 1, "valid" is none.'
    ),
    "dilation": "Distance of neighboring elements of the window: one number, or one per axis.",
    "groups": "Number of groups of channels that are computed separately; divides the channels of input and output.",
    "padding_mode": "Elements that the padding has: zeros, mirrored, repeated or wrapped ones.",
    "ceil_mode": "Also a last window that does not fit entirely.",
    "count_include_pad": "The mean counts padded zeros.",
    "data_format": 'Position of the channels: "channels_first" (N, C, ...) or "channels_last" (N, ..., C).',
    # parameters
    "use_bias": "Add a learned bias.",
    "kernel_init": 'Initializer of the kernel, by name or with settings, such as "normal(std=0.01)".',
    "query_init": 'Initializer of the kernel of the query, such as "normal(std=0.01)"; None does as kernel_init.',
    "embeddings_init": 'Initializer of the vectors, by name or with settings, such as "normal(std=0.01)".',
    "token_init": 'Initializer of the vector, by name or with settings, such as "normal(std=0.01)".',
    "slope_init": "First value of the slope.",
    "init": 'Initializer, by name or with settings, such as "normal(std=0.01)".',
    "dtype": "Type of the elements.",
    "scale_init": 'Initializer of the factors, by name or with settings, such as "ones".',
    "weight_norm": (
        "Axis of the kernel (out, in / groups, window...) whose elements have norms of their own, 0 as a rule: direction and "
        "norm are learned apart, as by torch.nn.utils.parametrizations.weight_norm with this dim (Salimans & Kingma, 2016). "
        'Its dim=None, one norm over the whole kernel, is "all".'
    ),
    "Linear.weight_norm": (
        '0 learns direction and norm of the kernel apart, with a norm for each output (1: each input, "all": one), as does '
        "torch.nn.utils.parametrizations.weight_norm with this dim (Salimans & Kingma, 2016)."
    ),
    **dict.fromkeys(
        (f"ConvTranspose{rank}d.weight_norm" for rank in (1, 2, 3)),
        "Axis of the kernel (in, out / groups, window...) whose elements have norms of their own; see Conv1d.",
    ),
    "spectral_norm": (
        "Divide the kernel by its largest singular value, which so many power iterations follow at each step of training, 1 as "
        "a rule; torch.nn.utils.parametrizations.spectral_norm with n_power_iterations (Miyato et al., 2018)."
    ),
    "head_bias": "Add a learned bias to the head.",
    "recurrent_activation": "Name of the activation function of the gates.",
    "experts": "Number of experts.",
    "query_bias": "Add a learned bias to the query; None does as use_bias.",
    "key_bias": "Add a learned bias to the key; None does as use_bias.",
    "value_bias": "Add a learned bias to the value; None does as use_bias.",
    "output_bias": "Add a learned bias to the output; None does as use_bias.",
    # behavior
    "rate": "Fraction of elements that dropout sets to zero in training, from 0 to below 1.",
    "attention_rate": "Fraction of attention weights that dropout sets to zero in training.",
    "activation_rate": "Fraction of elements that dropout sets to zero after the activation in training.",
    "epsilon": "Small number that keeps divisions finite.",
    "activation": "Name of the activation function.",
    "norm_first": "Normalize before each block instead of after its skip connection.",
    "causal": "Each step attends only to itself and to steps before it.",
    "bidirectional": "Also read the sequence backward; the outputs of both directions are concatenated.",
    "axis": "Axis along which the layer computes; negative numbers count from the last.",
    "reduction": 'Result: "mean" or "sum" over all elements or samples, or "none" for one value each.',
    "class_weights": "Weight of each class; None weights all alike.",
    "keepdims": "Keep the axis, with size 1.",
    "normalization": 'Normalization of the channels: "batch", "group" or "instance"; None omits it.',
    "norm_groups": "Number of groups of group normalization.",
    "gate": "Name of the function that gives the factors.",
    "squeeze_channels": "Size between the two linear layers.",
    "scale": "Factor of the scores; None is 1 / sqrt(key_size).",
    "window": "Attend only to keys less than so many steps away, with causal to those before; None attends to all.",
    "rotary_size": "Number of features of a head that are rotated, the first ones; None rotates all (GPT-NeoX: a part).",
    "rotary_base": "Base of the angles of rotation: the larger, the slower the slowest pair turns.",
    "rotary_interleaved": "Rotate pairs of neighboring features, as GPT-J does, instead of features half the size apart.",
    # one layer each
    "approximate": '"none" for the error function, "tanh" for its approximation.',
    "negative_slope": "Slope for negative x.",
    "lower": "Smallest slope.",
    "upper": "Largest slope.",
    "low": "Smallest output.",
    "high": "Largest output.",
    "std": "Standard deviation of the noise.",
    "start_axis": "First axis that is flattened.",
    "end_axis": "Last axis that is flattened.",
    "spatial_axes": "Number of spatial axes that the input must have, or any; one without a batch is refused.",
    "repeats": "Number of times that each element is repeated.",
    "repetitions": "Number of repetitions along each axis.",
    "step": "Distance of the elements that are kept.",
    "index": "Position on the axis; negative numbers count from the end.",
    "p": "Exponent of the norm.",
    "base": "Base of the angles: the larger, the slower the slowest pair turns.",
    "log_input": "The output is the logarithm of the mean.",
    "value": "The number, or nested lists of numbers.",
    "ConvNormAct.padding": (
        "Padding of both ends of each spatial axis; None is (kernel_size - 1) / 2 * dilation, which keeps sizes at stride 1 "
        "for odd windows."
    ),
    "ConvNormAct.use_bias": "Add a learned bias to the convolution; None adds one if nothing normalizes it.",
    "ConvNormAct.activation": "Name of the activation function; None omits it.",
    "ConvNormAct.momentum": "Fraction by which running statistics of batch normalization move toward those of a batch.",
    "LayerScale.shared": "One factor for all features.",
    "Squeeze.axis": "Axes to remove; None removes all of size 1.",
    "Reshape.shape": "Sizes of a sample's axes, without the batch axis; one may be -1.",
    "Pad.mode": "Elements to pad with: a constant value, mirrored, repeated or wrapped elements.",
    "Upsample.mode": "Interpolation: nearest elements, means of areas, linear or cubic.",
    "EmbeddingBag.mode": "Combination of the vectors of a bag: their mean, sum or largest elements.",
    "RNN.rate": "Fraction of elements that dropout sets to zero between the layers in training.",
    "GRU.rate": "Fraction of elements that dropout sets to zero between the layers in training.",
    "Input.shape": "Sizes of the axes of a batch; None is an unknown size.",
    "Threshold.value": "Output where x is not above the threshold.",
    "Pad.value": "Element of constant padding.",
    "Fold.size": "Sizes of the spatial axes of the output.",
    "GroupNorm.groups": "Number of groups; divides the channels.",
    "ChannelShuffle.groups": "Number of groups; divides the channels.",
    "GaussianDropout.rate": "Rate of the Dropout whose noise has the same variance.",
    "ExpandDims.axis": "Position of the new axis; negative numbers count from the last.",
    "Stack.axis": "Position of the new axis; negative numbers count from the last.",
    "OneHot.axis": "Position of the new axis; negative numbers count from the last.",
    "Unflatten.axis": "Axis that is split; negative numbers count from the last.",
    "MultiMarginLoss.p": "Exponent of the differences, 1 or 2.",
    "DropPath.rate": "Fraction of samples that are set to zero in training, from 0 to below 1.",
    "DropoutChannels.rate": "Fraction of channels that are set to zero in training, from 0 to below 1.",
}


def describe_settings(layer: str, doc: str, names: Iterable[str]) -> dict[str, str]:
    """Descriptions of the settings of a layer that its docstring does not describe."""
    found = {}
    for name in names:
        text = DESCRIPTIONS.get(f"{layer}.{name}", DESCRIPTIONS.get(name))
        if text is not None and f"``{name}``" not in doc and f"``{name}=" not in doc:
            found[name] = text
    return found


def add_settings(doc: str, descriptions: dict[str, str]) -> str:
    """A docstring with a section on settings."""
    if not descriptions:
        return doc
    rows = "\n".join(f"    {name}: {text}" for name, text in descriptions.items())
    return f"{inspect.cleandoc(doc)}\n\nArgs:\n{rows}\n"
