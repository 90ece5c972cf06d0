"""Graph data of which some parts are wrong: the sound parts as a graph, and a problem for each of the others.

The canvas shows what it can of a model, and the server saves it, whatever one node holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ModelError
from labdl.graph.analysis.check import Problem
from labdl.graph.analysis.fixes import Fix
from labdl.graph.graph import Graph
from labdl.graph.names import UnusedNames
from labdl.nn.names import fault_of, valid_path


def read(data: Mapping[str, Any]) -> tuple[Graph, list[tuple[Problem, Fix | None]]]:
    """The graph of the sound parts of graph data, and problems with their fixes.

    A node with a name that no graph holds is under a valid one. A node with settings that no graph holds has those that one
    can. Raises ModelError where no part is a graph.
    """
    try:
        return Graph.from_dict(data), []
    except ModelError as error:
        problems: list[tuple[Problem, Fix | None]] = []
        nodes = _parts(data, "nodes", error)
        names = UnusedNames(*(str(node.get("name")) for node in nodes.values()))
        node_names: set[str] = set()
        sound = {}
        for node_id, node in nodes.items():
            name, sound_node = node.get("name"), dict(node)
            fault = fault_of(name)
            if fault or name in node_names:
                sound_node["name"] = names.new(valid_path(name) if isinstance(name, str) else "layer")
                message = f"the name is {fault}" if fault else f"another layer is already named {name!r}"
                problems.append((Problem(message, node_id), Fix("rename", node=node_id, name=sound_node["name"])))
            node_names.add(sound_node["name"])
            if (message := _fault_of_node(sound_node)) is not None:
                sound_node, faulty_settings = _sound_settings(sound_node)
                if sound_node is None:
                    problems.append((Problem(message, node_id), None))
                    continue
                fix = Fix("set", node=node_id, name=faulty_settings[0]) if faulty_settings else None
                problems.append((Problem(message, node_id), fix))
            sound[node_id] = sound_node
        edges = {
            edge_id: edge
            for edge_id, edge in _parts(data, "edges", error).items()
            if edge.get("source") in sound and edge.get("target") in sound
        }
        rest = {key: data[key] for key in ("name", "positions", "groups", "ties", "notes") if key in data}
        groups = rest.get("groups")
        if isinstance(groups, Mapping):
            rest["groups"] = {path: word for path, word in groups.items() if not fault_of(path)}
        return Graph.from_dict({**rest, "nodes": sound, "edges": edges}), problems


def _parts(data: Mapping[str, Any], key: str, error: ModelError) -> dict[str, dict[str, Any]]:
    """The nodes or edges that are tables. Raises the error where there is no table of them."""
    parts = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(parts, Mapping):
        raise error
    return {str(i): dict(part) for i, part in parts.items() if isinstance(part, Mapping)}


def _fault_of_node(node: dict[str, Any]) -> str | None:
    try:
        Graph.from_dict({"nodes": {"node": node}, "edges": {}})
    except ModelError as error:
        return str(error)
    return None


def _sound_settings(node: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
    """The node with the settings that a graph holds, and the names of the others; None for a node that is none."""
    params = node.get("params")
    if not isinstance(params, Mapping):
        return None, []
    faulty_settings = [
        name for name, value in params.items() if _fault_of_node({**node, "params": {name: value}}) is not None
    ]
    sound_node = {**node, "params": {name: value for name, value in params.items() if name not in faulty_settings}}
    return (sound_node if _fault_of_node(sound_node) is None else None), faulty_settings
