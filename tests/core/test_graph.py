"""Graphs: trace, data, check, source and model say the same of one network (D2, D3, D15)."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.graph import Edge, Graph, Node
from labdl.nn.schema import LAYERS, input_ports
from labdl.ops.operator import OPERATORS, Sample
from labdl.spec import Spec


def canonical(graph):
    """What must agree when ids and the names of inputs may differ."""
    inputs = graph.inputs()
    name = {i: f"input {inputs.index(i)}" if i in inputs else n.name for i, n in graph.nodes.items()}
    nodes = {name[i]: (n.type, dict(n.params), name.get(n.shares)) for i, n in graph.nodes.items()}
    edges = [(name[e.source], e.source_port, name[e.target], e.target_port) for e in graph.edges.values()]
    ends = [name[i] for i in graph.outputs()]
    listed = {t: [e[0] for e in edges if e[2:] == (t, "xs")] for t in nodes}  # where several edges enter, order counts
    return nodes, sorted(edges), ends, listed, dict(graph.groups), dict(graph.ties)


def from_source(graph):
    """The model that the graph's source defines."""
    space: dict = {}
    exec(compile(graph.to_python(), "generated.py", "exec"), space)
    return [v for v in space.values() if isinstance(v, type) and issubclass(v, nn.Module)][-1]()


def input_specs(graph):
    return [
        Spec(tuple(graph.nodes[i].params["shape"]), graph.nodes[i].params.get("dtype", "float32"))
        for i in graph.inputs()
    ]


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def assert_same_everywhere(model, *arrays):
    """Model, trace, JSON, source and the graph's model agree, for this batch and for its shape."""
    specs = [Spec(a.shape, str(a.dtype)) for a in arrays]
    labdl.seed(0, portable=True)
    expected = [np.array(v) for v in flat(model(*[a.copy() for a in arrays]))]
    graph = labdl.trace(model, *specs)
    found, problems = graph.check()
    assert problems == []
    shapes = [next(iter(found[i].values())).shape for i in graph.outputs() if graph.nodes[i].type != "Input"]
    assert [len(s) for s in shapes] == [e.ndim for e in expected]
    # None: a size that depends on values
    assert all(n in (None, m) for s, e in zip(shapes, expected, strict=True) for n, m in zip(s, e.shape, strict=True))
    again = Graph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert again == graph
    written = labdl.trace(from_source(graph), *input_specs(graph))
    assert canonical(written) == canonical(graph)
    for other in (again.to_module().build(backend="numpy"), from_source(graph).build(*specs, backend="numpy")):
        other.eval().load_state_dict(model.state_dict())
        labdl.seed(0, portable=True)
        for actual, value in zip(flat(other(*[a.copy() for a in arrays])), expected, strict=True):
            np.testing.assert_allclose(actual, value, rtol=1e-6)
    return graph


class Wrapped(nn.Module):
    """A model around one layer, under an attribute of its own."""

    def __init__(self, layer):
        self.layer = layer

    def forward(self, *inputs):
        return self.layer(*inputs)


@pytest.mark.parametrize("name", [n for n, cls in LAYERS.items() if input_ports(cls)])
def test_every_layer_goes_through_graph_json_and_source(name):
    example, rng = LAYERS[name].layer_example, np.random.default_rng(0)
    arrays = [s.draw(rng) for s in example.inputs]
    model = Wrapped(LAYERS[name](**example.params)).build(*[Spec((None, *a.shape[1:]), str(a.dtype)) for a in arrays],
                                                          backend="numpy", seed=1)  # fmt: skip
    assert_same_everywhere(model.eval(), *arrays)


class Calls(nn.Module):
    """A model that does nothing but call one operator with tensors in the places of the samples."""

    def __init__(self, name: str, args, kwargs):
        self.call = (name, args, kwargs)

    def forward(self, *inputs):
        given = iter(inputs)

        def place(value):
            if isinstance(value, Sample):
                return next(given)
            return type(value)(map(place, value)) if isinstance(value, list | tuple) else value

        name, args, kwargs = self.call
        args = [place(a) for a in args]  # before the named ones
        return getattr(ops, name)(*args, **{k: place(v) for k, v in kwargs.items()})


