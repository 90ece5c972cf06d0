"""Traces: layers, operators and user-defined models survive round trips through graph, JSON and source."""

import json
import math

import numpy as np
import pytest
from graphs import assert_same_everywhere, from_source
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import Calls, samples

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph import Graph
from labdl.nn.schema import LAYERS, input_ports
from labdl.ops.operator import OPERATORS
from labdl.spec import Spec


class Wrapped(nn.Module):
    """A model around one layer, under an attribute of its own."""

    def __init__(self, layer):
        self.layer = layer

    def forward(self, *inputs):
        return self.layer(*inputs)


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("name", [n for n, cls in LAYERS.items() if input_ports(cls)])
def test_every_layer_goes_through_graph_json_and_source(name):
    example, rng = LAYERS[name].layer_example, np.random.default_rng(0)
    arrays = [s.draw(rng) for s in example.inputs]
    model = Wrapped(LAYERS[name](**example.params)).build(
        *[Spec((None, *a.shape[1:]), str(a.dtype)) for a in arrays], backend="numpy", seed=1
    )
    assert_same_everywhere(model.eval(), *arrays)


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


@pytest.mark.sample(every=24)
@pytest.mark.parametrize(("name", "args", "kwargs"), OPERATOR_CASES)
@pytest.mark.slow
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
    """Learned and fixed tensors of its own; the two are added in a module without layers."""

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


@pytest.mark.parametrize(
    ("model", "shapes"),
    [
        (Tower, [(2, 1, 8, 8)]),
        (Slices, [(2, 4, 3, 5)]),
        (Branches, [(2, 4, 3)]),
        (TwoInputs, [(2, 3, 4), (2, 5, 4)]),
        (Reshapes, [(2, 3, 4)]),
        (Masked, [(2, 3)]),
        (Nothing, [(2, 3)]),
        (Nested, [(2, 4)]),
        (Shared, [(2, 4)]),
        (Tokens, [(2, 3, 4)]),
        (Tied, [(2, 5)]),
        (Decoder, [(2, 5)]),
        (Stages, [(2, 3, 8, 8)]),
        (Knows, [(3, 3)]),
    ],
)
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


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Branching, "branches on the values of a tensor"),
        (Constant, r"ops\.add: y is an array of 210,000 elements of float32, .* make it a Buffer"),
        (Unused, "does not use the output of layer 'lost'"),
        (ReturnsDict, "returns a dict, which a graph cannot hold"),
    ],
)
def test_errors_of_models_that_are_not_graphs(model, sentence):
    with pytest.raises(ModelError, match=sentence):
        labdl.trace(model(), (None, 3))


def test_tensor_of_another_trace_raises():
    labdl.trace(model := Keeps(), (None, 3))
    with pytest.raises(ModelError, match="tensor of another trace"):
        labdl.trace(model, (None, 3))


def test_unused_operators_are_left_out():
    class Wasteful(nn.Module):
        def forward(self, x):
            ops.exp(ops.abs(x))
            return ops.relu(x)

    assert [n.type for n in labdl.trace(Wasteful(), (None, 3)).nodes.values()] == ["Input", "ops.relu"]


def test_an_output_after_an_unused_operator_replaces_none():
    """The first two outputs get nodes of their own, because both are used further; a node was left out before."""

    class Several(nn.Module):
        def forward(self, x):
            ops.exp(x)
            first = ops.abs(x)
            second = ops.relu(first)
            return first, second, ops.sin(second)

    model = labdl.trace(Several(), (None, 3)).to_module().build((None, 3), backend="numpy")
    x = np.array([[-1.0, 0.5, 2.0]], "float32")
    for ours, expected in zip(model(x), (np.abs(x), np.abs(x), np.sin(np.abs(x))), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


# -- random networks


def layer_strategy():
    return st.one_of(
        st.builds(nn.Linear, st.integers(1, 5), use_bias=st.booleans()),
        st.builds(nn.ReLU),
        st.builds(nn.BatchNorm),
        st.builds(nn.Dropout, st.sampled_from([0.0, 0.25])),
        st.builds(nn.LayerNorm),
        st.builds(nn.Softmax),
        st.builds(nn.LeakyReLU, st.sampled_from([0.01, 0.2])),
        st.builds(nn.GELU, st.sampled_from(["none", "tanh"])),
    )


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


class Tied(nn.Module):
    """One table for two embeddings and the output matrix."""

    def __init__(self):
        self.words = nn.Embedding(7, 4)

    def forward(self, source, target):
        hidden = ops.add(self.words(source), self.words(target))
        return ops.matmul(hidden, ops.matrix_transpose(self.words.embeddings))


def test_a_parameter_of_a_layer_that_is_called_twice():
    model = Tied().build(Spec((None, 3), "int64"), Spec((None, 3), "int64"), backend="numpy")
    tokens = np.array([[0, 1, 2]]), np.array([[4, 5, 6]])
    graph_model = labdl.graph.GraphModule(labdl.trace(model))
    graph_model.build(*model.input_specs, backend="numpy")
    [value] = model.state_dict().values()
    graph_model.load_state_dict(dict.fromkeys(graph_model.state_dict(), value))
    assert len(graph_model.state_dict()) == 1
    np.testing.assert_allclose(graph_model(*tokens), model(*tokens), rtol=1e-6)
