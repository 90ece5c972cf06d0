"""Models as data: nodes and edges, shape check, trace, and the way to and from Python source."""

from labdl.graph.analysis.check import Problem
from labdl.graph.diff.difference import Difference, diff
from labdl.graph.graph import Edge, Graph, Node
from labdl.graph.module import GraphModule
from labdl.graph.note import Note
from labdl.graph.tracing.trace import as_graph, parameter_prefix, trace

__all__ = [
    "Difference",
    "Edge",
    "Graph",
    "GraphModule",
    "Node",
    "Note",
    "Problem",
    "as_graph",
    "diff",
    "parameter_prefix",
    "trace",
]


def __dir__() -> list[str]:
    return sorted(__all__)
