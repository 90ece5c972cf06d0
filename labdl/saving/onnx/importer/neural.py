"""ONNX readers of convolutions, products, normalization and pooling; layers where the file has their weights."""

from __future__ import annotations

import dataclasses

import numpy as np

from labdl import nn
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import Spec, show


def are_weights(r, *values) -> bool:
    """True when these can be the weights of a layer: arrays of the file, in the dtype of layers.

    Some programs store weights as constants; LabDL itself does not.
    """
    return all(
        v is None or (isinstance(v, KnownValue) and v.dtype == "float32" and (v.weight or r.file.foreign))
        for v in values
    )


def with_size(r, x, axis: int, size: int):
    """A tensor whose size on an axis is that of the weights, where the file does not say it."""
    axis %= len(x.shape)
    if x.shape[axis] is not None:
        return x
    return r.call("reshape_with", [x], tuple(size if a == axis else n or (0, a) for a, n in enumerate(x.shape)))


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


def same_pads(sizes, window, stride, dilation, *, lower: bool) -> tuple[tuple[int, int], ...]:
    """The pads of each axis with which there are as many windows as strides in it."""
    pads = []
    for n, k, s, d in zip(sizes, window, stride, dilation, strict=True):
        total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
        less, more = total // 2, total - total // 2
        pads.append((more, less) if lower else (less, more))
    return tuple(pads)


def windows(r, node, rank: int, x, window):
    """Stride, dilation and padding, a pair per axis."""
    a = node.attributes
    stride, dilation = (tuple(a.get(word, [1] * rank)) for word in ("strides", "dilations"))
    pads = a.get("pads", [0] * 2 * rank)
    same = a.get("auto_pad", "NOTSET")
    if same == "SAME_UPPER":
        return stride, dilation, "same"
    if same == "SAME_LOWER":
        if None in x.shape[2:]:
            raise r.refuse(node, "pads axes of unknown size with the odd element at the start (auto_pad SAME_LOWER)")
        return stride, dilation, same_pads(x.shape[2:], window, stride, dilation, lower=True)
    if same == "VALID":
        pads = [0] * 2 * rank
    if min(pads, default=0) < 0:
        raise r.refuse(node, "has negative pads")
    return stride, dilation, tuple(zip(pads[:rank], pads[rank:], strict=True))


def _need_sizes(r, node, kernel) -> None:
    if None in kernel.shape:
        raise r.refuse(node, f"has weights of shape {show(kernel.shape)}, and LabDL needs their sizes at import")


@reads("Conv")
def convolution(r, node, x, kernel, bias=None):
    rank = len(kernel.shape) - 2
    stride, dilation, padding = windows(r, node, rank, x, kernel.shape[2:])
    groups = node.attributes.get("group", 1)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    _need_sizes(r, node, kernel)
    if not (isinstance(x, Spec) and are_weights(r, kernel, bias)):
        return r.call(f"conv{rank}d", x, kernel, bias, **options)

    def make():
        cls = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[rank]
        in_channels = kernel.shape[1] * groups if x.shape[1] is None else None
        return cls(kernel.shape[0], kernel.shape[2:], use_bias=bias is not None, in_channels=in_channels, **options)

    return r.layer(key(node, kernel, bias), layer_path(node, kernel), make, arrays_by_name(kernel=kernel, bias=bias), x)


@reads("DeformConv")
def deformable_convolution(r, node, x, kernel, offset, bias=None, mask=None):
    stride, dilation, padding = windows(r, node, 2, x, kernel.shape[2:])
    return r.call("deform_conv2d", x, offset, kernel, bias, mask, stride=stride, padding=padding, dilation=dilation)


def _transposed_windows(r, node, rank: int, x, window):
    """Stride, dilation and padding of a transposed convolution, whose pads may follow from the sizes of its result."""
    a = node.attributes
    same, target = a.get("auto_pad", "NOTSET"), a.get("output_shape")
    if target is None and same in ("NOTSET", "VALID"):
        return windows(r, node, rank, x, window)
    stride, dilation = (tuple(a.get(word, [1] * rank)) for word in ("strides", "dilations"))
    if None in x.shape[2:]:
        raise r.refuse(node, "infers its pads from sizes that are unknown (output_shape or auto_pad): set pads instead")
    extra, pads = a.get("output_padding", [0] * rank), []
    target = target[-rank:] if target else [n * s for n, s in zip(x.shape[2:], stride, strict=True)]
    for n, m, k, s, d, e in zip(x.shape[2:], target, window, stride, dilation, extra, strict=True):
        total = s * (n - 1) + e + d * (k - 1) + 1 - m
        if total < 0:
            raise r.refuse(node, "has an output_shape that is larger than its windows reach")
        half = total // 2
        pads.append((half, total - half) if same == "SAME_UPPER" else (total - half, half))
    return stride, dilation, tuple(pads)