def samples(value):
    if isinstance(value, Sample):
        return [value]
    return [s for v in value for s in samples(v)] if isinstance(value, list | tuple) else []


def indexed_by_several(case) -> bool:
    """An index made of a tensor and something beside it, which a node has no port for."""
    return any(isinstance(v, tuple) and samples(v) for v in (*case[0], *case[1].values()))


EVERY_CASE = [(name, i, case) for name, entry in OPERATORS.items() for i, case in enumerate(entry.samples)]
OPERATOR_CASES = [
    pytest.param(name, *case, id=f"{name}-{i}") for name, i, case in EVERY_CASE if not indexed_by_several(case)
]
INDEXED = [pytest.param(name, *case, id=f"{name}-{i}") for name, i, case in EVERY_CASE if indexed_by_several(case)]


@pytest.mark.parametrize(("name", "args", "kwargs"), INDEXED)
def test_an_index_of_several_tensors_is_refused_in_words(name, args, kwargs):
    specs = [Spec(s.shape, s.dtype) for s in samples([*args, *kwargs.values()])]
    with pytest.raises(ModelError, match="a graph can hold integers, slices"):
        labdl.trace(Calls(name, args, kwargs), *specs)


@pytest.mark.parametrize(("name", "args", "kwargs"), OPERATOR_CASES)
def test_every_operator_goes_through_graph_json_and_source(name, args, kwargs):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(s.draw(rng)) for s in samples([*args, *kwargs.values()])]
    model = Calls(name, args, kwargs).build(*[Spec(a.shape, str(a.dtype)) for a in arrays], backend="numpy")
    graph = assert_same_everywhere(model, *arrays)
    kinds = {n.type for n in graph.nodes.values()} - {"Input", "Add"}
    assert kinds == {f"ops.{name}"} or OPERATORS[name].rule is None


# -- user models


class Tower(nn.Module):
    def __init__(self):
        self.conv = nn.Conv2d(4, padding="same")
        self.norm = nn.BatchNorm()
        self.again = nn.Conv2d(4, padding="same", use_bias=False)
        self.pool = nn.MaxPool2d()
        self.head = nn.Linear(5)

    def forward(self, x):
        h = ops.relu(self.norm(self.conv(x)))
        h = self.pool(ops.concat([h, 0.5 * self.again(h) - 1], axis=1))
        return self.head(ops.mean(h, axis=(2, 3)))


class Slices(nn.Module):
    def forward(self, x):
        first, second = ops.split(x, 2, axis=1)
        return ops.stack([first[:, 0, ..., 1:], second[:, -1, :, :-1]], axis=1)[:, None, ::2] ** 2


class Branches(nn.Module):
    """Several outputs, of which one is used on the way and another is the second output of its layer."""

    def __init__(self):
        self.lstm = nn.LSTM(3)
        self.head = nn.Linear(2)

    def forward(self, x):
        y, hidden, _ = self.lstm(x)
        low = self.head(hidden)
        return ops.softmax(low), hidden, low, y


class TwoInputs(nn.Module):
    def __init__(self):
        self.attend = nn.MultiHeadAttention(2)

    def forward(self, x, context):
        return x + self.attend(x, context=context)


class Reshapes(nn.Module):
    def forward(self, x):
        return ops.reshape(x, (x.shape[0], 12))


class Masked(nn.Module):
    def forward(self, x):
        return ops.maximum(ops.where(x > 0, x, -math.inf), -3.0)


class Nothing(nn.Module):
    def forward(self, x):
        return x


class Nested(nn.Module):
    """Layers inside layers: their names are paths."""

    def __init__(self):
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(4), nn.ReLU()) for _ in range(2)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Block(nn.Module):
    def __init__(self, size, rate=0.1):
        self.norm, self.linear, self.drop = nn.LayerNorm(), nn.Linear(size), nn.Dropout(rate)
        self.act = nn.ReLU()

    def forward(self, x):
        return x + self.act(self.drop(self.linear(self.act(self.norm(x)))))


class Shared(nn.Module):
    """A layer, a layer without parameters and a module of layers, each called twice."""

    def __init__(self):
        self.block, self.linear, self.last = Block(4), nn.Linear(4), Block(4, rate=0.2)

    def forward(self, x):
        return self.last(self.linear(self.block(self.linear(self.block(x)))))


