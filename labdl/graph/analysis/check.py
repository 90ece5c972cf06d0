"""Shape inference over a graph: Specs of the outputs of each node, and a message for each problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from labdl.errors import ConfigError
from labdl.graph.graph import PARAMETER, Edge, Graph
from labdl.graph.inputs import needed_for_output, optional_inputs
from labdl.graph.node import RESERVED, make, output_port, outputs_of, ports_of
from labdl.graph.params_json import refuse_inexact
from labdl.nn.module import Module, is_reserved
from labdl.spec import Spec

_MOST = 100_000  # layers, parameters and outputs of a graph, those inside of layers too: a short file may ask for any number


@dataclass(frozen=True)
class Problem:
    """A problem of a graph: its message and its place."""

    message: str
    node: str | None = None
    edge: str | None = None


@dataclass
class CheckResult:
    """The result of a check: Specs, parameter counts and problems."""

    specs: dict[str, dict[str, Spec]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    made: dict[str, object] = field(default_factory=dict)
    keys: dict[str, tuple] = field(default_factory=dict)  # what `known` has the results of a layer or an operator under
    known: dict[tuple, Any] = field(default_factory=dict)  # Specs or errors of calls that may be repeated
    parts: int = 0
    templates: _Templates | None = None


@dataclass
class _Templates:
    """Layers for all nodes with the same settings, and the same inputs."""

    shared: set[str]  # nodes whose layer others share: they keep one of their own
    new: dict[tuple, object] = field(default_factory=dict)  # by settings: not yet called
    ready: dict[tuple, object] = field(default_factory=dict)  # by settings and inputs
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)  # parameters and parts, by `id` of the layer


def check(graph: Graph, *, share_equal: bool = False) -> CheckResult:
    """Infer every shape from the inputs on; nodes after a problem have no shape.

    With ``share_equal``, nodes of equal settings and inputs have the same object in ``made``: models repeat equal layers, and
    creating a layer is most of the work. Not for callers that use the layers as those of a model.
    """
    result = CheckResult()
    if share_equal:
        result.templates = _Templates({node.shares for node in graph.nodes.values() if node.shares})
    order, cyclic = graph.order()
    incoming = graph.incoming()
    for node_id in _loops(graph, cyclic):
        result.problems.append(Problem("lies on a loop: a network's connections must lead forward", node_id))
    for node_id in order:
        if result.parts > _MOST:
            message = f"the graph has more than {_MOST:,} layers, parameters and outputs, more than can be checked"
            result.problems.append(Problem(message, node_id))
            break
        _check_node(graph, node_id, incoming[node_id], result)
    if not result.problems:
        needed = needed_for_output(graph)
        result.problems += [
            Problem("cannot be optional: without it the model has no output", i)
            for i in optional_inputs(graph)
            if i in needed
        ]
    if graph.nodes and not graph.inputs():
        result.problems.append(Problem("the graph has no Input: add one and give it the shape of the data"))
    return result


def _loops(graph: Graph, unplaced: list[str]) -> list[str]:
    """Unordered nodes that are on a loop, without those that only follow one."""
    left = dict.fromkeys(unplaced, 0)  # with the number of connections that go on
    before: dict[str, list[str]] = {i: [] for i in unplaced}
    for edge in graph.edges.values():
        if edge.source in left:
            left[edge.source] += 1
            before[edge.target].append(edge.source)
    ends = [i for i, count in left.items() if count == 0]
    for node_id in ends:  # grows during the loop
        del left[node_id]
        for source in before[node_id]:
            left[source] -= 1
            if left[source] == 0:
                ends.append(source)
    return list(left)


def _check_node(graph: Graph, node_id: str, incoming, result: CheckResult) -> None:
    node = graph.nodes[node_id]
    try:
        refuse_inexact(node.type, node.params)
        ports = {p.name: p for p in ports_of(node)}
        made = _make_once(graph, node_id, result)
        if isinstance(made, Module) and (is_reserved(node.name) or node.name in RESERVED):
            raise ConfigError(f"every model has something named {node.name!r}: choose another name")
    except Exception as error:  # shown in the editor; layers of the user may raise anything
        result.problems.append(Problem(_first_line(error), node_id))
        return
    values, complete = {}, True
    for name, edges in incoming.items():
        if name not in ports:
            listed = ", ".join(ports) or "none"
            result.problems.append(
                Problem(f"{node.type} has no input {name!r} (it has {listed})", node_id, edges[0][0])
            )
            complete = False
            continue
        if len(edges) > 1 and not ports[name].variadic:
            result.problems.append(
                Problem(f"input {name} takes one connection, received {len(edges)}", node_id, edges[1][0])
            )
            complete = False
            continue
        found = []
        for edge_id, edge in edges:
            given = spec_of_edge(result, edge)
            if given is None and edge.source in result.specs:
                source = graph.nodes[edge.source]
                message = f"{source.name} has no output {edge.source_port!r}"
                result.problems.append(Problem(message, node_id, edge_id))
            found.append(given)
        complete = complete and None not in found
        values[name] = found if ports[name].variadic else found[0]
    is_operator = not isinstance(made, Module)
    missing = [
        p.name
        for p in ports.values()
        if p.name not in incoming and not p.optional and not (is_operator and p.name in node.params)
    ]
    if missing:
        result.problems.append(Problem(f"not connected: draw a line to its input {missing[0]}", node_id))
        return
    if not complete:
        return  # the cause is reported at its own node
    try:
        outputs = _infer_cached(graph, node_id, made, ports, values, result)
    except Exception as error:  # as above: the next node is checked nevertheless
        result.problems.append(Problem(_first_line(error), node_id))
        return
    listed = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    names = outputs_of(node)
    result.specs[node_id] = {names[i] if i < len(names) else output_port(i): s for i, s in enumerate(listed)}
    result.parts += len(listed)
    result.counts[node_id] = 0
    if isinstance(made, Module) and not node.shares:
        result.counts[node_id], parts = _sizes(result.made[node_id], result)
        result.parts += parts


def _sizes(layer, result: CheckResult) -> tuple[int, int]:
    """Number of parameters, and of modules and parameter arrays, of a layer."""
    sizes = {} if result.templates is None else result.templates.sizes
    if id(layer) not in sizes:
        sizes[id(layer)] = layer.count_parameters(), sum(1 + len(m._parameters) for m in layer.modules())
    return sizes[id(layer)]


def _infer_cached(graph: Graph, node_id: str, made, ports, values, result: CheckResult):
    """The output Specs of a node, cached: models repeat the same calls."""
    node = graph.nodes[node_id]
    given = tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in values.items())
    key = (*result.keys[node.shares or node_id], given)
    templates = result.templates
    if templates is not None and isinstance(made, Module) and not node.shares and node_id not in templates.shared:
        if key not in templates.ready:
            templates.ready[key] = templates.new.pop(result.keys[node_id])
        result.made[node_id] = templates.ready[key]
    if key not in result.known:
        try:
            result.known[key] = infer(node, made, ports, values)
        except Exception as error:  # a problem of each node with this call
            result.known[key] = error
    found = result.known[key]
    if isinstance(found, Exception):
        raise found
    return found


def _make_once(graph: Graph, node_id: str, result: CheckResult):
    """The layer or operator of a node; a layer that several nodes share is created once."""
    node = graph.nodes[node_id]
    origin = node.shares or node_id
    if node.shares:
        found = graph.nodes.get(origin)
        if found is None or found.type != node.type or found.shares:
            raise ConfigError(
                f"{node.name} shares the layer of a node that is gone or is no {node.type}: give it one of its own"
            )
    if origin not in result.made:
        settings = (node.type, repr(graph.nodes[origin].params))
        new = {} if result.templates is None or origin in result.templates.shared else result.templates.new
        if settings not in new:
            new[settings] = make(graph.nodes[origin])
        layer = result.made[origin] = new[settings]
        is_single = isinstance(layer, Module) and (result.templates is None or origin in result.templates.shared)
        result.keys[origin] = (origin,) if is_single else settings
    result.made[node_id] = result.made[origin]
    return result.made[node_id]


def spec_of_edge(result: CheckResult, edge: Edge) -> Spec | None:
    """The Spec of an edge: an output, or a parameter of the layer that it comes from."""
    outputs = result.specs.get(edge.source)
    if outputs is None or not edge.source_port.endswith(PARAMETER):
        return None if outputs is None else outputs.get(edge.source_port)
    made = result.made[edge.source]
    parameter = made.get_parameters().get(edge.source_port) if isinstance(made, Module) else None
    return None if parameter is None else Spec(parameter.shape, parameter.dtype)


def infer(node, made, ports, values):
    if node.type == "Input":
        return made.spec
    if not values and isinstance(made, Module) and not ports:
        return made.infer()
    if not isinstance(made, Module):
        return made(values)
    args = []
    for name, port in ports.items():
        if name in values:
            args += values[name] if port.variadic else [values[name]]
        else:
            args += [] if port.variadic else [None]
    return made(*args)


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
