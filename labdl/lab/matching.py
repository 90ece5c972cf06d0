"""A graph that was read from source in the place of the one on the canvas: what is still the same keeps id and place."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator

from labdl.graph.calls import identifier
from labdl.graph.graph import Graph, Node
from labdl.graph.node import make
from labdl.graph.source import class_name
from labdl.nn.module import Module
from labdl.nn.schema import params_of

Arrivals = tuple[tuple[str, str, str], ...]  # node, port and own port of what enters a node


def in_place_of(canvas: Graph, read: Graph) -> Graph:
    """``read`` with the ids, positions, inputs and model name of ``canvas``, wherever they mean the same."""
    same = _same(canvas, read)
    ids = {new: same.get(new) or _fresh(canvas) for new in read.nodes}
    names = _names(canvas, read, same)
    nodes = {ids[new]: _node(canvas, read, new, same, ids, names) for new in read.nodes}
    known = {(e.source, e.source_port, e.target, e.target_port): i for i, e in canvas.edges.items()}
    edges = {}
    for edge in read.edges.values():
        moved = dataclasses.replace(edge, source=ids[edge.source], target=ids[edge.target])
        key = (moved.source, moved.source_port, moved.target, moved.target_port)
        edges[known.pop(key, None) or f"e{secrets.token_hex(4)}"] = moved
    # a node of another type under an old name stands where that stood
    by_name = {n.name: i for i, n in canvas.nodes.items() if i not in same.values()}
    places = {
        ids[new]: canvas.positions.get(same.get(new) or by_name.get(node.name, "")) for new, node in read.nodes.items()
    }
    positions = {i: place for i, place in places.items() if place is not None}
    positions |= {
        k: place for k, place in canvas.positions.items() if k.endswith("/") and k[:-1] in read.groups
    }  # folded
    name = canvas.name if class_name(canvas.name) == read.name else read.name
    return Graph(nodes, edges, name, positions, read.groups, read.ties)


def _fresh(canvas: Graph) -> str:
    while (made := f"n{secrets.token_hex(4)}") in canvas.nodes:
        pass
    return made


# -- which node is which


def _same(canvas: Graph, read: Graph) -> dict[str, str]:
    """Ids of the graph that was read, with those of the same nodes on the canvas."""
    same = dict(zip(read.inputs(), canvas.inputs(), strict=False))
    free = {i: n for i, n in canvas.nodes.items() if i not in same.values()}
    by_name = {_spelled(n.name): i for i, n in free.items()} | {n.name: i for i, n in free.items()}
    arriving = {i: _arrivals(canvas, i) for i in free}
    read_names = {n.name for n in read.nodes.values()}

    def take(new: str, old: str) -> None:
        same[new] = old
        free.pop(old)

    def by_structure(new: str) -> str | None:
        """A node of this type that the same outputs enter; of several the one with the same name."""
        wanted = tuple((same.get(source, ""), *ports) for source, *ports in _arrivals(read, new))
        node = read.nodes[new]
        # a layer that the source still names is that layer, and no other that was renamed
        found = [i for i, n in free.items() if n.type == node.type and arriving[i] == wanted and wanted
                 and (not _is_named(node) or n.name not in read_names)]  # fmt: skip
        return next((i for i in found if free[i].name == node.name), found[0] if found else None)

    def by_its_name(new: str) -> str | None:
        old = by_name.get(read.nodes[new].name)
        return old if old in free and free[old].type == read.nodes[new].type else None

    order = [i for i in read.order()[0] if i not in same]
    for new in order:
        ways = (by_its_name, by_structure) if _is_named(read.nodes[new]) else (by_structure,)
        old = next((found for way in ways if (found := way(new))), None)
        if old:
            take(new, old)

    def by_type(new: str) -> str | None:
        """The first node of this type that is left; of layers one that is not named any more, with the same settings."""
        node = read.nodes[new]
        return next((i for i, n in free.items() if n.type == node.type and (
            not _is_named(node) or (n.name not in read_names and _means(n, node.params)))), None)  # fmt: skip

    for new in order:
        if new not in same and (old := by_its_name(new) or by_type(new)):
            take(new, old)
    return same


def _is_named(node: Node) -> bool:
    """Whether the name stands in the source: operators and constants get theirs from a trace."""
    return not node.type.startswith("ops.") and node.type != "Constant"


def _arrivals(graph: Graph, node_id: str) -> Arrivals:
    return tuple((e.source, e.source_port, e.target_port) for e in graph.edges.values() if e.target == node_id)


# -- what stays of it


def _names(canvas: Graph, read: Graph, same: dict[str, str]) -> dict[str, str]:
    """Names of the nodes: those of layers as read, of the others as they were on the canvas."""
    names = {i: n.name for i, n in read.nodes.items() if _is_named(n) and n.type != "Input"}
    for new in names:
        old = canvas.nodes[same[new]].name if new in same else ""
        if names[new] == _spelled(old) and old not in names.values():
            names[new] = old
    taken = set(names.values())
    for new, node in read.nodes.items():
        if new not in names:
            wanted = [canvas.nodes[same[new]].name] if new in same else []
            names[new] = next(name for name in _free([*wanted, node.name]) if name not in taken)
            taken.add(names[new])
    return names


def _spelled(name: str) -> str:
    """A name as source has it: a layer named 0 is the attribute _0 there."""
    return "/".join(map(identifier, name.split("/")))


def _free(wanted: list[str]) -> Iterator[str]:
    yield from wanted
    n = 1
    while True:
        yield f"{wanted[-1]}_{n}"
        n += 1


def _node(
    canvas: Graph, read: Graph, new: str, same: dict[str, str], ids: dict[str, str], names: dict[str, str]
) -> Node:
    node = read.nodes[new]
    old = canvas.nodes.get(same.get(new, ""))
    params = node.params
    if old is not None and (node.type == "Input" or _means(old, params)):
        params = old.params  # a setting that was written out although it is the default stays so
    return Node(node.type, names[new], params, ids.get(node.shares, ""))


def _means(old: Node, params) -> bool:
    """Whether the settings of a node on the canvas say the same."""
    try:
        made = make(dataclasses.replace(old, shares=""))
    except Exception:  # a setting that cannot be, or that is missing: the source has another
        return False
    return isinstance(made, Module) and params_of(made) == dict(params)
