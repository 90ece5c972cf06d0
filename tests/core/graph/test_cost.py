"""Costs of networks against published and manually computed values."""

import pytest

import labdl
from labdl import nn, ops
from labdl.graph.analysis.check import check
from labdl.graph.analysis.cost import costs
from labdl.graph.graph import Edge, Graph, Node
from labdl.models.vision import resnet


@pytest.mark.parametrize(("name", "billions"), [("resnet18", 1.814), ("resnet50", 4.089)])
def test_multiplications_of_resnets(name, billions):
    """torchvision's table counts a multiplication with its addition once, and layers with weights only."""
    found = costs(labdl.trace(getattr(resnet, name)(), (None, 3, 224, 224)))
    assert sum(c.operations for c in found.values()) / 2e9 == pytest.approx(billions, rel=0.005)


def test_a_summary_folds_what_lies_deeper():
    model = resnet.resnet18().build((None, 3, 224, 224), backend="numpy")
    whole, folded = model.summary().splitlines(), model.summary(depth=1).splitlines()
    assert whole[-1] == folded[-1]
    rows = {line.split()[0]: line.split()[1:] for line in folded[2:-2]}
    assert rows["stem"][:6] == ["ConvNorm", "(None,", "64,", "112,", "112)", "9,536"]
    assert rows["stages"][0] == "ModuleList"
    assert rows["stages"][5] == "11,166,976"
    assert sum(line.startswith("stages/") for line in model.summary(depth=2).splitlines()) == 4


@pytest.mark.parametrize(
    ("layer", "shape", "operations"),
    [
        (nn.DepthwiseConv2d(3, multiplier=2, padding=1), (None, 4, 5, 5), 2 * 8 * 25 * 9),
        (nn.SeparableConv2d(6, 3, padding=1), (None, 4, 5, 5), 2 * 4 * 25 * 9 + 2 * 6 * 25 * 4),
        (nn.ConvTranspose2d(6, 2, stride=2), (None, 4, 5, 5), 2 * 4 * 25 * 6 * 4),
        (nn.Reshape((8,)), (None, 2, 4), 0),
    ],
)
def test_operations_of_layers_by_hand(layer, shape, operations):
    graph = labdl.trace(nn.Sequential(layer), shape)
    found = {graph.nodes[i].type: cost for i, cost in costs(graph).items()}
    assert found[type(layer).__name__].operations == operations


def test_operations_of_an_einstein_sum():
    x, y = (labdl.spec.Spec(shape) for shape in ((None, 3, 4), (4, 5)))
    entry = ops.OPERATORS["einsum"]
    assert entry.cost(labdl.spec.Spec((None, 3, 5)), "bij,jk->bik", x, y) == 2 * 3 * 4 * 5


class Net(nn.Module):
    def __init__(self):
        self.lift, self.shared = nn.Linear(8), nn.Linear(8)

    def forward(self, x):
        return self.shared(ops.relu(self.shared(self.lift(x))))


def test_costs_by_hand():
    graph = labdl.trace(Net(), (None, 5, 4))
    found = {graph.nodes[i].name: cost for i, cost in costs(graph).items()}
    assert (found["lift"].operations, found["lift"].parameters) == (2 * 5 * 8 * 4, 40)
    assert found["relu"].operations == 40
    assert found["lift"].memory == 4 * (5 * 8 + 40)
    assert (found["shared_1"].operations, found["shared_1"].parameters) == (2 * 5 * 8 * 8, 0)
    text = Net().build((None, 5, 4), backend="numpy").summary()
    assert "112 trainable parameters, 1.64 k floating-point operations" in text


def test_the_level_of_operators_shows_what_layers_are_made_of():
    model = Net().build((None, 5, 4), backend="numpy", seed=0)
    graph = labdl.trace(model, level="operators")
    names = [(n.type, n.name) for n in graph.nodes.values()]
    assert ("Weight", "lift/kernel") in names
    assert sum(kind == "ops.linear" for kind, _ in names) == 3
    assert graph.groups == {"lift": "Linear", "shared": "Linear", "shared_1": "Linear"}
    twin = graph.to_module().build(backend="numpy")
    twin.load_state_dict(model.state_dict())


def test_equal_layers_are_created_once_with_the_same_result():
    """Equal settings with equal and with other inputs, a shared layer, operators, and layers with problems."""
    graph = labdl.trace(nn.Sequential(*[nn.Linear(4) for _ in range(5)], Net(), nn.Linear(4)), (None, 5, 8))
    nodes = {
        **graph.nodes,
        "image": Node("Input", "image", {"shape": (None, 3, 8, 8)}),
        **{f"c{n}": Node("Conv2d", f"c{n}", {"out_channels": 2, "kernel_size": 9}) for n in range(2)},
        **{f"open{n}": Node("Linear", f"open{n}", {"out_features": 4}) for n in range(2)},
        "wrong": Node("Linear", "wrong", {"out_features": -1}),
    }
    edges = graph.edges | {f"e{n}": Edge("image", f"c{n}") for n in range(2)}
    graph = Graph(nodes, edges)
    single, shared = check(graph), check(graph, share_equal=True)
    assert shared.specs == single.specs
    assert shared.counts == single.counts
    assert shared.parts == single.parts
    assert shared.problems == single.problems
    assert {p.node for p in single.problems} >= {"c0", "c1", "open0", "open1", "wrong"}
    assert costs(graph, shared) == costs(graph, single)
    own = {id(layer) for layer in single.made.values()}
    assert len(own) == len({node.shares or i for i, node in graph.nodes.items()}) - 1, "a model has layers of its own"
    assert len({id(layer) for layer in shared.made.values()}) < len(own)
