"""ONNX readers of pooling: layers where LabDL has the windows, sums over windows of any form elsewhere."""

from __future__ import annotations

import math

import numpy as np

from labdl import nn
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.neural import same_pads, windows
from labdl.saving.onnx.importer.registry import reads
from labdl.spec import INTEGERS, Spec


def _need_tensor(r, node, x) -> None:
    if not isinstance(x, Spec):
        raise r.refuse(node, "pools a constant")


@reads("MaxPool")
def max_pool(r, node, x):
    _need_tensor(r, node, x)
    if x.dtype in INTEGERS:  # of 8 bits, which float32 holds
        return r.call("astype", max_pool(r, node, r.call("astype", x, "float32")), x.dtype)
    rank, window = len(x.shape) - 2, tuple(node.attributes["kernel_shape"])
    stride, dilation, padding = windows(r, node, rank, x, window)
    if len(node.outputs) > 1 and node.outputs[1]:
        return _max_pool_with_indices(r, node, x, window, stride, dilation, padding)
    wide = [(d * (k - 1) + 1) // 2 for d, k in zip(dilation, window, strict=True)]
    if padding != "same" and any(max(pair) > w for pair, w in zip(padding, wide, strict=True)):
        x, padding = r.call("pad", x, ((0, 0), (0, 0), *padding), value=-np.inf), 0

    def make():
        cls = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[rank]
        return cls(window, stride, padding, bool(node.attributes.get("ceil_mode", 0)), dilation=dilation)

    return r.layer(node.outputs[0], node.name or node.kind, make, {}, x)


def _max_pool_with_indices(r, node, x, window, stride, dilation, padding):
    """The largest elements and their positions among all elements of the tensor."""
    rank = len(window)
    if None in x.shape or padding == "same" or node.attributes.get("storage_order") or any(a != b for a, b in padding):
        raise r.refuse(node, "gives positions in tensors of unknown size, of unequal pads, or by columns")
    options = {"stride": stride, "padding": tuple(a for a, _ in padding), "dilation": dilation}
    options["ceil_mode"] = bool(node.attributes.get("ceil_mode", 0))
    values, indices = r.call(f"max_pool{rank}d_with_indices", x, window, **options)
    planes = np.arange(math.prod(x.shape[:2]), dtype="int64").reshape(*x.shape[:2], *(1,) * rank)
    return [values, r.call("add", r.call("astype", indices, "int64"), KnownValue(planes * math.prod(x.shape[2:])))]


@reads("MaxUnpool")
def max_unpool(r, node, x, indices, sizes=None):
    """Values at their positions in a tensor of zeros."""
    rank, a = len(x.shape) - 2, node.attributes
    window, pads = a["kernel_shape"], a.get("pads", [0] * 2 * rank)
    stride = a.get("strides", [1] * rank)
    if None in x.shape:
        raise r.refuse(node, "places values in a tensor of unknown size")
    own = [
        (n - 1) * s - pads[i] - pads[i + rank] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], stride, window, strict=True))
    ]
    shape = (*x.shape[:2], *own)
    if sizes is not None:
        if not isinstance(sizes, KnownValue):
            raise r.needs(node, sizes, "sizes")
        shape = tuple(int(n) for n in sizes.array)
    r.spend(shape)
    if shape[2:] != tuple(own):  # positions are those of the smaller tensor
        indices = _move_positions(r, indices, (*x.shape[:2], *own), shape)
    places, flat = r.call("reshape", indices, (-1, 1)), r.call("reshape", x, (-1,))
    whole = r.call("scatter_nd", r.call("astype", places, "int64"), flat, (math.prod(shape),))
    return r.call("reshape", whole, shape)


def _move_positions(r, indices, old: tuple[int, ...], new: tuple[int, ...]):
    """Positions in a tensor as those in one of other sizes."""
    rest, moved = indices, None
    for at in range(len(old)):
        step, wide = math.prod(old[at + 1 :]), math.prod(new[at + 1 :])
        place = r.call("floor_divide", rest, step)
        rest = r.call("subtract", rest, r.call("multiply", place, step))
        part = r.call("multiply", place, wide)
        moved = part if moved is None else r.call("add", moved, part)
    return moved


@reads("AveragePool")
def avg_pool(r, node, x):
    _need_tensor(r, node, x)
    rank, window = len(x.shape) - 2, tuple(node.attributes["kernel_shape"])
    stride, dilation, padding = windows(r, node, rank, x, window)
    counted, up = bool(node.attributes.get("count_include_pad", 0)), bool(node.attributes.get("ceil_mode", 0))
    fits = padding == "same" or all(max(pair) <= k // 2 for pair, k in zip(padding, window, strict=True))
    open_end = up and (padding == "same" or any(map(any, padding)))  # a last window may start in the padding
    if fits and not open_end and all(d == 1 for d in dilation) and not (counted and padding == "same"):

        def make():
            cls = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[rank]
            return cls(window, stride, padding, up, count_include_pad=counted)

        return r.layer(node.outputs[0], node.name or node.kind, make, {}, x)
    return sum_windows(r, node, x, mean=True)


@reads("LpPool")
def lp_pool(r, node, x):
    """The root of the sum of the powers of magnitudes in each window."""
    _need_tensor(r, node, x)
    power = float(node.attributes.get("p", 2))
    sums = sum_windows(r, node, r.call("pow", r.call("abs", x), power))
    return r.call("pow", sums, 1 / power)


def sum_windows(r, node, x, mean: bool = False):
    """The sums or means of windows with dilation, any padding, and a last window that may end outside.

    A sum over windows is a product with a matrix for each axis, of ones where a window has an element.
    """
    a, rank = node.attributes, len(x.shape) - 2
    window = tuple(a["kernel_shape"])
    stride, dilation, padding = windows(r, node, rank, x, window)
    if None in x.shape[2:]:
        raise r.refuse(node, "pools axes of unknown size with dilation, ceil_mode or wide pads")
    if padding == "same":
        padding = same_pads(x.shape[2:], window, stride, dilation, lower=False)
    dtype = x.dtype
    x = x if dtype in ("float32", "float64") else r.call("astype", x, "float32")
    for axis, (n, k, s, d, (before, after)) in enumerate(
        zip(x.shape[2:], window, stride, dilation, padding, strict=True), 2
    ):
        reach = d * (k - 1) + 1
        space = n + before + after - reach
        count = (-(-space // s) if a.get("ceil_mode") else space // s) + 1
        if a.get("ceil_mode") and (count - 1) * s >= n + before:  # a window must start before the padding at the end
            count -= 1
        r.spend((count, n))
        places = np.arange(count)[:, None] * s + np.arange(k) * d - before
        inside = (places >= 0) & (places < n)
        matrix = np.zeros((count, n))
        np.add.at(matrix, (np.nonzero(inside)[0], places[inside]), 1.0)
        if mean:
            share = inside if not a.get("count_include_pad") else places < n + after
            matrix /= np.maximum(share.sum(1, keepdims=True), 1)
        order = [i for i in range(len(x.shape)) if i != axis] + [axis]
        x = r.call("matmul", r.call("permute_dims", x, tuple(order)), KnownValue(matrix.T.astype(x.dtype)))
        x = r.call("permute_dims", x, tuple(order.index(i) for i in range(len(order))))
    return x if x.dtype == dtype else r.call("astype", x, dtype)
