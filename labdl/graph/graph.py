"""The graph: layers and connections as plain, frozen data. An edit returns a new graph."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labdl.display import model_mimebundle, model_widget
from labdl.errors import ModelError
from labdl.graph import params_json
from labdl.graph.note import Note, notes_from
from labdl.nn.names import fault_of

if TYPE_CHECKING:
    from labdl.graph.analysis.check import Problem
    from labdl.graph.module import GraphModule
    from labdl.spec import Spec

VERSION = 2
PARAMETER = ":0"  # suffix of parameter names, which no output port has


@dataclass(frozen=True)
class Node:
    """One layer (type "Conv2d") or operator (type "ops.relu") with its hyper-parameters.

    ``shares`` is the id of the node whose layer this one calls again, with the same parameters; the settings are there.
    """

    type: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    shares: str = ""


@dataclass(frozen=True)
class Edge:
    """A connection from an output port of one node to an input port of another.

    A source port that ends in ":0" is a parameter of the layer, such as "kernel:0": a decoder may use that of an embedding.
    """

    source: str
    target: str
    source_port: str = "output"
    target_port: str = "x"


@dataclass(frozen=True)
class Graph:
    """Layers and connections of a model, by unique id. Canvas positions and notes are stored beside them.

    A position under a path with a final slash, such as "encoder/0/", is that of a folded block.

    ``groups`` maps paths of modules to their classes: node "encoder/0/linear" with groups
    {"encoder": "ModuleList", "encoder/0": "Block"}. ``ties`` maps the name of a parameter to that of the parameter
    which it shares.
    """

    _repr_mimebundle_ = model_mimebundle
    _display_ = model_widget
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    name: str = "model"
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict, compare=False)
    groups: Mapping[str, str] = field(default_factory=dict)
    ties: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict, compare=False)

    def __post_init__(self):
        names: dict[str, str] = {}
        for node_id, node in self.nodes.items():
            if fault := fault_of(node.name):
                raise ModelError(f"node {node_id!r:.80} has the name {fault}")
            if node.name in names:
                raise ModelError(f"nodes {names[node.name]!r} and {node_id!r} are both named {node.name!r}")
            names[node.name] = node_id
        for path in self.groups:
            if fault := fault_of(path):
                raise ModelError(f"there is a group named {fault}")
        for edge_id, edge in self.edges.items():
            for end in (edge.source, edge.target):
                if end not in self.nodes:
                    raise ModelError(f"edge {edge_id!r} leads to node {end!r}, which does not exist")

    # -- conversion to and from data

    def to_dict(self, *, tagged: bool = False) -> dict[str, Any]:
        """The graph as JSON data (see the file format).

        ``tagged`` keeps the types of numbers for programs with one type of number, such as a browser
        (`labdl.graph.params_json`).
        """
        return {
            "version": VERSION,
            "name": self.name,
            "nodes": {
                i: {
                    "type": n.type,
                    "name": n.name,
                    "params": params_json.to_json(n.type, n.params, tagged=tagged),
                    **({"shares": n.shares} if n.shares else {}),
                }
                for i, n in self.nodes.items()
            },
            "edges": {
                i: {"source": e.source, "source_port": e.source_port, "target": e.target, "target_port": e.target_port}
                for i, e in self.edges.items()
            },
            "positions": {i: list(p) for i, p in self.positions.items()},
            "groups": dict(self.groups),
            "ties": dict(self.ties),
            **({"notes": {i: n.to_dict() for i, n in self.notes.items()}} if self.notes else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Graph:
        """A graph from JSON data, with the types of numbers that layers declare.

        Raises ModelError that names what is missing or wrong.
        """
        try:
            nodes = {
                str(i): Node(
                    str(n["type"]),
                    n["name"],
                    params_json.from_json(str(n["type"]), dict(n.get("params", {}))),
                    str(n.get("shares", "")),
                )
                for i, n in data["nodes"].items()
            }
            edges = {
                str(i): Edge(
                    str(e["source"]),
                    str(e["target"]),
                    str(e.get("source_port", "output")),
                    str(e.get("target_port", "x")),
                )
                for i, e in data["edges"].items()
            }
            names = sorted(str(n.name) for n in nodes.values())
            positions = {
                str(i): (float(p[0]), float(p[1]))
                for i, p in data.get("positions", {}).items()
                if i in nodes or _is_block(str(i), names)
            }
            groups, ties = ({str(k): str(v) for k, v in data.get(part, {}).items()} for part in ("groups", "ties"))
            notes = notes_from(data.get("notes", {}))
        except ModelError:
            raise
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError, RecursionError) as error:
            raise ModelError(f"this is not graph data: {type(error).__name__} {error}") from error
        return cls(nodes, edges, str(data.get("name", "model")), positions, groups, ties, notes)

    # -- reading

    def incoming(self) -> dict[str, dict[str, list[tuple[str, Edge]]]]:
        """For each node, its input ports with the edges into them, in order."""
        found: dict[str, dict[str, list[tuple[str, Edge]]]] = {i: {} for i in self.nodes}
        for edge_id, edge in self.edges.items():
            found[edge.target].setdefault(edge.target_port, []).append((edge_id, edge))
        return found

    def order(self) -> tuple[list[str], list[str]]:
        """Node ids in topological order, and those that cannot be ordered because of a cycle.

        Of nodes that could be next, the first of the graph is: a trace has an order already, and keeps it.
        """
        waiting = dict.fromkeys(self.nodes, 0)
        after: dict[str, list[str]] = {i: [] for i in self.nodes}
        for edge in self.edges.values():
            waiting[edge.target] += 1
            after[edge.source].append(edge.target)
        place = {node_id: at for at, node_id in enumerate(self.nodes)}
        ids = list(self.nodes)
        ready = [place[i] for i, n in waiting.items() if n == 0]  # a heap, as it is sorted
        done: list[str] = []
        while ready:
            node_id = ids[heapq.heappop(ready)]
            done.append(node_id)
            for target in after[node_id]:
                waiting[target] -= 1
                if waiting[target] == 0:
                    heapq.heappush(ready, place[target])
        placed = set(done)
        return done, [i for i in self.nodes if i not in placed]

    def inputs(self) -> list[str]:
        return [i for i, n in self.nodes.items() if n.type == "Input"]

    def outputs(self) -> list[str]:
        """The sinks: nodes whose output is not used."""
        used = {e.source for e in self.edges.values()}
        return [i for i in self.nodes if i not in used]

    # -- use

    def check(self) -> tuple[dict[str, dict[str, Spec]], list[Problem]]:
        """Specs of every output port by node id, and problems; needs no framework."""
        from labdl.graph.analysis.check import check

        result = check(self)
        return result.specs, result.problems

    def to_module(self) -> GraphModule:
        """An unbuilt model that computes this graph. Raises ModelError for a graph with problems."""
        from labdl.graph.module import GraphModule

        return GraphModule(self)

    def run(self, fetches: str | Sequence[str], feeds: Mapping[str, Any], backend: str | None = None):
        """Values of nodes by name, given values of others, with new weights; build a model for weights of your own.

        See `GraphModule.run`; each call initializes new weights unless `labdl.seed` was called.
        """
        model = self.to_module().build(backend=backend)
        model.eval()
        return model.run(fetches, feeds)

    def to_python(self) -> str:
        """The graph as the source of a Module."""
        from labdl.graph.codegen.source import to_python

        return to_python(self)

    @classmethod
    def from_python(cls, source: str, *shapes) -> Graph:
        """The graph of the last class in the source of Modules, for inputs of these shapes or specs (see `labdl.trace`).

        The source is that of `to_python` or similar code: classes of ``nn.Module`` with ``__init__`` and ``forward``, layers,
        operators, arithmetic, indexing and loops over layers. The source may be untrusted: only layers and operators are
        executed. Raises ModelError with the line and the reason.
        """
        from labdl.graph.parsing.parser import read_python

        return read_python(source, *shapes)

    def to_svg(
        self,
        path: str | Path | None = None,
        *,
        direction: Literal["down", "right"] = "down",
        shapes: bool = True,
        theme: Literal["light", "dark", "auto"] = "light",
    ) -> str:
        """The graph as an SVG document that looks like the editor's canvas.

        With ``path`` it is also written to a file. Boxes are at ``positions`` if it has one for every node; else they are
        arranged in layers, ``"down"`` or to the ``"right"``. ``shapes`` labels edges with their shapes. Problems are shown
        in their nodes. Texts of the graph are escaped. Folded blocks are one box; with the graph's own positions, other
        blocks have a frame, and notes are drawn. With the theme ``"auto"`` it is dark in a dark page. Raises ConfigError for
        an unknown direction or theme.
        """
        from labdl.graph.drawing import to_svg

        text = to_svg(self, direction=direction, shapes=shapes, theme=theme)
        if path is not None:
            Path(path).write_bytes(text.encode())
        return text

    def summary(self, depth: int | None = None) -> str:
        """A table of nodes: shapes, parameters, floating-point operations and memory of one sample.

        With ``depth``, groups at that depth are a line each.
        """
        from labdl.graph.analysis.cost import summary

        return summary(self, depth)


def _is_block(path: str, names: list[str]) -> bool:
    """True for the path with a final slash of a block that holds one of the sorted names."""
    at = bisect_left(names, path)
    return path.endswith("/") and at < len(names) and names[at].startswith(path)


def paths_around(name: str) -> list[str]:
    """The paths of the groups around a name, outer ones first."""
    words = str(name).split("/")
    return ["/".join(words[:n]) for n in range(1, len(words))]
