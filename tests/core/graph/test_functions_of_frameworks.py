"""Functions, methods and loops of other frameworks' forwards, as their users write them."""

import textwrap

import pytest

from labdl.graph.parsing.parser import read_piece
from labdl.lab.editor import python_code


def types(source):
    return [node.type for node in read_piece(textwrap.dedent(source)).nodes.values()]


def forward(*lines, init="pass"):
    body = "\n".join(f"        {line}" for line in lines)
    return (
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
        f"class Net(nn.Module):\n    def __init__(self):\n        super(Net, self).__init__()\n        {init}\n\n"
        f"    def forward(self, x):\n{body}\n"
    )


def test_the_example_of_mnist_is_read():
    source = forward(
        "x = F.relu(self.conv1(x))",
        "x = F.max_pool2d(x, 3)",
        "x = self.dropout1(x)",
        "x = torch.flatten(x, 1)",
        "return F.log_softmax(self.fc1(x), dim=1)",
        init="self.conv1 = nn.Conv2d(1, 32, 3, 1); self.dropout1 = nn.Dropout(0.25); self.fc1 = nn.Linear(9216, 10)",
    )
    graph = read_piece(source)
    nodes = {node.name: node for node in graph.nodes.values()}
    assert list(nodes) == ["conv1", "relu", "max_pool2d", "dropout1", "flatten", "fc1", "log_softmax"]
    assert nodes["max_pool2d"].params["kernel_size"] in (3, (3, 3))
    assert len(graph.edges) == 6


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("F.adaptive_avg_pool2d(x, 1)", ["AdaptiveAvgPool2d"]),
        ("F.dropout(x, 0.5, self.training)", ["Dropout"]),
        ("F.dropout(x, p=0.5, training=self.training)", ["Dropout"]),
        ("F.leaky_relu(x, 0.2, inplace=True)", ["LeakyReLU"]),
        ("F.interpolate(x, scale_factor=2, mode='nearest')", ["Upsample"]),
        ("x.view(x.size(0), -1)", ["Flatten"]),
        ("x.view(x.shape[0], -1)", ["Flatten"]),
        ("x.reshape(-1, 4, 4)", ["Reshape"]),
        ("x.flatten(1)", ["Flatten"]),
        ("torch.cat((x, x), 1)", ["ops.concat"]),
        ("torch.cat([x, x], dim=1)", ["ops.concat"]),
        ("torch.mean(x, dim=(2, 3))", ["ops.mean"]),
        ("x.mean([2, 3])", ["ops.mean"]),
        ("x.permute(0, 2, 1).contiguous()", ["ops.permute_dims"]),
        ("torch.relu(x) + torch.matmul(x, x)", ["ops.relu", "ops.matmul", "ops.add"]),
        ("x.unsqueeze(1)", ["ops.expand_dims"]),
    ],
)
def test_functions_and_methods(line, kinds):
    assert types(forward(f"return {line}")) == kinds


def test_loops_over_ranges_are_written_out():
    source = forward(
        "for i in range(3):",
        "    x = F.relu(self.convs[i](x))",
        "return x",
        init="self.convs = nn.ModuleList([nn.Conv2d(1, 4 * (n + 1), 3) for n in range(3)])",
    )
    graph = read_piece(source)
    assert [node.type for node in graph.nodes.values()] == ["Conv2d", "ops.relu"] * 3
    assert [n.params["out_channels"] for n in graph.nodes.values() if n.type == "Conv2d"] == [4, 8, 12]


def test_layers_of_a_starred_comprehension():
    source = forward("return self.all(x)", init="self.all = nn.Sequential(*[nn.Linear(4, 4) for _ in range(2)])")
    assert types(source) == ["Linear", "Linear"]


@pytest.mark.parametrize(("name", "kind"), [("concatenate", "concat"), ("add", "add"), ("multiply", "multiply")])
def test_the_functional_form_of_keras(name, kind):
    graph = read_piece(
        "from tensorflow import keras\nfrom tensorflow.keras import layers\n"
        "inputs = keras.Input(shape=(8,))\nx = layers.Dense(4)(inputs)\ny = layers.Dense(4)(inputs)\n"
        f"z = layers.{name}([x, y])\noutputs = layers.Dense(2)(z)\nmodel = keras.Model(inputs, outputs)\n"
    )
    assert [node.type for node in graph.nodes.values()] == ["Linear", "Linear", f"ops.{kind}", "Linear"]
    assert len(graph.edges) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("F.grid_sample(x, x)", "line 11"),
        ("x.view(x.size(0), x.size(1))", "line 11"),
        ("torch.load('a')", "line 11"),
        ("[x for _ in range(10 ** 9)][0]", "line 11"),
    ],
)
def test_other_calls_are_refused_with_their_line(line, reason):
    answer = python_code.read(forward(f"return {line}"), None)
    assert answer["graph"] is None
    assert answer["problem"]["message"].startswith(reason)


def test_loops_become_no_endless_program():
    nested = "".join(f"{'    ' * n}for a{n} in range(900):\n        " for n in range(4))
    answer = python_code.read(
        forward(*nested.rstrip().split("\n        "), "                x = x + 1", "return x"), None
    )
    assert answer["problem"] is not None