class Positions(nn.Module):
    """Learnt and fixed tensors of its own; the two are added in a module without layers."""

    def __init__(self):
        self.scale = nn.Buffer((4,), "ones")

    def setup(self, x):
        self.table = nn.Parameter((x.shape[1], 4), "normal")

    def forward(self, x):
        return (x + self.table) * self.scale


class Tokens(nn.Module):
    def __init__(self):
        self.token = nn.Parameter((1, 1, 4), "normal")
        self.positions = Positions()

    def forward(self, x):
        token = ops.broadcast_to(self.token, (2, 1, 4))
        return self.positions(ops.concat([token, x], axis=1))


class Tied(nn.Module):
    def __init__(self):
        self.words = nn.Embedding(7, 4)
        self.up, self.again = nn.Linear(4), nn.Linear(4)
        self.tie("again/kernel", to="up/kernel")

    def forward(self, x):
        return self.again(self.up(self.words(ops.astype(x > 0, "int64"))))


class Scores(nn.Module):
    """Takes the table of another module."""

    def forward(self, x, table):
        return ops.matmul(x, ops.matrix_transpose(table))


class Text(nn.Module):
    def __init__(self):
        self.words = nn.Embedding(7, 4)

    def forward(self, x):
        return self.words(ops.astype(x > 0, "int64"))


class Decoder(nn.Module):
    def __init__(self):
        self.text, self.scores = Text(), Scores()

    def forward(self, x):
        return self.scores(self.text(x), self.text.words.embeddings)


class Stage(nn.Module):
    def __init__(self, channels, stride=1):
        self.conv = nn.Conv2d(channels, stride=stride, padding=1)
        self.down = nn.Sequential(nn.Conv2d(channels, 1, stride=stride), nn.BatchNorm()) if stride > 1 else None

    def forward(self, x):
        y = ops.relu(self.conv(x))
        return y + (x if self.down is None else self.down(x))


class Stages(nn.Module):
    """Modules of one class that differ in settings, and in structure."""

    def __init__(self):
        self.stages = nn.ModuleList([nn.Sequential(Stage(4, 2), Stage(4)), nn.Sequential(Stage(6, 2), Stage(6))])

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return ops.mean(x, axis=(2, 3))


class Knows(nn.Module):
    def __init__(self):
        self.embed = nn.Embedding(3, 3)

    def forward(self, x):
        return x * np.float32(2) + np.arange(3) + self.embed(np.arange(x.shape[1]))


@pytest.mark.parametrize(("model", "shapes"), [
    (Tower, [(2, 1, 8, 8)]), (Slices, [(2, 4, 3, 5)]), (Branches, [(2, 4, 3)]), (TwoInputs, [(2, 3, 4), (2, 5, 4)]),
    (Reshapes, [(2, 3, 4)]), (Masked, [(2, 3)]), (Nothing, [(2, 3)]), (Nested, [(2, 4)]), (Shared, [(2, 4)]),
    (Tokens, [(2, 3, 4)]), (Tied, [(2, 5)]), (Decoder, [(2, 5)]), (Stages, [(2, 3, 8, 8)]), (Knows, [(3, 3)]),
])  # fmt: skip
def test_user_models_go_through_graph_json_and_source(model, shapes):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype("float32") for shape in shapes]
    built = model().build(*[(None, *s[1:]) for s in shapes], backend="numpy", seed=0).eval()
    graph = assert_same_everywhere(built, *arrays)
    open_batch = labdl.trace(model(), *[(None, *s[1:]) for s in shapes])
    assert [n.type for n in open_batch.nodes.values()] == [n.type for n in graph.nodes.values()]


def test_layers_keep_their_path_and_their_values():
    model = Nested().build((None, 4), backend="numpy", seed=0)
    graph = labdl.trace(model)
    assert [n.name for n in graph.nodes.values()][1:] == ["blocks/0/0", "blocks/0/1", "blocks/1/0", "blocks/1/1"]
    twin = graph.to_module().build(backend="numpy")
    twin.load_state_dict(model.state_dict())
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(twin(x), model(x))
    assert from_source(graph).build((None, 4), backend="numpy").count_parameters() == model.count_parameters()


