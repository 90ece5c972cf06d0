"""Arguments of samplers: values from outside are refused by a sentence, and two values of each give other indices."""

import numpy as np
import pytest

from labdl.data import samplers
from labdl.errors import ConfigError, LabDLError

EIGHT = samplers.SequentialSampler(8)
LABELS = [0, 0, 0, 0, 1, 1, 2, 2]
# each sampler with its arguments, and another value of each
ARGUMENTS = {
    "SequentialSampler": {"samples": (8, 5)},
    "RandomSampler": {"samples": (8, 5), "count": (6, 7), "replacement": (False, True), "seed": (0, 1)},
    "SubsetSampler": {"indices": ([3, 1], [1, 3])},
    "SubsetRandomSampler": {"indices": ([3, 1, 4, 5], [1, 3, 6, 7]), "seed": (0, 1)},
    "WeightedRandomSampler": {
        "weights": ([1.0, 2, 3, 4], [4.0, 3, 2, 1]),
        "count": (4, 3),
        "replacement": (True, False),
        "seed": (0, 1),
    },
    "ClassBalancedSampler": {
        "labels": (LABELS, [1, *LABELS[1:]]),
        "count": (9, 12),
        "power": (1.0, 0.0),
        "seed": (0, 1),
    },
    "PKSampler": {"labels": (LABELS, [1, *LABELS[1:]]), "p": (2, 1), "k": (2, 3), "seed": (0, 1)},
    "DistributedSampler": {
        "samples": (9, 8),
        "rank": (0, 1),
        "world": (2, 3),
        "shuffle": (True, False),
        "seed": (0, 1),
        "drop_last": (False, True),
    },
    "BatchSampler": {
        "sampler": (EIGHT, samplers.RandomSampler(8)),
        "batch_size": (3, 2),
        "drop_last": (False, True),
    },
    "DistributedBatchSampler": {
        "sampler": (EIGHT, samplers.RandomSampler(8)),
        "batch_size": (3, 2),
        "rank": (0, 1),
        "world": (2, 3),
        "drop_last": (False, True),
    },
    "BucketSampler": {
        "lengths": ([5, 1, 4, 2, 9, 8, 7], [1, 5, 2, 4, 8, 9, 7]),
        "batch_size": (2, 3),
        "boundaries": (None, [3, 6]),
        "group": (2, 1),
        "shuffle": (True, False),
        "seed": (0, 1),
        "drop_last": (False, True),
    },
}
NAMES = [(name, argument) for name, arguments in ARGUMENTS.items() for argument in arguments]
NUMBERS = (None, -1, 0, 2**63, 10**30, 0.5, -0.5, float("nan"), float("inf"), True, np.float32(2), "a", b"a", object())
LISTS = (
    [],
    [0.5],
    [float("nan"), 1.0],
    [-1, 2],
    [0, 10**30],
    ["a", "b"],
    [True, False],
    [[1], [2, 3]],
    [[1, 2]],
    {"a": 1},
)
ARRAYS = (np.array([2**63], "uint64"), np.array([None, 1], object), [None, None], [1e308, 1e308], [np.inf, 1.0])


def order_of(name, changes=None, epoch=0):
    arguments = {argument: values[0] for argument, values in ARGUMENTS[name].items()} | (changes or {})
    sampler = getattr(samplers, name)(**arguments)
    batches = sampler.batches(epoch) if hasattr(sampler, "batches") else [sampler.indices(epoch)]
    count = len(sampler) if hasattr(sampler, "batches") else sum(map(len, batches))
    assert len(sampler) == count == (len(batches) if hasattr(sampler, "batches") else len(batches[0]))
    return [np.asarray(batch).tolist() for batch in batches]


@pytest.mark.parametrize(("name", "argument"), NAMES)
def test_values_from_outside(name, argument):
    for value in (*NUMBERS, *LISTS, *ARRAYS):
        try:
            indices = order_of(name, {argument: value})
        except LabDLError:
            continue
        assert all(isinstance(i, int) and 0 <= i < 2**63 for batch in indices for i in batch)


@pytest.mark.parametrize(("name", "argument"), NAMES)
def test_every_argument_changes_the_indices(name, argument):
    assert order_of(name, {argument: ARGUMENTS[name][argument][1]}) != order_of(name)


@pytest.mark.parametrize("epoch", [-1, 0.5, None, True, "1"])
@pytest.mark.parametrize("name", [name for name, arguments in ARGUMENTS.items() if "seed" in arguments])
def test_epochs_that_are_none(name, epoch):
    with pytest.raises(ConfigError, match="wants an epoch that is an integer of at least 0"):
        order_of(name, epoch=epoch)


def test_every_sampler_is_tried():
    assert ARGUMENTS.keys() == set(samplers.__all__) - {"Sampler"}
