"""Source of PyTorch, Keras, PaddlePaddle and MindSpore as a graph of LabDL's layers."""

import pytest

import labdl
from labdl import nn
from labdl.errors import ModelError
from labdl.graph import Graph
from labdl.graph.parsing.grammar import ReadingError
from labdl.graph.parsing.parser import read_draft, read_piece
from labdl.lab.editor import python_code
from labdl.spec import Spec

TORCH = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super(Net, self).__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
        self.flatten = nn.Flatten()
        self.head = nn.Linear(4 * 8 * 8, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.flatten(self.features(x)))
"""
KERAS = """from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential(
    [
        keras.Input(shape=(8, 8, 3)),
        layers.Conv2D(4, kernel_size=(3, 3), padding="same", activation="relu"),
        layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Flatten(),
        layers.Dense(10, activation="softmax", name="classes"),
    ],
    name="net",
)
model.summary()
model.compile(loss="mse", optimizer="adam")
"""
ADDED = """import keras
from keras.layers import Dense, Input

model = keras.Sequential()
model.add(Input(shape=(4,)))
model.add(Dense(5, activation="relu"))
model.add(Dense(3))
"""
FUNCTIONAL = """import keras

inputs = keras.Input(shape=(4,))
x = keras.layers.Dense(5)(inputs)
x = keras.layers.LeakyReLU()(x)
model = keras.Model(inputs, x)
"""
SUBCLASS = """import keras
from keras import layers


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(5)
        self.drop = layers.Dropout(0.25)

    def call(self, inputs, training=False):
        return self.drop(self.hidden(inputs), training=training)
"""
PADDLE = """import paddle

net = paddle.nn.Sequential(
    ("conv", paddle.nn.Conv2D(3, 6, 3, padding="SAME", bias_attr=False)),
    ("norm", paddle.nn.BatchNorm2D(6, momentum=0.75)),
)
"""
MINDSPORE = """import mindspore.nn as nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Conv2d(3, 4, 3), nn.HSwish(), nn.Flatten()])
        self.head = nn.Dense(4 * 8 * 8, 10)

    def construct(self, x):
        return self.head(self.body(x))
"""
ORDERED = """from collections import OrderedDict

from torch import nn

