"""Graphs as data, for tests of the editor."""

from typing import Any

from labdl.graph import Graph, Node


def graph_with_input() -> dict[str, Any]:
    """Data of a graph whose one node, with the id input, takes pictures of digits."""
    graph = Graph({"input": Node("Input", "input", {"shape": (None, 1, 8, 8)})}, positions={"input": (0.0, 0.0)})
    return graph.to_dict(tagged=True)
