"""Models as data: nodes and edges, shape check, trace, and the way to and from Python source."""

from labdl.graph.check import Problem
from labdl.graph.graph import Edge, Graph, Node
from labdl.graph.module import GraphModule
from labdl.graph.trace import as_graph, home_of, trace

__all__ = ["Edge", "Graph", "GraphModule", "Node", "Problem", "as_graph", "home_of", "trace"]
