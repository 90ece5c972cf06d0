"""What is drawn of a graph: a folded block as one box, around the others that are drawn a frame (as in the editor)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labdl.errors import ModelError
from labdl.graph.graph import Edge, Graph, Node, paths_around
from labdl.graph.node import outputs_of, ports_of


@dataclass
class Block:
    """A folded block: the nodes in it, and behind each of its ports a node and its port."""

    path: str
    members: list[str] = field(default_factory=list)
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)
    outputs: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Drawn:
    """The boxes of a picture by id and the lines between them; of several alike there is one, under the id of the first."""

    name: str
    nodes: dict[str, Node]
    edges: dict[str, Edge]
    blocks: dict[str, Block]
    frames: list[str]  # paths of open blocks, outer ones first

    def inside(self, path: str) -> list[str]:
        return [i for i, node in self.nodes.items() if node.name.startswith(f"{path}/")]


def drawn(graph: Graph) -> Drawn:
    """A block with a place of its own is folded."""
    found = Drawn(graph.name, {}, {}, {}, [])
    at: dict[str, str] = {}  # as what each node is drawn
    frames: dict[str, None] = {}
    for node_id, node in graph.nodes.items():
        paths = paths_around(node.name)
        folded = next((n for n, path in enumerate(paths) if f"{path}/" in graph.positions), len(paths))
        frames.update(dict.fromkeys(paths[:folded]))
        if folded == len(paths):
            at[node_id], found.nodes[node_id] = node_id, node
            continue
        at[node_id] = box = f"{paths[folded]}/"
        found.nodes.setdefault(box, Node(graph.groups.get(paths[folded], ""), paths[folded]))
        found.blocks.setdefault(box, Block(paths[folded])).members.append(node_id)
    found.frames = sorted(frames, key=lambda path: path.count("/"))
    known = set()
    fed: dict[tuple[str, str, str], str] = {}  # what takes one value is one input
    for edge_id, edge in graph.edges.items():
        source, target, ports = at[edge.source], at[edge.target], [edge.source_port, edge.target_port]
        if source == target and source in found.blocks:
            continue
        if source in found.blocks:
            ports[0] = _port(found.blocks[source].outputs, edge.source, edge.source_port)
        if target in found.blocks:
            key = (target, edge.source, edge.source_port)
            ports[1] = fed.setdefault(key, f"{edge.target}|{edge.target_port}")
            found.blocks[target].inputs.setdefault(ports[1], (edge.target, edge.target_port))
        line = Edge(source, target, *ports)
        if (source in found.blocks or target in found.blocks) and line in known:
            continue
        known.add(line)
        found.edges[edge_id] = line
    _add_loose_ends(graph, found)
    return found


def _port(ports: dict[str, tuple[str, str]], node_id: str, port: str) -> str:
    name = f"{node_id}|{port}"
    ports[name] = (node_id, port)
    return name


def _add_loose_ends(graph: Graph, found: Drawn) -> None:
    """Inputs inside of a block that want something, and results that nobody takes."""
    if not found.blocks:
        return
    taken = {(e.target, e.target_port) for e in graph.edges.values()}
    used = {e.source for e in graph.edges.values()}
    for block in found.blocks.values():
        for member in block.members:
            node = graph.nodes[member]
            try:
                inputs, outputs = ports_of(node), outputs_of(node)
            except ModelError:  # a layer that nobody knows
                continue
            for port in inputs:
                if not port.optional and (member, port.name) not in taken and port.name not in node.params:
                    _port(block.inputs, member, port.name)
            if member not in used and outputs:
                _port(block.outputs, member, outputs[0])


PADDING, HEADING, FOOT = 16.0, 28.0, 24.0  # of the editor's frames

Rect = tuple[float, float, float, float]  # left, top, right, bottom


def frames_of(found: Drawn, boxes: Mapping[str, Rect]) -> dict[str, Rect]:
    """The frame of each open block around boxes at their places, outer ones first."""
    frames: dict[str, Rect] = {}
    for path in reversed(found.frames):  # inner ones first
        held = [boxes[i] for i in found.inside(path)] + [r for p, r in frames.items() if p.startswith(f"{path}/")]
        left, top = min(r[0] for r in held), min(r[1] for r in held)
        right, bottom = max(r[2] for r in held), max(r[3] for r in held)
        frames[path] = (left - PADDING, top - HEADING - PADDING / 2, right + PADDING, bottom + FOOT)
    return {path: frames[path] for path in found.frames}
