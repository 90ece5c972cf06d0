"""Inputs of a graph as arguments of its model's call: names, places, and what is left where an optional one is omitted."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from labdl.graph.graph import Edge, Graph, Node
from labdl.graph.node import ports_of
from labdl.nn.schema import LAYERS
from labdl.nn.signature import Argument
from labdl.ops import OPERATORS

GENERAL = "input"  # node of the argument x, as in forward(self, x)


@dataclass(frozen=True)
class GraphArgument(Argument):
    """An argument of a graph's model; ``node`` is the id of its Input, or empty for one that the model was built without."""

    node: str = ""


def argument_name(node: Node) -> str:
    """The name of an Input in calls."""
    word, given = node.name.rpartition("/")[2], node.params.get("argument")
    return given if given and isinstance(given, str) else "x" if word == GENERAL else word


def graph_arguments(graph: Graph) -> list[GraphArgument]:
    """The arguments in order. Where two have one name, as after a copy on the canvas, the later has that of its node."""
    found: dict[str, GraphArgument] = {}
    for node_id in graph.inputs():
        node = graph.nodes[node_id]
        skips = node.params.get("skips", ())  # of a file, until the Input itself is checked
        for word in skips if isinstance(skips, tuple) else ():
            found.setdefault(str(word), GraphArgument(str(word), None))
        default = node.params.get("default") if node.params.get("optional") else inspect.Parameter.empty
        words = (argument_name(node), node.name.replace("/", "_"), f"{node.name.replace('/', '_')}_{len(found)}")
        word = next(w for w in words if w not in found or w == words[-1])
        found[word] = GraphArgument(word, default, node=node_id)
    return list(found.values())


def optional_inputs(graph: Graph) -> list[str]:
    """Ids of the inputs that may be omitted and have no value then."""
    return [a.node for a in graph_arguments(graph) if a.node and a.optional and a.default is None]


def needed_ports(node: Node) -> set[str]:
    """Ports without which a node has no value: those that its layer or operator does not accept None for."""
    if node.type in LAYERS:
        return {p.name for p in ports_of(node) if p.variadic or not p.optional}
    signature = OPERATORS[node.type.removeprefix("ops.")].signature.parameters
    return {p.name for p in ports_of(node) if p.variadic or signature[p.name].default is not None}


def absent_nodes(graph: Graph, omitted: Iterable[str]) -> set[str]:
    """Ids of the nodes that have no value without these inputs, with the inputs themselves."""
    absent = set(omitted)
    entering: dict[str, list[Edge]] = {}
    for edge in graph.edges.values():
        entering.setdefault(edge.target, []).append(edge)
    for node_id in graph.order()[0]:
        node = graph.nodes[node_id]
        ports = {edge.target_port for edge in entering.get(node_id, ()) if edge.source in absent}
        if ports and ports & needed_ports(node):
            absent.add(node_id)
    return absent


def needed_for_output(graph: Graph) -> set[str]:
    """Ids of the nodes without any of which an output of a graph has no value."""
    entering = graph.incoming()
    needed: set[str] = set()
    waiting = [i for i in graph.outputs() if graph.nodes[i].type != "Input"]
    while waiting:
        node_id = waiting.pop()
        if node_id not in needed:
            needed.add(node_id)
            ports = entering[node_id] and needed_ports(graph.nodes[node_id])
            waiting += [edge.source for port in ports for _, edge in entering[node_id].get(port, ())]
    return needed


def equals_without(graph: Graph, omitted: Collection[str], other: Graph) -> bool:
    """True when a graph without some inputs computes what another computes, whose trace did without them."""
    absent = absent_nodes(graph, omitted)
    ends = [i for i in graph.outputs() if graph.nodes[i].type != "Input"]
    if not ends or absent & {*ends}:
        return False
    live, waiting = set(), list(ends)
    sources: dict[str, list[str]] = {}
    for edge in graph.edges.values():
        sources.setdefault(edge.target, []).append(edge.source)
    for node in graph.nodes:
        if graph.nodes[node].shares:
            sources.setdefault(node, []).append(graph.nodes[node].shares)
    while waiting:
        node_id = waiting.pop()
        if node_id not in live and node_id not in absent:
            live.add(node_id)
            waiting += sources.get(node_id, ())
    return _rows(graph, live) == _rows(
        other, {i for i, n in other.nodes.items() if n.type != "Input"} | live_inputs(other)
    )


def equals_with(graph: Graph, other: Graph) -> bool:
    """True when two graphs compute the same, but for the shapes of their inputs."""
    return _rows(graph, set(graph.nodes)) == _rows(other, set(other.nodes))


def live_inputs(graph: Graph) -> set[str]:
    """Ids of the inputs that a node uses."""
    used = {e.source for e in graph.edges.values()}
    return {i for i in graph.inputs() if i in used}


def _rows(graph: Graph, kept: Collection[str]) -> list[Any]:
    """The nodes in order with their sources, without ids and without the names of operators, which count their calls."""
    place = {i: at for at, i in enumerate(i for i in graph.nodes if i in kept)}
    entering: dict[str, list[Any]] = {}
    for edge in graph.edges.values():
        if edge.source in place and edge.target in place:
            entering.setdefault(edge.target, []).append((edge.target_port, place[edge.source], edge.source_port))
    rows: list[Any] = []
    for node_id in place:
        node = graph.nodes[node_id]
        if node.type == "Input":
            rows.append(node.name)
            continue
        name = "" if node.shares or node.type not in LAYERS or node.type == "Constant" else node.name
        ends = sorted(entering.get(node_id, ()), key=lambda end: end[0])  # the order within a port stays
        rows.append((node.type, name, repr(sorted(node.params.items())), place.get(node.shares), ends))
    return rows
