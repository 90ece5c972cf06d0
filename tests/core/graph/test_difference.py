"""Differences of two models: exactly the known edit is found, and the difference is symmetric."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labdl
from labdl import nn, ops
from labdl.graph import Edge, Graph, Node, diff
from labdl.models import create

KINDS = {"Linear": {"out_features": 4}, "ReLU": {}, "Dropout": {"rate": 0.5}, "ops.tanh": {}}


@st.composite
def graphs(draw):
    """Rows and branches of layers, with a sum and a concatenation where several values meet."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8))
    nodes = {"i0": Node("Input", "input", {"shape": (None, 4)})}
    edges = {}
    for n, kind in enumerate(kinds, 1):
        home = draw(st.sampled_from(["", "a/", "a/b/"]))
        nodes[f"i{n}"] = Node(kind, f"{home}{kind.replace('.', '_').lower()}{n}", KINDS[kind])
        edges[f"c{n}"] = Edge(f"i{draw(st.integers(0, n - 1))}", f"i{n}")
    nodes["last"] = Node("Concat", "all", {"axis": 1})
    for at, source in enumerate(
        draw(st.lists(st.sampled_from(sorted(nodes.keys() - {"last"})), min_size=1, max_size=4))
    ):
        edges[f"l{at}"] = Edge(source, "last", target_port="xs")
    return Graph(nodes, edges, groups={"a": "Block"} if any(n.name.startswith("a/") for n in nodes.values()) else {})


def traced_anew(graph):
    """The same graph with other ids, as another program would have it."""
    ids = {i: f"x{at}" for at, i in enumerate(graph.nodes)}
    edges = [dataclasses.replace(e, source=ids[e.source], target=ids[e.target]) for e in graph.edges.values()]
    return dataclasses.replace(
        graph,
        nodes={ids[i]: n for i, n in graph.nodes.items()},
        edges={f"y{at}": edge for at, edge in enumerate(edges)},
    )


@pytest.mark.sample(False)
@given(graphs())
@settings(max_examples=60, deadline=None)
def test_a_graph_does_not_differ_from_itself(graph):
    moved = dataclasses.replace(graph, positions={i: (1.0, 2.0) for i in graph.nodes})
    for other in (graph, moved, Graph.from_dict(json.loads(json.dumps(graph.to_dict()))), traced_anew(graph)):
        assert not diff(graph, other), str(diff(graph, other))
    assert str(diff(graph, graph)) == "no difference"


@pytest.mark.sample(False)
@given(graphs(), graphs())
@settings(max_examples=80, deadline=None)
def test_difference_is_symmetric(a, b):
    for b_ in (b, traced_anew(b)):
        there, back = diff(a, b_), diff(b_, a)
        assert {new: old for old, new in there.same.items()} == dict(back.same)
        assert (there.removed, there.added) == (back.added, back.removed)
        assert (there.removed_edges, there.added_edges) == (back.added_edges, back.removed_edges)
        assert {(c.old, c.new): dict(c.settings) for c in there.changed} == {
            (c.new, c.old): {key: (was, is_) for key, (is_, was) in c.settings.items()} for c in back.changed
        }
        assert set(there.renamed) == {(old, new) for new, old in back.renamed}
        assert bool(there) == bool(back)
        # what is the same is of one type, and nothing is counted twice
        assert all(a.nodes[old].type == b_.nodes[new].type for old, new in there.same.items())
        assert there.same.keys() | set(there.removed) == a.nodes.keys()
        assert set(there.same.values()) | set(there.added) == b_.nodes.keys()


@given(graphs(), st.data())
@settings(max_examples=80, deadline=None)
def test_a_known_edit_is_found_and_nothing_else(graph, data):
    node_id = data.draw(st.sampled_from([i for i, n in graph.nodes.items() if n.type != "Input"]))
    node = graph.nodes[node_id]
    at = [i for i, e in graph.edges.items() if node_id in (e.source, e.target)]

    without = dataclasses.replace(
        graph,
        nodes={i: n for i, n in graph.nodes.items() if i != node_id},
        edges={i: e for i, e in graph.edges.items() if i not in at},
    )
    found = diff(graph, without)
    assert (found.removed, found.added, found.changed, found.renamed) == ((node_id,), (), (), ())
    assert (found.removed_edges, found.added_edges) == (tuple(at), ())

    renamed = dataclasses.replace(graph, nodes={**graph.nodes, node_id: dataclasses.replace(node, name="a/new_name")})
    found = diff(graph, renamed)
    assert (found.removed, found.added, found.changed, found.renamed) == ((), (), (), ((node_id, node_id),))
    assert (found.removed_edges, found.added_edges) == ((), ())
    assert str(found) == f"~ {node.name} is now a/new_name"

    wider = Node("Linear", node.name, {"out_features": 7, "use_bias": True})
    found = diff(
        *(
            dataclasses.replace(graph, nodes={**graph.nodes, node_id: n})
            for n in (Node("Linear", node.name, {"out_features": 4}), wider)
        )
    )
    (change,) = found.changed
    assert (change.old, change.new, dict(change.settings)) == (node_id, node_id, {"out_features": (4, 7)})
    assert str(found) == f"~ {node.name} (Linear): out_features 4 -> 7"

    edge_id = data.draw(st.sampled_from(sorted(graph.edges)))
    cut = dataclasses.replace(graph, edges={i: e for i, e in graph.edges.items() if i != edge_id})
    found = diff(graph, cut)
    gone = graph.edges[edge_id]
    assert [graph.edges[i] for i in found.removed_edges] == [gone]
    assert (found.added_edges, found.removed, found.added) == ((), (), ())


