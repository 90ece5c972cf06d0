"""Source of one module of a graph as a class."""

from __future__ import annotations

import re
from collections.abc import Callable

from labdl.graph.analysis.check import check
from labdl.graph.codegen.attributes import Layout
from labdl.graph.codegen.calls import OPEN, Names, constructor_call, layer_arguments, literal, operator_call
from labdl.graph.codegen.module_tree import End, Unit, inside, is_parameter, is_sequential, unit_of
from labdl.graph.graph import PARAMETER, Graph
from labdl.graph.inputs import GENERAL, absent_nodes, graph_arguments, needed_ports, optional_inputs
from labdl.graph.node import outputs_of, ports_of
from labdl.nn.schema import LAYERS

_MARK = re.compile("\x00(\\d+)\x00")


class Marks:
    """Placeholders of settings in the lines of a class: name, literal, and whether forward contains it."""

    def __init__(self):
        self.found: list[tuple[str, str, bool]] = []

    def add(self, name: str, text: str, runs: bool) -> str:
        self.found.append((name, text, runs))
        return f"\x00{len(self.found) - 1}\x00"

    def writer(self, runs: bool) -> Callable[[str, object], str]:
        return lambda name, value: self.add(name, literal(value), runs)

    @staticmethod
    def fill(lines: list[str], words: list[str]) -> list[str]:
        return [_MARK.sub(lambda m: words[int(m.group(1))], line) for line in lines]


