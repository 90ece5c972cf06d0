"""Writing a graph as the Python source of a Module."""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

from labdl.errors import ConfigError, ModelError
from labdl.graph.check import check
from labdl.graph.graph import Graph, Node
from labdl.graph.node import outputs_of, parse_index, ports_of, show_index
from labdl.nn.module import reserved
from labdl.nn.schema import LAYERS, fields
from labdl.ops import OPERATORS

_OPEN = "..."  # stands where a connection is missing


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    return f"_{word}" if word[:1].isdigit() or keyword.iskeyword(word) or not word else word


def _literal(value: Any) -> str:
    """The value as source: plain data only, so that nothing else can get into the program."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(map(_literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    raise ModelError(f"a setting holds a {type(value).__name__}, which cannot be written as source")


def _settings(node: Node) -> str:
    """Hyper-parameters as written by hand: the first one by position, the others by name."""
    known = list(fields(LAYERS[node.type]))
    unknown = [k for k in node.params if k not in known]
    if unknown:
        raise ConfigError(f"{node.type} has no setting {unknown[0]!r}: it has {', '.join(known) or 'none'}")
    return ", ".join(f"{'' if name == known[0] else f'{name}='}{_literal(node.params[name])}"
                     for name in known if name in node.params)  # fmt: skip


def class_name(graph: Graph) -> str:
    words = "".join(w[:1].upper() + w[1:] for w in re.findall(r"[A-Za-z0-9]+", graph.name)).lstrip("0123456789")
    return f"{words}Model" if keyword.iskeyword(words) or words == "Model" else words or "Model"


class _Names:
    """Words that are free, each handed out once."""

    def __init__(self, *taken: str):
        self.taken = set(taken)

    def new(self, name: str) -> str:
        word = base = _identifier(name)
        n = 1
        while word in self.taken:
            word, n = f"{base}_{n}", n + 1
        self.taken.add(word)
        return word


def to_python(graph: Graph) -> str:
    """Source text; executed, it defines a class whose trace equals the graph. Raises ModelError for unknown layers."""
    order, cyclic = graph.order()
    incoming, specs, inputs = graph.incoming(), check(graph).specs, graph.inputs()
    users: dict[str, int] = {}
    for edge in graph.edges.values():
        users[edge.source] = users.get(edge.source, 0) + 1
    local, attributes = _Names("self", "nn", "ops", "_"), _Names()
    imports, made, steps = {"from labdl import nn"}, [], []
    variables: dict[tuple[str, str], str] = {}
    for node_id in inputs:
        variables[node_id, "output"] = local.new("x" if len(inputs) == 1 else graph.nodes[node_id].name)
    for node_id in [i for i in [*order, *cyclic] if i not in inputs]:
        node = graph.nodes[node_id]
        feeds = {p.name: [variables.get((e.source, e.source_port), _OPEN) for _, e in incoming[node_id].get(p.name, ())]
                 for p in ports_of(node)}  # fmt: skip
        sources = [e.source for edges in incoming[node_id].values() for _, e in edges]
        given = [name for names in feeds.values() for name in names]
        # a value that nobody else needs is overwritten, as people write it
        reuse = len(sources) == len(given) == 1 and users[sources[0]] == 1 and given[0] != _OPEN
        ports = [*specs[node_id]] if node_id in specs else list(outputs_of(node))
        targets = [given[0] if reuse else local.new(node.name)]
        read = {e.source_port for e in graph.edges.values() if e.source == node_id} if len(ports) > 1 else set()
        targets += [local.new(f"{node.name}_{port}") if port in read else "_" for port in ports[1:]]
        variables.update({(node_id, port): target for port, target in zip(ports, targets, strict=True)})
        if node.type in LAYERS:
            attribute = _attribute(node.name, attributes)
            made.append(f"        self.{attribute} = {_class(node.type, imports)}({_settings(node)})")
            call = f"self.{attribute}({_ports(node, feeds)})"
        else:
            imports.discard("from labdl import nn")
            imports.add("from labdl import nn, ops")
            call = _operator(node, feeds)
        steps.append(f"        {', '.join(targets)} = {call}")
    ends = [i for i in graph.outputs() if i not in inputs] or graph.outputs()
    results = [variables.get((i, outputs_of(graph.nodes[i])[0]), _OPEN) for i in ends]
    arguments = ", ".join(["self", *(variables[i, "output"] for i in inputs)])
    lines = [*sorted(imports), "", "",
             f"class {class_name(graph)}(nn.Module):", "    def __init__(self):", "        super().__init__()", *made, "",
             f"    def forward({arguments}):", *steps, f"        return {', '.join(results)}".rstrip(), ""]  # fmt: skip
    return "\n".join(lines)


def _attribute(name: str, names: _Names) -> str:
    word = names.new(name)
    while reserved(word):
        word = names.new(f"{word}_layer")
    return word


def _class(kind: str, imports: set[str]) -> str:
    """How the source names a layer: ours under nn, others imported, and one from a notebook cell as it is."""
    module = LAYERS[kind].__module__
    if module.startswith("labdl.nn."):
        return f"nn.{kind}"
    if module != "__main__":
        imports.add(f"from {module} import {kind}")
    return kind


def _ports(node: Node, feeds: dict[str, list[str]]) -> str:
    parts, gap = [], False
    for port in ports_of(node):
        names = feeds[port.name]
        if port.variadic:
            parts += names
        elif names or not port.optional:
            name = (names or [_OPEN])[0]
            parts.append(f"{port.name}={name}" if gap else name)
        else:
            gap = True
    return ", ".join(parts)


def _index_literal(index: str) -> str:
    """An index as an argument, where ``:`` cannot stand."""
    items = parse_index(index)
    return repr(items)  # slices and ... write themselves as Python reads them


def _operator(node: Node, feeds: dict[str, list[str]]) -> str:
    signature = OPERATORS[node.type.removeprefix("ops.")].signature.parameters
    unknown = [k for k in node.params if k not in signature]
    if unknown:
        raise ConfigError(f"operator {node.type} has no argument {unknown[0]!r}: it has {', '.join(signature)}")
    if node.type == "ops.getitem":
        index = node.params.get("index")
        text = (
            feeds["index"][0]
            if feeds.get("index")
            else show_index(parse_index(index) if isinstance(index, str) else index)
        )
        return f"{(feeds['x'] or [_OPEN])[0]}[{text}]"
    variadic = {p.name for p in ports_of(node) if p.variadic}
    parts, gap = [], False
    for name, p in signature.items():
        if p.kind is p.VAR_POSITIONAL:
            parts += feeds.get(name, ())
            continue
        if feeds.get(name):
            text = f"[{', '.join(feeds[name])}]" if name in variadic else feeds[name][0]
        elif name in node.params:
            value = node.params[name]
            text = _index_literal(value) if name == "index" and isinstance(value, str) else _literal(value)
        elif p.default is p.empty:
            text = _OPEN
        else:
            gap = True
            continue
        parts.append(f"{name}={text}" if gap or p.kind is p.KEYWORD_ONLY else text)
    return f"{node.type}({', '.join(parts)})"
