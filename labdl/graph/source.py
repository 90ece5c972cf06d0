"""Writing a graph as the Python source of a Module."""

from __future__ import annotations

import keyword
import re

from labdl.graph.graph import Graph, Node
from labdl.graph.node import outputs_of, ports_of
from labdl.nn.schema import LAYERS, fields


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    word = f"_{word}" if word[:1].isdigit() or keyword.iskeyword(word) or not word else word
    return word


def _arguments(node: Node) -> str:
    """Hyper-parameters as written by hand: required ones by position, the others by name."""
    known = fields(LAYERS[node.type])
    positional, named = [], []
    for at, name in enumerate(known):
        if name in node.params:
            text = repr(node.params[name])
            positional.append(text) if at == len(positional) and at < 1 else named.append(f"{name}={text}")
    return ", ".join([*positional, *named])


def class_name(graph: Graph) -> str:
    return "".join(w[:1].upper() + w[1:] for w in re.findall(r"[A-Za-z0-9]+", graph.name)).lstrip("0123456789") or "Model"


def to_python(graph: Graph) -> str:
    """Source text; executed, it defines a class whose trace equals the graph. Raises ModelError for unknown layers."""
    order, cyclic = graph.order()
    incoming = graph.incoming()
    users: dict[str, int] = {}
    for edge in graph.edges.values():
        users[edge.source] = users.get(edge.source, 0) + 1
    made, steps = [], []
    variables: dict[tuple[str, str], str] = {}
    inputs = graph.inputs()
    for node_id in inputs:
        variables[node_id, "output"] = "x" if len(inputs) == 1 else _identifier(graph.nodes[node_id].name)
    taken = set(variables.values())
    for node_id in [i for i in [*order, *cyclic] if i not in inputs]:
        node = graph.nodes[node_id]
        feeds = {p.name: [variables.get((e.source, e.source_port), "...") for _, e in incoming[node_id].get(p.name, ())]
                 for p in ports_of(node)}  # fmt: skip
        given = [name for names in feeds.values() for name in names]
        sources = [e.source for edges in incoming[node_id].values() for _, e in edges]
        used_ports = {e.source_port for e in graph.edges.values() if e.source == node_id}
        names = [n for n in outputs_of(node) if n in used_ports or n == outputs_of(node)[0]]
        several = len(outputs_of(node)) > 1
        # a value that nobody else needs is overwritten, as people write it
        variable = given[0] if len(sources) == 1 and users[sources[0]] == 1 else _fresh(node.name, taken)
        taken.add(variable)
        variables[node_id, names[0]] = variable
        targets = [variable]
        if several:
            for port in outputs_of(node)[1:]:
                targets.append(_fresh(f"{node.name}_{port}", taken) if port in used_ports else "_")
                variables[node_id, port] = targets[-1]
                taken.add(targets[-1])
        if node.type in LAYERS:
            attribute = _identifier(node.name)
            made.append(f"        self.{attribute} = nn.{node.type}({_arguments(node)})")
            steps.append(f"        {', '.join(targets)} = self.{attribute}({', '.join(given)})")
        else:
            steps.append(f"        {', '.join(targets)} = {_operator(node, feeds)}")
    results = [variables.get((i, outputs_of(graph.nodes[i])[0]), "...") for i in graph.outputs()]
    arguments = ", ".join(variables[i, "output"] for i in inputs)
    lines = ["from labdl import nn, ops" if any("ops." in s for s in steps) else "from labdl import nn", "", "",
             f"class {class_name(graph)}(nn.Module):", "    def __init__(self):", "        super().__init__()", *made, "",
             f"    def forward(self, {arguments}):", *steps, f"        return {', '.join(results)}", ""]  # fmt: skip
    return "\n".join(lines)


def _fresh(name: str, taken: set[str]) -> str:
    word = base = _identifier(name)
    n = 1
    while word in taken or word == "self":
        word, n = f"{base}_{n}", n + 1
    return word


def _operator(node: Node, feeds: dict[str, list[str]]) -> str:
    if node.type == "ops.getitem":
        return f"{feeds['x'][0]}[{node.params['index']}]"
    parts = []
    for port in ports_of(node):
        names = feeds[port.name]
        if names:
            parts.append(f"[{', '.join(names)}]" if port.variadic else names[0])
        elif port.name in node.params:
            parts.append(repr(node.params[port.name]))
    named = [f"{k}={v!r}" for k, v in node.params.items() if k not in feeds]
    return f"{node.type}({', '.join([*parts, *named])})"
