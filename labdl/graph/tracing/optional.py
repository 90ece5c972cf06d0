"""Optional inputs of a trace: those without which the model computes what is left of its graph."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labdl.errors import ModelError
from labdl.graph.graph import Graph
from labdl.graph.inputs import equals_with, equals_without, graph_arguments
from labdl.nn.module import Module
from labdl.spec import Spec

_MOST = 4  # optional inputs of which every combination is compared; any others are required
Record = Callable[[Sequence[Spec | None], Mapping[str, Any]], Graph]


def mark_optional(model: Module, specs: Sequence[Spec | None], named: Mapping[str, Any], record: Record) -> Graph:
    """Record a model, and mark the inputs that its graph may be called without.

    A forward may do anything where an argument is None, so that is tried: the model is recorded without the argument, and the
    result must be the graph without the nodes that need it. A number as the default must leave the graph as it is.
    """
    graph = record(specs, named)
    defaults = {a.name: a.default for a in model._arguments() if a.optional}
    nodes, omissible = dict(graph.nodes), []
    for argument in graph_arguments(graph):
        default = defaults.get(argument.name, ...)
        if not argument.node or default is ...:
            continue
        if default is None:
            sets = [s for n in range(len(omissible) + 1) for s in itertools.combinations(omissible, n)]
            if len(omissible) < _MOST and all(
                _is_equal_without(graph, [*s, argument], specs, named, model, record) for s in sets
            ):
                omissible.append(argument)
                found: dict[str, Any] = {"optional": True}
            else:
                continue
        elif type(default) in (bool, int, float) and _takes_number(graph, argument, specs, named, model, record):
            found = {"optional": True, "default": default}
        else:
            continue
        node = nodes[argument.node]
        nodes[argument.node] = dataclasses.replace(node, params={**node.params, **found})
    return dataclasses.replace(graph, nodes=nodes)


def branching_inputs(model: Module, graph: Graph, record: Record) -> list[str]:
    """The arguments that a built model may be called without but its graph may not, since the forward branches on them."""
    needed = {a.name for a in graph_arguments(graph) if a.node and not a.optional}
    names = [a.name for a in model._arguments() if a.optional and a.name in needed]
    specs, named = model.input_specs, model._input_options
    return [name for name in names if _again(model, specs, named, record, {name: None}) is not None]


def _is_equal_without(graph, arguments, specs, named, model, record) -> bool:
    other = _again(model, specs, named, record, {a.name: None for a in arguments})
    return other is not None and equals_without(graph, [a.node for a in arguments], other)


def _takes_number(graph, argument, specs, named, model, record) -> bool:
    """True when the graph stays the same with a single number in place of an input."""
    dtype = graph.nodes[argument.node].params.get("dtype", "float32")
    other = _again(model, specs, named, record, {argument.name: Spec((), dtype)})
    return other is not None and equals_with(graph, other)


def _again(model: Module, specs, named, record: Record, changed: Mapping[str, Spec | None]) -> Graph | None:
    """The graph with other inputs, None where the forward does not accept them."""
    names = [a.name for a in model._arguments() if not a.by_name]
    placed = [changed.get(names[at], s) if at < len(names) else s for at, s in enumerate(specs)]
    options = {name: changed.get(name, value) for name, value in named.items()}
    try:
        return record(placed, options)
    except ModelError:  # such as `mask + 1` where mask is None
        return None
