"""Fixes for problems of a graph: changes that were verified on shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labdl.data import SOURCES
from labdl.graph.analysis.check import CheckResult, Problem, infer, spec_of_edge
from labdl.graph.graph import Graph, Node
from labdl.graph.node import make, ports_of
from labdl.nn.module import Module, is_reserved
from labdl.nn.schema import LAYERS, fields
from labdl.spec import Spec


@dataclass(frozen=True)
class Fix:
    """A change of a graph. ``kind`` determines which fields are used.

    insert: a layer of ``type`` with ``params`` into the edge ``edge``, by its first input and output. add: a layer before the
    unconnected input ``port`` of ``node``. connect: the output ``source_port`` of the node ``source`` to the input ``port`` of
    ``node``. disconnect: remove ``edge``. set: the setting ``name`` of ``node`` to ``value``, None for its default.
    rename: ``node`` to ``name``.
    """

    kind: Literal["insert", "add", "connect", "disconnect", "set", "rename"]
    node: str | None = None
    edge: str | None = None
    type: str | None = None
    params: Mapping[str, Any] | None = None
    port: str | None = None
    source: str | None = None
    source_port: str | None = None
    name: str | None = None
    value: Any = None


def fix_of(problem: Problem, graph: Graph, result: CheckResult) -> Fix | None:
    """The smallest change that fixes a problem, or None if none is known."""
    if problem.edge is not None:
        return Fix("disconnect", edge=problem.edge)
    if problem.node is None:
        return _missing_input(graph)
    if problem.node not in result.made:
        return _loop(graph, problem.node) if problem.node in graph.order()[1] else _settings(graph, problem.node)
    if isinstance(result.made[problem.node], Module) and is_reserved(graph.nodes[problem.node].name):
        return _rename(graph, problem.node)
    return _Trials(graph, result, problem.node).fix()


def _missing_input(graph: Graph) -> Fix | None:
    """An Input with the shape of the first data set, for the first unconnected input."""
    if graph.inputs():
        return None
    fed = {(e.target, e.target_port) for e in graph.edges.values()}
    for node_id in graph.order()[0]:
        try:
            ports = ports_of(graph.nodes[node_id])
        except Exception:
            continue
        for port in ports:
            if (node_id, port.name) not in fed and not port.optional:
                shape = next(iter(SOURCES.values())).input_shape
                return Fix("add", node=node_id, port=port.name, type="Input", params={"shape": shape})
    return None


def _loop(graph: Graph, node_id: str) -> Fix | None:
    """Remove the latest edge into the node that is on the loop."""
    unplaced = set(graph.order()[1])
    closing = [i for i, e in graph.edges.items() if e.target == node_id and e.source in unplaced]
    return Fix("disconnect", edge=closing[-1]) if closing else None


def _settings(graph: Graph, node_id: str) -> Fix | None:
    """Reset a setting to its default, or rename the node."""
    node = graph.nodes[node_id]
    if node.type not in LAYERS or node.shares:
        return None
    for name in node.params:
        rest = {k: v for k, v in node.params.items() if k != name}
        if _can(lambda rest=rest: make(Node(node.type, node.name, rest))):
            return Fix("set", node=node_id, name=name)
    return _rename(graph, node_id) if _can(lambda: make(node)) else None


def _rename(graph: Graph, node_id: str) -> Fix:
    taken = {node.name for node in graph.nodes.values()}
    base = f"{graph.nodes[node_id].name}_layer"
    name = next(w for w in (base, *(f"{base}_{n}" for n in range(1, len(taken) + 2))) if w not in taken)
    return Fix("rename", node=node_id, name=name)


class _Trials:
    """Tries changes around one node, whose layer can be created."""

    def __init__(self, graph: Graph, result: CheckResult, node_id: str):
        self.graph, self.result, self.id, self.node = graph, result, node_id, graph.nodes[node_id]
        self.ports = {p.name: p for p in ports_of(self.node)}
        self.edges = graph.incoming()[node_id]
        self.values: dict[str, Any] = {}

    def fix(self) -> Fix | None:
        for name, edges in self.edges.items():
            specs = [spec_of_edge(self.result, edge) for _, edge in edges]
            if None in specs or name not in self.ports:
                return None  # the cause is elsewhere
            self.values[name] = specs if self.ports[name].variadic else specs[0]
        missing = [
            n for n, p in self.ports.items() if n not in self.edges and not p.optional and n not in self.node.params
        ]
        if len(missing) > 1:
            return None  # ambiguous
        candidates = self._connections(missing[0]) if missing else self._changes()
        return next((fix for fix, values, params in candidates if self._fits(values, params)), None)

    def _fits(self, values: Mapping[str, Any] | None, params: Mapping[str, Any]) -> bool:
        return values is not None and _can(lambda: self._infer(values, params))

    def _infer(self, values: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        made = make(Node(self.node.type, self.node.name, params))
        outputs = infer(Node(self.node.type, self.node.name, params), made, self.ports, values)
        for spec in outputs if isinstance(outputs, list | tuple) else [outputs]:
            if 0 in spec.shape:
                raise ValueError("nothing is left")

    def _connections(self, port: str) -> Iterator[tuple[Fix, dict[str, Any] | None, Mapping[str, Any]]]:
        """Connections from unused outputs, the last first."""
        used = {e.source for e in self.graph.edges.values()}
        for source in reversed([*self.result.specs]):
            for output, spec in self.result.specs[source].items() if source not in used else ():
                given = [spec] if self.ports[port].variadic else spec
                yield (
                    Fix("connect", node=self.id, port=port, source=source, source_port=output),
                    {**self.values, port: given},
                    self.node.params,
                )

    def _changes(self) -> Iterator[tuple[Fix, dict[str, Any] | None, Mapping[str, Any]]]:
        """Other settings, an integer dtype for an Input, and inserted layers."""
        for name, value in self._settings():
            yield Fix("set", node=self.id, name=name, value=value), self.values, {**self.node.params, name: value}
        for port, edges in self.edges.items():
            for at, (edge_id, edge) in enumerate(edges):
                spec = self._at(port, at)
                if self.graph.nodes[edge.source].type == "Input" and spec.dtype != "int64":
                    values = self._with(port, at, Spec(spec.shape, "int64"))
                    yield Fix("set", node=edge.source, name="dtype", value="int64"), values, self.node.params
                for kind, params in self._between(port, at):
                    fix = Fix("insert", edge=edge_id, type=kind, params=params)
                    yield fix, self._through(port, at, kind, params), self.node.params

    def _settings(self) -> Iterator[tuple[str, Any]]:
        known = fields(LAYERS[self.node.type]) if self.node.type in LAYERS else {}
        if "padding" in known and "kernel_size" in known and self.node.params.get("padding") != "same":
            yield "padding", "same"
        spatial = [n for v in self.values.values() if isinstance(v, Spec) for n in v.shape[2:] if n]
        if "kernel_size" in known and spatial:
            yield "kernel_size", min(spatial)

    def _between(self, port: str, at: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Layers that could be inserted before an input."""
        spec = self._at(port, at)
        if spec.ndim > 2:
            yield "Flatten", {}
        others = [
            s
            for p in self.edges
            for n in range(len(self.edges[p]))
            if (p, n) != (port, at)
            for s in [self._at(p, n)]
            if s.ndim == spec.ndim
        ]
        for other in others:  # operands of arithmetic need equal sizes
            unlike = [axis for axis in range(1, spec.ndim) if spec.shape[axis] != other.shape[axis]]
            if unlike == [1] and 3 <= spec.ndim <= 5:
                yield f"Conv{spec.ndim - 2}d", {"out_channels": other.shape[1], "kernel_size": 1}
            elif unlike == [spec.ndim - 1]:
                yield "Linear", {"out_features": other.shape[-1]}
        if not others and spec.ndim == 2 and spec.shape[1]:
            yield "Reshape", {"shape": (1, spec.shape[1])}
            side = math.isqrt(spec.shape[1])
            if side * side == spec.shape[1]:
                yield "Reshape", {"shape": (1, side, side)}

    def _at(self, port: str, at: int) -> Spec:
        value = self.values[port]
        return value[at] if isinstance(value, list) else value

    def _with(self, port: str, at: int, spec: Spec) -> dict[str, Any]:
        value = self.values[port]
        changed = [spec if n == at else s for n, s in enumerate(value)] if isinstance(value, list) else spec
        return {**self.values, port: changed}

    def _through(self, port: str, at: int, kind: str, params: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return self._with(port, at, make(Node(kind, "between", params))(self._at(port, at)))
        except Exception:
            return None


def _can(do) -> bool:
    """True when a function raises nothing; layers of the user may raise anything."""
    try:
        do()
    except Exception:
        return False
    return True
