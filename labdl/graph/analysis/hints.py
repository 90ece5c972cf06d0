"""Hints: what works, but is seldom meant."""

from __future__ import annotations

from dataclasses import dataclass

from labdl.graph.analysis.check import CheckResult, spec_of_edge
from labdl.graph.analysis.fixes import Fix
from labdl.graph.graph import Graph

CHANNELS = (1, 3, 4)  # of pictures: gray, RGB, RGB with transparency


@dataclass(frozen=True)
class Hint:
    """A hint at a node, and the change that follows it."""

    node: str
    message: str
    fix: Fix


def hints(graph: Graph, result: CheckResult) -> list[Hint]:
    """Layers that take the height of pictures for their channels.

    Pictures (N, height, width, channels) are recognized by a last axis of 1, 3 or 4 beside two that are larger, as
    `labdl.train.channel_order` does for arrays. They come from an input, through layers that keep their shape.
    """
    hints = []
    incoming = graph.incoming()
    for node_id, edges in incoming.items():
        layer = result.made.get(node_id)
        if getattr(layer, "data_format", None) != "channels_first":
            continue
        for edge_id, edge in (pair for pairs in edges.values() for pair in pairs):
            spec = spec_of_edge(result, edge)
            shape = None if spec is None else spec.shape
            if (
                shape is None
                or not _has_channels_last(shape)
                or not _comes_from_input(graph, result, incoming, edge.source)
            ):
                continue
            size = ", ".join(str(n) for n in shape[1:])
            message = f"takes the {shape[1]} rows of (N, {size}) for channels: move the last axis to the front"
            fix = Fix("insert", edge=edge_id, type="Permute", params={"axes": (0, 3, 1, 2)})
            hints.append(Hint(node_id, message, fix))
    return hints


def _has_channels_last(shape) -> bool:
    if len(shape) != 4 or None in shape[1:]:
        return False
    _, height, width, channels = shape
    return channels in CHANNELS and min(height, width) > max(CHANNELS)


def _comes_from_input(graph: Graph, result: CheckResult, incoming, node_id: str) -> bool:
    while graph.nodes[node_id].type != "Input":
        edges = [edge for pairs in incoming[node_id].values() for _, edge in pairs]
        outputs = list(result.specs[node_id].values())
        if len(edges) != 1 or len(outputs) != 1:
            return False
        before = spec_of_edge(result, edges[0])
        if before is None or before.shape != outputs[0].shape:
            return False
        node_id = edges[0].source
    return True
