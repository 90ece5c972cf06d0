"""What a network costs, against figures published and worked out by hand."""

import pytest

import labdl
from labdl import nn, ops
from labdl.graph.cost import costs
from labdl.models.vision import resnet


@pytest.mark.parametrize(("name", "billions"), [("resnet18", 1.814), ("resnet50", 4.089)])
def test_multiplications_of_resnets(name, billions):
    """torchvision's table counts a multiplication with its addition once, and layers with weights only."""
    found = costs(labdl.trace(getattr(resnet, name)(), (None, 3, 224, 224)))
    assert sum(c.operations for c in found.values()) / 2e9 == pytest.approx(billions, rel=0.005)


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