@reads("ConvTranspose")
def conv_transpose(r, node, x, kernel, bias=None):
    rank = len(kernel.shape) - 2
    _need_sizes(r, node, kernel)
    stride, dilation, padding = _transposed_windows(r, node, rank, x, kernel.shape[2:])
    groups, extra = node.attributes.get("group", 1), tuple(node.attributes.get("output_padding", [0] * rank))
    options = {"stride": stride, "padding": padding, "output_padding": extra, "dilation": dilation, "groups": groups}
    if not (isinstance(x, Spec) and are_weights(r, kernel, bias)):
        return r.call(f"conv_transpose{rank}d", x, kernel, bias, **options)

    def make():
        cls = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}[rank]
        in_channels = kernel.shape[0] if x.shape[1] is None else None
        return cls(
            kernel.shape[1] * groups, kernel.shape[2:], use_bias=bias is not None, in_channels=in_channels, **options
        )

    return r.layer(key(node, kernel, bias), layer_path(node, kernel), make, arrays_by_name(kernel=kernel, bias=bias), x)


# -- reductions over space


def over_space(name: str):
    return lambda r, node, x: r.call(name, x, axis=tuple(range(2, len(x.shape))), keepdims=True)


# -- normalization


def _batch_statistics(r, node, x, scale, offset, mean, variance):
    """Normalization by the statistics of the batch, and the running statistics after it."""
    axes, stay = (0, *range(2, len(x.shape))), node.attributes.get("momentum", 0.9)
    own = [r.call(name, x, axis=axes) for name in ("mean", "var")]
    result = r.call("batch_norm", x, scale, offset, *own, epsilon=node.attributes.get("epsilon", 1e-5))
    running = [
        r.call("add", r.call("multiply", old, stay), r.call("multiply", new, 1 - stay))
        for old, new in zip((mean, variance), own, strict=True)
    ]
    return [result, *running]


@reads("BatchNormalization")
def batch_norm(r, node, x, scale, offset, mean, variance):
    epsilon = node.attributes.get("epsilon", 1e-5)
    if node.attributes.get("training_mode"):
        return _batch_statistics(r, node, x, scale, offset, mean, variance)
    if not (isinstance(x, Spec) and are_weights(r, scale, offset, mean, variance)):
        mean, variance = (
            dataclasses.replace(v, weight="") if isinstance(v, KnownValue) else v for v in (mean, variance)
        )
        return r.call("batch_norm", x, scale, offset, mean, variance, epsilon=epsilon)
    values = arrays_by_name(gamma=scale, beta=offset, moving_mean=mean, moving_variance=variance)

    def make():  # ONNX's momentum is the share that stays, LabDL's the share that changes
        return nn.BatchNorm(round(1 - node.attributes.get("momentum", 0.9), 7), epsilon)

    x = with_size(r, x, 1, scale.shape[0])
    return r.layer(key(node, scale, offset, mean, variance), layer_path(node, scale), make, values, x)


@reads("LayerNormalization")
def layer_norm(r, node, x, scale, offset=None):
    axis = node.attributes.get("axis", -1)
    axes = -axis if axis < 0 else len(x.shape) - axis
    epsilon = node.attributes.get("epsilon", 1e-5)
    if (
        isinstance(x, Spec)
        and are_weights(r, scale, offset)
        and scale.shape == x.shape[-axes:]
        and 0 < axes < len(x.shape)
    ):
        return r.layer(
            key(node, scale, offset),
            layer_path(node, scale),
            lambda: nn.LayerNorm(axes=axes, epsilon=epsilon, use_bias=offset is not None),
            arrays_by_name(gamma=scale, beta=offset),
            x,
        )
    if tuple(scale.shape) != tuple(x.shape[len(x.shape) - axes :]):
        raise r.refuse(node, "has a scale of another shape than the axes that it normalizes")  # its definition is read
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
