"""Tracing: run a model's forward once on symbols to get its graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from labdl.errors import ModelError
from labdl.graph.graph import Graph
from labdl.graph.tracing import optional
from labdl.graph.tracing.recorder import Recorder, settings_of
from labdl.nn.lora import adapted_blocks
from labdl.nn.module import Module, observer
from labdl.nn.schema import LAYERS
from labdl.nn.signature import input_names, place_inputs
from labdl.spec import Spec, as_spec


def trace(
    model: Module, *shapes, name: str | None = None, level: Literal["layers", "operators"] = "layers", **options
) -> Graph:
    """The graph of a model: ``labdl.trace(model, (None, 1, 8, 8))``; a built model knows its shapes.

    Registered layers become nodes under their path, or with ``level="operators"`` their operators and
    weights; operators used in a forward become nodes "ops.…". Modules with children become groups. Inputs have the names
    of the forward's arguments (``input`` for x) and keep their places; ``options`` are further ones by name, as in
    `Module.build`. An argument with a default stays optional where the graph computes the same without it. Raises ModelError
    for what a graph cannot hold.
    """
    graph = getattr(model, "graph", None)
    if isinstance(graph, Graph) and level == "layers" and not adapted_blocks(model):
        return _with_inputs(graph, tuple(s if s is None else as_spec(s) for s in shapes))
    specs, named = place_inputs(model, shapes, options)
    if not specs and not named:
        specs, named = model.input_specs, model._input_options

    def record_with(specs: Sequence[Spec | None], named: Mapping[str, Any]) -> Graph:
        return record(model, specs, Recorder(model, level), name, named)

    if level == "layers":
        return optional.mark_optional(model, specs, named, record_with)
    return dataclasses.replace(record_with(specs, named), ties={})


def branching_inputs(model: Module, graph: Graph) -> list[str]:
    """The arguments that a built model may be called without but its graph may not: it holds one way through a forward."""

    def record_with(specs: Sequence[Spec | None], named: Mapping[str, Any]) -> Graph:
        return record(model, specs, Recorder(model, "layers"), named=named)

    return optional.branching_inputs(model, graph, record_with)


def record(
    model: Module,
    specs: Sequence[Spec | None],
    recorder: Recorder,
    name: str | None = None,
    named: Mapping[str, Any] | None = None,
) -> Graph:
    """Run a model once with a recorder, and return the graph."""
    token = observer.set(recorder)
    try:
        symbols = [recorder.input(*pair) for pair in zip(specs, input_names(model, len(specs)), strict=True)]
        options = dict(named or {})
        rest = [a for a in model._arguments() if a.by_name or a.name not in input_names(model, len(specs))]
        for argument in rest:
            value = options.get(argument.name)
            if isinstance(value, Spec):
                options[argument.name] = recorder.input(value, argument.name)
            elif not argument.by_name:
                recorder.skipped.append(argument.name)  # its place stays, with a setting or its default in the graph
        recorder.finish(model._shapes_of(*symbols, **options))
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, ModelError) else ModelError(f"{type(model).__name__}: {error}") from error
    finally:
        observer.reset(token)
        recorder.restore()
    ties = {
        "/".join(filter(None, (path, a))): "/".join(filter(None, (path, b)))
        for path, module in model.named_modules()
        for a, b in module._ties.items()
    }
    return Graph(recorder.nodes, recorder.edges, name or type(model).__name__, groups=recorder.groups, ties=ties)


def _with_inputs(graph: Graph, specs: tuple[Spec | None, ...]) -> Graph:
    if not specs:
        return graph
    inputs = graph.inputs()
    given = [s for s in specs if s is not None]
    if len(inputs) != len(given):
        raise ModelError(f"the graph {graph.name!r} has {len(inputs)} input(s), received {len(given)} shape(s)")
    nodes = {
        i: dataclasses.replace(graph.nodes[i], params={**_without_shape(graph.nodes[i].params), **settings_of(s)})
        for i, s in zip(inputs, given, strict=True)
    }
    return dataclasses.replace(graph, nodes={**graph.nodes, **nodes})


def _without_shape(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name not in ("shape", "dtype")}


def as_graph(value, *shapes) -> Graph:
    """A graph from a graph, a model, or graph data."""
    if isinstance(value, Graph):
        return value
    if isinstance(value, Module):
        return trace(value, *shapes)
    if isinstance(value, dict):
        return Graph.from_dict(value)
    raise TypeError(f"wanted a Graph, a Module or graph data, received {type(value).__name__}")


def parameter_prefix(model: Module, graph: Graph) -> str:
    """The prefix of a model's parameter names in its graph: the name of a layer that is a whole model, else ""."""
    own = [node.name for node in graph.nodes.values() if LAYERS.get(node.type) is type(model)]
    return f"{own[0]}/" if len(own) == 1 else ""
