"""Layers against torch's own layers with the same weights, an oracle independent of the NumPy bodies.

torch gets on with every other framework in one process.
"""

import numpy as np
import pytest
import torch

import labdl
from labdl import nn
from labdl.nn.schema import LAYERS
from labdl.ops.operator import Sample, floats, ints
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=1)

T = torch.nn


def straight(v):
    return {"weight": v["kernel:0"].T, "bias": v["bias:0"]}


def as_it_is(v):
    return {"weight": v["kernel:0"], "bias": v["bias:0"]}


def window(v):
    """Files hold (window..., in, out), torch (out, in, window...)."""
    return {"weight": np.moveaxis(v["kernel:0"], (-1, -2), (0, 1)), "bias": v["bias:0"]}


def transposed(v):
    return {"weight": np.moveaxis(v["kernel:0"], (-2, -1), (0, 1)), "bias": v["bias:0"]}


def separable(v):
    depthwise, pointwise = (np.moveaxis(v[f"{n}_kernel:0"], (-1, -2), (0, 1)) for n in ("depthwise", "pointwise"))
    return {"0.weight": depthwise, "1.weight": pointwise, "1.bias": v["bias:0"]}


def norm(v):
    return {"weight": v["gamma:0"], "bias": v["beta:0"]}


def statistics(v):
    moving = {"running_mean": v["moving_mean:0"], "running_var": v["moving_variance:0"]}
    return moving | (norm(v) if "gamma:0" in v else {})


def recurrent(v):
    found = {}
    for name, value in v.items():
        name = name.removesuffix(":0")
        weight, _, place = name.partition("kernel" if "kernel" in name else "bias")
        place = place.removeprefix("_")
        layer = place.split("_")[0] if place[:1].isdigit() else "0"
        ending = f"l{layer}{'_reverse' if 'reverse' in place else ''}"
        kind = "weight" if "kernel" in name else "bias"
        found[f"{kind}_{'hh' if weight else 'ih'}_{ending}"] = value.T
    return found | {
        n.replace("_ih_", "_hh_"): 0 * b
        for n, b in found.items()
        if n.startswith("bias_ih") and n.replace("_ih_", "_hh_") not in found
    }


def cell(v):
    return {name.removesuffix("_l0"): value for name, value in recurrent(v).items()}


def table(v):
    return {"weight": v["embeddings:0"]}


def slope(v):
    return {"weight": v["slope:0"]}


def attention(v):
    parts = [[v[f"{n}/{k}:0"] for n in ("query", "key", "value")] for k in ("kernel", "bias")]
    return {
        "in_proj_weight": np.concatenate([k.T for k in parts[0]]),
        "in_proj_bias": np.concatenate(parts[1]),
        "out_proj.weight": v["projection/kernel:0"].T,
        "out_proj.bias": v["projection/bias:0"],
    }


class Attend(T.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x, need_weights=False)[0]


class Packed(T.Module):
    """A recurrent layer over sequences that end at their lengths."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, lengths):
        packed = T.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, states = self.inner(packed)
        return T.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], states


class Started(T.Module):
    """A recurrent layer with initial states."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, hidden, cell):
        return self.inner(x, (hidden, cell))


class Bag(T.EmbeddingBag):
    def forward(self, x, weights=None):
        return super().forward(x, per_sample_weights=weights)


