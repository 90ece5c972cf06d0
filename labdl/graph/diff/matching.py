"""Matching of the nodes of two graphs, by names and by inputs."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping

from labdl.graph.codegen.calls import identifier
from labdl.graph.graph import Graph, Node
from labdl.graph.node import make
from labdl.nn.module import Module
from labdl.nn.schema import params_of

Arrivals = tuple[tuple[str, str, str], ...]  # source node, its port, and own port of each edge into a node


def same_nodes(old: Graph, new: Graph, known: Mapping[str, str] | None = None, *, guess: bool = True) -> dict[str, str]:
    """Ids of the new graph, with those of the same nodes in the old one; ``known`` are certain pairs.

    Inputs match in order, layers and operators if they have the same name or the same inputs. With ``guess``, remaining nodes
    are matched by type.
    """
    same = dict(known or {})
    found_already = set(same.values())
    same |= zip(
        [i for i in new.inputs() if i not in same], [i for i in old.inputs() if i not in found_already], strict=False
    )
    found_already = set(same.values())
    free = {i: n for i, n in old.nodes.items() if i not in found_already}
    by_name = {attribute_name(n.name): i for i, n in free.items()} | {n.name: i for i, n in free.items()}
    arriving, entering = _arrivals(old), _arrivals(new)
    by_entrance: dict[tuple[str, Arrivals], list[str]] = defaultdict(list)
    for i, node in free.items():
        if arriving[i]:
            by_entrance[node.type, arriving[i]].append(i)
    new_names = {n.name for n in new.nodes.values()}

    def take(id_: str, its: str) -> None:
        same[id_] = its
        free.pop(its)

    def by_structure(id_: str) -> str | None:
        """A node of this type with the same inputs; of several the one with the same name."""
        wanted = tuple((same.get(source, ""), port, own) for source, port, own in entering[id_])
        node = new.nodes[id_]
        # a layer whose name the new graph still has was not renamed
        found = [
            i
            for i in by_entrance.get((node.type, wanted), ())
            if i in free and (not is_named(node) or free[i].name not in new_names)
        ]
        return next((i for i in found if free[i].name == node.name), found[0] if found else None)

    def by_its_name(id_: str) -> str | None:
        its = by_name.get(new.nodes[id_].name)
        return its if its in free and free[its].type == new.nodes[id_].type else None

    order = [i for i in new.order()[0] if i not in same]
    for id_ in order:
        ways = (by_its_name, by_structure) if is_named(new.nodes[id_]) else (by_structure,)
        its = next((found for way in ways if (found := way(id_))), None)
        if its:
            take(id_, its)
    if not guess:
        return same

    def by_type(id_: str) -> str | None:
        """The first unmatched node of this type; a layer needs a removed name and the same settings."""
        node = new.nodes[id_]
        return next(
            (
                i
                for i, n in free.items()
                if n.type == node.type and (not is_named(node) or (n.name not in new_names and means(n, node.params)))
            ),
            None,
        )

    for id_ in order:
        if id_ not in same and (its := by_its_name(id_) or by_type(id_)):
            take(id_, its)
    return same


def is_named(node: Node) -> bool:
    """True when the name is from the source; operators and constants are named by the trace."""
    return not node.type.startswith("ops.") and node.type != "Constant"


def attribute_name(name: str) -> str:
    """The attribute of a name in source: a layer named 0 is the attribute _0."""
    return "/".join(map(identifier, name.split("/")))


def means(old: Node, params) -> bool:
    """True when the settings of a node equal these, which omit defaults."""
    try:
        made = make(dataclasses.replace(old, shares=""))
    except Exception:  # an invalid or missing setting: they differ
        return False
    return isinstance(made, Module) and params_of(made) == dict(params)


def _arrivals(graph: Graph) -> dict[str, Arrivals]:
    found: dict[str, list[tuple[str, str, str]]] = {i: [] for i in graph.nodes}
    for e in graph.edges.values():
        found[e.target].append((e.source, e.source_port, e.target_port))
    return {i: tuple(arrivals) for i, arrivals in found.items()}
