"""What the tests of layers share: making one on a backend, feeding it, comparing."""

import numpy as np
import pytest
from portable_numbers import restart_portable_numbers

import labdl
from labdl.nn.schema import LAYERS
from labdl.ops.operator import Sample, floats, ints
from labdl.spec import Spec

# those that compute with what comes in; a source in a graph has nothing to compare
NAMES = [name for name, cls in LAYERS.items() if cls.layer_example.inputs]

# Settings beyond the examples: each a layer, its parameters and its inputs.
VARIANTS = {
    "linear over steps": ("Linear", {"out_features": 4, "use_bias": False}, floats(2, 5, 3)),
    "bilinear over steps": ("Bilinear", {"out_features": 2, "use_bias": False}, floats(2, 5, 3), floats(2, 5, 2)),
    "strided same": (
        "Conv2d",
        {"out_channels": 4, "kernel_size": (3, 2), "stride": 2, "padding": "same"},
        floats(2, 3, 7, 6),
    ),
    "uneven padding": ("Conv2d", {"out_channels": 4, "padding": ((1, 0), (0, 2))}, floats(2, 3, 6, 6)),
    "dilated": ("Conv2d", {"out_channels": 4, "dilation": 2, "use_bias": False}, floats(2, 3, 8, 8)),
    "grouped": ("Conv2d", {"out_channels": 6, "groups": 3, "padding": 1}, floats(2, 3, 6, 6)),
    "conv last": ("Conv2d", {"out_channels": 4, "data_format": "channels_last", "padding": "same"}, floats(2, 6, 5, 3)),
    "conv1d last": ("Conv1d", {"out_channels": 4, "data_format": "channels_last", "stride": 2}, floats(2, 9, 3)),
    "conv3d strided": ("Conv3d", {"out_channels": 2, "stride": (1, 2, 2), "padding": 1}, floats(1, 2, 4, 5, 6)),
    "reflected": ("Conv2d", {"out_channels": 2, "padding": (1, 2), "padding_mode": "reflect"}, floats(2, 3, 5, 6)),
    "replicated": ("Conv1d", {"out_channels": 2, "padding": "same", "padding_mode": "replicate"}, floats(2, 3, 5)),
    "circular": (
        "Conv2d",
        {"out_channels": 2, "padding": "same", "stride": 2, "padding_mode": "circular", "data_format": "channels_last"},
        floats(2, 5, 6, 3),
    ),
    "transposed": (
        "ConvTranspose2d",
        {"out_channels": 4, "groups": 2, "stride": (2, 3), "padding": 1, "output_padding": (1, 0), "use_bias": False},
        floats(2, 4, 3, 4),
    ),
    "transposed dilated": ("ConvTranspose1d", {"out_channels": 2, "dilation": 2, "padding": "valid"}, floats(2, 3, 4)),
    "depthwise strided": ("DepthwiseConv2d", {"stride": 2, "use_bias": False}, floats(2, 3, 7, 6)),
    "separable strided": (
        "SeparableConv2d",
        {"out_channels": 2, "multiplier": 2, "stride": 2, "padding": 1},
        floats(2, 3, 5, 6),
    ),
    "pool overlap": ("MaxPool2d", {"kernel_size": 3, "stride": 2, "padding": 1}, floats(2, 3, 7, 7)),
    "pool last": ("MaxPool2d", {"data_format": "channels_last"}, floats(2, 6, 8, 3)),
    "pool ceil": ("MaxPool2d", {"kernel_size": 3, "stride": 2, "ceil_mode": True}, floats(1, 2, 6, 6)),
    "pool dilated": ("MaxPool1d", {"dilation": 3, "stride": 1}, floats(2, 3, 8)),
    "pool indices": ("MaxPool2dWithIndices", {"kernel_size": 3, "stride": 2, "padding": 1}, floats(2, 3, 7, 6)),
    "unpool to a size": ("MaxUnpool1d", {"size": 5}, floats(2, 3, 1), ints(2, 3, 1, high=5)),
    "average same": ("AvgPool2d", {"kernel_size": 3, "stride": 2, "padding": "same"}, floats(2, 3, 7, 6)),
    "average padded": ("AvgPool2d", {"kernel_size": 3, "stride": 1, "padding": 1}, floats(2, 3, 5, 5)),
    "average inside": ("AvgPool2d", {"kernel_size": 3, "padding": 1, "count_include_pad": False}, floats(2, 3, 5, 5)),
    "power sum": ("LPPool2d", {"p": 1.0, "kernel_size": 3, "stride": 2, "ceil_mode": True}, floats(2, 3, 6, 7)),
    "global last": ("GlobalAvgPool", {"data_format": "channels_last"}, floats(2, 6, 8, 3)),
    "norm of rows": ("BatchNorm", {}, floats(6, 3)),
    "norm of images": ("BatchNorm", {"momentum": 0.3}, floats(4, 3, 5, 2)),
    "norm last": ("BatchNorm", {"data_format": "channels_last"}, floats(4, 5, 2, 3)),
    "norm frozen": ("FrozenBatchNorm", {"epsilon": 1e-3}, floats(4, 3, 5, 2)),
    "norm frozen last": ("FrozenBatchNorm", {"data_format": "channels_last"}, floats(4, 5, 2, 3)),
    "norm plain": ("BatchNorm", {"affine": False}, floats(4, 3, 5)),
    "norm of one axis more": ("LayerNorm", {"axes": 2}, floats(2, 3, 4)),
    "norm without beta": ("LayerNorm", {"use_bias": False}, floats(2, 3, 4)),
    "norm of axes plain": ("LayerNorm", {"axes": 2, "affine": False}, floats(2, 3, 4)),
    "root mean square plain": ("RMSNorm", {"affine": False}, floats(2, 3, 4)),
    "groups plain": ("GroupNorm", {"groups": 2, "affine": False}, floats(2, 4, 3)),
    "instances plain": ("InstanceNorm", {}, floats(2, 3, 4, 2)),
    "noise off": ("GaussianNoise", {"std": 0.0}, floats(2, 3)),
    "dropout off": ("GaussianDropout", {"rate": 0.0}, floats(2, 3)),
    "gelu tanh": ("GELU", {"approximate": "tanh"}, floats(2, 3)),
    "softplus steep": ("Softplus", {"beta": 2.0}, floats(2, 3)),
    "softmax of channels": ("Softmax", {"axis": 1}, floats(2, 3, 4)),
    "one slope": ("PReLU", {}, floats(2, 3)),
    "gated channels": ("GLU", {"axis": 1}, floats(2, 4, 3)),
    "flat in part": ("Flatten", {"start_axis": 1, "end_axis": 2}, floats(2, 3, 4, 2)),
    "flat with the batch": ("Flatten", {"start_axis": 0, "end_axis": 1}, floats(2, 3, 4)),
    "unflat at the end": ("Unflatten", {"sizes": (2, 3), "axis": -1}, floats(2, 2, 6)),
    "two axes less": ("Squeeze", {"axis": (1, -1)}, floats(2, 1, 3, 1)),
    "last axis more": ("ExpandDims", {"axis": -1}, floats(2, 3)),
    "every other": ("Slice", {"start": -3, "step": 2, "axis": -1}, floats(2, 2, 4)),
    "picked feature": ("Select", {"index": 1, "axis": -1}, floats(2, 2, 4)),
    "padded with a value": ("Pad", {"padding": ((1, 0), (0, 2)), "value": 1.5}, floats(2, 3, 3, 4)),
    "padded by reflection": ("Pad", {"padding": 2, "mode": "reflect"}, floats(2, 3, 5)),
    "padded by the border": ("Pad", {"padding": (1, 2, 0), "mode": "replicate"}, floats(2, 1, 3, 3, 2)),
    "padded round": ("Pad", {"padding": 1, "mode": "circular", "data_format": "channels_last"}, floats(2, 3, 4, 2)),
    "cropped unevenly": ("Crop", {"cropping": ((0, 1), (2, 0))}, floats(2, 3, 3, 4)),
    "resized": ("Upsample", {"size": (5, 3), "mode": "bilinear"}, floats(2, 3, 3, 4)),
    "resized by corners": ("Upsample", {"scale": 1.5, "mode": "linear", "align_corners": True}, floats(2, 3, 4)),
    "resized smoothly": ("Upsample", {"scale": (0.5, 0.5), "mode": "bicubic", "antialias": True}, floats(1, 2, 6, 6)),
    "resized in space": ("Upsample", {"scale": 2.0, "mode": "trilinear"}, floats(1, 2, 2, 3, 2)),
    "unfolded apart": (
        "Unfold",
        {"kernel_size": (2, 3), "stride": 2, "padding": 1, "dilation": (2, 1)},
        floats(2, 2, 5, 6),
    ),
    "folded apart": ("Fold", {"size": (5, 6), "kernel_size": (3, 2), "stride": 2, "padding": (1, 0)}, floats(2, 12, 9)),
    "cast of fractions": ("Cast", {"dtype": "int32"}, floats(2, 3)),
    "sum of one": ("Add", {}, floats(2, 3)),
    "mean of three": ("Average", {}, floats(2, 3), floats(2, 3), floats(2, 3)),
    "greatest of three": ("Maximum", {}, floats(5, 4), floats(5, 4), floats(5, 4)),
    "cosine of features": ("CosineSimilarity", {"axis": -1}, floats(2, 3), floats(2, 3)),
    "distance kept": ("PairwiseDistance", {"p": 3.0, "keepdims": True}, floats(2, 3), floats(2, 3)),
    "padded tokens": ("Embedding", {"size": 4, "features": 3, "padding_index": 1}, ints(2, 6, high=4)),
    "bag's sum": ("EmbeddingBag", {"size": 4, "features": 3, "mode": "sum"}, ints(2, 3, high=4), floats(2, 3)),
    "bag's largest": ("EmbeddingBag", {"size": 4, "features": 3, "mode": "max"}, ints(2, 3, high=4)),
    "turned neighbors": ("RotaryEmbedding", {"interleaved": True, "base": 100.0}, floats(2, 3, 4), ints(2, 3)),
    "classes first": ("OneHot", {"classes": 4, "axis": 1}, ints(2, 3)),
    "causal": ("MultiHeadAttention", {"heads": 2, "causal": True, "use_bias": False}, floats(2, 5, 4)),
    "other biases": (
        "MultiHeadAttention",
        {"heads": 2, "use_bias": False, "query_bias": True, "value_bias": True, "output_bias": True, "scale": 0.7},
        floats(2, 5, 4),
    ),
    "window with part of rotary": (
        "MultiHeadAttention",
        {"heads": 1, "causal": True, "window": 2, "rotary": True, "rotary_size": 2, "rotary_interleaved": True},
        floats(2, 5, 4),
    ),
    "rotary for long texts": (
        "MultiHeadAttention",
        {"heads": 1, "rotary": True, "rotary_base": 100.0, "rotary_scaling": (4.0, 1.0, 4.0, 16.0)},
        floats(2, 5, 4),
    ),
    "local both ways": ("MultiHeadAttention", {"heads": 2, "window": 2}, floats(2, 5, 4)),
    "part turned": ("RotaryEmbedding", {"size": 2}, floats(2, 3, 5)),
    "own positions": ("PositionEmbedding", {"size": 4, "offset": 2}, floats(2, 3, 4), ints(2, 3, low=-2, high=4)),
    "offset": ("PositionEmbedding", {"size": 3, "offset": 2}, floats(2, 3, 4)),
    "waves in halves": ("SinusoidalPositions", {"layout": "halves", "endpoint": True}, floats(2, 3, 4)),
    "waves at positions": ("SinusoidalPositions", {"base": 50.0}, floats(2, 3, 4), ints(2, 3, high=9)),
    "buckets to a context": (
        "RelativePositionBias",
        {"heads": 3, "buckets": 6, "max_distance": 8, "bidirectional": False},
        ints(2, 9),
        ints(2, 9),
    ),
    "one row of weights": (
        "LocationAttention",
        {"hidden_size": 3, "use_bias": False},
        floats(2, 4),
        floats(2, 5, 3),
        floats(2, 5),
    ),
    "normed together": (
        "LayerNormLSTMCell",
        {"hidden_size": 3, "joint": True, "normalize_cell": True},
        floats(2, 4),
        floats(2, 3),
        floats(2, 3),
    ),
    "block of one axis": (
        "ConvNormAct",
        {
            "out_channels": 4,
            "kernel_size": 2,
            "dilation": 2,
            "normalization": "group",
            "norm_groups": 2,
            "activation": "silu",
        },
        floats(2, 3, 7),
    ),
    "block of three axes": (
        "ConvNormAct",
        {"out_channels": 4, "stride": 2, "normalization": "instance", "activation": "quick_gelu"},
        floats(1, 2, 4, 4, 4),
    ),
    "block of a convolution": (
        "ConvNormAct",
        {"out_channels": 2, "normalization": None, "activation": None},
        floats(2, 3, 5, 4),
    ),
    "squeezed sound": (
        "SqueezeExcitation",
        {"squeeze_channels": 3, "activation": "silu", "gate": "hardsigmoid", "data_format": "channels_last"},
        floats(2, 5, 4),
    ),
    "scaled channels": ("LayerScale", {"axis": 1}, floats(2, 3, 4)),
    "one scale": ("LayerScale", {"shared": True}, floats(2, 3, 4)),
    "linear normed": ("Linear", {"out_features": 4, "weight_norm": 0}, floats(2, 3)),
    "linear normed by input": ("Linear", {"out_features": 4, "weight_norm": 1}, floats(2, 3)),
    "conv normed": ("Conv2d", {"out_channels": 4, "weight_norm": 0}, floats(2, 3, 5, 5)),
    "linear normed as a whole": ("Linear", {"out_features": 4, "weight_norm": "all"}, floats(2, 3)),
    "conv normed as a whole": ("Conv2d", {"out_channels": 4, "weight_norm": "all"}, floats(2, 3, 5, 5)),
    "conv normed by position": ("Conv1d", {"out_channels": 6, "weight_norm": 2, "groups": 3}, floats(2, 6, 5)),
    "transposed normed": ("ConvTranspose1d", {"out_channels": 4, "weight_norm": 0}, floats(2, 3, 5)),
    # many iterations, after which the norm moves as a function of the kernel alone
    "linear of norm 1": ("Linear", {"out_features": 4, "spectral_norm": 60}, floats(2, 3)),
    "conv of norm 1": ("Conv2d", {"out_channels": 4, "spectral_norm": 60, "groups": 2}, floats(2, 6, 5, 5)),
    "transposed of norm 1": ("ConvTranspose1d", {"out_channels": 4, "spectral_norm": 60}, floats(2, 3, 5)),
    "one step": ("LSTM", {"hidden_size": 3}, floats(2, 1, 4)),
    "two layers": ("LSTM", {"hidden_size": 3, "layers": 2, "rate": 0.3}, floats(2, 4, 3)),
    "both directions": (
        "LSTM",
        {"hidden_size": 3, "layers": 2, "bidirectional": True},
        floats(3, 4, 2),
        ints(3, low=1, high=5),
    ),
    "gated both directions": (
        "GRU",
        {"hidden_size": 3, "layers": 2, "bidirectional": True},
        floats(3, 4, 2),
        ints(3, low=1, high=5),
    ),
    "simple both directions": (
        "RNN",
        {"hidden_size": 3, "bidirectional": True, "activation": "relu"},
        floats(3, 4, 2),
        ints(3, low=1, high=5),
    ),
    "cell from nothing": ("LSTMCell", {"hidden_size": 3}, floats(2, 4)),
    "gated cell from nothing": ("GRUCell", {"hidden_size": 3}, floats(2, 4)),
    "relu cell": ("RNNCell", {"hidden_size": 3, "activation": "relu"}, floats(2, 4), floats(2, 3)),
}