class Pair(T.Module):
    """A cell that takes its states as a tuple."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, hidden, cell):
        return self.inner(x, (hidden, cell))


def inner(names):
    return lambda v: {f"inner.{name}": value for name, value in names(v).items()}


# ours, torch's, inputs, and how our values are named there
CASES = {
    "identity": (lambda: nn.Identity(), lambda: T.Identity(), [floats(2, 3)]),
    "linear": (lambda: nn.Linear(5), lambda: T.Linear(3, 5), [floats(2, 4, 3)], straight),
    "bilinear": (lambda: nn.Bilinear(5), lambda: T.Bilinear(3, 4, 5), [floats(2, 3), floats(2, 4)], as_it_is),
    "conv1d": (lambda: nn.Conv1d(5, stride=2), lambda: T.Conv1d(3, 5, 3, stride=2), [floats(2, 3, 9)], window),
    "conv2d": (
        lambda: nn.Conv2d(6, padding="same", groups=3),
        lambda: T.Conv2d(3, 6, 3, padding="same", groups=3),
        [floats(2, 3, 6, 5)],
        window,
    ),
    "conv3d": (lambda: nn.Conv3d(2, padding=1), lambda: T.Conv3d(2, 2, 3, padding=1), [floats(1, 2, 4, 5, 4)], window),
    **{
        f"conv {mode}": (
            lambda mode=mode: nn.Conv2d(4, padding=(1, 2), stride=2, padding_mode=mode),
            lambda mode=mode: T.Conv2d(3, 4, 3, padding=(1, 2), stride=2, padding_mode=mode),
            [floats(2, 3, 6, 5)],
            window,
        )
        for mode in ("reflect", "replicate", "circular")
    },
    "conv same circular": (
        lambda: nn.Conv1d(4, kernel_size=4, dilation=2, padding="same", padding_mode="circular"),
        lambda: T.Conv1d(3, 4, 4, dilation=2, padding="same", padding_mode="circular"),
        [floats(2, 3, 9)],
        window,
    ),
    "transposed 1": (
        lambda: nn.ConvTranspose1d(4, stride=2, padding=1, output_padding=1),
        lambda: T.ConvTranspose1d(3, 4, 3, stride=2, padding=1, output_padding=1),
        [floats(2, 3, 5)],
        transposed,
    ),
    "transposed 2": (
        lambda: nn.ConvTranspose2d(4, (3, 2), stride=(2, 1), groups=2, dilation=2),
        lambda: T.ConvTranspose2d(4, 4, (3, 2), stride=(2, 1), groups=2, dilation=2),
        [floats(2, 4, 3, 4)],
        transposed,
    ),
    "transposed 3": (
        lambda: nn.ConvTranspose3d(2, 2, stride=2),
        lambda: T.ConvTranspose3d(3, 2, 2, stride=2),
        [floats(1, 3, 2, 3, 2)],
        transposed,
    ),
    "depthwise 1": (
        lambda: nn.DepthwiseConv1d(multiplier=2),
        lambda: T.Conv1d(3, 6, 3, groups=3),
        [floats(2, 3, 6)],
        window,
    ),
    "depthwise 2": (
        lambda: nn.DepthwiseConv2d(stride=2, padding=1),
        lambda: T.Conv2d(3, 3, 3, 2, 1, groups=3),
        [floats(2, 3, 6, 5)],
        window,
    ),
    "separable 1": (
        lambda: nn.SeparableConv1d(4),
        lambda: T.Sequential(T.Conv1d(3, 3, 3, groups=3, bias=False), T.Conv1d(3, 4, 1)),
        [floats(2, 3, 6)],
        separable,
    ),
    "separable 2": (
        lambda: nn.SeparableConv2d(4, multiplier=2, stride=2),
        lambda: T.Sequential(T.Conv2d(3, 6, 3, 2, groups=3, bias=False), T.Conv2d(6, 4, 1)),
        [floats(2, 3, 6, 5)],
        separable,
    ),
    "max pool 1": (
        lambda: nn.MaxPool1d(2, stride=1, dilation=2),
        lambda: T.MaxPool1d(2, 1, dilation=2),
        [floats(2, 3, 7)],
    ),
    "max pool 2": (lambda: nn.MaxPool2d(3, stride=2, padding=1), lambda: T.MaxPool2d(3, 2, 1), [floats(2, 3, 7, 7)]),
    "max pool 3": (
        lambda: nn.MaxPool3d(2, ceil_mode=True),
        lambda: T.MaxPool3d(2, ceil_mode=True),
        [floats(1, 2, 3, 4, 5)],
    ),
    "average pool 1": (lambda: nn.AvgPool1d(3, stride=2), lambda: T.AvgPool1d(3, 2), [floats(2, 3, 8)]),
    "average pool 2": (
        lambda: nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True),
        lambda: T.AvgPool2d(3, 2, 1, True),
        [floats(2, 3, 8, 8)],
    ),
    "average pool 3": (
        lambda: nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False),
        lambda: T.AvgPool3d(3, 2, 1, count_include_pad=False),
        [floats(1, 2, 4, 5, 4)],
    ),
    "power pool 1": (lambda: nn.LPPool1d(3.0, 3, stride=2), lambda: T.LPPool1d(3.0, 3, 2), [floats(2, 3, 7, low=0.1)]),
    "power pool 2": (lambda: nn.LPPool2d(2.0, 2), lambda: T.LPPool2d(2.0, 2), [floats(2, 3, 6, 4)]),
    "power pool 3": (lambda: nn.LPPool3d(2.0, 2), lambda: T.LPPool3d(2.0, 2), [floats(1, 2, 4, 4, 2)]),
    "adaptive average 1": (lambda: nn.AdaptiveAvgPool1d(3), lambda: T.AdaptiveAvgPool1d(3), [floats(2, 3, 7)]),
    "adaptive average 2": (
        lambda: nn.AdaptiveAvgPool2d((3, None)),
        lambda: T.AdaptiveAvgPool2d((3, None)),
        [floats(2, 3, 7, 4)],
    ),
    "adaptive average 3": (lambda: nn.AdaptiveAvgPool3d(2), lambda: T.AdaptiveAvgPool3d(2), [floats(1, 2, 3, 4, 5)]),
    "adaptive max 1": (lambda: nn.AdaptiveMaxPool1d(3), lambda: T.AdaptiveMaxPool1d(3), [floats(2, 3, 7)]),
    "adaptive max 2": (lambda: nn.AdaptiveMaxPool2d((3, 2)), lambda: T.AdaptiveMaxPool2d((3, 2)), [floats(2, 3, 7, 4)]),
    "adaptive max 3": (lambda: nn.AdaptiveMaxPool3d(2), lambda: T.AdaptiveMaxPool3d(2), [floats(1, 2, 3, 4, 5)]),
    "indices 1": (
        lambda: nn.MaxPool1dWithIndices(3, stride=2),
        lambda: T.MaxPool1d(3, 2, return_indices=True),
        [floats(2, 3, 8)],
    ),
    "indices 2": (
        lambda: nn.MaxPool2dWithIndices(2),
        lambda: T.MaxPool2d(2, return_indices=True),
        [floats(2, 3, 6, 5)],
    ),
    "indices 3": (
        lambda: nn.MaxPool3dWithIndices(2),
        lambda: T.MaxPool3d(2, return_indices=True),
        [floats(1, 2, 4, 4, 3)],
    ),
    "unpool 1": (lambda: nn.MaxUnpool1d(3), lambda: T.MaxUnpool1d(3), [floats(2, 3, 1), ints(2, 3, 1, high=3)]),
    "unpool 2": (
        lambda: nn.MaxUnpool2d(2, stride=1),
        lambda: T.MaxUnpool2d(2, 1),
        [floats(2, 3, 1, 1), ints(2, 3, 1, 1, high=4)],
    ),
    "unpool 3": (
        lambda: nn.MaxUnpool3d(2),
        lambda: T.MaxUnpool3d(2),
        [floats(1, 3, 1, 1, 1), ints(1, 3, 1, 1, 1, high=8)],
    ),
    "batch norm 1": (lambda: nn.BatchNorm(), lambda: T.BatchNorm1d(3), [floats(6, 3)], statistics),
    "batch norm 2": (
        lambda: nn.BatchNorm(momentum=0.3),
        lambda: T.BatchNorm2d(3, momentum=0.3),
        [floats(4, 3, 5, 2)],
        statistics,
    ),
    "batch norm 3": (
        lambda: nn.BatchNorm(affine=False),
        lambda: T.BatchNorm3d(2, affine=False),
        [floats(4, 2, 3, 2, 2)],
        statistics,
    ),
    "layer norm": (lambda: nn.LayerNorm(axes=2), lambda: T.LayerNorm((3, 4)), [floats(2, 3, 4)], norm),
    "layer norm plain": (
        lambda: nn.LayerNorm(affine=False),
        lambda: T.LayerNorm(4, elementwise_affine=False),
        [floats(2, 3, 4)],
    ),
    "layer norm without bias": (
        lambda: nn.LayerNorm(use_bias=False),
        lambda: T.LayerNorm(4, bias=False),
        [floats(2, 3, 4)],
        lambda v: {"weight": v["gamma:0"]},
    ),
    "rms norm": (
        lambda: nn.RMSNorm(),
        lambda: T.RMSNorm(4, eps=1e-6),
        [floats(2, 3, 4)],
        lambda v: {"weight": v["gamma:0"]},
    ),
    "group norm": (lambda: nn.GroupNorm(2), lambda: T.GroupNorm(2, 4), [floats(2, 4, 3)], norm),
    "group norm plain": (
        lambda: nn.GroupNorm(2, affine=False),
        lambda: T.GroupNorm(2, 4, affine=False),
        [floats(2, 4, 3)],
    ),
    "instance norm 1": (lambda: nn.InstanceNorm(), lambda: T.InstanceNorm1d(3), [floats(2, 3, 5)]),
    "instance norm 2": (
        lambda: nn.InstanceNorm(affine=True),
        lambda: T.InstanceNorm2d(3, affine=True),
        [floats(2, 3, 4, 5)],
        norm,
    ),
    "local response": (
        lambda: nn.LocalResponseNorm(4, alpha=0.5, k=2.0),
        lambda: T.LocalResponseNorm(4, alpha=0.5, k=2.0),
        [floats(2, 6, 3)],
    ),
    "dropout": (lambda: nn.Dropout(0.0), lambda: T.Dropout(0.0), [floats(2, 3)]),
    "dropout of channels": (lambda: nn.DropoutChannels(0.0), lambda: T.Dropout2d(0.0), [floats(2, 3, 4, 5)]),
    "alpha dropout": (lambda: nn.AlphaDropout(0.0), lambda: T.AlphaDropout(0.0), [floats(2, 3)]),
    "relu": (lambda: nn.ReLU(), lambda: T.ReLU(), [floats(2, 3)]),
    "gelu": (lambda: nn.GELU(), lambda: T.GELU(), [floats(2, 3)]),
    "gelu tanh": (lambda: nn.GELU("tanh"), lambda: T.GELU("tanh"), [floats(2, 3)]),
    "silu": (lambda: nn.SiLU(), lambda: T.SiLU(), [floats(2, 3)]),
    "leaky relu": (lambda: nn.LeakyReLU(0.2), lambda: T.LeakyReLU(0.2), [floats(2, 3)]),
    "elu": (lambda: nn.ELU(0.5), lambda: T.ELU(0.5), [floats(2, 3)]),
    "sigmoid": (lambda: nn.Sigmoid(), lambda: T.Sigmoid(), [floats(2, 3)]),
    "tanh": (lambda: nn.Tanh(), lambda: T.Tanh(), [floats(2, 3)]),
    "softplus": (lambda: nn.Softplus(2.0), lambda: T.Softplus(2.0), [floats(2, 3)]),
    "hardswish": (lambda: nn.Hardswish(), lambda: T.Hardswish(), [floats(2, 3, low=-5, high=5)]),
    "softmax": (lambda: nn.Softmax(1), lambda: T.Softmax(1), [floats(2, 3, 4)]),
    "relu6": (lambda: nn.ReLU6(), lambda: T.ReLU6(), [floats(2, 3, low=-3, high=9)]),
    "prelu": (lambda: nn.PReLU(), lambda: T.PReLU(), [floats(2, 3)], slope),
    "prelu of channels": (lambda: nn.PReLU(shared=False), lambda: T.PReLU(3), [floats(2, 3, 4)], slope),
    "rrelu": (lambda: nn.RReLU(0.2, 0.2), lambda: T.RReLU(0.2, 0.2), [floats(2, 3)]),
    "selu": (lambda: nn.SELU(), lambda: T.SELU(), [floats(2, 3)]),
    "celu": (lambda: nn.CELU(0.5), lambda: T.CELU(0.5), [floats(2, 3)]),
    "mish": (lambda: nn.Mish(), lambda: T.Mish(), [floats(2, 3)]),
    "hardtanh": (lambda: nn.Hardtanh(-0.5, 1.5), lambda: T.Hardtanh(-0.5, 1.5), [floats(2, 3)]),
    "hardsigmoid": (lambda: nn.Hardsigmoid(), lambda: T.Hardsigmoid(), [floats(2, 3, low=-5, high=5)]),
    "hardshrink": (lambda: nn.Hardshrink(0.7), lambda: T.Hardshrink(0.7), [floats(2, 3)]),
    "softshrink": (lambda: nn.Softshrink(0.7), lambda: T.Softshrink(0.7), [floats(2, 3)]),
    "softsign": (lambda: nn.Softsign(), lambda: T.Softsign(), [floats(2, 3)]),
    "tanhshrink": (lambda: nn.Tanhshrink(), lambda: T.Tanhshrink(), [floats(2, 3)]),
    "threshold": (lambda: nn.Threshold(0.1, -2.0), lambda: T.Threshold(0.1, -2.0), [floats(2, 3)]),
    "log sigmoid": (lambda: nn.LogSigmoid(), lambda: T.LogSigmoid(), [floats(2, 3)]),
    "log softmax": (lambda: nn.LogSoftmax(1), lambda: T.LogSoftmax(1), [floats(2, 3, 4)]),
    "softmin": (lambda: nn.Softmin(1), lambda: T.Softmin(1), [floats(2, 3, 4)]),
    "glu": (lambda: nn.GLU(1), lambda: T.GLU(1), [floats(2, 4, 3)]),
    "flatten": (lambda: nn.Flatten(), lambda: T.Flatten(), [floats(2, 3, 4)]),
    "flatten part": (lambda: nn.Flatten(1, -2), lambda: T.Flatten(1, -2), [floats(2, 3, 4, 2)]),
    "unflatten": (lambda: nn.Unflatten((2, -1)), lambda: T.Unflatten(1, (2, -1)), [floats(2, 6, 3)]),
    "constant pad": (
        lambda: nn.Pad(((1, 0), (0, 2)), value=1.5),
        lambda: T.ConstantPad2d((0, 2, 1, 0), 1.5),
        [floats(2, 3, 3, 4)],
    ),
    "zero pad": (lambda: nn.Pad(2), lambda: T.ZeroPad1d(2), [floats(2, 3, 3)]),
    "reflection pad": (
        lambda: nn.Pad((1, 2), "reflect"),
        lambda: T.ReflectionPad2d((2, 2, 1, 1)),
        [floats(2, 3, 3, 4)],
    ),
    "replication pad": (lambda: nn.Pad(1, "replicate"), lambda: T.ReplicationPad3d(1), [floats(1, 2, 2, 3, 3)]),
    "circular pad": (lambda: nn.Pad((1, 2), "circular"), lambda: T.CircularPad2d((2, 2, 1, 1)), [floats(2, 3, 3, 4)]),
    "upsample": (lambda: nn.Upsample(), lambda: T.Upsample(scale_factor=2.0), [floats(2, 3, 3, 4)]),
    "upsample to a size": (
        lambda: nn.Upsample(size=(5, 3), mode="bilinear"),
        lambda: T.Upsample((5, 3), mode="bilinear"),
        [floats(2, 3, 3, 4)],
    ),
    "upsample by corners": (
        lambda: nn.Upsample(2.0, mode="bicubic", align_corners=True),
        lambda: T.Upsample(scale_factor=2.0, mode="bicubic", align_corners=True),
        [floats(1, 2, 3, 4)],
    ),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), lambda: T.PixelShuffle(2), [floats(2, 8, 2, 3)]),
    "pixel unshuffle": (lambda: nn.PixelUnshuffle(2), lambda: T.PixelUnshuffle(2), [floats(2, 2, 4, 6)]),
    "channel shuffle": (lambda: nn.ChannelShuffle(3), lambda: T.ChannelShuffle(3), [floats(2, 6, 2, 2)]),
    "unfold": (
        lambda: nn.Unfold((2, 3), stride=2, padding=1, dilation=(2, 1)),
        lambda: T.Unfold((2, 3), (2, 1), 1, 2),
        [floats(2, 2, 5, 6)],
    ),
    "fold": (
        lambda: nn.Fold((5, 6), (3, 2), stride=2, padding=(1, 0)),
        lambda: T.Fold((5, 6), (3, 2), padding=(1, 0), stride=2),
        [floats(2, 12, 9)],
    ),
    "cosine": (lambda: nn.CosineSimilarity(), lambda: T.CosineSimilarity(), [floats(2, 3, 4), floats(2, 3, 4)]),
    "distance": (
        lambda: nn.PairwiseDistance(3.0, keepdims=True),
        lambda: T.PairwiseDistance(3.0, keepdim=True),
        [floats(2, 3), floats(2, 3)],
    ),
    "embedding": (lambda: nn.Embedding(7, 3), lambda: T.Embedding(7, 3), [ints(2, 4, high=7)], table),
    "embedding padded": (
        lambda: nn.Embedding(7, 3, padding_index=2),
        lambda: T.Embedding(7, 3, padding_idx=2),
        [ints(2, 4, high=7)],
        table,
    ),
    "bag": (lambda: nn.EmbeddingBag(7, 3), lambda: Bag(7, 3), [ints(2, 4, high=7)], table),
    "bag's largest": (lambda: nn.EmbeddingBag(7, 3, "max"), lambda: Bag(7, 3, mode="max"), [ints(2, 4, high=7)], table),
    "bag's weighted sum": (
        lambda: nn.EmbeddingBag(7, 3, "sum"),
        lambda: Bag(7, 3, mode="sum"),
        [ints(2, 4, high=7), floats(2, 4)],
        table,
    ),
    "rnn": (
        lambda: nn.RNN(5, activation="relu"),
        lambda: T.RNN(3, 5, nonlinearity="relu", batch_first=True),
        [floats(2, 4, 3)],
        recurrent,
    ),
    "gru": (
        lambda: nn.GRU(5, layers=2, bidirectional=True),
        lambda: T.GRU(3, 5, 2, batch_first=True, bidirectional=True),
        [floats(2, 4, 3)],
        recurrent,
    ),
    "lstm": (lambda: nn.LSTM(5), lambda: T.LSTM(3, 5, batch_first=True), [floats(2, 4, 3)], recurrent),
    "lstm in layers": (
        lambda: nn.LSTM(5, layers=3, bidirectional=True),
        lambda: T.LSTM(3, 5, 3, batch_first=True, bidirectional=True),
        [floats(2, 4, 3)],
        recurrent,
    ),
    "lstm from states": (
        lambda: Stated(nn.LSTM(5, layers=2)),
        lambda: Started(T.LSTM(3, 5, 2, batch_first=True)),
        [floats(2, 4, 3), floats(2, 2, 5), floats(2, 2, 5)],
        inner(recurrent),
    ),
    "packed rnn": (
        lambda: nn.RNN(5, bidirectional=True),
        lambda: Packed(T.RNN(3, 5, batch_first=True, bidirectional=True)),
        [floats(4, 4, 3), ints(4, low=1, high=5)],
        inner(recurrent),
    ),
    "packed gru": (
        lambda: nn.GRU(5),
        lambda: Packed(T.GRU(3, 5, batch_first=True)),
        [floats(4, 4, 3), ints(4, low=1, high=5)],
        inner(recurrent),
    ),
    "packed lstm": (
        lambda: nn.LSTM(5, layers=2, bidirectional=True),
        lambda: Packed(T.LSTM(3, 5, 2, batch_first=True, bidirectional=True)),
        [floats(4, 4, 3), ints(4, low=1, high=5)],
        inner(recurrent),
    ),
    "rnn cell": (
        lambda: nn.RNNCell(5, "relu"),
        lambda: T.RNNCell(3, 5, nonlinearity="relu"),
        [floats(2, 3), floats(2, 5)],
        cell,
    ),
    "gru cell": (lambda: nn.GRUCell(5), lambda: T.GRUCell(3, 5), [floats(2, 3), floats(2, 5)], cell),
    "lstm cell": (
        lambda: nn.LSTMCell(5),
        lambda: Pair(T.LSTMCell(3, 5)),
        [floats(2, 3), floats(2, 5), floats(2, 5)],
        inner(cell),
    ),
    "lstm cell from nothing": (lambda: nn.LSTMCell(5), lambda: T.LSTMCell(3, 5), [floats(2, 3)], cell),
    "attention": (
        lambda: nn.MultiHeadAttention(2),
        lambda: Attend(6, 2, batch_first=True),
        [floats(2, 4, 6)],
        attention,
    ),
}


class Stated(nn.Module):
    """A recurrent layer with initial states and without lengths."""

    def __init__(self, inner):
        self.inner = inner

    def forward(self, x, hidden, cell):
        return self.inner(x, None, hidden, cell)


def leaves(value):
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("case", CASES)
def test_values_equal_torchs_own(case, backend):
    make_ours, make_native, samples, *names = CASES[case]
    rng = np.random.default_rng(0)
    arrays = [s.draw(rng) for s in samples]
    ours = make_ours().build(*[Spec(a.shape, str(a.dtype)) for a in arrays], backend=backend.name, seed=0)
    values = {
        k: rng.uniform(0.5, 1.5, v.shape).astype("float32") * rng.choice([1, -1] if v.ndim > 1 else [1], v.shape)
        for k, v in ours.state_dict().items()
    }
    ours.load_state_dict(values)
    native = make_native()
    if names:
        plain = {k.removeprefix("inner/"): v for k, v in values.items()}
        wanted = {k: torch.as_tensor(np.array(v, "float32")) for k, v in names[0](plain).items()}
        assert not native.load_state_dict(wanted, strict=False).unexpected_keys
        assert {k for k in native.state_dict() if "num_batches" not in k} == set(wanted)
    for training in (True, False):
        ours.train(training)
        native.train(training)
        actual = leaves(ours(*map(backend.tensor, arrays)))
        expected = leaves(native(*map(torch.as_tensor, arrays)))
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_allclose(labdl.to_numpy(one), other.detach().numpy(), rtol=1e-4, atol=1e-5)
    if names and names[0] is statistics:
        after = ours.state_dict()
        np.testing.assert_allclose(after["moving_mean:0"], native.running_mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(after["moving_variance:0"], native.running_var, rtol=1e-5, atol=1e-6)


# compared in tests of their own
ELSEWHERE = ("attention", "transformer", "loss")
OF_THEIR_OWN = {"AdaptiveLogSoftmaxWithLoss", "SyncBatchNorm"}


def test_every_layer_that_torch_has_is_compared():
    compared = {type(CASES[case][0]()).__name__ for case in CASES}
    shared = {
        n
        for n, cls in LAYERS.items()
        if hasattr(T, n) and not any(word in cls.__module__ or word in cls.layer_category for word in ELSEWHERE)
    }
    assert shared <= compared | OF_THEIR_OWN, shared - compared
    assert all(isinstance(s, Sample) for case in CASES.values() for s in case[2])
