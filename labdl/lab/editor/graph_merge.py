"""Merge a graph read from source into the one on the canvas: unchanged nodes keep their ids and positions."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator

from labdl.graph.codegen.source import class_name
from labdl.graph.diff.matching import attribute_name, is_named, means, same_nodes
from labdl.graph.graph import Graph, Node


def merge_source(canvas: Graph, read: Graph) -> Graph:
    """``read`` with the ids, positions, inputs, notes and model name of ``canvas``, for the parts that are unchanged."""
    same = same_nodes(canvas, read)
    ids = {new: same.get(new) or _fresh(canvas) for new in read.nodes}
    names = _names(canvas, read, same)
    nodes = {ids[new]: _node(canvas, read, new, same, ids, names) for new in read.nodes}
    known = {(e.source, e.source_port, e.target, e.target_port): i for i, e in canvas.edges.items()}
    edges = {}
    for edge in read.edges.values():
        moved = dataclasses.replace(edge, source=ids[edge.source], target=ids[edge.target])
        key = (moved.source, moved.source_port, moved.target, moved.target_port)
        edges[known.pop(key, None) or f"e{secrets.token_hex(4)}"] = moved
    # a node of another type with an old name keeps its position
    by_name = {n.name: i for i, n in canvas.nodes.items() if i not in same.values()}
    places = {
        ids[new]: canvas.positions.get(same.get(new) or by_name.get(node.name, "")) for new, node in read.nodes.items()
    }
    positions = {i: place for i, place in places.items() if place is not None}
    positions |= {
        k: place for k, place in canvas.positions.items() if k.endswith("/") and k[:-1] in read.groups
    }  # of collapsed blocks
    name = canvas.name if class_name(canvas.name) == read.name else read.name
    return Graph(nodes, edges, name, positions, read.groups, read.ties, canvas.notes)


def _fresh(canvas: Graph) -> str:
    while (made := f"n{secrets.token_hex(4)}") in canvas.nodes:
        pass
    return made


# -- unchanged parts


def _names(canvas: Graph, read: Graph, same: dict[str, str]) -> dict[str, str]:
    """Names of the nodes: of layers as read, of others as on the canvas."""
    names = {i: n.name for i, n in read.nodes.items() if is_named(n) and n.type != "Input"}
    for new in names:
        old = canvas.nodes[same[new]].name if new in same else ""
        if names[new] == attribute_name(old) and old not in names.values():
            names[new] = old
    taken = set(names.values())
    for new, node in read.nodes.items():
        if new not in names:
            wanted = [canvas.nodes[same[new]].name] if new in same else []
            names[new] = next(name for name in _free([*wanted, node.name]) if name not in taken)
            taken.add(names[new])
    return names


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
    if old is not None and (node.type == "Input" or means(old, params)):
        params = old.params  # keep explicit settings that equal the default
    return Node(node.type, names[new], params, ids.get(node.shares, ""))
