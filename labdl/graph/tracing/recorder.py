"""The recorder of a trace: collects nodes, edges and modules while a model runs on symbols."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ModelError
from labdl.graph.graph import Edge, Node
from labdl.graph.inputs import GENERAL, argument_name
from labdl.graph.names import UnusedNames
from labdl.graph.node import RESERVED, output_port, outputs_of, show_index
from labdl.nn.initializers import INITIALIZERS
from labdl.nn.lora import adapted_blocks
from labdl.nn.module import Module, is_reserved, observer
from labdl.nn.parameter import Parameter
from labdl.nn.schema import input_ports, is_layer, params_of
from labdl.ops.operator import Operator
from labdl.spec import Spec

_SOURCES = ("Input", "Weight", "Constant")
_LARGEST = 65_536  # largest constant; larger arrays belong in a parameter file


class Symbol(Spec):
    """A Spec with the node of the trace that produced it."""

    def __init__(self, spec: Spec, recorder: Recorder, node: str, port: str):
        super().__init__(spec.shape, spec.dtype)
        for name, value in (("recorder", recorder), ("node", node), ("port", port)):
            object.__setattr__(self, name, value)


class Recorder:
    """Collects nodes and edges while a model runs on symbols.

    At the level of layers a registered layer is one node; at the level of operators the operators in it are recorded too.
    """

    def __init__(self, model: Module, level: str):
        self.level = level
        self.paths = {id(m): path for path, m in model.named_modules()}
        self.adapted_blocks = adapted_blocks(model)  # layers that their settings alone do not describe
        self.classes = {path: type(m).__name__ for path, m in model.named_modules() if path and not self.is_leaf(m)}
        self.nodes: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}
        self.node_numbers, self.edge_numbers = itertools.count(1), itertools.count(1)  # not reused for dropped ones
        self.groups: dict[str, str] = {}
        self.names, self.scope_names = UnusedNames(), UnusedNames()
        self.first: dict[int, str] = {}  # node of the first call of each layer
        self.owners: dict[str, Any] = {}  # modules of nodes with parameters
        self.scopes: list[tuple[str, str]] = [("", "")]  # running modules: own path, and path in this call
        self.weights: dict[int, Symbol] = {}
        self.replaced: list[tuple[Module, str, Any]] = []
        self.skipped: list[str] = []  # arguments that are omitted, before the next input
        # names of layers and parameters, which an input must leave to them
        self.kept_names = {*self.paths.values(), *model._parameters, *RESERVED}

    def is_leaf(self, module: Module) -> bool:
        if not is_layer(module) or id(module) in self.adapted_blocks:
            return False
        return self.level == "layers" or type(module).layer_type in _SOURCES  # type: ignore

    # -- nodes and edges

    def input(self, spec: Spec | None, argument: str) -> Symbol | None:
        """An input of the model, under the name of its argument; None for an omitted one, whose place is kept."""
        if spec is None:
            self.skipped.append(argument)
            return None
        node_id = self.add_input(argument, settings_of(spec))
        return Symbol(spec, self, node_id, "output")

    def add_input(self, argument: str, params: dict[str, Any]) -> str:
        word = GENERAL if argument == "x" else argument
        if word in self.kept_names or is_reserved(word):
            word = f"{word}_input"
        skips = {"skips": tuple(self.skipped)} if self.skipped else {}
        self.skipped = []
        node_id = self.add("Input", word, {**params, **skips})
        node = self.nodes[node_id]
        if argument_name(node) != argument:
            self.nodes[node_id] = dataclasses.replace(node, params={**node.params, "argument": argument})
        return node_id

    def add(self, kind: str, name: str, params: dict[str, Any], shares: str = "") -> str:
        name = self.names.new(name)
        node_id = f"n{next(self.node_numbers)}"
        self.nodes[node_id] = Node(kind, name, params, shares)
        return node_id

    def connect(self, symbol: Symbol, target: str, port: str) -> None:
        if symbol.recorder is not self:  # type: ignore[attr-defined]
            raise ModelError("a tensor of another trace was used: do not keep tensors between calls of forward")
        edge = Edge(symbol.node, target, symbol.port, port)  # type: ignore[attr-defined]
        self.edges[f"e{next(self.edge_numbers)}"] = edge

    def results(self, node_id: str, outputs):
        names = outputs_of(self.nodes[node_id])
        if not isinstance(outputs, list | tuple):
            return Symbol(outputs, self, node_id, names[0])
        return tuple(
            Symbol(s, self, node_id, names[i] if i < len(names) else output_port(i)) for i, s in enumerate(outputs)
        )

    def inside(self, name: str) -> str:
        """A name in the running module."""
        return "/".join(filter(None, (self.scopes[-1][1], name)))

    def path(self, module: Module) -> str:
        """Path of a module: under the running module if it belongs to it, else its own path."""
        home = self.paths.get(id(module))
        if not home:  # created in a forward, or the model itself is a layer
            return self.inside(type(module).__name__.lower())
        scope, called = self.scopes[-1]
        if home.startswith(f"{scope}/"):
            return called + home[len(scope) :]
        return home

    # -- shapes

    def infer(self, node_id: str, call: Callable[[], Any]):
        """The output Specs of a node."""
        return call()

    def prepare(self, module: Module, inputs, options) -> None:
        named = {k: _plain(v) for k, v in options.items() if isinstance(v, Spec)}
        module.prepare(*(v if v is None else _plain(dispatch.spec_of(v)) for v in inputs), **named)

    # -- calls of modules

    def call(self, module: Module, inputs, options):
        """Record a call of a layer, or follow one of a module."""
        if self.is_leaf(module):
            return self.layer(module, inputs, options)
        home = self.paths.get(id(module), "")
        if not home:  # the model itself
            self.scopes.append(("", ""))
        else:
            path = self.scope_names.new(self.path(module))
            self.groups[path] = type(module).__name__
            self.scopes.append((home, path))
        try:
            self.prepare(module, inputs, options)
            self.place_weights(module)
            return module.forward(*inputs, **options)
        finally:
            self.scopes.pop()

    def layer(self, module: Module, inputs, options):
        """Record a call of a registered layer."""
        kind = type(module).layer_type  # type: ignore[attr-defined]
        if kind == "Input":
            return inputs[0]  # the graph has its own Input
        origin = self.first.get(id(module), "")
        node_id = self.add(kind, self.path(module), {} if origin else params_of(module), origin)
        self.first.setdefault(id(module), node_id)
        ports = input_ports(type(module))
        given = [(ports[min(i, len(ports) - 1)].name, v) for i, v in enumerate(inputs)] + list(options.items())
        for name, value in given:
            if value is not None:
                self.connect(self.symbol(value, f"{self.nodes[node_id].name}: input {name}"), node_id, name)
        self.restore(module)
        token = observer.set(None)  # the inside of a layer is not recorded
        try:
            found = self.infer(
                node_id, lambda: module(*map(_plain, inputs), **{k: _plain(v) for k, v in options.items()})
            )
        finally:
            observer.reset(token)
        outputs = self.results(node_id, found)
        own = list(module.named_modules())
        if any(m._parameters for _, m in own):
            self.owners[node_id] = module
            # of a layer that is called again, too: its parameters are those of the first node
            for path, part in own:
                for name, parameter in part._parameters.items():
                    port = "/".join(filter(None, (path, name))) + ":0"
                    place = "output" if kind == "Weight" else port
                    symbol = Symbol(Spec(parameter.shape, parameter.dtype), self, origin or node_id, place)
                    self.place(part, name, symbol)
        return outputs

    def place_weights(self, module: Module) -> None:
        """Replace the parameters of a module, and of those in it that only hold others, such as a ParameterList."""
        home = self.paths.get(id(module), "")
        for name, parameter in module._parameters.items():
            self.place(module, name, self.weight(parameter, "/".join(filter(None, (home, name)))))
        for part in module._modules.values():
            if type(part).forward is Module.forward:
                self.place_weights(part)

    def place(self, module: Module, name: str, symbol: Symbol) -> None:
        """Replace an attribute that holds a parameter by a symbol during the trace."""
        self.replaced.append((module, name, module.__dict__[name]))
        module.__dict__[name] = symbol

    def restore(self, module: Module | None = None) -> None:
        """Restore attributes: of one layer and its children, or of the whole model."""
        parts = None if module is None else {id(m) for m in module.modules()}
        kept = []
        for place in reversed(self.replaced):
            if parts is None or id(place[0]) in parts:
                place[0].__dict__[place[1]] = place[2]
            else:
                kept.append(place)
        self.replaced = kept[::-1]

    def weight(self, parameter: Parameter, name: str) -> Symbol:
        """The symbol of a parameter that belongs to no layer."""
        symbol = self.weights.get(id(parameter))
        if symbol is None:
            settings = {
                "init": _init_name(parameter, name),
                "dtype": parameter.dtype,
                "learned": parameter.learnable,
                "standard": parameter.standard,
            }
            default = {"init": "zeros", "dtype": "float32", "learned": True, "standard": None}
            settings = {k: v for k, v in settings.items() if v != default[k]}
            node_id = self.add("Weight", name, {"shape": parameter.shape, **settings})
            self.owners[node_id] = parameter
            symbol = Symbol(Spec(parameter.shape, parameter.dtype), self, node_id, "output")
            self.weights[id(parameter)] = symbol
        return symbol

    def symbol(self, value, what: str) -> Symbol:
        """The symbol of a value; known numbers become a constant."""
        if isinstance(value, Symbol):
            return value
        if isinstance(value, np.ndarray | np.generic | int | float | bool):
            array = np.asarray(value)
            kinds = {"f": "float32", "i": "int64", "b": "bool"}
            if array.size <= _LARGEST and array.dtype.kind in kinds:
                known = str(array.dtype) if str(array.dtype) in ("float64", "int32") else kinds[array.dtype.kind]
                params = {"value": _tuple(array.tolist()), **({} if known == "float32" else {"dtype": known})}
                node_id = self.add("Constant", self.inside("constant"), params)
                return Symbol(Spec(array.shape, known), self, node_id, "output")
            raise ModelError(
                f"{what} is an array of {array.size:,} elements of {array.dtype}, which a graph cannot hold: make "
                "it a Buffer of the model"
            )
        raise ModelError(
            f"{what} is a {type(value).__name__} that is not computed from the model's inputs, so a graph cannot "
            "hold it"
        )

    # -- calls of operators

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
            elif isinstance(value, list | tuple) and value and any(isinstance(v, Symbol) for v in value):
                links += [(self.symbol(v, f"ops.{entry.name}: {name}"), name) for v in value]
            elif name in entry.roles and isinstance(value, np.ndarray):
                links.append((self.symbol(value, f"ops.{entry.name}: {name}"), name))
            elif kind.default is kind.empty or value != kind.default:
                params[name] = _constant(entry.name, name, value)
        if entry.name == "reshape" and isinstance(params["shape"], tuple):
            params["shape"] = tuple(
                -1 if n is None else n for n in params["shape"]
            )  # kernels do not accept unknown sizes
        node_id = self.add(f"ops.{entry.name}", self.inside(entry.name), params)
        for symbol, name in links:
            self.connect(symbol, node_id, name)
        call = getattr(ops, entry.name)
        found = self.infer(node_id, lambda: call(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()}))
        return self.results(node_id, found)

    # -- the end

    def finish(self, returned) -> None:
        """Make the returned values the outputs of the graph, in order, and drop unused nodes."""
        values = list(returned) if isinstance(returned, list | tuple) else [returned]
        for value in values:
            if not isinstance(value, Symbol):
                raise ModelError(
                    f"forward returns a {type(value).__name__}, which a graph cannot hold: return a tensor "
                    "computed from the inputs, or a tuple of them"
                )
        self._drop_unused({v.node for v in values})  # type: ignore[attr-defined]
        used = {e.source for e in self.edges.values()}
        times = Counter(v.node for v in values)  # type: ignore[attr-defined]
        ends = []
        for value in values:
            node_id, port = value.node, value.port  # type: ignore[attr-defined]
            node = self.nodes[node_id]
            if node.type == "Input" or node_id in used or times[node_id] > 1 or port != outputs_of(node)[0]:
                # only the first output of an unused node is an output of the graph; a sum of one makes another an output
                node_id = self.add("Add", "output", {})
                self.connect(value, node_id, "xs")
            ends.append(node_id)
        if [i for i in self.nodes if i in ends] != ends:
            self.nodes = {i: n for i, n in self.nodes.items() if i not in ends} | {i: self.nodes[i] for i in ends}
        called = {**self.classes, **self.groups}
        used_names = [n.name for n in self.nodes.values()]
        # generated source calls a second class of Block "Block_2"
        self.groups = {
            p: re.sub(r"_\d+$", "", c) for p, c in called.items() if any(n.startswith(f"{p}/") for n in used_names)
        }

    def _drop_unused(self, live: set[str]) -> None:
        for edge in reversed(self.edges.values()):  # edges are recorded after those into their source
            if edge.target in live:
                live.add(edge.source)
        live |= {n.shares for i, n in self.nodes.items() if i in live and n.shares}
        for node_id in [i for i, n in self.nodes.items() if i not in live and n.type != "Input"]:
            if node_id in self.owners:
                what = "parameter" if self.nodes[node_id].type == "Weight" else "the output of layer"
                raise ModelError(
                    f"forward does not use {what} {self.nodes[node_id].name!r}, so a graph cannot hold it: leave it out"
                )
            del self.nodes[node_id]
        self.edges = {i: e for i, e in self.edges.items() if e.target in self.nodes}


def settings_of(spec: Spec) -> dict[str, Any]:
    """The settings of an Input."""
    return {"shape": spec.shape, **({} if spec.dtype == "float32" else {"dtype": spec.dtype})}


def _plain(value) -> Any:
    if isinstance(value, Symbol):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def _tuple(value):
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def _init_name(parameter: Parameter, name: str) -> str:
    if isinstance(parameter.init, str):
        return parameter.init
    known = [n for n, function in INITIALIZERS.items() if function is parameter.init]
    if not known:
        raise ModelError(
            f"parameter {name!r} is initialized by a function of your own, which a graph cannot hold: use one of "
            f"{', '.join(INITIALIZERS)}"
        )
    return known[0]


def _constant(operator: str, name: str, value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float | bool | type(None)):
        return value
    if isinstance(value, list | tuple):
        return tuple(_constant(operator, name, v) for v in value)
    raise ModelError(
        f"ops.{operator} is given {name} as a {type(value).__name__}, which a graph cannot hold: "
        "put it into a layer of your own (nn.layer) as a Parameter"
    )


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

    def refuse_control_flow(self, name: str) -> None:
        raise ModelError(
            f"a graph cannot hold ops.{name}, whose functions would be graphs of their own: put the call into a layer "
            "(a Module with @nn.layer), which is one node, or run and train the model without a trace"
        )


dispatch.claim(Symbol, _SymbolInterpreter())
