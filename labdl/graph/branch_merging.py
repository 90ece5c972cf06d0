"""Merging of parallel convolutions whose results are added into one convolution, as in RepVGG's blocks (Ding et al., 2021)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from labdl import nn
from labdl.graph.graph import PARAMETER, Graph, Node
from labdl.nn.blocks import ConvNormAct
from labdl.nn.module import Module
from labdl.spec import per_axis

_NORMS = ("BatchNorm", "SyncBatchNorm")
_SUM = "ops.add"


@dataclasses.dataclass(frozen=True)
class Merger:
    """A sum of branches: the node of the sum, the nodes that it replaces, and the convolution that stays with its new values.

    ``values`` are the kernel (height, width, in, out) and the bias (out) of the whole, ``source`` is the node and the port
    that all branches read.
    """

    total: str
    replaced: frozenset[str]
    node_id: str
    source: tuple[str, str]
    values: dict[str, np.ndarray]


def find_mergers(graph: Graph, layer_at: Callable[[str], Module]) -> Iterator[Merger]:
    """The sums of a graph whose terms are 2-D convolutions, or batch normalizations, of one tensor, with equal results.

    ``layer_at`` gives the layer of a name. Kernels are odd and padded to keep the size at stride 1; strides are equal.
    """
    incoming = graph.incoming()
    uses: dict[str, list[str]] = {}
    for edge in graph.edges.values():
        uses.setdefault(edge.source, []).append(edge.target)
    shared = {node.shares for node in graph.nodes.values()} | {i for i, node in graph.nodes.items() if node.shares}
    tied = {path.removesuffix(PARAMETER).rpartition("/")[0] for pair in graph.ties.items() for path in pair}

    def terms(node_id: str, sums: set[str]) -> Iterator[str]:
        sums.add(node_id)
        for edges in incoming[node_id].values():
            for _, edge in edges:
                inner = graph.nodes[edge.source].type == _SUM and len(uses[edge.source]) == 1
                yield from terms(edge.source, sums) if inner else (edge.source,)

    for node_id, node in graph.nodes.items():
        targets = uses.get(node_id, [])
        is_inner = len(targets) == 1 and graph.nodes[targets[0]].type == _SUM
        if node.type != _SUM or is_inner or not targets:
            continue
        sums: set[str] = set()
        branches = list(terms(node_id, sums))
        own = [graph.nodes[each] for each in branches]
        if any(len(uses[each]) > 1 or each in shared for each in branches) or any(part.name in tied for part in own):
            continue
        entering = [edge for each in branches for edges in incoming[each].values() for _, edge in edges]
        sources = {(edge.source, edge.source_port) for edge in entering}
        if len(branches) < 2 or len(sources) != 1:
            continue
        merged = _merge(own, layer_at)
        if merged is not None:
            at, values = merged
            yield Merger(node_id, frozenset({*sums, *branches} - {branches[at]}), branches[at], sources.pop(), values)


def apply_merger(graph: Graph, merger: Merger, params: Mapping[str, Any]) -> Graph:
    """The graph with one convolution, which has these settings, in the place of the branches and their sum."""
    nodes = {key: node for key, node in graph.nodes.items() if key not in merger.replaced}
    nodes[merger.node_id] = dataclasses.replace(nodes[merger.node_id], params=params)
    edges = {}
    for key, edge in graph.edges.items():
        if edge.target in merger.replaced:
            continue
        if edge.source == merger.total:
            edge = dataclasses.replace(edge, source=merger.node_id, source_port="output")
        edges[key] = edge
    positions = {key: place for key, place in graph.positions.items() if key in nodes}
    return dataclasses.replace(graph, nodes=nodes, edges=edges, positions=positions)


@dataclasses.dataclass(frozen=True)
class _Kernel:
    """A convolution as numbers: kernel (height, width, in, out) and bias, and what has to be equal to add two of them."""

    values: np.ndarray
    bias: np.ndarray | float
    stride: tuple[int, ...]
    groups: int
    data_format: str


def _merge(nodes: list[Node], layer_at: Callable[[str], Module]) -> tuple[int, dict[str, np.ndarray]] | None:
    """The place of the term with the largest kernel, and the kernel and the bias of all terms; None if they do not merge."""
    if not all(node.type in ("ConvNormAct", "Conv2d", *_NORMS) for node in nodes):
        return None
    parts: list[Any] = [layer_at(node.name) for node in nodes]
    if any("forward" in module.__dict__ for part in parts for module in part.modules()):  # hooks
        return None
    kernels = {at: _kernel(part) for at, part in enumerate(parts) if nodes[at].type not in _NORMS}
    norms = [part for node, part in zip(nodes, parts, strict=True) if node.type in _NORMS]
    own = [kernel for kernel in kernels.values() if kernel is not None]
    if not own or len(own) < len(kernels):
        return None
    keeper = max(kernels, key=lambda at: own[list(kernels).index(at)].values.size)
    total = own[list(kernels).index(keeper)]
    height, width, entering, leaving = total.values.shape
    if any(
        (each.stride, each.groups, each.data_format) != (total.stride, total.groups, total.data_format) for each in own
    ):
        return None
    if any(n > m for each in own for n, m in zip(each.values.shape, total.values.shape, strict=True)):
        return None
    keeps_shape = total.stride == (1, 1) and entering * total.groups == leaving
    if norms and not (keeps_shape and all(norm.data_format == total.data_format for norm in norms)):
        return None
    kernel, bias = np.zeros(total.values.shape), np.zeros(leaving)
    for each in own:
        top, left = ((n - m) // 2 for n, m in zip((height, width), each.values.shape[:2], strict=True))
        kernel[top : height - top, left : width - left] += each.values
        bias += each.bias
    outputs = np.arange(leaving)
    for norm in norms:
        state = {name.removesuffix(":0"): value.astype("float64") for name, value in norm.state_dict().items()}
        scale = state.get("gamma", 1.0) / np.sqrt(state["moving_variance"] + norm.epsilon)
        kernel[height // 2, width // 2, outputs % entering, outputs] += scale
        bias += state.get("beta", 0.0) - state["moving_mean"] * scale
    return keeper, {"kernel:0": kernel, "bias:0": bias}


def _kernel(part: Any) -> _Kernel | None:
    """The numbers of a 2-D convolution whose result is linear and whose kernel stands in the middle of what it reads."""
    if isinstance(part, ConvNormAct):
        if part.norm is not None or part.activation is not None:
            return None
        part = part.conv
    if not isinstance(part, nn.Conv2d) or part.weight_norm is not None or part.spectral_norm is not None:
        return None
    state, stride = part.state_dict(), per_axis(part.stride, 2, "stride")
    window = state["kernel:0"].shape[:2]
    if (
        part.padding_mode != "zeros"
        or any(n % 2 == 0 for n in window)
        or per_axis(part.dilation, 2, "dilation") != (1, 1)
    ):
        return None
    keeps_size = part.padding == "same" and stride == (1, 1)
    if not keeps_size and _pads(part.padding) != tuple(n // 2 for n in window):
        return None
    values, bias = state["kernel:0"].astype("float64"), state.get("bias:0", 0.0)
    return _Kernel(values, bias, stride, part.groups, part.data_format)


def _pads(padding: Any) -> tuple[int, ...] | None:
    """The padding of both axes where it is the same on both sides; None otherwise."""
    if padding == "valid":
        return (0, 0)
    if isinstance(padding, int):
        return (padding, padding)
    if isinstance(padding, tuple | list) and len(padding) == 2 and all(isinstance(n, int) for n in padding):
        return tuple(padding)
    return None