class Branching(nn.Module):
    def forward(self, x):
        return x if ops.sum(x) > 0 else -x


class Constant(nn.Module):
    def forward(self, x):
        return x + np.ones((70_000, 3), "float32")


class Unused(nn.Module):
    def __init__(self):
        self.lost = nn.Linear(2)

    def forward(self, x):
        self.lost(x)
        return ops.relu(x)


class ReturnsDict(nn.Module):
    def forward(self, x):
        return {"y": x}


class Keeps(nn.Module):
    kept = None

    def forward(self, x):
        other, type(self).kept = type(self).kept, x
        return x if other is None else x + other


@pytest.mark.parametrize(("model", "sentence"), [
    (Branching, "branches on the values of a tensor"),
    (Constant, r"ops\.add: y is an array of 210,000 elements of float32, .* make it a Buffer"),
    (Unused, "does not use the output of layer 'lost'"),
    (ReturnsDict, "returns a dict, which a graph cannot hold"),
])  # fmt: skip
def test_what_a_graph_cannot_hold_is_said_in_a_sentence(model, sentence):
    with pytest.raises(ModelError, match=sentence):
        labdl.trace(model(), (None, 3))


def test_a_tensor_kept_from_another_trace_is_found():
    labdl.trace(model := Keeps(), (None, 3))
    with pytest.raises(ModelError, match="tensor of another trace"):
        labdl.trace(model, (None, 3))


def test_unused_operators_are_left_out():
    class Wasteful(nn.Module):
        def forward(self, x):
            ops.exp(ops.abs(x))
            return ops.relu(x)

    assert [n.type for n in labdl.trace(Wasteful(), (None, 3)).nodes.values()] == ["Input", "ops.relu"]


# -- data


def test_graph_data_round_trip(residual):
    data = json.loads(json.dumps(residual.to_dict()))
    assert data["version"] == 2
    assert data["nodes"]["i"]["params"]["shape"] == [None, 3, 8, 8]
    again = Graph.from_dict(data)
    assert again == residual
    assert again.positions == residual.positions
    assert again.to_dict() == data


@pytest.mark.parametrize(("data", "sentence"), [
    ({}, "this is not graph data: KeyError 'nodes'"),
    ({"nodes": [], "edges": {}}, "this is not graph data"),
    ({"nodes": {"a": {"type": "ReLU"}}, "edges": {}}, "KeyError 'name'"),
    ({"nodes": {"a": {"type": "ReLU", "name": "a"}}, "edges": {"e": {"source": "a", "target": "z"}}}, "leads to node 'z'"),
    ({"nodes": {"a": {"type": "ReLU", "name": "a"}, "b": {"type": "ReLU", "name": "a"}}, "edges": {}},
     "'a' and 'b' are both named"),
    ({"nodes": {"a": {"type": "ReLU", "name": "a b"}}, "edges": {}}, "use letters, digits and _"),
    ({"nodes": {"a": {"type": "ReLU", "name": "a", "params": 3}}, "edges": {}}, "this is not graph data"),
    ({"nodes": {}, "edges": {}, "positions": 5}, "this is not graph data"),
])  # fmt: skip
def test_broken_graph_data_is_refused_in_a_sentence(data, sentence):
    with pytest.raises(ModelError, match=sentence):
        Graph.from_dict(data)


def test_a_position_without_a_node_is_dropped():
    assert Graph.from_dict({"nodes": {}, "edges": {}, "positions": {"gone": [1, 2]}}).positions == {}


# -- check

INPUT = Node("Input", "input", {"shape": (None, 8)})


def problems_of(nodes, *edges):
    graph = Graph({"i": INPUT, **nodes}, {f"e{n}": e for n, e in enumerate(edges)})
    return graph.check()[1]


