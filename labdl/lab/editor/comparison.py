"""Differences of two models as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ModelError
from labdl.graph import Graph, Node, diff

LARGEST = 20_000  # nodes of both graphs: four times what the canvas shows smoothly


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """How two graphs given as data differ (see `labdl.graph.diff`). Raises ModelError."""
    graphs = Graph.from_dict(old), Graph.from_dict(new)
    nodes = sum(len(graph.nodes) for graph in graphs)
    if nodes > LARGEST:
        raise ModelError(
            f"the two models have {nodes:,} layers, and more than {LARGEST:,} are not compared here: run "
            "`labdl diff` in a terminal"
        )
    found = diff(*graphs)
    return {
        "same": dict(found.same),
        "removed": list(found.removed),
        "added": list(found.added),
        "changed": [{"old": c.old, "new": c.new, "settings": _pairs(c.settings)} for c in found.changed],
        "renamed": [list(pair) for pair in found.renamed],
        "removed_edges": list(found.removed_edges),
        "added_edges": list(found.added_edges),
        "name": list(found.name) if found.name else None,
        "classes": _pairs(found.classes),
        "ties": _pairs(found.ties),
    }


def _pairs(pairs: Mapping[str, tuple[Any, Any]]) -> dict[str, list[Any]]:
    # encoded like the settings of a node, which handle values that JSON lacks
    return Graph({"": Node("", "pairs", pairs)}).to_dict()["nodes"][""]["params"]
