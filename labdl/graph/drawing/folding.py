"""Folding of blocks: the boxes and edges that are drawn of a graph.

The canvas folds by the same rules in labextension/src/editor/canvas/scene.ts, since it draws every change at once;
scripts/generate_drawing.py writes samples that tests compare.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from labdl.errors import ModelError
from labdl.graph.graph import Edge, Graph, Node, paths_around
from labdl.graph.node import outputs_of, ports_of


@dataclass
class Block:
    """A folded block: its nodes, and the node and port of each of its ports."""

    path: str
    members: list[str] = field(default_factory=list)
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)
    outputs: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Scene:
    """The drawn boxes by id and the edges between them; parallel edges are one, under the id of the first."""

    name: str
    nodes: dict[str, Node]
    edges: dict[str, Edge]
    blocks: dict[str, Block]
    bundles: dict[str, list[str]]  # edges of the graph by drawn edge
    frames: list[str]  # paths of open blocks, outer ones first


def fold(graph: Graph) -> Scene:
    """The scene of a graph, in which a block with a position of its own is folded."""
    scene = Scene(graph.name, {}, {}, {}, {}, [])
    at: dict[str, str] = {}  # box of each node
    frames: dict[str, None] = {}
    for node_id, node in graph.nodes.items():
        paths = paths_around(node.name)
        folded = next((n for n, path in enumerate(paths) if f"{path}/" in graph.positions), len(paths))
        frames.update(dict.fromkeys(paths[:folded]))
        if folded == len(paths):
            at[node_id], scene.nodes[node_id] = node_id, node
            continue
        at[node_id] = box = f"{paths[folded]}/"
        scene.nodes.setdefault(box, Node(graph.groups.get(paths[folded], ""), paths[folded]))
        scene.blocks.setdefault(box, Block(paths[folded])).members.append(node_id)
    scene.frames = sorted(frames, key=lambda path: (path.count("/"), path))
    first: dict[Edge, str] = {}
    fed: dict[tuple[str, str, str], str] = {}  # readers of one value share an input
    for edge_id, edge in graph.edges.items():
        source, target, ports = at[edge.source], at[edge.target], [edge.source_port, edge.target_port]
        if source == target and source in scene.blocks:
            continue
        if source in scene.blocks:
            ports[0] = _port(scene.blocks[source].outputs, edge.source, edge.source_port)
        if target in scene.blocks:
            key = (target, edge.source, edge.source_port)
            ports[1] = fed.setdefault(key, f"{edge.target}|{edge.target_port}")
            scene.blocks[target].inputs.setdefault(ports[1], (edge.target, edge.target_port))
        line = Edge(source, target, *ports)
        bundle = first.setdefault(line, edge_id)
        scene.edges.setdefault(bundle, line)
        scene.bundles.setdefault(bundle, []).append(edge_id)
    _add_open_ports(graph, scene)
    return scene


def _port(ports: dict[str, tuple[str, str]], node_id: str, port: str) -> str:
    name = f"{node_id}|{port}"
    ports[name] = (node_id, port)
    return name


def _add_open_ports(graph: Graph, scene: Scene) -> None:
    """Add ports of blocks for unconnected required inputs and for unused outputs."""
    if not scene.blocks:
        return
    taken = {(e.target, e.target_port) for e in graph.edges.values()}
    used = {e.source for e in graph.edges.values()}
    for block in scene.blocks.values():
        for member in block.members:
            node = graph.nodes[member]
            try:
                inputs, outputs = ports_of(node), outputs_of(node)
            except ModelError:  # an unknown layer
                continue
            for port in inputs:
                if not port.optional and (member, port.name) not in taken and port.name not in node.params:
                    _port(block.inputs, member, port.name)
            if member not in used and outputs:
                _port(block.outputs, member, outputs[0])
