"""Datasets and loaders: every sample once, in an order that seed and epoch alone decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.errors import ConfigError


def numbers(n):
    return data.ArrayDataset(np.arange(n), np.arange(n) * 10)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 5), st.integers(0, 3), st.booleans())
def test_an_epoch_has_every_sample_once(n, batch_size, seed, epoch, shuffle):
    loader = data.Loader(numbers(n), batch_size, shuffle=shuffle, seed=seed)
    batches = list(loader.epoch(epoch))
    assert len(batches) == len(loader)
    assert [len(x) for x, _ in batches[:-1]] == [batch_size] * (len(batches) - 1)
    assert 1 <= len(batches[-1][0]) <= batch_size
    x, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    assert sorted(x) == list(range(n))
    np.testing.assert_array_equal(y, x * 10)
    whole = list(data.Loader(numbers(n), batch_size, shuffle=shuffle, seed=seed, drop_last=True).epoch(epoch))
    assert [len(x) for x, _ in whole] == [batch_size] * (n // batch_size)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 50))
def test_the_order_is_a_pure_function_of_seed_and_epoch(seed, epoch):
    """Whatever was drawn before, and whether or not the epochs before it were walked through."""
    first = data.Loader(numbers(30), 4, shuffle=True, seed=seed)
    expected = first.indices(epoch)
    np.random.seed(epoch)
    for _ in first.epoch(epoch + 1):
        np.random.random()
    np.testing.assert_array_equal(first.indices(epoch), expected)
    np.testing.assert_array_equal(data.Loader(numbers(30), 9, shuffle=True, seed=seed).indices(epoch), expected)
    np.testing.assert_array_equal(np.concatenate([x for x, _ in first.epoch(epoch)]), expected)
    assert not np.array_equal(first.indices(epoch + 1), expected)
    assert not np.array_equal(data.Loader(numbers(30), 4, shuffle=True, seed=seed + 1).indices(epoch), expected)


def test_without_shuffling_the_order_stays():
    np.testing.assert_array_equal(data.Loader(numbers(5)).indices(7), np.arange(5))
    assert [list(x) for x, _ in data.Loader(numbers(5), 2)] == [[0, 1], [2, 3], [4]]


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="batch_size wants an integer at least 1, received 0"):
        data.Loader(numbers(3), 0)
    with pytest.raises(ConfigError, match="the dataset is empty"):
        data.Loader(numbers(0))
    with pytest.raises(ConfigError, match=r"arrays of equal length, received \[3, 2\]"):
        data.ArrayDataset(np.zeros(3), np.zeros(2))
    with pytest.raises(ConfigError, match="at least one array"):
        data.ArrayDataset()
    with pytest.raises(ConfigError, match=r"received a dictionary with 'x', 'y': write ArrayDataset\(x, y\)"):
        data.ArrayDataset({"x": np.zeros(3), "y": np.zeros(3)})


def test_samples_and_batches_by_index():
    dataset = data.ArrayDataset([[1, 2], [3, 4], [5, 6]], [0, 1, 0])
    assert len(dataset) == 3
    x, y = dataset[1]
    assert (x.tolist(), int(y)) == ([3, 4], 1)
    x, y = dataset[np.array([2, 0])]
    assert x.tolist() == [[5, 6], [1, 2]]
    assert "(3, 2)" in repr(dataset)


@pytest.mark.parametrize("name", data.SOURCES)
def test_sources_are_what_they_say(name):
    source = data.SOURCES[name]
    train, test = source.load()
    assert len(train) + len(test) == source.samples
    for part in (train, test):
        x, y = part.arrays
        assert x.shape[1:] == source.input_shape[1:]
        assert x.dtype == np.float32
        assert np.abs(x).max() < 15
        if source.classes is None:
            assert (y.dtype, y.ndim, part.classes) == (np.float32, 2, None)
        else:
            assert y.dtype == np.int64
            assert set(np.unique(y)) == set(range(source.classes))
            assert len(part.classes) == source.classes


@pytest.mark.parametrize("name", [name for name in data.SOURCES if name != "digits"])
def test_tables_are_scaled_by_what_is_for_training(name):
    train, test = data.SOURCES[name].load()
    for values in train.arrays[: 1 if train.classes else 2]:
        np.testing.assert_allclose(values.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(values.std(0), 1, atol=1e-5)
    assert np.abs(test.arrays[0].mean(0)).max() > 1e-3
    again, _ = data.SOURCES[name].load()
    np.testing.assert_array_equal(again.arrays[0], train.arrays[0])


def test_digits_are_split_by_seed_without_overlap():
    train, test = data.digits()
    assert train.arrays[0].shape == (1438, 1, 8, 8)
    assert test.arrays[0].shape == (359, 1, 8, 8)
    again, _ = data.digits()
    np.testing.assert_array_equal(again.arrays[0], train.arrays[0])
    other, _ = data.digits(seed=1)
    assert not np.array_equal(other.arrays[0], train.arrays[0])
    half, rest = data.digits(test_share=0.5)
    assert abs(len(half) - len(rest)) <= 1
