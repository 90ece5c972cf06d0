"""ONNX readers of convolutions, products, normalization and pooling; layers where the file has their weights."""

from __future__ import annotations

import dataclasses

import numpy as np

from labdl import nn
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import INTEGERS, Spec


def are_weights(r, *values) -> bool:
    """True when these can be the weights of a layer: arrays of the file, in the dtype of layers.

    Some programs store weights as constants; LabDL itself does not.
    """
    return all(
        v is None or (isinstance(v, KnownValue) and v.dtype == "float32" and (v.weight or r.file.foreign))
        for v in values
    )


def layer_path(node, weight) -> str:
    """The path of a layer, from the name of its weight or else of its node."""
    word = weight.weight.removesuffix(":0")
    path = word.rpartition("/" if "/" in word else ".")[0]
    return path or node.name or node.kind


def key(node, *inputs):
    """The key of a layer: nodes with the same weights and attributes share one layer.

    Weights are the same by their values and origin: a name alone stands for every part of an array.
    """
    if not all(v is None or v.weight for v in inputs):  # in a loop, constants differ from step to step
        return node.outputs[0], *(None if v is None else v.key for v in inputs)
    attributes = sorted((k, str(v)) for k, v in node.attributes.items())
    return node.kind, *(None if v is None else v.key for v in inputs), *attributes


def arrays_by_name(**arrays) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in arrays.items() if value is not None}


# -- products


@reads("MatMul")
def matmul(r, node, x, y):
    if not (isinstance(x, Spec) and are_weights(r, y) and y.ndim == 2 and len(x.shape) > 1 and x.shape[-1] is not None):
        return r.call("matmul", x, y)
    after = r.follower(node, "Add")
    bias = None
    if after is not None:
        others = [r.found.get(name) for name in after.inputs if name != node.outputs[0]]
        fits = (
            len(others) == 1 and are_weights(r, *others) and others[0] is not None and others[0].shape == (y.shape[1],)
        )
        bias = others[0] if fits else None
    result = linear(r, node, x, y, bias)
    if after is not None and bias is not None:
        r.found[after.outputs[0]] = result  # the layer includes the addition
    return result


def linear(r, node, x, kernel, bias):
    def make():
        return nn.Linear(kernel.shape[1], use_bias=bias is not None)

    return r.layer(key(node, kernel, bias), layer_path(node, kernel), make, arrays_by_name(kernel=kernel, bias=bias), x)


@reads("Gemm")
def gemm(r, node, x, y, z=None):
    a = node.attributes
    alpha, beta = a.get("alpha", 1.0), a.get("beta", 1.0)
    x = r.call("permute_dims", x, (1, 0)) if a.get("transA") else x
    plain = isinstance(x, Spec) and are_weights(r, y, z) and (alpha, beta) == (1.0, 1.0) and x.shape[-1] is not None
    if plain and (z is None or z.array.size in (1, *z.shape[-1:])):
        kernel = dataclasses.replace(y, array=np.ascontiguousarray(y.array.T)) if a.get("transB") else y
        out = kernel.shape[1]
        if z is None or z.array.size in (1, out):
            bias = None if z is None else dataclasses.replace(z, array=np.broadcast_to(z.array.reshape(-1), (out,)))
            return linear(r, node, x, kernel, bias)
    product = r.call("matmul", x, r.call("permute_dims", y, (1, 0)) if a.get("transB") else y)
    product = product if alpha == 1 else r.call("multiply", product, float(alpha))
    if z is None:
        return product
    return r.call("add", product, z if beta == 1 else r.call("multiply", z, float(beta)))


# -- convolution


def windows(r, node, rank: int):
    """Stride, dilation and padding, a pair per axis."""
    a = node.attributes
    stride, dilation = (tuple(a.get(word, [1] * rank)) for word in ("strides", "dilations"))
    pads = a.get("pads", [0] * 2 * rank)
    same = a.get("auto_pad", "NOTSET")
    if same == "SAME_UPPER":
        return stride, dilation, "same"
    if same == "SAME_LOWER":
        raise r.refuse(node, "pads the odd element at the start (SAME_LOWER), and LabDL pads it at the end")
    if same == "VALID":
        pads = [0] * 2 * rank
    if min(pads, default=0) < 0:
        raise r.refuse(node, "has negative pads")
    return stride, dilation, tuple(zip(pads[:rank], pads[rank:], strict=True))


@reads("Conv")
def convolution(r, node, x, kernel, bias=None):
    rank = kernel.ndim - 2
    stride, dilation, padding = windows(r, node, rank)
    groups = node.attributes.get("group", 1)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if not (isinstance(x, Spec) and are_weights(r, kernel, bias)):
        return r.call(f"conv{rank}d", x, kernel, bias, **options)

    def make():
        cls = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[rank]
        return cls(kernel.shape[0], kernel.shape[2:], use_bias=bias is not None, **options)

    return r.layer(key(node, kernel, bias), layer_path(node, kernel), make, arrays_by_name(kernel=kernel, bias=bias), x)


@reads("DeformConv")
def deformable_convolution(r, node, x, kernel, offset, bias=None, mask=None):
    stride, dilation, padding = windows(r, node, 2)
    return r.call("deform_conv2d", x, offset, kernel, bias, mask, stride=stride, padding=padding, dilation=dilation)


