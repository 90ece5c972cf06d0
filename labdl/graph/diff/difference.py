"""The difference of two models: added and removed layers and connections, and changed settings."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Mapping
from typing import Any

from labdl.graph.diff.edges import differing_edges
from labdl.graph.diff.matching import same_nodes
from labdl.graph.graph import Edge, Graph, Node, paths_around
from labdl.graph.tracing.trace import as_graph
from labdl.nn.schema import LAYERS, fields
from labdl.ops import OPERATORS

Pair = tuple[Any, Any]  # old and new value; None if missing


@dataclasses.dataclass(frozen=True)
class NodeChange:
    """A node of both models with different settings: its two ids, and old and new value of each setting."""

    old: str
    new: str
    settings: Mapping[str, Pair]


@dataclasses.dataclass(frozen=True, repr=False)
class Difference:
    """The difference between two graphs; falsy if they are the same model; `str` gives text.

    ``same`` maps ids of nodes in the old graph to those in the new one; ``renamed`` are such pairs whose names differ.
    ``removed`` and ``removed_edges`` are ids of the old graph, ``added`` and ``added_edges`` of the new one. ``classes`` are
    classes of blocks by path, ``ties`` tied parameters by name, each with old and new value.
    """

    old: Graph
    new: Graph
    same: Mapping[str, str]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[NodeChange, ...]
    renamed: tuple[tuple[str, str], ...]
    removed_edges: tuple[str, ...]
    added_edges: tuple[str, ...]
    name: tuple[str, str] | None
    classes: Mapping[str, Pair]
    ties: Mapping[str, Pair]

    def __bool__(self) -> bool:
        return any(
            (
                self.removed,
                self.added,
                self.changed,
                self.renamed,
                self.removed_edges,
                self.added_edges,
                self.name,
                self.classes,
                self.ties,
            )
        )

    def __str__(self) -> str:
        return "\n".join(_lines(self)) or "no difference"

    __repr__ = __str__


def diff(old, new) -> Difference:
    """The difference of two models: ``print(labdl.graph.diff(before, after))``; graphs, modules or graph data.

    A node is the same if its id and type are (as in an edited model), else by its name, else by its inputs; a name that both
    graphs have takes precedence over an id. Positions on the canvas are ignored, and an explicit default is not a change. The
    difference is symmetric: removed nodes in one direction are added ones in the other.
    """
    old, new = as_graph(old), as_graph(new)
    same = _same(old, new)
    found = set(same.values())
    pairs = [(a, same[a]) for a in old.nodes if a in same]
    changes = [NodeChange(a, b, _settings(old, new, a, b, same)) for a, b in pairs]
    removed_edges, added_edges = _edges(old, new, same)
    return Difference(
        old,
        new,
        same,
        removed=tuple(i for i in old.nodes if i not in same),
        added=tuple(i for i in new.nodes if i not in found),
        changed=tuple(change for change in changes if change.settings),
        renamed=tuple((a, b) for a, b in pairs if old.nodes[a].name != new.nodes[b].name),
        removed_edges=removed_edges,
        added_edges=added_edges,
        name=(old.name, new.name) if old.name != new.name else None,
        classes=_changed_settings(_live(old, new), _live(new, old)),
        ties=_changed_settings(_renamed_ties(old, new, same), new.ties),
    )


# -- matching


def _same(old: Graph, new: Graph) -> dict[str, str]:
    """Map ids of the old graph to those of the new one; symmetric in both graphs."""
    if _key(old) > _key(new):
        return {b: a for a, b in _same(new, old).items()}
    names, others = ({(n.name, n.type) for n in g.nodes.values()} for g in (old, new))
    known = {}
    for i, node in old.nodes.items():
        its = new.nodes.get(i)
        # traces number their nodes, so a common name is more significant than an id
        if (
            its
            and its.type == node.type
            and (its.name == node.name or ((node.name, node.type) not in others and (its.name, node.type) not in names))
        ):
            known[i] = i
    same = same_nodes(old, new, known, guess=False)
    # operators are matched by their inputs, and by name if these changed
    taken = set(same.values())
    left = {(n.name, n.type): a for a, n in old.nodes.items() if a not in taken}
    same |= {b: left[n.name, n.type] for b, n in new.nodes.items() if b not in same and (n.name, n.type) in left}
    pairs = {a: b for b, a in same.items()}
    return {a: pairs[a] for a in old.nodes if a in pairs}


def _key(graph: Graph) -> tuple[int, str]:
    return len(graph.nodes), json.dumps(dataclasses.replace(graph, positions={}).to_dict(), default=str)


# -- differences


def _settings(old: Graph, new: Graph, a: str, b: str, same: Mapping[str, str]) -> dict[str, Pair]:
    was, is_ = old.nodes[a], new.nodes[b]
    if was.shares and is_.shares and same.get(was.shares) == is_.shares:
        return {}  # the settings are at the node that it shares
    found = _changed_settings(_all_settings(was), _all_settings(is_))
    if was.shares or is_.shares:
        found["shares"] = (_name(old, was.shares), _name(new, is_.shares))
    return found


def _name(graph: Graph, node_id: str) -> str | None:
    return graph.nodes[node_id].name if node_id in graph.nodes else None


def _all_settings(node: Node) -> dict[str, Any]:
    """The settings of a node, with defaults."""
    return {**_defaults(node.type), **node.params}


def _defaults(kind: str) -> dict[str, Any]:
    if kind in LAYERS:
        return {name: f.default for name, f in fields(LAYERS[kind]).items() if f.default is not dataclasses.MISSING}
    entry = OPERATORS.get(kind.removeprefix("ops."))
    if entry is None or not kind.startswith("ops."):
        return {}
    return {p.name: p.default for p in entry.signature.parameters.values() if p.default is not inspect.Parameter.empty}


def _changed_settings(was: Mapping[str, Any], is_: Mapping[str, Any]) -> dict[str, Pair]:
    # nan is not equal to itself, but the same setting
    return {
        key: (was.get(key), is_.get(key))
        for key in dict.fromkeys((*was, *is_))
        if was.get(key) != is_.get(key) and repr(was.get(key)) != repr(is_.get(key))
    }


def _edges(old: Graph, new: Graph, same: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if _key(old) > _key(new):  # keeps the choice among several symmetric
        added, removed = differing_edges(new, old, {b: a for a, b in same.items()})
        return removed, added
    return differing_edges(old, new, same)


def _live(graph: Graph, other: Graph) -> dict[str, str]:
    """Classes of the blocks of both graphs; other blocks are covered by their layers."""
    shared = set.intersection(
        *({path for n in g.nodes.values() for path in paths_around(n.name)} for g in (graph, other))
    )
    return {path: kind for path, kind in graph.groups.items() if path in shared}


def _renamed_ties(old: Graph, new: Graph, same: Mapping[str, str]) -> dict[str, str]:
    """The ties of the old graph under the names of the new one."""
    names = {old.nodes[a].name: new.nodes[b].name for a, b in same.items()}

    def new_name(parameter: str) -> str:
        layer, _, word = parameter.rpartition("/")
        return f"{names.get(layer, layer)}/{word}" if layer else parameter

    return {new_name(a): new_name(b) for a, b in old.ties.items()}


# -- text


def _lines(found: Difference):
    old, new = found.old, found.new
    if found.name:
        yield f"model {found.name[0]} -> {found.name[1]}"
    yield from (f"- {old.nodes[i].name} ({old.nodes[i].type})" for i in found.removed)
    yield from (f"+ {new.nodes[i].name} ({new.nodes[i].type})" for i in found.added)
    yield from (f"~ {old.nodes[a].name} is now {new.nodes[b].name}" for a, b in found.renamed)
    for change in found.changed:
        settings = ", ".join(f"{key} {was!r} -> {is_!r}" for key, (was, is_) in change.settings.items())
        yield f"~ {new.nodes[change.new].name} ({new.nodes[change.new].type}): {settings}"
    ends = (("-", old, found.removed_edges, set(found.same)), ("+", new, found.added_edges, set(found.same.values())))
    for sign, graph, edges, shared in ends:
        for edge in map(graph.edges.__getitem__, edges):
            if edge.source in shared or edge.target in shared:  # other edges are implied by their nodes
                yield f"{sign} {_edge(graph, edge)}"
    yield from (f"~ block {path}: class {was} -> {is_}" for path, (was, is_) in found.classes.items())
    yield from (f"~ parameter {name}: tied to {was} -> {is_}" for name, (was, is_) in found.ties.items())


def _edge(graph: Graph, edge: Edge) -> str:
    source, target = graph.nodes[edge.source].name, graph.nodes[edge.target].name
    return f"{source}.{edge.source_port} -> {target}.{edge.target_port}"
