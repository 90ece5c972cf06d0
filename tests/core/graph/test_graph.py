"""Graphs as data: their check, their source and the models that compute them."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from graphs import from_source
from hypothesis import example, given, settings
from hypothesis import strategies as st

import labdl
from labdl import nn
from labdl.errors import ConfigError, ModelError
from labdl.graph import Edge, Graph, Node
from labdl.nn.schema import LAYERS
from labdl.ops.operator import OPERATORS

# -- data


def test_graph_data_round_trip(residual):
    data = json.loads(json.dumps(residual.to_dict()))
    assert data["version"] == 2
    assert data["nodes"]["i"]["params"]["shape"] == [None, 3, 8, 8]
    again = Graph.from_dict(data)
    assert again == residual
    assert again.positions == residual.positions
    assert again.to_dict() == data


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "this is not graph data: KeyError 'nodes'"),
        ({"nodes": [], "edges": {}}, "this is not graph data"),
        ({"nodes": {"a": {"type": "ReLU"}}, "edges": {}}, "KeyError 'name'"),
        (
            {"nodes": {"a": {"type": "ReLU", "name": "a"}}, "edges": {"e": {"source": "a", "target": "z"}}},
            "leads to node 'z'",
        ),
        (
            {"nodes": {"a": {"type": "ReLU", "name": "a"}, "b": {"type": "ReLU", "name": "a"}}, "edges": {}},
            "'a' and 'b' are both named",
        ),
        ({"nodes": {"a": {"type": "ReLU", "name": "a b"}}, "edges": {}}, "use letters, digits and _"),
        ({"nodes": {"a": {"type": "ReLU", "name": "a" * 1001}}, "edges": {}}, "at most 1,000 characters"),
        ({"nodes": {"a": {"type": "ReLU", "name": "/".join("a" * 65)}}, "edges": {}}, "65 words: .* and 64 words"),
        ({"nodes": {}, "edges": {}, "groups": {"/".join("a" * 65): "Block"}}, "65 words"),
        ({"nodes": {"a": {"type": "ReLU", "name": "a", "params": 3}}, "edges": {}}, "this is not graph data"),
        ({"nodes": {}, "edges": {}, "positions": 5}, "this is not graph data"),
    ],
)
def test_broken_graph_data_raises(data, sentence):
    with pytest.raises(ModelError, match=sentence):
        Graph.from_dict(data)


def test_a_position_without_a_node_is_dropped():
    assert Graph.from_dict({"nodes": {}, "edges": {}, "positions": {"gone": [1, 2]}}).positions == {}


# -- check

INPUT = Node("Input", "input", {"shape": (None, 8)})


def problems_of(nodes, *edges):
    graph = Graph({"i": INPUT, **nodes}, {f"e{n}": e for n, e in enumerate(edges)})
    return graph.check()[1]


@pytest.mark.parametrize(
    ("nodes", "edges", "node", "sentence"),
    [
        ({"a": Node("Linear", "a")}, [Edge("i", "a")], "a", "Linear wants a value for out_features"),
        (
            {"a": Node("Linear", "a", {"out_features": 0})},
            [Edge("i", "a")],
            "a",
            "Linear: out_features wants an integer at least 1, received 0",
        ),
        (
            {"a": Node("Linear", "a", {"units": 3})},
            [Edge("i", "a")],
            "a",
            "Linear has no setting 'units': it has out_features",
        ),
        ({"a": Node("Lineal", "a")}, [Edge("i", "a")], "a", "layer type 'Lineal' is unknown"),
        ({"a": Node("ops.rely", "a")}, [Edge("i", "a")], "a", "layer type 'ops.rely' is unknown"),
        ({"a": Node("ops.relu", "a", {"slope": 3})}, [Edge("i", "a")], "a", "operator relu has no argument 'slope'"),
        (
            {"a": Node("Conv2d", "a", {"out_channels": 4})},
            [Edge("i", "a")],
            "a",
            "Conv2d wants 4 axes (N, C, H, W), received (None, 8)",
        ),
        ({"a": Node("ReLU", "a")}, [], "a", "not connected: draw a line to its input x"),
        ({"a": Node("ReLU", "a")}, [Edge("i", "a"), Edge("i", "a")], "a", "input x takes one connection, received 2"),
        ({"a": Node("ReLU", "a")}, [Edge("i", "a", target_port="y")], "a", "ReLU has no input 'y' (it has x)"),
        ({"a": Node("ReLU", "a")}, [Edge("i", "a", source_port="hidden")], "a", "input has no output 'hidden'"),
        ({"a": Node("ReLU", "a")}, [Edge("a", "a")], "a", "lies on a loop"),
        ({"a": Node("ReLU", "a")}, [Edge("a", "i")], "i", "Input has no input 'x' (it has none)"),
        (
            {"a": Node("ReLU", "forward")},
            [Edge("i", "a")],
            "a",
            "every model has something named 'forward': choose another name",
        ),
        ({"a": Node("ReLU", "graph")}, [Edge("i", "a")], "a", "every model has something named 'graph'"),
        (
            {"a": Node("ops.getitem", "a", {"index": "__import__('os')"})},
            [Edge("i", "a")],
            "a",
            "an index has Python",
        ),
        ({"a": Node("ops.split", "a", {"sections": 0})}, [Edge("i", "a")], "a", "split wants at least one part"),
        (
            {"a": Node("ops.split", "a", {"sections": 10**5})},
            [Edge("i", "a")],
            "a",
            "split gives at most 65,536 tensors",
        ),
        ({"a": Node("ops.diff", "a", {"n": 10**12})}, [Edge("i", "a")], "a", "at most 64, received n=1000000000000"),
        ({"a": Node("ops.tile", "a", {"repetitions": (1, 2**62)})}, [Edge("i", "a")], "a", "sizes of less than 2^63"),
        ({"a": Node("ops.reshape", "a", {"shape": (-1, *[1] * 64)})}, [Edge("i", "a")], "a", "at most 64 axes"),
        (
            {"a": Node("Add", "a"), "b": Node("Linear", "b", {"out_features": 3})},
            [Edge("i", "b"), Edge("i", "a", target_port="xs"), Edge("b", "a", target_port="xs")],
            "a",
            "shapes (None, 8) and (None, 3) do not fit together",
        ),
    ],
)
def test_problems_have_a_message_and_a_place(nodes, edges, node, sentence):
    (problem, *_) = [p for p in problems_of(nodes, *edges) if p.node == node]
    assert sentence in problem.message
    assert "\n" not in problem.message


@pytest.mark.parametrize("written", ["9007199254740993", "1e20", "100000000000000000000", "[3, 9007199254740993]"])
def test_whole_numbers_that_files_do_not_hold_exactly_are_a_problem_of_their_layer(written):
    """As the canvas sends them; the other layers keep their shapes."""
    setting = "kernel_size" if written[0] == "[" else "out_channels"
    graph = Graph.from_dict(
        {
            "nodes": {
                "i": {"type": "Input", "name": "i", "params": {"shape": [None, 3, 8, 8]}},
                "a": {"type": "ReLU", "name": "a"},
                "c": {"type": "Conv2d", "name": "c", "params": json.loads(f'{{"{setting}": {written}}}')},
            },
            "edges": {"1": {"source": "i", "target": "a"}, "2": {"source": "a", "target": "c"}},
        }
    )
    specs, problems = graph.check()
    assert [p.node for p in problems] == ["c"]
    assert f"{setting} is " in problems[0].message
    assert "9,007,199,254,740,991" in problems[0].message
    assert specs["a"]["output"].shape == (None, 3, 8, 8)


def test_a_graph_without_input_says_so():
    _, problems = Graph({"a": Node("ReLU", "a")}).check()
    assert "the graph has no Input" in problems[-1].message
    assert Graph().check() == ({}, [])


def test_only_nodes_on_a_loop_have_a_problem():
    nodes = {n: Node("ReLU", n) for n in "abcd"}
    problems = problems_of(nodes, Edge("i", "d"), Edge("a", "b"), Edge("b", "a"), Edge("b", "c"))
    assert [p.node for p in problems if "loop" in p.message] == ["a", "b"]


def test_nodes_after_a_problem_have_no_problem():
    nodes = {"a": Node("Linear", "a"), "b": Node("ReLU", "b"), "c": Node("Add", "c")}
    problems = problems_of(
        nodes, Edge("i", "a"), Edge("a", "b"), Edge("b", "c", target_port="xs"), Edge("i", "c", target_port="xs")
    )
    assert [p.node for p in problems] == ["a"]


def test_a_problem_knows_its_edge():
    (problem,) = problems_of({"a": Node("ReLU", "a")}, Edge("i", "a"), Edge("i", "a"))
    assert problem.edge == "e1"


@pytest.mark.sample(False)
def test_a_graph_of_more_layers_than_can_be_checked_has_a_problem():
    nodes = {str(n): Node("TransformerEncoder", f"a{n}", {"heads": 1, "layers": 1000}) for n in range(100)}
    graph = Graph({"i": Node("Input", "input", {"shape": (None, 4, 2)}), **nodes}, {n: Edge("i", n) for n in nodes})
    (problem,) = graph.check()[1]
    assert "more than 100,000 layers" in problem.message


@pytest.mark.parametrize("steps", [5, 2**40])
@pytest.mark.parametrize(
    "kind", ["PositionEmbedding", "RelativePositionBias", "RotaryEmbedding", "SinusoidalPositions"]
)
def test_shapes_of_positions_need_no_tables(kind, steps):
    settings = {"PositionEmbedding": {"size": 2**41}, "RelativePositionBias": {"heads": 2}}.get(kind, {})
    graph = Graph({"i": Node("Input", "input", {"shape": (None, steps, 8)}), "a": Node(kind, "a", settings)},
                  {"e": Edge("i", "a")})  # fmt: skip
    wanted = (1, 2, steps, steps) if kind == "RelativePositionBias" else (None, steps, 8)
    assert graph.check()[0]["a"]["output"].shape == wanted


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_shapes_of_norms_without_parameters_need_no_arrays(kind):
    nodes = {"i": Node("Input", "input", {"shape": (None, 2**40)}), "a": Node(kind, "a", {"affine": False})}
    assert Graph(nodes, {"e": Edge("i", "a")}).check()[0]["a"]["output"].shape == (None, 2**40)


def test_a_graph_that_does_not_fit_gives_no_model():
    with pytest.raises(
        ModelError, match="the graph 'model' does not fit together: a: Linear wants a value for out_features"
    ):
        Graph({"i": INPUT, "a": Node("Linear", "a")}, {"e": Edge("i", "a")}).to_module()


def test_a_layer_that_raises_anything_is_a_problem(monkeypatch):
    monkeypatch.setitem(
        LAYERS,
        "Broken",
        nn.layer({}, namespace="")(
            type("Broken", (nn.Module,), {"__doc__": "Raises.", "forward": lambda self, x: undefined_name})  # noqa: F821
        ),
    )
    (problem,) = problems_of({"a": Node("Broken", "a")}, Edge("i", "a"))
    assert problem.message == "name 'undefined_name' is not defined"


json_values: Callable = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(width=16)
    | st.sampled_from(["same", "", "1:2", "a", "x\ny"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "x"]), inner, max_size=2),
    max_leaves=4,
)
PARAMETERS = sorted(
    {p for cls in LAYERS.values() for p in nn.schema.fields(cls)} | {"index", "shape", "axis", "x", "y", "sections"}
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*LAYERS, *(f"ops.{o}" for o in OPERATORS), "Nonsense"]),
            st.dictionaries(st.sampled_from(PARAMETERS), json_values, max_size=2),
        ),
        min_size=1,
        max_size=4,
    ),
    st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.sampled_from(["x", "xs", "y", "output"])), max_size=6),
)
@example([("ops.getitem", {})], [])
def test_no_graph_data_makes_the_check_or_the_source_fail(nodes, edges):
    """Whatever an editor sends, check answers with sentences, and the source is a program or a sentence."""
    data = {
        "nodes": {
            "0": {"type": "Input", "name": "input", "params": {"shape": [None, 8]}},
            **{str(n): {"type": kind, "name": f"n{n}", "params": params} for n, (kind, params) in enumerate(nodes, 1)},
        },
        "edges": {
            f"e{n}": {"source": str(min(a, len(nodes))), "target": str(min(b, len(nodes))), "target_port": port}
            for n, (a, b, port) in enumerate(edges)
        },
    }
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


@pytest.mark.sample(False)
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

    nn.layer({}, namespace="")(Between)
    try:
        graph = Graph(
            {"i": INPUT, "n": Node("Between", "n")}, {"e": Edge("i", "n"), "f": Edge("i", "n", target_port="b")}
        )
        x = np.ones((1, 8), "float32")
        assert graph.to_module().build(backend="numpy")(x).max() == 4
        assert "self.n(x, b=x)" in graph.to_python()
    finally:
        LAYERS.pop("Between")


def test_model_checks_the_number_of_inputs(residual):
    with pytest.raises(ModelError, match=r"has 1 input\(s\), received 2"):
        residual.to_module().build((None, 3, 8, 8), (None, 2), backend="numpy")


def test_names_in_source_do_not_collide():
    """Names that differ only in signs, keywords, and names of the modules that the source uses."""
    nodes = {
        "i": INPUT,
        "1": Node("Linear", "a/b", {"out_features": 8}),
        "2": Node("Linear", "a_b", {"out_features": 8}),
        "3": Node("ReLU", "ops"),
        "4": Node("ops.exp", "class"),
        "5": Node("ReLU", "nn"),
        "6": Node("ops.add", "_"),
        "7": Node("LSTM", "none", {"hidden_size": 2}),
        "8": Node("Reshape", "0", {"shape": (2, 4)}),
    }
    edges = {
        "a": Edge("i", "1"),
        "b": Edge("i", "2"),
        "c": Edge("1", "3"),
        "d": Edge("3", "4"),
        "e": Edge("4", "5"),
        "f": Edge("5", "6"),
        "g": Edge("2", "6", target_port="y"),
        "h": Edge("6", "8"),
        "j": Edge("8", "7"),
    }
    for name in ("none", "none", "class", "9 lives!", "日本", ""):
        graph = Graph(nodes, edges, name=name)
        model = from_source(graph).build((None, 8), backend="numpy")
        assert len(model.state_dict()) == 7
        assert model(np.ones((2, 8), "float32")).shape == (2, 2, 2)