net = nn.Sequential(OrderedDict([("a", nn.Linear(3, 4)), ("b", nn.Tanh())]))
"""
LAST = {"data_format": "channels_last"}


@pytest.mark.parametrize(
    ("source", "shape", "found"),
    [
        (
            TORCH,
            (None, 3, 8, 8),
            [
                ("Conv2d", {"out_channels": 4, "padding": 1, "in_channels": 3}),
                ("BatchNorm", {}),
                ("ReLU", {}),
                ("Flatten", {}),
                ("Linear", {"out_features": 10, "in_features": 256}),
            ],
        ),
        (
            KERAS,
            (None, 8, 8, 3),
            [
                (
                    "Conv2d",
                    {
                        "out_channels": 4,
                        "kernel_size": (3, 3),
                        "padding": "same",
                        "kernel_init": "glorot_uniform",
                        **LAST,
                    },
                ),
                ("ReLU", {}),
                ("MaxPool2d", LAST),
                ("Flatten", {}),
                ("Linear", {"out_features": 10, "kernel_init": "glorot_uniform"}),
                ("Softmax", {}),
            ],
        ),
        (ADDED, (None, 4), [("Linear", {"out_features": 5}), ("ReLU", {}), ("Linear", {"out_features": 3})]),
        (FUNCTIONAL, (None, 4), [("Linear", {"out_features": 5}), ("LeakyReLU", {"negative_slope": 0.3})]),
        (SUBCLASS, (None, 4), [("Linear", {"out_features": 5}), ("Dropout", {"rate": 0.25})]),
        (
            PADDLE,
            (None, 3, 8, 8),
            [
                ("Conv2d", {"out_channels": 6, "padding": "same", "use_bias": False, "in_channels": 3}),
                ("BatchNorm", {"momentum": 0.25}),
            ],
        ),
        (
            MINDSPORE,
            (None, 3, 8, 8),
            [
                ("Conv2d", {"out_channels": 4, "padding": "same", "use_bias": False, "in_channels": 3}),
                ("Hardswish", {}),
                ("Flatten", {}),
                ("Linear", {"out_features": 10, "in_features": 256}),
            ],
        ),
        (ORDERED, (None, 3), [("Linear", {"out_features": 4, "in_features": 3}), ("Tanh", {})]),
    ],
)
def test_source_of_a_framework_is_read(source, shape, found):
    graph = Graph.from_python(source, shape)
    layers = [(node.type, node.params) for node in graph.nodes.values() if node.type != "Input"]
    assert [kind for kind, _ in layers] == [kind for kind, _ in found]
    for (_, actual), (_, expected) in zip(layers, found, strict=True):
        assert {key: actual[key] for key in expected} == expected
    assert not graph.check()[1]
    piece = read_piece(source)
    assert [node.type for node in piece.nodes.values()] == [kind for kind, _ in found]


def test_graph_has_our_names_alone():
    answer = python_code.read(KERAS, None)
    assert answer["problem"] is None
    assert {node["type"] for node in answer["graph"]["nodes"].values()} <= set(nn.LAYERS)


def test_pasted_torch_model_computes_what_torch_computes():
    graph = Graph.from_python(TORCH, (None, 3, 8, 8))
    own = labdl.trace(
        nn.Sequential(
            nn.Sequential(nn.Conv2d(4, padding=1, in_channels=3), nn.BatchNorm(), nn.ReLU()),
            nn.Flatten(),
            nn.Linear(10, in_features=256),
        ),
        (None, 3, 8, 8),
    )
    assert [(n.type, n.params) for n in graph.nodes.values()] == [(n.type, n.params) for n in own.nodes.values()]


def test_draft_of_the_canvas_reads_it():
    graph = read_draft(TORCH.replace("4 * 8 * 8", "7"), [Spec((None, 3, 8, 8))])
    assert graph.check()[1], "the wrong size is a problem of the graph"


HEAD = "from torch import nn\n"


@pytest.mark.parametrize(
    ("source", "why", "line"),
    [
        (
            HEAD + "nn.MultiheadAttention(4, 2)",
            "PyTorch's MultiheadAttention is nn.MultiHeadAttention, which differs",
            2,
        ),
        (HEAD + "nn.FractionalMaxPool2d(2)", "its windows are random", 2),
        (HEAD + "nn.Linaer(4, 2)", "torch.nn.Linaer is not a layer: did you mean 'Linear'", 2),
        (HEAD + "nn.BatchNorm2d(4, track_running_stats=False)", "track_running_stats=False has no equivalent", 2),
        (HEAD + "import torch\nx = torch.exp(nn.Linear(3, 4)(x))", "torch.exp is not a layer: write ops.exp", 3),
        (HEAD + "import torch\nx = torch.relu(3)", "given no tensor", 3),
        (HEAD + "import keras\nnn.Linear(3, 4)", "layers of PyTorch and of Keras", 2),
        (
            "from labdl import nn\nimport torch.nn as tnn\ntnn.Linear(3, 4), nn.ReLU()",
            "layers of labdl and of PyTorch",
            1,
        ),
        (HEAD + "nn.Linear(3, 4)\n__import__('os').abort()", "is not a layer", 3),
        (HEAD + "nn.Linear(3, 4)\nnn.modules.os.abort()", "torch.nn.modules.os.abort is not a layer", 3),
        ("from torch import os, nn\nnn.Linear(3, 4)\nos.abort()", "torch.os.abort is not a layer", 3),
        (HEAD + "nn.Linear(3, 10 ** 9 ** 9)", "the numbers grow too large", 2),
        (HEAD + "nn.Linear.__init__.__globals__", "is not a layer", 2),
        ("import keras\nkeras.layers.Dense(3, activation='relu', kernel_regularizer='l2')", "has no equivalent", 2),
        ("import keras\nkeras.layers.Lambda(print)", "write a module with `forward`", 2),
    ],
)
def test_other_source_is_refused_with_its_line(source, why, line):
    with pytest.raises(ReadingError, match=why) as caught:
        read_piece(source)
    assert caught.value.line == line


def test_labdl_source_takes_foreign_names_as_the_module_does():
    graph = Graph.from_python(
        "from labdl import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm = nn.BatchNorm2d(3)\n\n    def forward(self, x):\n        return self.norm(x)\n",
        (None, 3, 4, 4),
    )
    assert [node.type for node in graph.nodes.values()] == ["Input", "BatchNorm"]


@pytest.mark.parametrize(
    "source",
    [
        "import torch.nn.functional as F\nfrom torch import nn\nx = F.relu(nn.Linear(3, 4)(x))",
        "import torch\nx = torch.relu(torch.nn.Linear(3, 4)(x))",
        "import keras\nx = keras.ops.relu(keras.layers.Dense(4)(x))",
        "import tensorflow as tf\nx = tf.nn.relu(tf.keras.layers.Dense(4)(x))",
        "import paddle\nx = paddle.nn.functional.relu(paddle.nn.Linear(3, 4)(x))",
        "from mindspore import nn, ops\nx = ops.relu(nn.Dense(3, 4)(x))",
    ],
)
def test_activation_functions_become_operators(source):
    assert [node.type for node in read_piece(source).nodes.values()] == ["Linear", "ops.relu"]


def test_unused_import_of_a_framework_does_not_matter():
    piece = read_piece("import torch\nfrom labdl import nn\nnn.Linear(3)")
    assert [node.type for node in piece.nodes.values()] == ["Linear"]


def test_source_without_a_class_of_ours_needs_one():
    with pytest.raises(ModelError, match="contains no class"):
        Graph.from_python("import torch", (None, 4))


NORMED = """import torch.nn as nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = spectral_norm(nn.Conv2d(3, 4, 3), n_power_iterations=2)
        self.widen = nn.utils.spectral_norm(nn.Conv2d(4, 5, 3))
        self.flatten = nn.Flatten()
        self.head = weight_norm(nn.Linear(80, 2))

    def forward(self, x):
        return self.head(self.flatten(self.widen(self.enter(x))))
"""


def test_functions_that_normalize_a_kernel_are_read_as_its_setting():
    graph = Graph.from_python(NORMED, (None, 3, 8, 8))
    settings = [node.params for node in graph.nodes.values()]
    assert [s["spectral_norm"] for s in settings if s.get("spectral_norm")] == [2, 1]
    assert [s["weight_norm"] for s in settings if s.get("weight_norm") is not None] == [0]
    layer = "self.a = nn.spectral_norm(nn.Linear(2))"
    own = f"from labdl import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        {layer}\n"
    graph = Graph.from_python(f"{own}\n    def forward(self, x):\n        return self.a(x)\n", (None, 3))
    assert [n.params["spectral_norm"] for n in graph.nodes.values() if "spectral_norm" in n.params] == [1]


def test_arguments_of_such_functions_without_an_equivalent_are_refused():
    for argument in ("eps=0.1", "dim=1", "name='bias'"):
        with pytest.raises(ModelError, match=rf"spectral_norm: {argument[:3]}"):
            Graph.from_python(NORMED.replace("n_power_iterations=2", argument), (None, 3, 8, 8))
