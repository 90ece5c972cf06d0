"""A graph that computes: its nodes as sub-modules, run in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from labdl.errors import ConfigError, ModelError
from labdl.graph.check import check
from labdl.graph.graph import Graph, Node
from labdl.graph.node import output_port, outputs_of, ports_of
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, params_of
from labdl.spec import Spec


class GraphModule(Module):
    """The model of a graph. Each layer is a sub-module under its node's name, so parameters have the graph's names."""

    graph: Graph
    _inputs: list[Spec]
    _plan: tuple[tuple[str, Callable | None, tuple[int, ...], int], ...]
    _results: list[int]

    def __init__(self, graph: Graph):
        checked = check(graph)
        if checked.problems:
            lines = [f"{graph.nodes[p.node].name}: {p.message}" if p.node else p.message
                     for p in checked.problems]  # fmt: skip
            raise ModelError(f"the graph {graph.name!r} does not fit together: {'; '.join(lines[:5])}")
        object.__setattr__(self, "graph", graph)
        order, incoming = graph.order()[0], graph.incoming()
        # slot 0 stands for an input that is not connected
        slots = {None: 0, **{(i, "output"): at for at, i in enumerate(graph.inputs(), 1)}}
        self.__dict__["_inputs"] = [checked.specs[i]["output"] for i in graph.inputs()]
        plan = []
        for node_id in order:
            node, made = graph.nodes[node_id], checked.made[node_id]
            if node.type == "Input":
                setattr(self, node.name, made)
                continue
            function, entering = None, incoming[node_id]
            if isinstance(made, Module):
                setattr(self, node.name, made)
            else:
                function = _named_ports(made, node, entering)
            taken = [slots[end] for p in ports_of(node)
                     for end in [(e.source, e.source_port) for _, e in entering.get(p.name, ())]
                     or ([] if p.variadic or function else [None])]  # fmt: skip
            count = len(checked.specs[node_id])
            names = [*outputs_of(node), *(output_port(i) for i in range(1, count))][:count]
            first = len(slots)
            slots.update({(node_id, name): first + at for at, name in enumerate(names)})
            plan.append((node.name, function, tuple(taken), count))
        self.__dict__["_plan"] = tuple(plan)
        sinks = [i for i in graph.outputs() if graph.nodes[i].type != "Input"] or graph.outputs()
        self.__dict__["_results"] = [slots[i, name] for i in sinks for name in list(checked.specs[i])[:1]]

    def forward(self, *inputs):
        if len(inputs) != len(self._inputs):
            raise ModelError(f"the graph {self.graph.name!r} has {len(self._inputs)} input(s), received {len(inputs)}")
        values = [None, *inputs]
        for name, function, taken, count in self._plan:
            result = (function or self._modules[name])(*[values[i] for i in taken])
            values.append(result) if count == 1 else values.extend(result)
        results = self._results
        return values[results[0]] if len(results) == 1 else tuple(values[i] for i in results)

    def __setattr__(self, name: str, value) -> None:
        """A layer that takes the place of another takes its place in the graph too."""
        at = [i for i, n in self.graph.nodes.items() if n.name == name] if "_plan" in self.__dict__ else []
        if at and LAYERS.get(type(value).__name__) is not type(value):
            raise ConfigError(
                f"{name} is a layer of a graph: a registered layer can replace it, received {type(value).__name__}"
            )
        super().__setattr__(name, value)
        if at:
            node = Node(type(value).__name__, name, params_of(value))
            graph = dataclasses.replace(self.graph, nodes={**self.graph.nodes, at[0]: node})
            object.__setattr__(self, "graph", graph)

    def build(self, *inputs, backend: str | None = None, seed: int | None = None) -> GraphModule:
        """As `Module.build`; the inputs' shapes are known from the graph and may be left out."""
        super().build(*(inputs or self._inputs), backend=backend, seed=seed)
        return self

    def _describe(self) -> str:
        return repr(self.graph.name)


def _named_ports(call, node, incoming):
    """Positional values in port order back to the names that an operator node wants."""
    layout = [(p.name, p.variadic, len(incoming.get(p.name, ()))) for p in ports_of(node)]

    def function(*values):
        ports, at = {}, 0
        for name, variadic, count in layout:
            if count:
                ports[name] = list(values[at : at + count]) if variadic else values[at]
                at += count
        return call(ports)

    return function
