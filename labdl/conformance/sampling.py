"""Clauses 6.2.3.6 and B.2: samplers, and iterating over batches."""

from __future__ import annotations

import numpy as np

from labdl import data, standard
from labdl.conformance.data import points
from labdl.conformance.row import close, equal, holds, raises, row
from labdl.data import Loader
from labdl.errors import ConfigError


@row(
    "B.2.1, table B.3",
    "A sampler with batch_size, shuffle, repeat, drop_last_batch, which remembers its place",
    "orders, places saved and taken up again; samplers by name; wrong settings",
    interface="construct_sampler",
)
def construct_sampler():
    dataset = points()
    config = {"batch_size": 4, "shuffle": True, "repeat": True, "drop_last_batch": True, "seed": 3}
    sampler, expected = standard.construct_sampler(config, dataset), np.random.default_rng([3, 0]).permutation(10)
    standard.iterate_batch(dataset, sampler)
    again = standard.construct_sampler(config, dataset)
    again.load_state_dict(sampler.state_dict())
    for one in (sampler, again):
        equal([y for _, y in standard.iterate_batch(dataset, one)], expected[4:8])
    config = {"sampler": "WeightedRandomSampler", "weights": [0, 1, 1], "count": 5, "batch_size": 5, "seed": 2}
    drawn = [int(y) for _, y in standard.iterate_batch(points(3), standard.construct_sampler(config, points(3)))]
    equal(drawn, data.samplers.WeightedRandomSampler([0, 1, 1], count=5, seed=2).indices(0))
    config = {"sampler": "BucketSampler", "lengths": [3, 1, 2, 9, 8, 1], "batch_size": 2, "repeat": True}
    sampler = standard.construct_sampler(config, points(6))
    pairs = [sorted(int(y) for _, y in standard.iterate_batch(points(6), sampler)) for _ in range(3)]
    equal(sorted(pairs), [[0, 2], [1, 5], [3, 4]])
    for wrong, word in (({"sampler": "PKSampler", "p": 2}, "needs k"), ({"sampler": "PkSampler"}, "PKSampler")):
        with raises(ConfigError, word):
            standard.construct_sampler(wrong, dataset)
    for wrong, word in (({"batch": 4}, "batch"), ({"batch_size": 0}, "batch_size"), ({"shuffle": 1}, "shuffle")):
        with raises(ConfigError, word):
            standard.construct_sampler(wrong, dataset)


@row(
    "B.2.2, table B.4",
    "The next sample in the order of a sampler",
    "all samples, with and without sampler, repeated, the end",
    interface="iterate_sample",
)
def iterate_sample():
    dataset = points(3)
    sampler = standard.construct_sampler({}, dataset)
    equal([standard.iterate_sample(dataset, sampler)[1] for _ in range(3)], [0, 1, 2])
    with raises(StopIteration):
        standard.iterate_sample(dataset, sampler)
    sampler = standard.construct_sampler({"shuffle": True, "repeat": True, "seed": 1}, dataset)
    drawn = [int(standard.iterate_sample(dataset, sampler)[1]) for _ in range(6)]
    holds(sorted(drawn[:3]) == sorted(drawn[3:]) == [0, 1, 2], f"each epoch has each sample once, drawn were {drawn}")
    equal([standard.iterate_sample(dataset)[1] for _ in range(4)], [0, 1, 2, 0])


@row(
    "B.2.3, table B.5",
    "The next batch in the order of a sampler, with batch_size elements",
    "last batches kept and dropped; no sampler",
    interface="iterate_batch",
)
def iterate_batch():
    dataset = points(5)
    for drop, sizes in ((False, [2, 2, 1]), (True, [2, 2])):
        sampler = standard.construct_sampler({"batch_size": 2, "drop_last_batch": drop}, dataset)
        batches = [standard.iterate_batch(dataset, sampler) for _ in sizes]
        holds([len(b) for b in batches] == sizes, f"the batches have {sizes} samples")
        equal(np.stack([x for x, _ in batches[1]]), [[4, 5], [6, 7]])
        with raises(StopIteration):
            standard.iterate_batch(dataset, sampler)
    holds(len(standard.iterate_batch(dataset)) == 1, "without a sampler a batch has one sample")


@row("6.2.3.6 a)", "A loader that can be iterated gives batches", "Loader over 10 samples in batches of 4")
def loader():
    sizes = [len(x) for x, _ in Loader(points(), 4)]
    holds(sizes == [4, 4, 2], f"the batches have {sizes} samples")
    equal(np.concatenate([y for _, y in Loader(points(), 4)]), np.arange(10))


@row(
    "6.2.3.6 b)",
    "Samples are drawn as the training wants it",
    "a shuffled Loader: each sample once, another order each epoch, by a seed",
)
def sampling():
    orders = [
        np.concatenate([y for _, y in Loader(points(), 4, shuffle=True, seed=s).epoch(e)])
        for s, e in ((0, 0), (0, 1), (0, 0))
    ]
    equal(np.sort(orders[0]), np.arange(10))
    holds(not np.array_equal(orders[0], orders[1]), "another epoch has another order")
    equal(orders[0], orders[2])


@row("6.2.3.6 b)", "Samples are drawn by weights", "data.samplers.WeightedRandomSampler in a Loader")
def weighted_sampling():
    sampler = data.samplers.WeightedRandomSampler([0, 1, 3], count=8000, seed=1)
    counts = np.bincount(sampler.indices(0), minlength=3)
    holds(counts[0] == 0, "a weight of 0 is never drawn")
    close(counts[2] / counts[1], 3.0, 0.1)
    drawn = Loader(points(3), 4, sampler=data.samplers.WeightedRandomSampler([0, 0, 1]))
    holds(all((y == 2).all() for _, y in drawn), "the loader reads what the sampler draws")
