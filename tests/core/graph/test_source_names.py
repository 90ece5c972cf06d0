"""The parameters of a graph's source have the names of the graph's, whatever the layers are called."""

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.graph import Graph
from labdl.graph.graph import Edge, Node
from labdl.graph.parsing.parser import read_draft
from labdl.spec import Spec

NAMES = [
    "class",
    "None",
    "1conv",
    "1",
    "match",
    "_hidden",
    "__private",
    "nn",
    "ops",
    "self",
    "x",
    "a/b",
    "a/class/1",
    "class/1conv",
    "training_layer",
    "self_",
    "kernel",
    "super",
    "getattr",
    "卷积层",
    "é",
    "मॉडल",
    "слой/卷积",
    "٣",
]


def two_layers(first, second, groups=()):
    nodes = {
        "n1": Node("Input", "input", {"shape": (None, 3)}),
        "n2": Node("Linear", first, {"out_features": 4}),
        "n3": Node("Linear", second, {"out_features": 2}),
    }
    edges = {"e1": Edge("n1", "n2", "output", "x"), "e2": Edge("n2", "n3", "output", "x")}
    return Graph(nodes, edges, "Net", groups=dict(groups))


def built_from_source(graph):
    space = {}
    exec(graph.to_python(), space)
    return space["Net"]().build((None, 3), backend="numpy", seed=1)


def assert_same(graph, tmp_path):
    model = graph.to_module().build(backend="numpy", seed=0)
    labdl.save(model, tmp_path / "net")
    with np.load(tmp_path / "net.npz") as values:
        other = built_from_source(graph)
        assert sorted(other.state_dict()) == sorted(model.state_dict())
        other.load_state_dict({name: values[name] for name in model.state_dict()})
    x = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
    np.testing.assert_array_equal(other(x), model(x))
    return other


@pytest.mark.parametrize("name", NAMES)
def test_source_has_the_parameters_of_the_file(name, tmp_path):
    assert_same(two_layers(name, "last"), tmp_path)


@pytest.mark.parametrize(
    "pair", [("a/b", "a_b"), ("class", "_class"), ("1conv", "_1conv"), ("blocks/0", "blocks/2"), ("a/1", "a/class")]
)
@pytest.mark.parametrize("grouped", ["", "Module", "ModuleDict", "ModuleList"])
def test_names_that_are_alike_stay_apart(pair, grouped, tmp_path):
    home = pair[0].partition("/")[0]
    assert_same(two_layers(*pair, {home: grouped} if grouped and "/" in pair[0] else ()), tmp_path)


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("__")])
def test_source_of_any_name_is_read_back(name):
    graph = two_layers(name, "last")
    for read in (Graph.from_python(graph.to_python(), (None, 3)), read_draft(graph.to_python(), [Spec((None, 3))])):
        assert [node.name for node in read.nodes.values()] == ["input", name, "last"]


def test_a_weight_and_a_tie_keep_their_names(tmp_path):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            setattr(self, "1st", nn.Linear(3))
            setattr(self, "class", nn.Linear(3))
            self.tie("class/kernel:0", "1st/kernel:0")

        def forward(self, x):
            first = getattr(self, "1st")
            return getattr(self, "class")(first(x)) @ first.kernel

    graph = labdl.trace(Net(), (None, 3))
    assert_same(graph, tmp_path)
    assert Graph.from_python(graph.to_python(), (None, 3)).to_python() == graph.to_python()


@pytest.mark.parametrize(
    "line",
    [
        "getattr(self, name)(x)",
        "getattr(x, 'class')",
        "getattr(self, '__class__')",
        "getattr(self, '_modules')",
        "getattr(self, 'class', 1)(x)",
        "[getattr][0](self, 'class')",
    ],
)
def test_other_uses_of_getattr_are_refused(line):
    text = two_layers("class", "last").to_python().replace('getattr(self, "class")(x)', line)
    assert line in text
    with pytest.raises(labdl.errors.ModelError):
        Graph.from_python(text, (None, 3))


def test_other_uses_of_setattr_are_refused():
    text = two_layers("class", "last").to_python()
    for wrong in ("setattr(nn, 'class', ", "setattr(self, '__class__', ", "setattr(self, 'build', "):
        with pytest.raises(labdl.errors.ModelError):
            Graph.from_python(text.replace('setattr(self, "class", ', wrong), (None, 3))
