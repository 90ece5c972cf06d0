"""Taking a model's graph by running its forward once on symbols (R3.6)."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ModelError
from labdl.graph.graph import Edge, Graph, Node
from labdl.graph.node import output_port, outputs_of, show_index
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, input_ports, params_of
from labdl.ops.operator import Operator
from labdl.spec import Spec, as_spec


class Symbol(Spec):
    """A Spec that remembers which node of the trace gave it."""

    def __init__(self, spec: Spec, recorder: Recorder, node: str, port: str):
        super().__init__(spec.shape, spec.dtype)
        for name, value in (("recorder", recorder), ("node", node), ("port", port)):
            object.__setattr__(self, name, value)

    def __bool__(self):
        raise ModelError(
            "the model branches on the values of a tensor, which a trace cannot follow: decide with ops.where, "
            "or run the model without a trace"
        )

    __iter__ = None  # unpacking would never end: __getitem__ works for every number


class Recorder:
    """Collects nodes and edges while a model runs on symbols."""

    def __init__(self, model: Module):
        self.paths = {id(m): path for path, m in model.named_modules()}
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.names: set[str] = set()
        self.seen: set[int] = set()
        self.owners: dict[str, Module] = {}  # nodes with parameters

    def is_leaf(self, module: Module) -> bool:
        return LAYERS.get(type(module).__name__) is type(module)

    def add(self, kind: str, name: str, params: dict[str, Any]) -> str:
        base, n = name, 1
        while name in self.names:
            name, n = f"{base}_{n}", n + 1
        self.names.add(name)
        node_id = f"n{len(self.nodes) + 1}"
        self.nodes[node_id] = Node(kind, name, params)
        return node_id

    def connect(self, symbol: Symbol, target: str, port: str) -> None:
        if symbol.recorder is not self:  # type: ignore[attr-defined]
            raise ModelError("a tensor of another trace was used: do not keep tensors between calls of forward")
        edge = Edge(symbol.node, target, symbol.port, port)  # type: ignore[attr-defined]
        self.edges[f"e{len(self.edges) + 1}"] = edge

    def results(self, node_id: str, outputs):
        names = outputs_of(self.nodes[node_id])
        if not isinstance(outputs, list | tuple):
            return Symbol(outputs, self, node_id, names[0])
        return tuple(Symbol(s, self, node_id, names[i] if i < len(names) else output_port(i))
                     for i, s in enumerate(outputs))  # fmt: skip

    def layer(self, module: Module, inputs, options):
        """Record a call of a registered layer."""
        if type(module).__name__ == "Input":
            return inputs[0]  # the graph has its own
        if id(module) in self.seen and any(True for _ in module.parameters()):
            raise ModelError(f"layer {self.paths.get(id(module), type(module).__name__)!r} is called twice; a graph cannot "
                             "share a layer with parameters yet: use two layers")  # fmt: skip
        self.seen.add(id(module))
        path = self.paths.get(id(module)) or type(module).__name__.lower()
        node_id = self.add(type(module).__name__, path, params_of(module))
        ports = input_ports(type(module))
        given = [(ports[min(i, len(ports) - 1)].name, v) for i, v in enumerate(inputs)] + list(options.items())
        for name, value in given:
            if isinstance(value, Symbol):
                self.connect(value, node_id, name)
            elif value is not None:
                raise ModelError(
                    f"{path}: input {name} is not computed from the model's inputs, so a graph cannot hold it"
                )
        plain = [_plain(v) for v in inputs]
        outputs = self.results(node_id, module(*plain, **{k: _plain(v) for k, v in options.items()}))
        if any(True for _ in module.parameters()):
            self.owners[node_id] = module
        return outputs

    def operator(self, entry: Operator, args, kwargs):
        """Record a call of an operator in a forward."""
        bound = inspect.signature(entry.body).bind(*args, **kwargs)
        params: dict[str, Any] = {}
        links: list[tuple[Symbol, str]] = []
        for name, value in bound.arguments.items():
            kind = entry.signature.parameters[name]
            if isinstance(value, Symbol):
                links.append((value, name))
            elif name == "index":
                params[name] = show_index(value)
            elif isinstance(value, list | tuple) and value and all(isinstance(v, Symbol) for v in value):
                links += [(v, name) for v in value]
            elif kind.default is kind.empty or value != kind.default:
                params[name] = _constant(entry.name, name, value)
        if entry.name == "reshape" and isinstance(params["shape"], tuple):
            params["shape"] = tuple(-1 if n is None else n for n in params["shape"])  # kernels know no unknown sizes
        node_id = self.add(f"ops.{entry.name}", entry.name, params)
        for symbol, name in links:
            self.connect(symbol, node_id, name)
        outputs = getattr(ops, entry.name)(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
        return self.results(node_id, outputs)

    def finish(self, returned) -> None:
        """Make the returned values the ends of the graph, in their order, and drop what does not lead to them."""
        values = list(returned) if isinstance(returned, list | tuple) else [returned]
        for value in values:
            if not isinstance(value, Symbol):
                raise ModelError(f"forward returns a {type(value).__name__}, which a graph cannot hold: return a tensor "
                                 "computed from the inputs, or a tuple of them")  # fmt: skip
        self._drop_unused({v.node for v in values})  # type: ignore[attr-defined]
        used = {e.source for e in self.edges.values()}
        times = Counter(v.node for v in values)  # type: ignore[attr-defined]
        ends = []
        for value in values:
            node_id, port = value.node, value.port  # type: ignore[attr-defined]
            node = self.nodes[node_id]
            if node.type == "Input" or node_id in used or times[node_id] > 1 or port != outputs_of(node)[0]:
                # only the first output of a node that nobody uses ends a graph: a sum of one leads others to an end
                node_id = self.add("Add", "output", {})
                self.connect(value, node_id, "xs")
            ends.append(node_id)
        if [i for i in self.nodes if i in ends] != ends:
            self.nodes = {i: n for i, n in self.nodes.items() if i not in ends} | {i: self.nodes[i] for i in ends}

    def _drop_unused(self, live: set[str]) -> None:
        for edge in reversed(self.edges.values()):  # an edge is recorded after those that lead to its source
            if edge.target in live:
                live.add(edge.source)
        for node_id in [i for i, n in self.nodes.items() if i not in live and n.type != "Input"]:
            if node_id in self.owners:
                raise ModelError(f"forward does not use the output of layer {self.nodes[node_id].name!r}, so a graph cannot "
                                 "hold it: leave the layer out")  # fmt: skip
            del self.nodes[node_id]
        self.edges = {i: e for i, e in self.edges.items() if e.target in self.nodes}


def _plain(value) -> Any:
    if isinstance(value, Symbol):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def _constant(operator: str, name: str, value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float | bool | type(None)):
        return value
    if isinstance(value, list | tuple):
        return tuple(_constant(operator, name, v) for v in value)
    raise ModelError(f"ops.{operator} is given {name} as a {type(value).__name__}, which a graph cannot hold: "
                     "put it into a layer of your own (nn.layer) as a Parameter")  # fmt: skip


class _SymbolInterpreter:
    name = "symbol"
    precedence = 4

    def implementation(self, entry: Operator):
        def record(*args, **kwargs):
            values = [*args, *kwargs.values()]
            values += [v for value in values if isinstance(value, list | tuple) for v in value]
            recorder = next(v.recorder for v in values if isinstance(v, Symbol))  # type: ignore[attr-defined]
            return recorder.operator(entry, args, kwargs)

        return record

    def spec_of(self, value) -> Spec:
        return _plain(value)


dispatch.claim(Symbol, _SymbolInterpreter())


def trace(model: Module, *shapes, name: str | None = None) -> Graph:
    """The graph of a model: ``labdl.trace(model, (None, 1, 8, 8))``; a built model knows its shapes.

    Registered layers become nodes under their path; operators used in a forward become nodes "ops.…". Raises ModelError
    for what a graph cannot hold.
    """
    graph = getattr(model, "graph", None)
    if isinstance(graph, Graph) and not shapes:
        return graph
    specs = tuple(as_spec(s) for s in shapes) or model.input_specs
    recorder = Recorder(model)
    symbols = []
    for at, spec in enumerate(specs):
        node_id = recorder.add("Input", f"input_{at}" if at else "input", {"shape": spec.shape, **_dtype(spec)})
        symbols.append(Symbol(spec, recorder, node_id, "output"))
    try:
        recorder.finish(model._shapes_of(*symbols))
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, ModelError) else ModelError(f"{type(model).__name__}: {error}") from error
    return Graph(recorder.nodes, recorder.edges, name or type(model).__name__.lower())


def _dtype(spec: Spec) -> dict[str, str]:
    return {} if spec.dtype == "float32" else {"dtype": spec.dtype}


def as_graph(value, *shapes) -> Graph:
    """A graph from a graph, a model, or graph data."""
    if isinstance(value, Graph):
        return value
    if isinstance(value, Module):
        return trace(value, *shapes)
    if isinstance(value, dict):
        return Graph.from_dict(value)
    raise TypeError(f"wanted a Graph, a Module or graph data, received {type(value).__name__}")