def test_order_of_concatenated_values_is_compared():
    nodes = {"a": Node("Input", "a"), "b": Node("Input", "b"), "c": Node("Concat", "c")}
    edges = [Edge("a", "c", target_port="xs"), Edge("b", "c", target_port="xs")]
    ab = Graph(nodes, dict(enumerate(edges)))
    ba = Graph(nodes, dict(enumerate(reversed(edges))))
    found = diff(ab, ba)
    assert len(found.removed_edges) == len(found.added_edges) == 1
    assert ab.edges[found.removed_edges[0]] == ba.edges[found.added_edges[0]]

    many = [Edge(name, "c", target_port="xs") for name in "ab" * 200]
    turned = Graph(nodes, dict(enumerate(reversed(many))))
    assert len(diff(Graph(nodes, dict(enumerate(many))), turned).removed_edges) == 400


def test_traces_are_matched_by_name():
    found = diff(*(labdl.trace(create(name), name=name) for name in ("resnet18", "resnet34")))
    assert (found.removed, found.changed, found.renamed) == ((), (), ())
    assert len(found.added) == 125 - 69
    assert {"/".join(found.new.nodes[i].name.split("/")[:3]) for i in found.added} == {
        "stages/0/2",
        "stages/1/2",
        "stages/1/3",
        *(f"stages/2/{n}" for n in range(2, 6)),
        "stages/3/2",
    }
    text = str(found)
    assert text.startswith("model resnet18 -> resnet34\n+ stages/0/2/first/conv (Conv2d)\n")
    assert "- stages/0/1/relu_1.output -> stages/1/0/first/conv.x" in text
    assert "+ stages/0/2/relu_1.output -> stages/1/0/first/conv.x" in text
    assert "stages/0/2/first/conv.output" not in text  # it goes with its layer


class Small(nn.Module):
    def __init__(self, middle=True, depth=2):
        self.first = nn.Linear(8)
        self.second = nn.Linear(8) if middle else None
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(8), nn.ReLU()) for _ in range(depth)])
        self.head = nn.Linear(3)

    def forward(self, x):
        x = ops.relu(self.first(x))
        if self.second is not None:
            x = ops.relu(self.second(x))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def test_operators_are_matched_by_their_inputs():
    """The second of two, without the first, gets the first's name."""
    with_it, without = (labdl.trace(Small(middle), (None, 4)) for middle in (True, False))
    found = diff(with_it, without)
    assert [with_it.nodes[i].name for i in found.removed] == ["second", "relu_1"]
    assert found.added == found.changed == found.renamed == ()


def test_a_module_is_compared_by_its_trace():
    small, smaller = (Small(depth=depth).build((None, 4), backend="numpy") for depth in (2, 1))
    assert len(diff(small, smaller).removed) == 2
    assert not diff(small, labdl.trace(small))
    with pytest.raises(TypeError, match="wanted a Graph, a Module or graph data, received int"):
        diff(small, 3)


def test_shared_weights_classes_and_ties():
    nodes = {
        "i": Node("Input", "x"),
        "a": Node("Linear", "b/a", {"out_features": 2}),
        "c": Node("Linear", "b/c", {}, "a"),
    }
    edges = {"1": Edge("i", "a"), "2": Edge("a", "c")}
    shared = Graph(nodes, edges, groups={"b": "Block"}, ties={"b/a/bias:0": "x:0"})
    own = Graph({**nodes, "c": Node("Linear", "b/c", {"out_features": 2})}, edges, groups={"b": "Other"})
    found = diff(shared, own)
    (change,) = found.changed
    assert (change.new, change.settings["shares"]) == ("c", ("b/a", None))
    assert found.classes == {"b": ("Block", "Other")}
    assert found.ties == {"b/a/bias:0": ("x:0", None)}
    renamed = Graph(
        {**nodes, "a": Node("Linear", "b/z", {"out_features": 2})},
        edges,
        groups={"b": "Block"},
        ties={"b/z/bias:0": "x:0"},
    )
    assert not diff(shared, renamed).ties


def test_nan_and_unknown_layers_are_compared():
    nodes = {"i": Node("Input", "x"), "a": Node("acme.Thing", "thing", {"level": float("nan")})}
    graph = Graph(nodes, {"1": Edge("i", "a")})
    assert not diff(graph, Graph({**nodes, "a": Node("acme.Thing", "thing", {"level": float("nan")})}, graph.edges))
    found = diff(graph, Graph({**nodes, "a": Node("acme.Thing", "thing", {"mode": "x"})}, graph.edges))
    assert found.changed[0].settings["mode"] == (None, "x")
