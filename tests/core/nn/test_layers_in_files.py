"""Layers in files, code and graphs, and errors for invalid inputs."""

import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph import Edge, Graph, Node
from labdl.nn.schema import LAYERS, input_ports
from labdl.saving import decode, encode
from labdl.spec import Spec

sys.path.append(str(Path(__file__).parents[2] / "backend"))  # the cases of layers
from layers import CASES, VARIANTS, draw

pytestmark = pytest.mark.slow

NAMES = [name for name, cls in LAYERS.items() if input_ports(cls)]


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def alone(name):
    """A graph of the layer's inputs, the layer, and its example's settings."""
    cls = LAYERS[name]
    ports = input_ports(cls)
    nodes, edges = {}, {}
    for at, sample in enumerate(cls.layer_example.inputs):
        shape = (None, *sample.shape[1:]) if sample.shape else ()
        nodes[f"i{at}"] = Node("Input", f"input_{at}", {"shape": shape, "dtype": sample.dtype})
        edges[f"e{at}"] = Edge(f"i{at}", "n", target_port=ports[min(at, len(ports) - 1)].name)
    return Graph({**nodes, "n": Node(name, "it", dict(cls.layer_example.params))}, edges, name="one_layer")


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("name", NAMES)
def test_every_layer_comes_back_from_hdf5_and_from_code(name, tmp_path):
    graph = alone(name)
    assert graph.check()[1] == []
    assert decode(encode(graph)) == graph
    rng = np.random.default_rng(0)
    arrays = [s.draw(rng) for s in LAYERS[name].layer_example.inputs]
    model = graph.to_module().build(backend="numpy", seed=1).eval()
    labdl.save(model, tmp_path / "net")
    space: dict = {}
    exec(compile(graph.to_python(), "generated.py", "exec"), space)
    written = space["OneLayer"]().build(*[Spec((None, *a.shape[1:]), str(a.dtype)) for a in arrays], backend="numpy")
    written.load_state_dict(model.state_dict())
    labdl.seed(0)
    expected = flat(model(*[a.copy() for a in arrays]))
    for again in (labdl.load(tmp_path / "net", backend="numpy"), written):
        labdl.seed(0)
        for one, other in zip(flat(again.eval()(*[a.copy() for a in arrays])), expected, strict=False):
            np.testing.assert_array_equal(one, other)


class Alone(nn.Module):
    def __init__(self, layer):
        self.layer = layer

    def forward(self, *inputs):
        return self.layer(*inputs)


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("case", VARIANTS)
def test_settings_come_back_from_files_and_from_code(case, tmp_path):
    """Settings of None too, and those that are not None by default."""
    name, params, _ = CASES[case]
    arrays = draw(case)
    specs = [Spec((None, *a.shape[1:]) if a.ndim else (), str(a.dtype)) for a in arrays]
    model = Alone(LAYERS[name](**params)).build(*specs, backend="numpy", seed=1).eval()
    graph = labdl.trace(model)
    assert decode(encode(graph)) == graph
    labdl.save(model, tmp_path / "net")
    space: dict = {}
    exec(compile(graph.to_python(), "generated.py", "exec"), space)
    written = space["Alone"]().build(*specs, backend="numpy")
    written.load_state_dict(model.state_dict())
    expected = flat(model(*[a.copy() for a in arrays]))
    for again in (labdl.load(tmp_path / "net", backend="numpy"), written):
        for one, other in zip(flat(again.eval()(*[a.copy() for a in arrays])), expected, strict=True):
            np.testing.assert_array_equal(one, other)


class Reader(nn.Module):
    """Layers of attention that share a bias and the positions of tokens among padding."""

    def __init__(self):
        self.words, self.positions = nn.Embedding(11, 8), nn.PositionEmbedding(7, offset=2)
        self.bias = nn.RelativePositionBias(2, buckets=8, max_distance=20)
        self.first, self.second = (nn.MultiHeadAttention(2, rotary=True, scale=1.0) for _ in range(2))

    def forward(self, tokens):
        real = ops.not_equal(tokens, 0)
        places = ops.positions_from_mask(real)
        x = self.positions(self.words(tokens), places)
        bias = self.bias(x)
        return self.second(self.first(x, key_mask=real, bias=bias, positions=places), bias=bias)


