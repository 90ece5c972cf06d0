"""The cost of a network: floating-point operations and memory of each node, computed from shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from labdl import dispatch, ops
from labdl.graph.analysis.check import CheckResult, check, infer, spec_of_edge
from labdl.graph.graph import Graph
from labdl.graph.node import ports_of
from labdl.nn.module import Module
from labdl.ops.costs import size
from labdl.ops.operator import Operator
from labdl.spec import Spec, show


@dataclass(frozen=True)
class Cost:
    """Cost of one node for one sample. A multiplication with the addition after it counts as two operations.

    ``memory`` is the memory that training keeps, in bytes: the results of its operators and its parameters.
    """

    operations: int = 0
    memory: int = 0
    parameters: int = 0


class _CountingSpec(Spec):
    """A Spec that counts the operators applied to it."""

    def __init__(self, spec: Spec, tally: list):
        super().__init__(spec.shape, spec.dtype)
        object.__setattr__(self, "tally", tally)


class _CountInterpreter:
    name = "cost"
    precedence = 4
    only_shapes = True

    def implementation(self, entry: Operator):
        def count(*args, **kwargs):
            values = [*args, *kwargs.values()]
            values += [v for value in values if isinstance(value, list | tuple) for v in value]
            tally = next(v.tally for v in values if isinstance(v, _CountingSpec))  # type: ignore[attr-defined]
            results = getattr(ops, entry.name)(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
            if callable(entry.cost):
                operations = entry.cost(results, *args, **kwargs)
            else:
                operations = (entry.cost or 0) * size(results[0] if isinstance(results, list | tuple) else results)
            tally.append((operations, 0 if entry.cost is None else _bytes(results)))
            return _count_through(results, tally)

        return count

    def spec_of(self, value) -> Spec:
        return Spec(value.shape, value.dtype)


dispatch.claim(_CountingSpec, _CountInterpreter())


def _plain(value):
    if isinstance(value, _CountingSpec):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def _count_through(value, tally):
    if isinstance(value, list | tuple):
        return type(value)(_count_through(v, tally) for v in value)
    return _CountingSpec(value, tally) if isinstance(value, Spec) else value


def _bytes(value) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    width = 2 if value.dtype == "bfloat16" else np.dtype(value.dtype).itemsize if value.dtype != "string" else 0
    return size(value) * width


def costs(graph: Graph, result: CheckResult | None = None) -> dict[str, Cost]:
    """The cost of each node without problems, by id; unknown sizes count as 1, so a batch of unknown size is one sample.

    ``result`` is that of an earlier check, if there is one.
    """
    result = check(graph) if result is None else result
    incoming, found = graph.incoming(), {}
    alike: dict[tuple, list] = {}  # models repeat equal layers
    sizes: dict[int, int] = {}  # bytes of parameters, by `id` of the layer, which nodes may have in common
    for node_id, specs in result.specs.items():
        made, node = result.made[node_id], graph.nodes[node_id]
        given = [(n, spec_of_edge(result, e)) for n, edges in incoming[node_id].items() for _, e in edges]
        key = (node.type, repr(graph.nodes[node.shares or node_id].params), tuple(given))
        if key not in alike:
            alike[key] = []
            if node.type != "Input":
                _run(graph, node_id, result, incoming[node_id], alike[key])
        tally = alike[key]
        if id(made) not in sizes:
            parameters = list(made.parameters()) if isinstance(made, Module) else []
            sizes[id(made)] = sum(_bytes(Spec(p.shape, p.dtype)) for p in parameters)
        held = 0 if node.shares else sizes[id(made)]
        memory = sum(m for _, m in tally) if tally else _bytes(list(specs.values()))
        found[node_id] = Cost(sum(n for n, _ in tally), memory + held, result.counts[node_id])
    return found


def _run(graph: Graph, node_id: str, result, entering, tally) -> None:
    ports = {p.name: p for p in ports_of(graph.nodes[node_id])}
    values = {}
    for name, edges in entering.items():
        specs = [_count_through(spec_of_edge(result, edge), tally) for _, edge in edges]
        values[name] = specs if ports[name].variadic else specs[0]
    infer(graph.nodes[node_id], result.made[node_id], ports, values)


def summary(graph: Graph, depth: int | None = None) -> str:
    """A table of nodes in order of computation, with their costs for one sample.

    With ``depth``, modules at that depth are a line each, with the sums of their contents: 1 shows the direct children of the
    model.
    """
    result = check(graph)
    found = costs(graph, result)
    problems = {p.node: p.message for p in result.problems}
    lines: dict[str, tuple[str, str, list[Cost]]] = {}  # by path: layer or class, last shape, costs
    for node_id in [*graph.order()[0], *graph.order()[1]]:
        node, cost = graph.nodes[node_id], found.get(node_id, Cost())
        shapes = " ".join(show(s.shape) for s in result.specs.get(node_id, {}).values()) or problems.get(node_id, "?")
        path = node.name.split("/")
        group = "/".join(path[:depth]) if depth and len(path) > depth else None
        if group is None:
            lines[node.name] = (node.type, shapes, [cost])
        else:
            lines[group] = (graph.groups.get(group, ""), shapes, [*lines.get(group, ("", "", []))[2], cost])
    rows = [("Name", "Layer", "Output", "Parameters", "FLOPs", "Memory")]
    for name, (kind, shapes, held) in lines.items():
        cost = total(held)
        rows.append((name, kind, shapes, f"{cost.parameters:,}", _short(cost.operations), f"{_short(cost.memory)}B"))
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    text = [
        "  ".join(
            [
                *(c.ljust(w) for c, w in zip(r[:3], widths[:3], strict=True)),
                *(c.rjust(w) for c, w in zip(r[3:], widths[3:], strict=True)),
            ]
        )
        for r in rows
    ]
    rule, whole = "-" * len(text[0]), total(found.values())
    last = (
        f"{whole.parameters:,} trainable parameters, {_short(whole.operations)} floating-point operations and "
        f"{_short(whole.memory)}B of memory for one sample"
    )
    return "\n".join([text[0], rule, *text[1:], rule, last])


def total(found: Iterable[Cost]) -> Cost:
    """The costs of several nodes together."""
    each = list(found)
    return Cost(*(sum(getattr(c, f.name) for c in each) for f in dataclasses.fields(Cost)))


def _short(number: int) -> str:
    """Three digits and a unit: 1.82 G."""
    for unit, one in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= one:
            return f"{number / one:.3g} {unit}"
    return f"{number} "
