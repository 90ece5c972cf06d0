"""Histograms of layers; no framework is needed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labdl import nn
from labdl.train.events import to_record
from labdl.train.monitor import histograms
from labdl.train.monitor.activations import layer_names
from labdl.train.monitor.histograms import BINS, HistogramCollector, histogram

values = arrays("float32", st.integers(1, 300), elements=st.floats(-1e3, 1e3, width=32))


@settings(max_examples=200, deadline=None)
@given(values)
def test_each_value_is_counted_in_its_bin(array):
    low, high, counts = histogram([array])
    assert len(counts) == BINS
    assert sum(counts) == array.size
    assert (low, high) == (
        pytest.approx(array.min(), rel=1e-4, abs=1e-30),
        pytest.approx(array.max(), rel=1e-4, abs=1e-30),
    )
    if high - low > 1e-3:
        exact = array.astype("float64")
        edges = np.linspace(exact.min(), exact.max(), BINS + 1)[1:-1, None]
        rounding = 1e-5 * (exact.max() - exact.min())  # of a value on an edge
        below, found = (exact < edges - rounding).sum(1), np.cumsum(counts)[:-1]
        assert (below <= found).all()
        assert (found <= (exact <= edges + rounding).sum(1)).all()


def test_values_that_are_not_finite_are_not_counted():
    array = np.array([0, 1, np.nan, np.inf, -np.inf, 0.5], "float32")
    low, high, counts = histogram([array])
    assert (low, high, sum(counts)) == (0.0, 1.0, 3)
    assert histogram([np.full(3, np.nan, "float32")]) is None
    assert histogram([]) is None
    assert histogram([np.zeros((0, 2), "float32")]) is None


def test_equal_values_and_values_at_the_limits_of_float32():
    assert histogram([np.full(7, 2.5, "float32")]) == (2.5, 2.5, [7] + [0] * 23)
    low, high, counts = histogram([np.array([-3e38, 0, 3e38], "float32")])
    assert (low, high, counts[0], counts[12], counts[-1]) == (-3e38, 3e38, 1, 1, 1)
    assert sum(histogram([np.array([1e-42, 2e-42, 5e-42], "float32")])[2]) == 3
    assert sum(histogram([np.array([1, 2, 3], "int64")])[2]) == 3


def test_large_arrays_are_subsampled(monkeypatch):
    monkeypatch.setattr(histograms, "VALUES", 1000)
    _, _, counts = histogram([np.linspace(0, 1, 8000, dtype="float32"), np.zeros(2000, "float32")])
    assert 900 <= sum(counts) <= 1100
    assert counts[0] > 200


def test_large_models_get_histograms_of_their_largest_layers(monkeypatch):
    monkeypatch.setattr(histograms, "LAYERS", 2)
    model = nn.Sequential(nn.Linear(2), nn.ReLU(), nn.Linear(50), nn.Linear(30)).build((None, 4), backend="numpy")
    names = layer_names(model)
    subject = HistogramCollector(0.01)
    assert subject.select_layers(model, names) == {"2": 2, "3": 3}
    found = subject.compute(5, names, {"2": 2}, {"2": [np.ones(3)], "0": [np.ones(3)]}, {}, {"2": [np.arange(4.0)]})
    assert found.layers == ("0", "1", "2", "3")
    assert (found.weights["of"], found.gradients["of"], found.outputs["of"]) == ([2], [], [2])
    record = to_record(found)
    assert record["layers"] == ["0", "1", "2", "3"]
    assert record["outputs"]["counts"] == [[1, *[0] * 7, 1, *[0] * 7, 1, *[0] * 6, 1]]


def test_histograms_are_rare_and_take_half_of_the_share():
    budget, times = HistogramCollector(0.01).budget, []
    now = 0.0
    for _ in range(60_000):
        if budget.allows():
            budget.spend(0.002)
            times.append(now)
        budget.train(0.01)
        now += 0.01
    gaps = np.diff(times)
    assert gaps.min() >= 2.0 - 0.02
    assert gaps[-1] >= now / 60 * 0.9, "the interval grows"
    assert 100 < len(times) < 300
    assert budget.spent <= 0.005 * budget.trained
