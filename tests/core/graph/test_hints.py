"""Pictures with the channels last before a layer that takes them first."""

import itertools

import pytest

from labdl.graph import Edge, Graph, Node
from labdl.graph.analysis.check import check
from labdl.graph.analysis.hints import hints
from labdl.lab.editor import service


def model(shape, *between, **settings):
    nodes = {"i": Node("Input", "input", {"shape": shape})}
    nodes |= {f"b{n}": Node(kind, f"between_{n}", params) for n, (kind, params) in enumerate(between)}
    nodes["c"] = Node("Conv2d", "conv", {"out_channels": 4, **settings})
    ids = list(nodes)
    return Graph(nodes, {f"e{b}": Edge(a, b) for a, b in itertools.pairwise(ids)})


@pytest.mark.parametrize("shape", [(None, 32, 32, 3), (None, 28, 28, 1), (8, 64, 48, 4)])
@pytest.mark.parametrize("between", [(), (("Dropout", {}),), (("ReLU", {}),)])
def test_pictures_with_the_channels_last_are_a_hint(shape, between):
    graph = model(shape, *between)
    [hint] = service.check(graph.to_dict(tagged=True))["hints"]
    assert hint["node"] == "c"
    assert f"{shape[1]} rows" in hint["message"]
    assert hint["fix"] == {"kind": "insert", "edge": "ec", "type": "Permute", "params": {"axes": (0, 3, 1, 2)}}


@pytest.mark.parametrize(
    "graph",
    [
        model((None, 3, 32, 32)),
        model((None, 32, 32, 3), data_format="channels_last"),
        model((None, 32, 32, 3), ("Permute", {"axes": (0, 3, 1, 2)})),
        model((None, 32, 32, 8)),
        model((None, 3, 3, 3)),
        model((None, None, None, 3)),
        model((None, 1, 64, 8), ("Conv2d", {"out_channels": 32, "kernel_size": (60, 6), "padding": "valid"})),
    ],
)
def test_other_inputs_are_none(graph):
    assert hints(graph, check(graph)) == []
