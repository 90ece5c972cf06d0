"""Fusion of batch normalizations into the layers before them, for a model in deployment; see `Module.fuse`."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from labdl import nn
from labdl.graph.branch_merging import apply_merger, find_mergers
from labdl.graph.graph import PARAMETER, Edge, Graph, Node
from labdl.graph.module import GraphModule
from labdl.graph.tracing.trace import trace
from labdl.nn import build
from labdl.nn.blocks import ConvNormAct
from labdl.nn.module import Module
from labdl.spec import Spec

_NORMS = ("BatchNorm", "SyncBatchNorm")
_TRANSPOSED = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
_LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "DepthwiseConv1d", "DepthwiseConv2d", *_TRANSPOSED)


def fuse(model: Module) -> Module:
    """A copy of a built model in evaluation mode, without the batch normalizations that follow a layer directly.

    Sums of parallel convolutions become one; the copy is then a module of the graph.
    """
    model._need_build()
    fused = copy.deepcopy(model).eval()
    graph = trace(fused)
    specs, incoming = graph.check()[0], graph.incoming()
    layers: dict[str, Module] = {}
    nodes = dict(graph.nodes)
    for node_id, norm_id in _pairs(graph, fused):
        node, output = graph.nodes[node_id], specs[node_id]["output"]
        layer: Any = fused.get_module(node.name)
        settings: dict[str, Any] = {"use_bias": True}
        if isinstance(layer, ConvNormAct):
            if any(_has_hooks(part) for part in layer.modules()):
                continue
            settings["normalization"] = None
            state = {f"conv/{key}": value for key, value in _fold(layer.conv, layer.norm).items()}
        else:
            path = graph.nodes[norm_id].name
            norm: Any = fused.get_module(path)
            if not _can_fold(layer, norm, output):
                continue
            state = _fold(layer, norm)
            layers[path], nodes[norm_id] = _build(nn.Identity(), output, fused, {}), Node("Identity", path)
        edge = next(iter(incoming[node_id].values()))[0][1]
        entering = specs[edge.source][edge.source_port]
        layers[node.name] = _build(dataclasses.replace(layer, **settings), entering, fused, state)
        nodes[node_id] = dataclasses.replace(node, params={**node.params, **settings})
    graph, has_branches = _merge_branches(dataclasses.replace(graph, nodes=nodes), fused, layers)
    if has_branches or isinstance(fused, GraphModule):
        return _from_graph(graph, fused, layers)
    for path, layer in layers.items():
        fused.add_module(path, layer)
    return fused.eval()


def _merge_branches(graph: Graph, model: Module, layers: dict[str, Module]) -> tuple[Graph, bool]:
    """The graph with one convolution for each sum of parallel ones, and whether there was any; ``layers`` gets the new ones."""
    nested = tuple(f"{path}/" for path, part in model.named_modules() if path and isinstance(part, GraphModule))
    specs = graph.check()[0]

    def layer_at(name: str) -> Module:
        return layers[name] if name in layers else model.get_module(name)

    mergers = [each for each in find_mergers(graph, layer_at) if not graph.nodes[each.node_id].name.startswith(nested)]
    for merger in mergers:
        node = graph.nodes[merger.node_id]
        layer: Any = layer_at(node.name)
        prefix = "conv/" if isinstance(layer, ConvNormAct) else ""
        state = {f"{prefix}{key}": value for key, value in merger.values.items()}
        source, port = merger.source
        for each in merger.replaced:
            layers.pop(graph.nodes[each].name, None)
        layers[node.name] = _build(dataclasses.replace(layer, use_bias=True), specs[source][port], model, state)
        graph = apply_merger(graph, merger, {**node.params, "use_bias": True})
    return graph, bool(mergers)


def _pairs(graph: Graph, model: Module) -> Iterator[tuple[str, str]]:
    """Layers and the normalizations that alone take their outputs; a block that has its own stands twice.

    Both are used once and have parameters of their own. What is inside of a module that has a graph stays as that graph says.
    """
    shared = {node.shares for node in graph.nodes.values()} | {i for i, node in graph.nodes.items() if node.shares}
    tied = {path.removesuffix(PARAMETER).rpartition("/")[0] for pair in graph.ties.items() for path in pair}
    nested = tuple(f"{path}/" for path, part in model.named_modules() if path and isinstance(part, GraphModule))
    leaving: dict[str, list[Edge]] = {}
    for edge in graph.edges.values():
        leaving.setdefault(edge.source, []).append(edge)

    def is_own(node_id: str) -> bool:
        name = graph.nodes[node_id].name
        return node_id not in shared and name not in tied and not name.startswith(nested)

    for node_id, node in graph.nodes.items():
        edges = leaving.get(node_id, [])
        if not is_own(node_id) or any(edge.source_port.endswith(PARAMETER) for edge in edges):
            continue
        if node.type == "ConvNormAct":
            if node.params.get("normalization", "batch") == "batch":
                yield node_id, node_id
        elif node.type in _LAYERS and len(edges) == 1:
            target = edges[0].target
            if graph.nodes[target].type in _NORMS and is_own(target):
                yield node_id, target


def _can_fold(layer: Any, norm: Any, output: Spec) -> bool:
    """Whether the normalization is of the channels of this layer's output, and its kernel is a plain parameter."""
    if getattr(layer, "weight_norm", None) is not None or getattr(layer, "spectral_norm", None) is not None:
        return False
    if _has_hooks(layer) or _has_hooks(norm):
        return False
    if isinstance(layer, nn.Linear):
        return output.ndim == 2 or norm.data_format == "channels_last"
    return layer.data_format == norm.data_format