@pytest.mark.parametrize(("nodes", "edges", "node", "sentence"), [
    ({"a": Node("Linear", "a")}, [Edge("i", "a")], "a", "Linear wants a value for out_features"),
    ({"a": Node("Linear", "a", {"out_features": 0})}, [Edge("i", "a")], "a",
     "Linear: out_features wants an integer at least 1, received 0"),
    ({"a": Node("Linear", "a", {"units": 3})}, [Edge("i", "a")], "a", "Linear has no setting 'units': it has out_features"),
    ({"a": Node("Lineal", "a")}, [Edge("i", "a")], "a", "layer type 'Lineal' is unknown"),
    ({"a": Node("ops.rely", "a")}, [Edge("i", "a")], "a", "layer type 'ops.rely' is unknown"),
    ({"a": Node("ops.relu", "a", {"slope": 3})}, [Edge("i", "a")], "a", "operator relu has no argument 'slope'"),
    ({"a": Node("Conv2d", "a", {"out_channels": 4})}, [Edge("i", "a")], "a",
     "Conv2d wants 4 axes (N, C, H, W), received (None, 8)"),
    ({"a": Node("ReLU", "a")}, [], "a", "not connected: draw a line to its input x"),
    ({"a": Node("ReLU", "a")}, [Edge("i", "a"), Edge("i", "a")], "a", "input x takes one connection, received 2"),
    ({"a": Node("ReLU", "a")}, [Edge("i", "a", target_port="y")], "a", "ReLU has no input 'y' (it has x)"),
    ({"a": Node("ReLU", "a")}, [Edge("i", "a", source_port="hidden")], "a", "input has no output 'hidden'"),
    ({"a": Node("ReLU", "a")}, [Edge("a", "a")], "a", "lies on a loop"),
    ({"a": Node("ReLU", "a")}, [Edge("a", "i")], "i", "Input has no input 'x' (it has none)"),
    ({"a": Node("ReLU", "forward")}, [Edge("i", "a")], "a", "every model has something named 'forward': choose another name"),
    ({"a": Node("ReLU", "graph")}, [Edge("i", "a")], "a", "every model has something named 'graph'"),
    ({"a": Node("ops.getitem", "a", {"index": "__import__('os')"})}, [Edge("i", "a")], "a", "an index is written as in Python"),
    ({"a": Node("ops.split", "a", {"sections": 0})}, [Edge("i", "a")], "a", "split wants at least one part"),
    ({"a": Node("Add", "a"), "b": Node("Linear", "b", {"out_features": 3})},
     [Edge("i", "b"), Edge("i", "a", target_port="xs"), Edge("b", "a", target_port="xs")], "a",
     "shapes (None, 8) and (None, 3) do not fit together"),
])  # fmt: skip
def test_problems_are_sentences_where_they_belong(nodes, edges, node, sentence):
    (problem, *_) = [p for p in problems_of(nodes, *edges) if p.node == node]
    assert sentence in problem.message
    assert "\n" not in problem.message


def test_a_graph_without_input_says_so():
    _, problems = Graph({"a": Node("ReLU", "a")}).check()
    assert "the graph has no Input" in problems[-1].message
    assert Graph().check() == ({}, [])


def test_only_the_nodes_on_a_loop_are_blamed():
    nodes = {n: Node("ReLU", n) for n in "abcd"}
    problems = problems_of(nodes, Edge("i", "d"), Edge("a", "b"), Edge("b", "a"), Edge("b", "c"))
    assert [p.node for p in problems if "loop" in p.message] == ["a", "b"]


def test_what_lies_behind_a_problem_is_not_blamed():
    nodes = {"a": Node("Linear", "a"), "b": Node("ReLU", "b"), "c": Node("Add", "c")}
    problems = problems_of(
        nodes, Edge("i", "a"), Edge("a", "b"), Edge("b", "c", target_port="xs"), Edge("i", "c", target_port="xs")
    )
    assert [p.node for p in problems] == ["a"]


def test_a_problem_knows_its_edge():
    (problem,) = problems_of({"a": Node("ReLU", "a")}, Edge("i", "a"), Edge("i", "a"))
    assert problem.edge == "e1"


def test_a_graph_that_does_not_fit_gives_no_model():
    with pytest.raises(
        ModelError, match="the graph 'model' does not fit together: a: Linear wants a value for out_features"
    ):
        Graph({"i": INPUT, "a": Node("Linear", "a")}, {"e": Edge("i", "a")}).to_module()