def test_inputs_that_are_given_by_name_keep_their_ports(tmp_path):
    model = Reader().build(Spec((None, 6), "int64"), backend="numpy", seed=0).eval()
    tokens = np.array([[1, 2, 3, 4, 0, 0], [0, 4, 3, 2, 1, 5]])
    graph = labdl.trace(model)
    by_name = {n.name: i for i, n in graph.nodes.items()}
    ports = {e.target_port for e in graph.edges.values() if e.target == by_name["first"]}
    assert ports == {"x", "key_mask", "bias", "positions"}
    labdl.save(model, tmp_path / "net")
    space: dict = {}
    exec(compile(graph.to_python(), "generated.py", "exec"), space)
    written = space["Reader"]().build(Spec((None, 6), "int64"), backend="numpy")
    written.load_state_dict(model.state_dict())
    for again in (labdl.load(tmp_path / "net", backend="numpy"), written):
        np.testing.assert_array_equal(again.eval()(tokens), model(tokens))


@pytest.mark.parametrize("name", NAMES)
def test_examples_document_their_fields(name):
    """A bare layer shows the settings that differ, and its parameters are as many as its state says."""
    cls = LAYERS[name]
    layer = cls(**cls.layer_example.params)
    assert repr(layer).startswith(f"{name}(")
    specs = [Spec((None, *s.shape[1:]), s.dtype) for s in cls.layer_example.inputs]
    layer.build(*specs, backend="numpy")
    sizes = {k: p.size for k, p in layer.named_parameters()}
    assert {k: v.size for k, v in layer.state_dict().items()} == sizes


MISFITS = [
    (nn.Bilinear(3, in1_features=4), [(None, 3), (None, 2)], "Bilinear was made for in1_features=4, received 3"),
    (nn.ConvTranspose2d(3), [(None, 3, 8)], r"ConvTranspose2d wants 4 axes \(N, C, H, W\), received \(None, 3, 8\)"),
    (nn.ConvTranspose1d(4, groups=2), [(None, 3, 8)], "groups=2 must divide in_channels=3 and out_channels=4"),
    (nn.DepthwiseConv2d(in_channels=4), [(None, 3, 8, 8)], "DepthwiseConv2d was made for in_channels=4, received 3"),
    (nn.SeparableConv1d(4), [(None, None, 8)], "SeparableConv1d needs a known size on its in_channels axis"),
    (nn.ConvNormAct(4), [(None, 3)], "ConvNormAct wants one to three spatial axes"),
    (nn.SqueezeExcitation(4), [(None, 3)], "with spatial axes"),
    (nn.Conv1d(4, weight_norm=3), [(None, 3, 8)], r"Conv1d: the kernel \(4, 3, 3\) has no axis weight_norm=3"),
    (nn.LayerScale(axis=3), [(None, 3, 8)], "axis 3 is out of range"),
    (nn.LayerNormLSTMCell(4), [(None, 3, 8)], "LayerNormLSTMCell wants 2 axes"),
    (nn.GroupNorm(3), [(None, 4, 5)], "cannot share 4 channels among 3 groups"),
    (nn.GroupNorm(3), [(None,)], r"GroupNorm wants \(N, C, ...\)"),
    (nn.InstanceNorm(), [(None, 4)], "instance_norm wants spatial axes"),
    (nn.PReLU(shared=False), [(None, None, 5)], "PReLU needs a known size on its channel axis"),
    (nn.Maxout(4), [(None, 6)], "maxout cannot cut 6 features into pieces of 4"),
    (nn.Flatten(), [(None, None, 3)], "Flatten needs known sizes"),
    (nn.Flatten(2, 1), [(None, 2, 3)], "Flatten wants start_axis before end_axis"),
    (nn.Unflatten((4, -1)), [(None, 6)], r"Unflatten of axis 1 of \(None, 6\) into \(4, -1\): the sizes do not fit"),
    (nn.Unflatten((2, 2)), [(None, 6)], "the sizes do not fit"),
    (
        nn.Pad((1, 1)),
        [(None, 3, 5)],
        r"Pad wants padding for the spatial axes of \(None, 3, 5\): an integer or 1 of them",
    ),
    (nn.Pad(3, "reflect"), [(None, 3, 3)], "pad by 'reflect' of a size of 3 adds at most 2"),
    (nn.Crop(2), [(None, 3, 4)], r"Crop of 2 leaves nothing of \(None, 3, 4\)"),
    (nn.PixelShuffle(2), [(None, 3, 4, 4)], "pixel_shuffle"),
    (nn.Upsample((2.0, 2.0)), [(None, 3, 4)], "scale wants one positive number or 1 of them"),
    (nn.GlobalAvgPool(), [(None, 3)], r"GlobalAvgPool wants spatial axes after \(N, C\)"),
    (nn.AdaptiveAvgPool2d((1, 2, 3)), [(None, 3, 4, 4)], "output_size wants one size or 2 of them"),
    (nn.Embedding(4, 3), [(None, 4)], "Embedding wants integers, received float32"),
    (nn.Embedding(4, 3, padding_index=4), [Spec((None,), "int64")], "padding_index=4 must be below size=4"),
    (nn.EmbeddingBag(4, 3), [(None, 4)], "EmbeddingBag wants integers, received float32"),
    (nn.GRU(3), [(None, 5)], r"GRU wants 3 axes \(N, steps, features\), received \(None, 5\)"),
    (nn.RNNCell(3), [(None, 4, 5)], r"RNNCell wants 2 axes \(N, features\), received \(None, 4, 5\)"),
]


