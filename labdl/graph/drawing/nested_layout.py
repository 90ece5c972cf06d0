"""Layout of a graph with open blocks: each block is arranged by itself, then as one box in the block around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from labdl.graph.drawing.frame_geometry import bounds, frame_around, rect_at, size_of
from labdl.graph.drawing.layout import Direction, Point, Size, layered_layout
from labdl.graph.graph import paths_around

_ROOT = ""  # the whole graph; a nested block is its path and "//", with which no other id ends


@dataclass
class _Level:
    """Direct members of a block and the edges between them."""

    items: dict[str, None] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)


def nested_layout(
    nodes: Mapping[str, tuple[str, Size]],
    edges: Iterable[tuple[str, str]],
    frames: Iterable[str],
    *,
    direction: Direction = "down",
) -> dict[str, Point]:
    """Upper left corners for all nodes.

    Args:
        nodes: Name and size of each node by id. A name is a path: ``encoder/0/linear`` stands in ``encoder/0``.
        edges: Source and target of each edge; edges with an end that is not in ``nodes`` are ignored.
        frames: Paths of the open blocks; each gets a frame around its content, which no other node overlaps.
        direction: Which way edges lead.
    """
    open_blocks = set(frames)
    chains: dict[str, list[str]] = {}
    levels: dict[str, _Level] = {_ROOT: _Level()}
    for node_id, (name, _) in nodes.items():
        chain = [_ROOT, *(f"{path}//" for path in paths_around(name) if path in open_blocks), node_id]
        chains[node_id] = chain
        for outer, inner in pairwise(chain):
            levels.setdefault(outer, _Level()).items[inner] = None
    for source, target in edges:
        if source in chains and target in chains and source != target:
            from_chain, to_chain = chains[source], chains[target]
            at = next(n for n, (a, b) in enumerate(zip(from_chain, to_chain, strict=False)) if a != b)
            levels[from_chain[at - 1]].edges.append((from_chain[at], to_chain[at]))

    # Inner blocks first: all chains list outer blocks first, so deeper levels have longer paths.
    sizes: dict[str, Size] = {i: size for i, (_, size) in nodes.items()}
    corners: dict[str, dict[str, Point]] = {}
    origins: dict[str, Point] = {}
    for path in sorted(levels, key=lambda path: path.count("/"), reverse=True):
        level = levels[path]
        corners[path] = layered_layout({i: sizes[i] for i in level.items}, level.edges, direction=direction)
        if path != _ROOT:
            frame = frame_around(bounds(rect_at(corner, sizes[i]) for i, corner in corners[path].items()))
            sizes[path], origins[path] = size_of(frame), frame[:2]

    positions: dict[str, Point] = {}
    shifts: dict[str, Point] = {_ROOT: (0.0, 0.0)}
    for path in sorted(levels, key=lambda path: path.count("/")):
        dx, dy = shifts[path]
        for item, (x, y) in corners[path].items():
            if item in levels:
                shifts[item] = (x + dx - origins[item][0], y + dy - origins[item][1])
            else:
                positions[item] = (float(round(x + dx)), float(round(y + dy)))
    return {i: positions[i] for i in nodes}
