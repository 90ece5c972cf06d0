"""Layers of a model that exported source writes as the framework's own, with their parameters."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from labdl import nn
from labdl.graph import GraphModule
from labdl.graph.analysis.check import check
from labdl.graph.graph import Edge
from labdl.graph.node import outputs_of
from labdl.interop.weights import layer_mapping, layer_table
from labdl.nn.module import Module
from labdl.nn.native import branch_of
from labdl.saving.source_calls import FrameworkCall, framework_call
from labdl.spec import FLOATS, Spec

_BATCH, _UNKNOWN = 2, 12  # sizes of what is computed for a comparison


class LayerSource(NamedTuple):
    """A layer as a call of a framework's class, and its arrays."""

    call: FrameworkCall
    arrays: list[tuple[str, str, tuple[int, ...] | None]]
    """The name in the framework, the key of the parameter, and the order of its axes there."""
    zeros: list[tuple[str, str]]
    """Arrays of zeros: the name in the framework, and the key of a parameter of the same shape."""

    def values(self, parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays of the framework's layer, from saved parameters."""
        arrays = {}
        for name, key, axes in self.arrays:
            value = parameters[key]
            arrays[name] = np.ascontiguousarray(value if axes is None else value.transpose(axes))
        return arrays | {name: np.zeros_like(parameters[key]) for name, key in self.zeros}


def layer_sources(model: GraphModule, backend: Any) -> dict[str, LayerSource]:
    """For the layers of a built model that are called once, of one input and for one output: their source, by path."""
    graph = model.graph
    specs, outputs = check(graph).specs, graph.outputs()
    shared = {node.shares for node in graph.nodes.values() if node.shares}
    used: dict[str, set[str]] = {}
    incoming: dict[str, list[Edge]] = {}
    for edge in graph.edges.values():
        used.setdefault(edge.source, set()).add(edge.source_port)
        incoming.setdefault(edge.target, []).append(edge)
    sources = {}
    modules = dict(model.named_modules())
    for node_id, node in graph.nodes.items():
        layer = modules.get(node.name)
        edges = incoming.get(node_id, [])
        if layer is None or node.shares or node_id in shared or len(edges) != 1:
            continue
        if used.get(node_id, set()) - {outputs_of(node)[0]} or (node_id in outputs and len(outputs_of(node)) > 1):
            continue
        spec = specs.get(edges[0].source, {}).get(edges[0].source_port)
        source = None if spec is None else _layer_source(backend, node.name, layer, spec)
        if source is not None:
            sources[node.name] = source
    names = {node.name for node in graph.nodes.values()}
    for path, layer in modules.items():
        if path not in names and type(layer) in (
            nn.Linear,
            nn.LayerNorm,
        ):  # whose parameters tell the shape of the input
            first = next(iter(layer._parameters.values()), None)
            if first is not None:
                sizes = first.shape[:1] if isinstance(layer, nn.Linear) else first.shape
                source = _layer_source(backend, path, layer, Spec((None, *sizes)))
                sources |= {} if source is None else {path: source}
    return sources


def _layer_source(backend: Any, path: str, layer: Module, spec) -> LayerSource | None:
    parameters = layer._parameters
    if layer._modules or any(p.dtype != "float32" for p in parameters.values()):
        return None
    call = framework_call(backend.name, layer, spec)
    if call is None:
        return None
    here = layer_mapping(layer_table(backend.name), branch_of(layer))
    arrays, zeros, covered = [], [], set()
    for mapping in here.mappings:
        if not mapping.own:
            continue
        if len(mapping.own) != 1 or any("/" in name for name in mapping.native):
            return None
        own = mapping.own[0]
        covered.add(own)
        if not mapping.direct and len(mapping.native) != 2:
            return None
        arrays.append((mapping.native[0], f"{path}/{own}:0", _axes(parameters[own], mapping.axes)))
        zeros += [(name, f"{path}/{own}:0") for name in mapping.native[1:]]
    if covered != set(parameters) or here.parts:
        return None
    source = LayerSource(call, arrays, zeros)
    return source if _computes_the_same(backend, path, layer, source, spec) else None


def _computes_the_same(backend: Any, path: str, layer: Module, source: LayerSource, spec: Spec) -> bool:
    """Whether the framework's layer takes its arguments, and gives the same in evaluation and training.

    Classes refuse some values of arguments that others of the framework take, which no table tells. The statistics that
    training moves show in the second evaluation; of results of chance the shapes are compared.
    """
    rng = np.random.default_rng(0)
    shape = [(_BATCH if axis == 0 else _UNKNOWN) if n is None else n for axis, n in enumerate(spec.shape)]
    x = backend.tensor((rng.normal(size=shape) if spec.dtype in FLOATS else np.ones(shape)).astype(spec.dtype))
    module, _, word = source.call.name.rpartition(".")
    parameters = {f"{path}/{key}": value for key, value in layer.state_dict().items()}

    def result(value):
        return backend.to_numpy(value[0] if isinstance(value, list | tuple) else value)

    # frameworks refuse arguments by errors of any class
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # about the framework's own calls
        native = getattr(importlib.import_module(module), word)(*source.call.args, **source.call.kwargs)
        backend.SOURCE["fill"](native, **source.values(parameters))
        for training in (False, True, False):
            layer.train(training)
            actual, expected = result(backend.native_call(native, training, [x])), result(layer(x))
            if actual.shape != expected.shape or not (
                np.allclose(actual, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
                or (training and not layer._parameters and not np.array_equal(expected, result(layer(x))))
            ):
                return False
        return True
    return False


def _axes(parameter: Any, axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The order of the axes of a saved array in the framework."""
    if parameter.standard is None:
        return axes
    back = tuple(int(a) for a in np.argsort(parameter.standard))
    order = back if axes is None else tuple(back[a] for a in axes)
    return None if order == tuple(range(len(order))) else order
