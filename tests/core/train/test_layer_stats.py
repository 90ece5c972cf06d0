"""Layer statistics: time budget, names of layers, statistics of arrays, and events; no framework is needed."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import nn
from labdl.errors import ConfigError
from labdl.graph import Edge, Graph, Node
from labdl.train import Trainer
from labdl.train.monitor import layer_stats
from labdl.train.monitor.activations import ModuleCall, layer_names, layer_of, observe_calls
from labdl.train.monitor.budget import FIRST, MIN_INTERVAL, Budget
from labdl.train.run.event_writer import Recorder

seconds = st.floats(1e-6, 10)


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-4, 1), st.lists(seconds, min_size=1, max_size=200), st.data())
def test_budget_stays_within_the_share_after_the_first_measurement(share, steps, data):
    """The share is exceeded only by the excess of a measurement over its expected cost, until the next one."""
    budget, costs, largest, last = Budget(share), [], 0.0, 0.0
    for number, step in enumerate(steps, 1):
        due = budget.allows()
        assert budget.allows() == due, "allows() has no side effect"
        if len(costs) == 0:
            assert due == (number >= FIRST), "the first one is early"
        elif due:
            assert sum(costs) + largest <= share * budget.trained + 1e-9
            assert budget.trained - last >= MIN_INTERVAL - 1e-9
        budget.train(step)
        assert math.isclose(budget.trained, sum(steps[1:number]), abs_tol=1e-9), (
            "the first step, which compiles, does not count"
        )
        if due:
            cost = data.draw(seconds)
            budget.spend(cost)
            if costs:
                assert budget.spent <= share * budget.trained + max(0.0, cost - largest) + 1e-9
            costs.append(cost)
            largest, last = max(costs[1:], default=0.0), budget.trained


def test_share_of_zero_allows_no_measurement():
    budget = Budget(0)
    for _ in range(10):
        assert not budget.allows()
        budget.train(1.0)


def test_interval_of_measurements_grows_with_the_training():
    """The recording of a day is not a hundred times as large as that of a quarter of an hour."""
    budget, counts = Budget(1.0), []
    for step in range(1, 100_001):
        if budget.allows():
            budget.spend(0.001)
        budget.train(1.0)
        if step in (1000, 10_000, 100_000):
            counts.append(budget.count)
    assert counts[2] < 4 * counts[1] < 20 * counts[0]
    assert counts[2] > 2000


@pytest.mark.parametrize("value", [-0.1, 1.5, True, "much", float("nan")])
def test_health_outside_zero_to_one_raises(value):
    with pytest.raises(ConfigError, match="health wants"):
        Trainer(nn.Linear(2), health=value)
    with pytest.raises(ConfigError, match="health wants a share of the time from 0 to 1, received"):
        Trainer(nn.Linear(2)).events((np.zeros((4, 3)), np.zeros((4, 2))), health=value)


def test_health_false_is_zero():
    assert Trainer(nn.Linear(2), health=False).settings.health == 0
    assert Trainer(nn.Linear(2)).settings.health == layer_stats.SHARE == 0.01


def test_statistics_of_an_array():
    class Numpy:
        to_numpy = staticmethod(np.asarray)

    values = np.array([[0, 0, 3, -5]], "float32")
    assert layer_stats._statistics(Numpy, [values]) == (-0.5, pytest.approx(values.std(), rel=1e-3), 5.0, 0.5, 0)
    broken = np.array([0, 1, np.nan, np.inf, -np.inf, 3], "float32")
    assert layer_stats._statistics(Numpy, [broken]) == (1.333, 1.247, 3.0, pytest.approx(1 / 6, rel=1e-3), 3)
    mean, std, largest, zeros, count = layer_stats._statistics(Numpy, [np.full(3, np.nan, "float32")])
    assert all(map(math.isnan, (mean, std, largest)))
    assert (zeros, count) == (0.0, 3)
    huge = np.array([3e38, -3e38], "float32")
    assert layer_stats._statistics(Numpy, [huge]) == (0.0, 3e38, 3e38, 0.0, 0), "finite, though its square is not"
    assert layer_stats._statistics(Numpy, [np.zeros((0, 3), "float32")]) == (0.0, 0.0, 0.0, 0.0, 0)
    assert math.isnan(layer_stats._squares(broken))
    assert layer_stats._squares(huge) == pytest.approx(1.8e77)
    assert layer_stats._squares(np.full(4, 1e-30, "float32")) == pytest.approx(4e-60)


def test_event_with_nan_round_trips_through_the_file(tmp_path):
    recorder, events = Recorder(tmp_path), []
    recorder.subscribe(events.extend)
    parameters = {"of": [0], "gradient": [float("nan")], "weights": [1.5], "update": [0.001]}
    recorder.queue_event(
        "health", version=1, step=3, samples=32, layers=["a", "b"], parameters=parameters, outputs={"of": []}
    )
    recorder.close()
    (line,) = (json.loads(text) for text in (tmp_path / "events.jsonl").read_text().splitlines())
    assert line["parameters"] == {**parameters, "gradient": [None]}, "null stands for values that are not finite"
    assert [line] == [{**event, "parameters": line["parameters"]} for event in events]


# -- names of layers


SHARED = Graph(
    {
        "i": Node("Input", "input", {"shape": (None, 4)}),
        "a": Node("Linear", "block/fc", {"out_features": 4}),
        "r": Node("ops.relu", "block/relu"),
        "b": Node("Linear", "again", {}, shares="a"),
    },
    {"1": Edge("i", "a"), "2": Edge("a", "r"), "3": Edge("r", "b")},
)


def test_calls_of_a_graph_have_the_names_of_its_nodes():
    model, seen = SHARED.to_module().build(backend="numpy"), []
    before = [dict(m.__dict__) for m in model.modules()]
    with observe_calls(model, seen.append):
        model(np.ones((2, 4), "float32"))
    assert [(s.name, s.node, s.kind) for s in seen] == [
        ("block/fc", "block/fc", "Linear"),
        ("block/relu", "block/relu", "ops.relu"),
        ("again", "again", "Linear"),
        ("", "", "GraphModule"),
    ]
    assert isinstance(seen[0], ModuleCall)
    after = [dict(m.__dict__) for m in model.modules()]
    assert [{**d, "_called": 0} for d in before] == [{**d, "_called": 0} for d in after], "the wrappers are removed"
    names = layer_names(model)
    assert names == ["block/fc", "block/relu", "again"]
    assert layer_of(names, "block/fc/kernel:0") == "block/fc"
    assert layer_of(names, "elsewhere/bias:0") == "elsewhere"


def test_layer_names_of_a_module_are_its_innermost_layers():
    class Own(nn.Module):
        def __init__(self):
            self.scale = nn.Parameter((1,))
            self.inside = nn.Sequential(nn.Linear(3), nn.ReLU())

        def forward(self, x):
            return self.inside(x) * self.scale

    model = nn.Sequential(nn.Linear(3), Own()).build((None, 3), backend="numpy")
    assert layer_names(model) == ["0", "1", "1/inside/0", "1/inside/1"]
    seen = []
    with observe_calls(model, seen.append):
        model(np.ones((2, 3), "float32"))
    assert [s.name for s in seen] == ["0", "1/inside/0", "1/inside/1", "1/inside", "1", ""]
    assert [s.node for s in seen] == [s.name for s in seen]