@reads("ConvTranspose")
def conv_transpose(r, node, x, kernel, bias=None):
    if "output_shape" in node.attributes or node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise r.refuse(node, "infers its padding from its output shape: set pads instead")
    rank = kernel.ndim - 2
    stride, dilation, padding = windows(r, node, rank)
    groups, extra = node.attributes.get("group", 1), tuple(node.attributes.get("output_padding", [0] * rank))
    options = {"stride": stride, "padding": padding, "output_padding": extra, "dilation": dilation, "groups": groups}
    if not (isinstance(x, Spec) and are_weights(r, kernel, bias)):
        return r.call(f"conv_transpose{rank}d", x, kernel, bias, **options)

    def make():
        cls = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}[rank]
        return cls(kernel.shape[1] * groups, kernel.shape[2:], use_bias=bias is not None, **options)

    return r.layer(key(node, kernel, bias), layer_path(node, kernel), make, arrays_by_name(kernel=kernel, bias=bias), x)


# -- pooling


def _need_tensor(r, node, x) -> None:
    if not isinstance(x, Spec):
        raise r.refuse(node, "pools a constant")


@reads("MaxPool")
def max_pool(r, node, x):
    _need_tensor(r, node, x)
    if x.dtype in INTEGERS:  # of 8 bits, which float32 holds
        return r.call("astype", max_pool(r, node, r.call("astype", x, "float32")), x.dtype)
    rank, window = len(x.shape) - 2, tuple(node.attributes["kernel_shape"])
    stride, dilation, padding = windows(r, node, rank)
    wide = [(d * (k - 1) + 1) // 2 for d, k in zip(dilation, window, strict=True)]
    if padding != "same" and any(max(pair) > w for pair, w in zip(padding, wide, strict=True)):
        x, padding = r.call("pad", x, ((0, 0), (0, 0), *padding), value=-np.inf), 0

    def make():
        cls = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[rank]
        return cls(window, stride, padding, bool(node.attributes.get("ceil_mode", 0)), dilation=dilation)

    return r.layer(node.outputs[0], node.name or node.kind, make, {}, x)


@reads("AveragePool")
def avg_pool(r, node, x):
    _need_tensor(r, node, x)
    rank, window = len(x.shape) - 2, tuple(node.attributes["kernel_shape"])
    stride, dilation, padding = windows(r, node, rank)
    if any(d > 1 for d in dilation):
        raise r.refuse(node, "averages over dilated windows")
    counted = bool(node.attributes.get("count_include_pad", 0))

    def make():
        cls = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[rank]
        return cls(window, stride, padding, bool(node.attributes.get("ceil_mode", 0)), count_include_pad=counted)

    return r.layer(node.outputs[0], node.name or node.kind, make, {}, x)


def over_space(name: str):
    return lambda r, node, x: r.call(name, x, axis=tuple(range(2, len(x.shape))), keepdims=True)


# -- normalization


@reads("BatchNormalization")
def batch_norm(r, node, x, scale, offset, mean, variance):
    epsilon = node.attributes.get("epsilon", 1e-5)
    if node.attributes.get("training_mode"):
        raise r.refuse(node, "is in training mode, and LabDL imports evaluation mode only")
    if not (isinstance(x, Spec) and are_weights(r, scale, offset, mean, variance)):
        mean, variance = (
            dataclasses.replace(v, weight="") if isinstance(v, KnownValue) else v for v in (mean, variance)
        )
        return r.call("batch_norm", x, scale, offset, mean, variance, epsilon=epsilon)
    values = arrays_by_name(gamma=scale, beta=offset, moving_mean=mean, moving_variance=variance)

    def make():  # ONNX's momentum is the share that stays, LabDL's the share that changes
        return nn.BatchNorm(round(1 - node.attributes.get("momentum", 0.9), 7), epsilon)

    return r.layer(key(node, scale, offset, mean, variance), layer_path(node, scale), make, values, x)


@reads("LayerNormalization")
def layer_norm(r, node, x, scale, offset=None):
    axis = node.attributes.get("axis", -1)
    axes = -axis if axis < 0 else len(x.shape) - axis
    epsilon = node.attributes.get("epsilon", 1e-5)
    if isinstance(x, Spec) and are_weights(r, scale, offset) and scale.ndim == axes and 0 < axes < len(x.shape):
        return r.layer(
            key(node, scale, offset),
            layer_path(node, scale),
            lambda: nn.LayerNorm(axes=axes, epsilon=epsilon, use_bias=offset is not None),
            arrays_by_name(gamma=scale, beta=offset),
            x,
        )
    if scale.ndim != axes:
        raise r.refuse(node, "has a scale of other axes than it normalizes")
    offset = r.call("zeros_like", scale) if offset is None else offset
    return r.call("layer_norm", x, scale, offset, epsilon)


@reads("RMSNormalization")
def rms_norm(r, node, x, scale):
    if node.attributes.get("axis", -1) not in (-1, len(x.shape) - 1):
        raise r.refuse(node, "normalizes several axes")
    return r.call("rms_norm", x, scale, node.attributes.get("epsilon", 1e-5))


@reads("InstanceNormalization")
def instance_norm(r, node, x, scale, offset):
    return r.call("instance_norm", x, scale, offset, epsilon=node.attributes.get("epsilon", 1e-5))


@reads("GroupNormalization")
def group_norm(r, node, x, scale, offset):
    groups = node.attributes["num_groups"]
    if node.opset < 21 and scale.shape != (x.shape[1],):
        scale, offset = (r.call("repeat", v, x.shape[1] // groups, axis=0) for v in (scale, offset))
    return r.call("group_norm", x, groups, scale, offset, epsilon=node.attributes.get("epsilon", 1e-5))


@reads("LRN")
def local_response(r, node, x):
    a = node.attributes
    if a["size"] % 2 == 0:
        raise r.refuse(node, "centers an even number of channels differently from LabDL")
    return r.call(
        "local_response_norm", x, a["size"], alpha=a.get("alpha", 1e-4), beta=a.get("beta", 0.75), k=a.get("bias", 1.0)
    )


reads("GlobalAveragePool")(over_space("mean"))
reads("GlobalMaxPool")(over_space("max"))
