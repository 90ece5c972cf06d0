"""A model of a graph: its nodes as submodules, executed in order, completely or in part."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, ModelError
from labdl.graph.analysis.check import check
from labdl.graph.graph import PARAMETER, Graph, Node
from labdl.graph.inputs import GraphArgument, absent_nodes, graph_arguments, needed_ports, optional_inputs
from labdl.graph.node import output_port, outputs_of, ports_of
from labdl.nn.module import Module
from labdl.nn.schema import is_layer, params_of
from labdl.nn.signature import Argument
from labdl.ops.infix import neutral
from labdl.spec import Spec


class _Step(NamedTuple):
    """One step: a layer, an operator's function, or with ``port`` reading a parameter of a layer."""

    layer: str
    function: Callable | None
    taken: tuple[int, ...]
    first: int  # the slot of its first result
    count: int
    port: str = ""
    needed: tuple[
        int, ...
    ] = ()  # slots of optional inputs, and of what depends on them, without which there is no result


class GraphModule(Module):
    """The model of a graph. Each layer is a sub-module under its node's name, so parameters have the graph's names."""

    graph: Graph
    _inputs: list[Spec | None]  # by place; None for an argument that the graph has no input for
    _taken: list[GraphArgument]
    _complete: int  # number of inputs of a call that gives all of them, by place; -1 if some places are left out
    _plan: tuple[_Step, ...]
    _slots: dict[tuple[str, str], int]
    _results: list[int]

    def __init__(self, graph: Graph):
        checked = check(graph)
        if checked.problems:
            lines = [f"{graph.nodes[p.node].name}: {p.message}" if p.node else p.message for p in checked.problems]
            raise ModelError(f"the graph {graph.name!r} does not fit together: {'; '.join(lines[:5])}")
        object.__setattr__(self, "graph", graph)
        order, incoming = graph.order()[0], graph.incoming()
        read = {}
        for edge in graph.edges.values():
            if edge.source_port.endswith(PARAMETER):
                read.setdefault(edge.source, {})[edge.source_port] = None
        # slot 0 is for unconnected inputs
        slots = {("", ""): 0, **{(i, "output"): at for at, i in enumerate(graph.inputs(), 1)}}
        absent = absent_nodes(graph, optional_inputs(graph))
        plan = []
        for node_id in order:
            node, made = graph.nodes[node_id], checked.made[node_id]
            name = graph.nodes[node.shares or node_id].name
            if isinstance(made, Module):
                setattr(self, name, made)
            if node.type == "Input":
                continue
            entering = incoming[node_id]
            function = None if isinstance(made, Module) else _named_ports(made, node, entering)
            taken = [
                slots[end]
                for p in ports_of(node)
                for end in [(e.source, e.source_port) for _, e in entering.get(p.name, ())]
                or ([] if p.variadic or function else [("", "")])
            ]
            count = len(checked.specs[node_id])
            names = [*outputs_of(node), *(output_port(i) for i in range(1, count))][:count]
            needed = needed_ports(node) if node_id in absent else ()
            wanted = tuple(
                slots[e.source, e.source_port] for p in needed for _, e in entering.get(p, ()) if e.source in absent
            )
            plan.append(_Step(name, function, tuple(taken), len(slots), count, needed=wanted))
            slots.update({(node_id, port): len(slots) + at for at, port in enumerate(names)})
            for port in read.get(node_id, ()):
                plan.append(_Step(name, None, (), len(slots), 1, port))
                slots[node_id, port] = len(slots)
        sinks = [i for i in graph.outputs() if graph.nodes[i].type != "Input"] or graph.outputs()
        arguments = graph_arguments(graph)
        self.__dict__.update(
            _inputs=[checked.specs[a.node]["output"] if a.node else None for a in arguments],
            _taken=arguments,
            _complete=len(arguments) if all(a.node for a in arguments) else -1,
            _plan=tuple(plan),
            _slots=slots,
            _results=[slots[i, name] for i in sinks for name in list(checked.specs[i])[:1]],
        )
        for name, to in graph.ties.items():
            self.tie(name, to)

    def forward(self, *inputs, **named):
        """Compute the outputs. Inputs are taken by place or by the name of their argument; optional ones may be omitted."""
        values = [None, *self._bind(inputs, named)]
        for step in self._plan:
            result = self._compute(step, values)
            values.extend(result) if isinstance(result, list | tuple) else values.append(result)
        results = self._results
        return values[results[0]] if len(results) == 1 else tuple(values[i] for i in results)

    def _bind(self, inputs: tuple, named: Mapping[str, Any]) -> Sequence[Any]:
        """The values of the graph's inputs, in order, from the arguments of a call."""
        taken = self._taken
        if not named and len(inputs) == self._complete and not any(v is None for v in inputs):
            return inputs
        while len(inputs) > len(taken) and inputs[-1] is None:
            inputs = inputs[:-1]  # an argument that the model was built without
        known = ", ".join(a.name + ("=" if a.optional else "") for a in taken if a.node)
        if len(inputs) > len(taken):
            raise ModelError(
                f"the graph {self.graph.name!r} has {len(self._inputs) - self._inputs.count(None)} input(s), received "
                f"{len(inputs)}: it takes {known}"
            )
        given = dict(zip((a.name for a in taken), inputs, strict=False))
        for name, value in named.items():
            if name in given:
                raise ModelError(
                    f"the graph {self.graph.name!r} is given {name!r} twice, by place and by name: give it once"
                )
            given[name] = value
        values = []
        for argument in taken:
            value = given.pop(argument.name, None)
            if not argument.node:
                if value is not None:
                    raise ModelError(
                        f"the graph {self.graph.name!r} was built without {argument.name!r}, so it cannot take one: it takes "
                        f"{known}"
                    )
                continue
            if value is None and not argument.optional:
                error = f"the graph {self.graph.name!r} is not given {argument.name!r}: it takes {known}"
                if argument is not taken[0]:
                    error += (
                        f"; a graph holds one way through a forward, here the one with {argument.name!r}: for a forward that "
                        f"also does without, trace or save the model built without {argument.name}="
                    )
                raise ModelError(error)
            values.append(self._default(argument, inputs, named) if value is None else value)
        if unknown := [name for name, value in given.items() if value is not None]:
            raise ModelError(
                f"the graph {self.graph.name!r} has no input {unknown[0]!r}: it takes {known}; settings of a forward are "
                "part of its graph"
            )
        return values

    def _default(self, argument: GraphArgument, inputs: tuple, named: Mapping[str, Any]):
        """The value of an omitted input, as the other inputs are: a Spec, a constant of an export, or a tensor."""
        if argument.default is None:
            return None
        spec = self.graph.nodes[argument.node].params
        array = np.asarray(argument.default, dispatch.load("numpy").dtype(spec.get("dtype", "float32")))
        owner = dispatch.owner(*inputs, *named.values())
        if hasattr(owner, "tensor"):
            return owner.tensor(array)
        return Spec((), spec.get("dtype", "float32")) if all(type(v) is Spec for v in inputs) else array

    def _arguments(self) -> list[Argument]:
        return [*self._taken]

    def _compute(self, step: _Step, values) -> Any:
        if step.port:
            home, _, word = step.port.removesuffix(PARAMETER).rpartition("/")
            return self._modules[step.layer].get_module(home).__dict__[word]
        if step.needed and any(values[i] is None for i in step.needed):
            return None if step.count == 1 else (None,) * step.count
        return (step.function or self._modules[step.layer])(*[values[i] for i in step.taken])

    def run(self, fetches: str | Sequence[str], feeds: Mapping[str, Any]):
        """Values of the nodes named in ``fetches``, given values of those named in ``feeds``; computes only the nodes between.

        ``model.run("head", {"input": x})``; a second output is "lstm:hidden". Inner nodes may be fed as well:
        ``model.run("head", {"features": h})``. Returns a native tensor, or for a list of names a list. Raises
        ModelError for an unknown name, and for nodes that need other feeds.
        """
        if not self.built:
            self.build()
        wanted = [self._slot(name) for name in ([fetches] if isinstance(fetches, str) else fetches)]
        values = {0: None, **{self._slot(name): value for name, value in feeds.items()}}
        producer = {
            slot: at for at, step in enumerate(self._plan) for slot in range(step.first, step.first + step.count)
        }
        needed, waiting = set(), list(wanted)
        while waiting:
            slot = waiting.pop()
            if slot in values:
                continue
            if slot not in producer:
                argument = next(a for a in self._taken if a.node == self.graph.inputs()[slot - 1])
                if argument.optional:
                    values[slot] = self._default(argument, tuple(feeds.values()), {})
                    continue
                name = self.graph.nodes[argument.node].name
                raise ModelError(f"{fetches!r} cannot be computed without {name!r}: give it in feeds")
            if producer[slot] not in needed:
                needed.add(producer[slot])
                waiting += self._plan[producer[slot]].taken

        @neutral
        def compute():
            for at in sorted(needed):
                step = self._plan[at]
                result = self._compute(step, values)
                for n, value in enumerate((result,) if step.count == 1 else result):
                    values.setdefault(step.first + n, value)  # values that were fed take precedence
            return [values[slot] for slot in wanted]

        found = compute()
        return found[0] if isinstance(fetches, str) else found

    def _slot(self, name: str) -> int:
        word, _, port = name.partition(":")
        for node_id, node in self.graph.nodes.items():
            if node.name == word:
                slot = self._slots.get((node_id, port or outputs_of(node)[0]))
                if slot is not None:
                    return slot
        names = ", ".join(n.name for n in self.graph.nodes.values())
        raise ModelError(f"the graph {self.graph.name!r} has no output {name!r}: its nodes are {names}")

    def __setattr__(self, name: str, value) -> None:
        """Set an attribute; a layer that replaces another also replaces it in the graph."""
        at = [i for i, n in self.graph.nodes.items() if n.name == name] if "_plan" in self.__dict__ else []
        if at and not is_layer(value):
            raise ConfigError(
                f"{name} is a layer of a graph: a registered layer can replace it, received {type(value).__name__}"
            )
        super().__setattr__(name, value)
        if at:
            node = Node(type(value).layer_type, name, params_of(value))
            nodes = {
                i: dataclasses.replace(n, type=node.type) if n.shares == at[0] else n
                for i, n in self.graph.nodes.items()
            }
            object.__setattr__(self, "graph", dataclasses.replace(self.graph, nodes={**nodes, at[0]: node}))

    def build(self, *inputs, backend: str | None = None, seed: int | None = None, **options) -> GraphModule:
        """As `Module.build`; the inputs' shapes are known from the graph and are optional."""
        super().build(*(inputs or (() if options else self._inputs)), backend=backend, seed=seed, **options)
        return self

    def _describe(self) -> str:
        return repr(self.graph.name)


def _named_ports(call, node, incoming):
    """Wrap an operator node to take positional values in port order."""
    layout = [(p.name, p.variadic, len(incoming.get(p.name, ()))) for p in ports_of(node)]

    def function(*values):
        ports, at = {}, 0
        for name, variadic, count in layout:
            if count:
                ports[name] = list(values[at : at + count]) if variadic else values[at]
                at += count
        return call(ports)

    return function