CASES: dict[str, tuple[str, dict, tuple[Sample, ...]]] = {
    **{name: (name, LAYERS[name].layer_example.params, LAYERS[name].layer_example.inputs) for name in NAMES},
    **{case: (name, params, tuple(samples)) for case, (name, params, *samples) in VARIANTS.items()},
}

# every case; the sample runs the examples of the layers
EACH_CASE = [pytest.param(case, marks=[] if case in NAMES else pytest.mark.sample(False)) for case in CASES]


def draw(case, seed=0):
    rng = np.random.default_rng(seed)
    return [s.draw(rng) for s in CASES[case][2]]


def specs_of(arrays, batch=None):
    return [Spec((batch, *a.shape[1:]), str(a.dtype)) for a in arrays]


def make(case, backend_name, seed=3, **settings):
    name, params, _ = CASES[case]
    return LAYERS[name](**{**params, **settings}).build(*specs_of(draw(case)), backend=backend_name, seed=seed)


def twins(case, backend, training=False):
    """The layer on the backend and on NumPy, with equal parameters that are not those they were born with."""
    ours, reference = make(case, backend.name), make(case, "numpy")
    rng = np.random.default_rng(5)
    values = {
        k: rng.uniform(0.5 if v.ndim < 2 else -1.0, 1.5 if v.ndim < 2 else 1.0, v.shape).astype(v.dtype)
        for k, v in reference.state_dict().items()
    }
    for model in (ours, reference):
        model.load_state_dict(values)
        model.train(training)
    return ours, reference


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def call(model, arrays, backend=None):
    """The outputs as a list; NumPy draws the random numbers of every backend, each time the same."""
    restart_portable_numbers()
    wrap = np.copy if backend is None else backend.tensor
    return flat(model(*[wrap(a) for a in arrays]))


def assert_same(actual, expected, backend):
    assert len(actual) == len(expected)
    for ours, reference in zip(actual, expected, strict=True):
        assert isinstance(ours, backend.tensor_types())
        values = labdl.to_numpy(ours)
        assert values.shape == reference.shape
        assert values.dtype == reference.dtype
        np.testing.assert_allclose(values, reference, rtol=2e-4, atol=2e-5)