class ModuleWriter:
    """Writes modules; ``made`` has the class, names and literals by which others construct those already written."""

    def __init__(self, graph: Graph):
        self.graph, self.incoming, self.inputs = graph, graph.incoming(), graph.inputs()
        self.specs = check(graph).specs
        self.absent = absent_nodes(graph, optional_inputs(graph))
        self.users: dict[End, list[str]] = {}
        for edge in graph.edges.values():
            self.users.setdefault((edge.source, edge.source_port), []).append(edge.target)
        self.root = unit_of(graph)
        self.layouts = {u.path: Layout(graph, u) for u in self.root.units()}
        self.own = {u.path: set(u.nodes()) for u in self.root.units()}
        self.imports: set[str] = set()
        self.made: dict[str, tuple[str, list[tuple[str, str]]]] = {}

    def skeleton(self, unit: Unit):
        """The structure that modules of one class share, without the settings of layers."""
        rows = tuple(
            (name, self.skeleton(item) if isinstance(item, Unit) else self.graph.nodes[item].type)
            for name, item in unit.items.items()
        )
        return unit.kind, rows

    def settings_of(self, unit: Unit, name: str):
        item = unit.items[name]
        return self.graph.nodes[item].params if isinstance(item, str) and self._is_layer(item) else ()

    def _is_layer(self, node_id: str) -> bool:
        return self.graph.nodes[node_id].type in LAYERS

    # -- __init__

    def render(self, unit: Unit, keys: dict[str, set[str]], marks: Marks) -> list[str]:
        """The lines of a class; layers pass the settings in ``keys`` even if they are default."""
        builds = {}
        for name, item in unit.items.items():
            if isinstance(item, Unit):
                if not item.shares:
                    builds[name] = self._constructor(item, marks)
            elif self._is_layer(item) and item not in self.inputs and not self.graph.nodes[item].shares:
                builds[name] = self._layer(item, keys.get(name, ()), marks)
        layout = self.layouts[unit.path]
        lines = ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        {statement}" for statement in layout.statements(builds)]
        if unit is self.root:
            lines += [f"        self.tie({name!r}, {to!r})" for name, to in self.graph.ties.items()]
        return [*lines, "", *self._forward(unit, layout, marks)]

    def _layer(self, node_id: str, keys, marks: Marks) -> str:
        return constructor_call(self.graph.nodes[node_id], keys, self.imports, marks.writer(False))

    def _constructor(self, unit: Unit, marks: Marks) -> str:
        if unit.kind == "Sequential":
            return f"nn.Sequential({', '.join(self._rows(unit, marks))})"
        word, settings = self.made[unit.path]
        return f"{word}({', '.join(marks.add(name, text, False) for name, text in settings)})"

    def _rows(self, unit: Unit, marks: Marks) -> list[str]:
        return [
            self._constructor(item, marks) if isinstance(item, Unit) else self._layer(item, (), marks)
            for item in unit.items.values()
        ]

    def sequential_rows(self, marks: Marks) -> list[str] | None:
        """The arguments of a Sequential that is the whole model; None if the model is not sequential."""
        root = self.root
        chain = Unit("", "Sequential", {name: item for name, item in root.items.items() if item not in self.inputs})
        chain.takes, chain.gives = [(node, "output") for node in self.inputs], root.gives
        sequential = is_sequential(self.graph, chain) and not self.graph.ties
        return self._rows(chain, marks) if sequential else None

    # -- forward

    def _forward(self, unit: Unit, layout: Layout, marks: Marks) -> list[str]:
        names = Names("self", "nn", "ops", "_")
        variables: dict[End, str] = {}
        if unit is self.root:
            arguments = self._arguments(names, variables)
        else:
            for end in unit.takes:
                word = self.graph.nodes[end[0]].name.rpartition("/")[2]
                variables[end] = names.new("x" if len(unit.takes) == 1 or word == GENERAL else word)
            arguments = ", ".join(["self", *variables.values()])
        steps = []
        for name, item in unit.items.items():
            if isinstance(item, Unit):
                taken, given = item.takes, item.gives
                feeds = ", ".join(self._value(unit, variables, end) for end in taken)
                part = layout.attribute("self", inside(item.shares, unit) if item.shares else name)
                call = f"{part}({feeds})"
            elif item in self.inputs or self.graph.nodes[item].type == "Weight":
                continue
            else:
                taken, call = self._call(unit, layout, variables, name, item, marks)
                call = self._unless_omitted(unit, variables, item) + call
                ports = [*self.specs[item]] if item in self.specs else outputs_of(self.graph.nodes[item])
                given = [(item, port) for port in ports]
            word = name.rpartition("/")[2]
            for at, end in enumerate(given):
                if at == 0 and len(taken) == 1 and self._last_use(unit, taken[0], item, variables):
                    variables[end] = variables[taken[0]]  # reuse the name of a value with no other reader
                elif at == 0 or isinstance(item, Unit) or end in self.users:
                    variables[end] = names.new(word if at == 0 or isinstance(item, Unit) else f"{word}_{end[1]}")
                else:
                    variables[end] = "_"
            steps.append(f"        {', '.join(variables[end] for end in given)} = {call}")
        ends = unit.gives
        if unit is self.root:
            sinks = [i for i in self.graph.outputs() if i not in self.inputs] or self.graph.outputs()
            ends = [(i, outputs_of(self.graph.nodes[i])[0]) for i in sinks]
        results = ", ".join(self._value(unit, variables, end) for end in ends)
        return [f"    def forward({arguments}):", *steps, f"        return {results}".rstrip()]

    def _call(self, unit, layout, variables, name, node_id, marks) -> tuple[list[End], str]:
        node, entering = self.graph.nodes[node_id], self.incoming[node_id]
        feeds = {
            p.name: [self._value(unit, variables, (e.source, e.source_port)) for _, e in entering.get(p.name, ())]
            for p in ports_of(node)
        }
        taken = [(e.source, e.source_port) for edges in entering.values() for _, e in edges]
        if node.type not in LAYERS:
            return taken, operator_call(node, feeds, marks.writer(True))
        origin = inside(self.graph.nodes[node.shares].name, unit) if node.shares in self.graph.nodes else name
        return taken, f"{layout.attribute('self', origin)}({layer_arguments(node, feeds)})"

    def _arguments(self, names: Names, variables: dict[End, str]) -> str:
        """The arguments of the model's forward; after an optional one, all have a default."""
        written, later = ["self"], False
        for argument in graph_arguments(self.graph):
            word = names.new(argument.name)
            if argument.node:
                variables[argument.node, "output"] = word
            later = later or argument.optional
            written.append(f"{word}={literal(argument.default if argument.optional else None)}" if later else word)
        return ", ".join(written)

    def _unless_omitted(self, unit: Unit, variables: dict[End, str], node_id: str) -> str:
        """The condition for a node that has no result where an optional input is omitted."""
        if node_id not in self.absent:
            return ""
        needed = needed_ports(self.graph.nodes[node_id])
        ends = [
            (e.source, e.source_port)
            for port, edges in self.incoming[node_id].items()
            for _, e in edges
            if port in needed and e.source in self.absent
        ]
        tests = dict.fromkeys(self._value(unit, variables, end) for end in ends)
        return "".join(f"None if {word} is None else " for word in tests)

    def _last_use(self, unit: Unit, end: End, item: Unit | str, variables) -> bool:
        if end not in variables or variables[end] == "_" or (unit.path and end in unit.gives):
            return False
        within = self.own[item.path] if isinstance(item, Unit) else {item}
        here = [user for user in self.users.get(end, ()) if user in self.own[unit.path]]
        return all(user in within for user in here) and len(here) <= max(1, len(within))

    def _value(self, unit: Unit, variables: dict[End, str], end: End) -> str:
        """Name of a value in this module: a variable, or one of its parameters."""
        if end in variables:
            return variables[end]
        if not is_parameter(self.graph, end) or end[0] not in self.own[unit.path]:
            return OPEN
        source, item = "self", unit
        while isinstance(item, Unit):
            home = item
            name, item = next(
                (n, i)
                for n, i in home.items.items()
                if i == end[0] or (isinstance(i, Unit) and end[0] in self.own[i.path])
            )
            source = self.layouts[home.path].attribute(source, name)
        if end[1].endswith(PARAMETER):
            source = ".".join([source, *end[1].removesuffix(PARAMETER).split("/")])
        return source
