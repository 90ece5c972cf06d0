"""Samplers: pure functions of seed and epoch, with every sample as often as they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data import samplers
from labdl.errors import ConfigError

LABELS = np.repeat([0, 1, 2], [60, 30, 10])

EACH = [
    lambda seed: samplers.RandomSampler(50, seed=seed),
    lambda seed: samplers.RandomSampler(50, count=80, seed=seed),
    lambda seed: samplers.RandomSampler(50, replacement=True, seed=seed),
    lambda seed: samplers.SubsetRandomSampler([3, 5, 7, 11], seed=seed),
    lambda seed: samplers.WeightedRandomSampler(np.arange(50), seed=seed),
    lambda seed: samplers.WeightedRandomSampler(np.arange(50), count=20, replacement=False, seed=seed),
    lambda seed: samplers.ClassBalancedSampler(LABELS, seed=seed),
    lambda seed: samplers.PKSampler(LABELS, 2, 4, seed=seed),
    lambda seed: samplers.DistributedSampler(50, rank=1, world=3, seed=seed),
]


@pytest.mark.parametrize("create", EACH)
def test_indices_are_a_function_of_seed_and_epoch(create):
    sampler = create(4)
    np.random.seed(1)
    first = sampler.indices(2)
    sampler.indices(5)
    np.testing.assert_array_equal(create(4).indices(2), first)
    assert len(first) == len(sampler)
    assert not np.array_equal(sampler.indices(3), first)
    assert not np.array_equal(create(5).indices(2), first)
    assert list(sampler) == sampler.indices(0).tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 7), st.booleans(), st.integers(0, 3))
def test_ranks_have_equal_steps_and_all_samples(count, world, shuffle, epoch):
    ranks = [samplers.DistributedSampler(count, rank=r, world=world, shuffle=shuffle) for r in range(world)]
    parts = [rank.indices(epoch) for rank in ranks]
    assert len({len(p) for p in parts}) == 1
    together = np.sort(np.concatenate(parts))
    assert set(together.tolist()) == set(range(count))
    assert len(together) - count < world
    if count >= world:
        dropped = [samplers.DistributedSampler(count, rank=r, world=world, drop_last=True) for r in range(world)]
        exact = np.concatenate([rank.indices(epoch) for rank in dropped])
        assert len(set(exact.tolist())) == len(exact) == count // world * world


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 5), st.booleans())
def test_batches_of_ranks_are_equal_in_size(count, world, size, drop_last):
    source = samplers.RandomSampler(count, seed=1)
    ranks = [
        samplers.DistributedBatchSampler(source, size, rank=r, world=world, drop_last=drop_last) for r in range(world)
    ]
    batches = [rank.batches(2) for rank in ranks]
    assert len({tuple(map(len, b)) for b in batches}) == 1
    assert all(len(b) == len(rank) for b, rank in zip(batches, ranks, strict=True))
    found = [i for own in batches for b in own for i in b.tolist()]
    if not drop_last:
        assert set(found) == set(range(count))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=80), st.integers(1, 9), st.booleans(), st.booleans())
def test_buckets_have_each_sample_once(lengths, size, shuffle, bounded):
    boundaries = [50, 200] if bounded else None
    sampler = samplers.BucketSampler(lengths, size, boundaries=boundaries, shuffle=shuffle, group=3)
    batches = sampler.batches(1)
    assert len(batches) == len(sampler)
    assert sorted(i for b in batches for i in b.tolist()) == list(range(len(lengths)))
    if bounded:
        for batch in batches:
            own = np.searchsorted(boundaries, np.array(lengths)[batch], "right")
            assert len(set(own.tolist())) == 1


def test_buckets_pad_less_than_random_batches():
    lengths = np.random.default_rng(0).integers(1, 1000, 2000)

    def padding(batches):
        return sum(int(lengths[b].max() * len(b) - lengths[b].sum()) for b in batches)

    random = samplers.BatchSampler(samplers.RandomSampler(2000), 16).batches(0)
    assert padding(samplers.BucketSampler(lengths, 16).batches(0)) < padding(random) / 20


def test_classes_have_equal_shares():
    counts = np.bincount(LABELS[samplers.ClassBalancedSampler(LABELS, count=99).indices(0)])
    assert counts.tolist() == [33, 33, 33]
    assert np.bincount(LABELS[samplers.ClassBalancedSampler(LABELS, power=0.0).indices(0)]).tolist() == [60, 30, 10]
    pk = samplers.PKSampler(LABELS, 3, 4)
    assert pk.batch_size == 12
    assert np.bincount(LABELS[pk.indices(1)]).tolist() == [4, 4, 4]


def test_weights_are_frequencies():
    sampler = samplers.WeightedRandomSampler([0, 1, 3], count=40_000)
    shares = np.bincount(sampler.indices(0), minlength=3) / 40_000
    np.testing.assert_allclose(shares, [0, 0.25, 0.75], atol=0.01)
    without = samplers.WeightedRandomSampler([0, 1, 3, 2], count=3, replacement=False)
    assert sorted(without.indices(0).tolist()) == [1, 2, 3]


def test_a_loader_takes_samplers():
    d = data.ArrayDataset(np.arange(100), LABELS)
    balanced = data.Loader(d, 10, sampler=samplers.ClassBalancedSampler(d))
    assert len(balanced) == 10
    assert {len(x) for x, _ in balanced} == {10}
    buckets = data.Loader(d, batch_sampler=samplers.BucketSampler(np.arange(100) % 7, 8))
    assert sorted(np.concatenate([x for x, _ in buckets]).tolist()) == list(range(100))
    with pytest.raises(ConfigError, match="exclude each other"):
        data.Loader(d, 10, shuffle=True, sampler=samplers.SequentialSampler(d))


@pytest.mark.parametrize(
    "create",
    [
        lambda: samplers.RandomSampler(0),
        lambda: samplers.SubsetSampler([]),
        lambda: samplers.SubsetSampler([-1]),
        lambda: samplers.WeightedRandomSampler([0, 0]),
        lambda: samplers.WeightedRandomSampler([1, 0], count=2, replacement=False),
        lambda: samplers.PKSampler(LABELS, 4, 1),
        lambda: samplers.DistributedSampler(3, rank=3, world=3),
        lambda: samplers.BucketSampler([1, 2], 2, boundaries=[3, 2]),
        lambda: samplers.BucketSampler([1, 2], [2, 3]),
        lambda: samplers.BatchSampler(samplers.SequentialSampler(3), 0),
    ],
)
def test_wrong_settings_are_refused(create):
    with pytest.raises(ConfigError, match=r"wants|leaves|is at least|draws at most"):
        create()