def test_a_layer_that_raises_anything_is_a_problem(monkeypatch):
    monkeypatch.setitem(LAYERS, "Broken", nn.layer({})(type("Broken", (nn.Module,), {
        "__doc__": "Raises.", "forward": lambda self, x: undefined_name})))  # noqa: F821  # fmt: skip
    (problem,) = problems_of({"a": Node("Broken", "a")}, Edge("i", "a"))
    assert problem.message == "name 'undefined_name' is not defined"


json_values: Callable = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(width=16) | st.sampled_from(["same", "", "1:2", "a", "x\ny"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "x"]), inner, max_size=2), max_leaves=4,
)  # fmt: skip
PARAMETERS = sorted(
    {p for cls in LAYERS.values() for p in nn.schema.fields(cls)} | {"index", "shape", "axis", "x", "y", "sections"}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*LAYERS, *(f"ops.{o}" for o in OPERATORS), "Nonsense"]),
                          st.dictionaries(st.sampled_from(PARAMETERS), json_values, max_size=2)), min_size=1, max_size=4),
       st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.sampled_from(["x", "xs", "y", "output"])), max_size=6))  # fmt: skip
def test_no_graph_data_makes_the_check_or_the_source_fail(nodes, edges):
    """Whatever an editor sends, check answers with sentences, and the source is a program or a sentence."""
    data = {
        "nodes": {"0": {"type": "Input", "name": "input", "params": {"shape": [None, 8]}},
                  **{str(n): {"type": kind, "name": f"n{n}", "params": params} for n, (kind, params) in enumerate(nodes, 1)}},
        "edges": {f"e{n}": {"source": str(min(a, len(nodes))), "target": str(min(b, len(nodes))), "target_port": port}
                  for n, (a, b, port) in enumerate(edges)},
    }  # fmt: skip
    graph = Graph.from_dict(data)
    specs, problems = graph.check()
    assert all(p.message and "\n" not in p.message for p in problems)
    assert problems or set(specs) == set(graph.nodes)
    try:
        source = graph.to_python()
    except (ModelError, ConfigError):
        return
    compile(source, "generated.py", "exec")


# -- size


def chain(length):
    nodes, edges, last = {"i": Node("Input", "input", {"shape": (None, 4)})}, {}, "i"
    for n in range(length):
        nodes[f"n{n}"] = Node("Linear", f"l{n}", {"out_features": 4}) if n % 2 else Node("ops.relu", f"l{n}")
        edges[f"e{n}"] = Edge(last, f"n{n}")
        last = f"n{n}"
    return Graph(nodes, edges)


def test_a_chain_of_thousands_of_nodes_needs_no_recursion():
    """Deeper than Python's stack: nothing here may call itself once a node."""
    graph = chain(1200)
    specs, problems = graph.check()
    assert problems == []
    assert len(specs) == 1201
    model = graph.to_module().build(backend="numpy", seed=0)
    assert model(np.ones((2, 4), "float32")).shape == (2, 4)
    assert compile(graph.to_python(), "generated.py", "exec")
    assert len(labdl.trace(model, (None, 4)).nodes) == 1201
    assert f"{600 * 20:,} trainable parameters" in graph.summary()


# -- the model of a graph


def test_a_replaced_layer_is_used_and_saved(residual):
    """Fine-tuning: a new head on a loaded model."""
    model = residual.to_module().build(backend="numpy", seed=0)
    before = model.state_dict()
    model.head = nn.Linear(3)
    model.build(backend="numpy", seed=1)
    x = np.zeros((2, 3, 8, 8), "float32")
    assert model(x).shape == (2, 3)
    assert model.graph.nodes["g"].params == {"out_features": 3}
    assert np.array_equal(model.state_dict()["stem/kernel:0"], before["stem/kernel:0"])
    with pytest.raises(ConfigError, match="a registered layer can replace it, received Sequential"):
        model.head = nn.Sequential(nn.Linear(3))