def _has_hooks(layer: Module) -> bool:
    """Whether a hook, or a gradient of the user's own, replaces the forward of this layer."""
    return "forward" in layer.__dict__


def _fold(layer: Any, norm: Any) -> dict[str, np.ndarray]:
    """Kernel and bias of a layer that computes what this layer and the normalization after it compute."""
    kernel, bias = (_values(layer, key) for key in ("kernel", "bias"))
    mean, variance, gamma, beta = (_values(norm, key) for key in ("moving_mean", "moving_variance", "gamma", "beta"))
    scale = (1.0 if gamma is None else gamma) / np.sqrt(variance + norm.epsilon)
    shift = (0.0 if beta is None else beta) + ((0.0 if bias is None else bias) - mean) * scale
    factors = scale
    if type(layer).__name__ in _TRANSPOSED:  # (window..., in, out / groups): each group of inputs has its own outputs
        factors = np.repeat(scale.reshape(layer.groups, -1), kernel.shape[-2] // layer.groups, axis=0)
    return {"kernel:0": kernel * factors, "bias:0": shift}


def _values(layer: Module, key: str) -> Any:
    return layer.state_dict()[f"{key}:0"].astype("float64") if key in layer._parameters else None


def _build(layer: Module, spec: Spec, model: Module, state: dict[str, np.ndarray]) -> Module:
    build.build(layer, (spec,), model.backend, None, {}, values=lambda _: state)
    return layer


def _from_graph(graph: Graph, former: GraphModule, layers: dict[str, Module]) -> Module:
    """The model of a changed graph, with the values of the former one and of the layers that replace some of its own."""
    state = {
        key: value for key, value in former.state_dict().items() if not key.startswith(tuple(f"{p}/" for p in layers))
    }
    for path, layer in layers.items():
        state.update({f"{path}/{key}": value for key, value in layer.state_dict().items()})
    model = graph.to_module()
    build.build(model, former.input_specs, former.backend, None, former._input_options, values=lambda _: state)
    model.__dict__.update(
        class_names=former.class_names, preprocessing=former.preprocessing, task_name=former.task_name
    )
    if (form := getattr(former, "detector_form", None)) is not None:
        model.__dict__["detector_form"] = form
    return model.eval()