@pytest.mark.parametrize(("layer", "shapes", "sentence"), MISFITS, ids=[s for *_, s in MISFITS])
def test_inputs_that_do_not_fit_are_named(layer, shapes, sentence):
    with pytest.raises(ModelError, match=sentence):
        layer.build(*shapes, backend="numpy")


def test_initial_states_of_another_number_of_layers_are_named():
    class FromState(nn.Module):
        def __init__(self):
            self.lstm = nn.LSTM(4, layers=2, bidirectional=True)

        def forward(self, x, hidden, cell):
            return self.lstm(x, None, hidden, cell)[0]

    with pytest.raises(ModelError, match=r"LSTM wants a state \(4, N, 4\), received \(2, None, 4\)"):
        FromState().build((None, 5, 3), (2, None, 4), (2, None, 4), backend="numpy")
    assert FromState().build((None, 5, 3), (4, None, 4), (4, None, 4), backend="numpy").output_specs.shape == (
        None,
        5,
        8,
    )


def test_parameters_of_layers_and_directions_have_clear_names():
    layer = nn.GRU(4, layers=2, bidirectional=True).build((None, 5, 3), backend="numpy")
    weights = ("kernel", "recurrent_kernel", "bias", "recurrent_bias")
    places = ("", "_reverse", "_1", "_1_reverse")
    assert list(layer.state_dict()) == [f"{weight}{place}:0" for place in places for weight in weights]
    assert layer.state_dict()["kernel_1:0"].shape == (8, 12)


def test_kernels_lie_in_files_as_windows_of_inputs_and_outputs():
    shapes = {
        nn.Conv2d(4, (5, 2)): {"kernel:0": (5, 2, 3, 4)},
        nn.ConvTranspose2d(4, (5, 2)): {"kernel:0": (5, 2, 3, 4)},
        nn.DepthwiseConv2d((5, 2), multiplier=2): {"kernel:0": (5, 2, 1, 6)},
        nn.SeparableConv2d(4, (5, 2)): {"depthwise_kernel:0": (5, 2, 1, 3), "pointwise_kernel:0": (1, 1, 3, 4)},
    }
    for layer, expected in shapes.items():
        found = layer.build((None, 3, 8, 8), backend="numpy").state_dict()
        assert {k: v.shape for k, v in found.items() if "kernel" in k} == expected