def test_an_optional_input_that_is_not_connected_is_none():
    class Between(nn.Module):
        """Takes its second or its third input."""

        def forward(self, x, a=None, b=None):
            return x + (2 * a if a is not None else 3 * b)

    nn.layer({})(Between)
    try:
        graph = Graph(
            {"i": INPUT, "n": Node("Between", "n")}, {"e": Edge("i", "n"), "f": Edge("i", "n", target_port="b")}
        )
        x = np.ones((1, 8), "float32")
        assert graph.to_module().build(backend="numpy")(x).max() == 4
        assert "self.n(x, b=x)" in graph.to_python()
    finally:
        LAYERS.pop("Between")


def test_a_model_wants_as_many_inputs_as_its_graph(residual):
    with pytest.raises(ModelError, match=r"has 1 input\(s\), received 2"):
        residual.to_module().build((None, 3, 8, 8), (None, 2), backend="numpy")


def test_source_keeps_apart_what_would_collide():
    """Names that differ only in signs, keywords, and names of the modules that the source uses."""
    nodes = {"i": INPUT, "1": Node("Linear", "a/b", {"out_features": 8}), "2": Node("Linear", "a_b", {"out_features": 8}),
             "3": Node("ReLU", "ops"), "4": Node("ops.exp", "class"), "5": Node("ReLU", "nn"), "6": Node("ops.add", "_"),
             "7": Node("LSTM", "none", {"hidden_size": 2}), "8": Node("Reshape", "0", {"shape": (2, 4)})}  # fmt: skip
    edges = {"a": Edge("i", "1"), "b": Edge("i", "2"), "c": Edge("1", "3"), "d": Edge("3", "4"), "e": Edge("4", "5"),
             "f": Edge("5", "6"), "g": Edge("2", "6", target_port="y"), "h": Edge("6", "8"), "j": Edge("8", "7")}  # fmt: skip
    for name in ("none", "none", "class", "9 lives!", "日本", ""):
        graph = Graph(nodes, edges, name=name)
        model = from_source(graph).build((None, 8), backend="numpy")
        assert len(model.state_dict()) == 7
        assert model(np.ones((2, 8), "float32")).shape == (2, 2, 2)


# -- random networks


def layer_strategy():
    return st.one_of(
        st.builds(nn.Linear, st.integers(1, 5), use_bias=st.booleans()), st.builds(nn.ReLU), st.builds(nn.BatchNorm),
        st.builds(nn.Dropout, st.sampled_from([0.0, 0.25])), st.builds(nn.LayerNorm), st.builds(nn.Softmax),
        st.builds(nn.LeakyReLU, st.sampled_from([0.01, 0.2])), st.builds(nn.GELU, st.sampled_from(["none", "tanh"])),
    )  # fmt: skip


class Chain(nn.Module):
    """Layers in a row, some with a skip connection or an operator after them."""

    def __init__(self, layers, extras):
        self.extras = tuple(extras)
        for n, layer in enumerate(layers):
            setattr(self, f"layer{n}", layer)

    def forward(self, x):
        for n, extra in enumerate(self.extras):
            y = self._modules[f"layer{n}"](x)
            if extra == "skip" and y.shape == x.shape:
                y = y + x
            elif extra == "slice":
                y = ops.concat([y[:, :1], 2.0 * y], axis=-1)
            elif extra == "tanh":
                y = ops.tanh(y)
            x = y
        return x


@settings(max_examples=40, deadline=None)
@given(st.lists(layer_strategy(), min_size=1, max_size=6), st.data())
def test_random_chains_survive_graph_source_and_back(layers, data):
    extras = data.draw(
        st.lists(st.sampled_from(["", "skip", "slice", "tanh"]), min_size=len(layers), max_size=len(layers))
    )
    model = Chain(layers, extras).build((None, 3), backend="numpy", seed=0)
    assert_same_everywhere(model.eval(), np.random.default_rng(0).normal(size=(4, 3)).astype("float32"))


def test_infinities_pass_through_json():
    """A mask written as ``ops.where(mask, scores, -inf)`` survives a file and a browser, which know no infinity."""

    class Masked(nn.Module):
        def forward(self, x):
            return ops.where(ops.greater(x, 0), x, -math.inf)

    graph = labdl.trace(Masked(), (None, 3))
    text = json.dumps(graph.to_dict(), allow_nan=False)
    assert Graph.from_dict(json.loads(text)) == graph
