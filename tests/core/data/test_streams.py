"""Streams: sources, flow against tf.data's meaning in plain Python, passes, epochs of steps, and errors in a sentence."""

import copy
import itertools
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError


def numbers(count):
    def generate():
        yield from range(count)

    return data.IterableDataset(generate)


class Countdown(data.IterableDataset):
    """As in PyTorch: __iter__ alone, without a call of the base class."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count, 0, -1))


class Sized(Countdown):
    def __len__(self):
        return self.count


def threads_of_data() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("labdl-data")]


# -- sources


def test_generator_functions_iterables_classes_and_data_sets_are_streams():
    assert list(numbers(3)) == [0, 1, 2]
    assert list(numbers(3)) == [0, 1, 2]
    assert list(data.IterableDataset([4, 5])) == [4, 5]
    assert list(Countdown(3)) == [3, 2, 1]
    assert Countdown(3).length is None
    assert Sized(3).length == 3
    assert data.IterableDataset(range(5)).length == 5
    squares = data.SampleDataset(lambda i: i * i, length=4, name="squares", classes=["a"])
    stream = data.IterableDataset(squares)
    assert (list(stream), stream.length, stream.name, stream.classes) == ([0, 1, 4, 9], 4, "squares", ["a"])
    assert [list(data.IterableDataset(lambda epoch: [epoch]).read(e)) for e in range(2)] == [[0], [1]]
    assert repr(numbers(3)) == "IterableDataset(generate: unknown length)"
    assert repr(data.IterableDataset([1]).repeat()) == "RepeatedStream(list: endless)"


def test_an_iterator_is_read_once_and_its_first_sample_is_not_lost():
    stream = data.IterableDataset(iter(range(4))).map(lambda i: i * 10)
    assert not stream.restartable
    assert stream.source.peek() == 0
    assert [b.tolist() for b in stream.loader(3)] == [[0, 10, 20], [30]]
    assert list(stream.loader(3)) == []
    filtered = data.IterableDataset(iter(range(6))).filter(lambda i: i % 2)
    assert filtered.peek() == filtered.peek() == 1
    assert list(filtered.open()) == [1, 3, 5]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: data.IterableDataset(3), "wants a generator function or something to iterate, received int"),
        (lambda: data.IterableDataset("abc"), "wants samples to iterate, received 'abc'"),
        (lambda: data.IterableDataset([1], length=0), "length wants a number of samples of at least 1"),
        (lambda: list(data.IterableDataset(lambda: 3)), "returned int: yield its samples"),
        (lambda: list(data.IterableDataset()), "wants a method __iter__, or a source"),
        (lambda: numbers(3).shuffle(0), "buffer_size wants an integer of at least 1"),
        (lambda: numbers(3).take(-1), "take wants an integer of at least 0"),
        (lambda: numbers(3).shard(2, 2), "shard wants a count of at least 1 and an index below it"),
        (lambda: numbers(3).zip([1]), r"wrap it as data.IterableDataset"),
        (lambda: numbers(3).filter(3), "filter wants a function of a sample"),
        (lambda: numbers(3).map(T.MixUp()), "MixUp reads other samples.*give a buffer_size"),
        (lambda: numbers(3).map(T.MixUp(), buffer_size=0), "buffer_size wants an integer of at least 1"),
        (lambda: numbers(3).loader(2, shuffle=True), r"use stream.shuffle\(buffer_size\)"),
        (lambda: numbers(3).loader(2, errors="replace"), 'use errors="skip"'),
        (lambda: numbers(3).loader(2).indices(), "a stream has no indices"),
        (lambda: list(numbers(0).repeat()), "the stream generate has no samples"),
        (lambda: numbers(0).peek(), "the stream generate has no samples"),
        (lambda: list(data.IterableDataset([1], length=3).loader(2)), "has the length 3 and ended after 1 samples"),
    ],
)
def test_wrong_settings_and_streams_are_a_sentence(make, message):
    with pytest.raises((ConfigError, DataError), match=message):
        make()


def test_the_length_of_a_loader_is_known_or_an_error():
    assert len(data.IterableDataset(range(7)).loader(2)) == 4
    assert len(data.IterableDataset(range(7)).loader(2, drop_last=True)) == 3
    assert len(numbers(3).loader(2, steps_per_epoch=5)) == 5
    with pytest.raises(TypeError, match="generate has an unknown length: give Loader steps_per_epoch"):
        len(numbers(3).loader(2))


# -- flow


def test_flow_of_streams():
    s = numbers(6)
    assert list(s.map(lambda i: i + 1)) == [1, 2, 3, 4, 5, 6]
    assert list(s.filter(lambda i: i % 2)) == [1, 3, 5]
    assert list(s.take(2)) == [0, 1]
    assert list(s.skip(4)) == [4, 5]
    assert list(s.repeat(2)) == [*range(6), *range(6)]
    assert list(itertools.islice(s.repeat(), 8)) == [*range(6), 0, 1]
    assert list(s.concat(data.IterableDataset([9]))) == [*range(6), 9]
    assert list(s.zip(Countdown(2))) == [(0, 2), (1, 1)]
    assert list(s.interleave(Countdown(3), block=2)) == [0, 1, 3, 2, 2, 3, 1, 4, 5]
    assert [b.tolist() for b in s.batch(4)] == [[0, 1, 2, 3], [4, 5]]
    assert [b.tolist() for b in s.batch(4, drop_last=True)] == [[0, 1, 2, 3]]
    assert [int(i) for i in s.batch(4).unbatch()] == list(range(6))
    assert list(s.map(lambda i: {"x": i, "y": -i}).rename({"x": "z"}).project("z"))[1] == {"z": 1}
    assert list(s.map(lambda i: {"x": i, "y": -i}).as_supervised("x", "y"))[2] == (2, -2)
    assert list(s) == list(range(6))


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(0, 12),
    size=st.integers(1, 5),
    shift=st.integers(1, 6),
    stride=st.integers(1, 3),
    drop=st.booleans(),
    shards=st.integers(1, 4),
    block=st.integers(1, 4),
)
def test_streams_give_what_data_sets_with_a_length_give(count, size, shift, stride, drop, shards, block):
    fixed, stream = data.SampleDataset(list(range(count))), numbers(count)

    def same(a, b):
        assert [np.asarray(x).tolist() for x in a] == [np.asarray(x).tolist() for x in b]

    same(
        fixed.window(size, shift=shift, stride=stride, drop_last=drop),
        stream.window(size, shift=shift, stride=stride, drop_last=drop),
    )
    same(fixed.batch(size, drop_last=drop), stream.batch(size, drop_last=drop))
    same(fixed.skip(size), stream.skip(size))
    same(fixed.interleave(data.SampleDataset(list(range(7))), block=block), stream.interleave(numbers(7), block=block))
    for i in range(shards):
        same(fixed.shard(shards, i), stream.shard(shards, i))
        assert data.IterableDataset(range(count)).shard(shards, i).length == len(fixed.shard(shards, i))
    assert data.IterableDataset(range(count)).skip(2).take(size).length == len(fixed.skip(2).take(size))


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 40), buffer=st.integers(1, 50), seed=st.integers(0, 3))
def test_a_shuffle_keeps_all_samples_and_moves_none_far_ahead(count, buffer, seed):
    stream = numbers(count).shuffle(buffer, seed=seed)
    order = list(stream.read(0))
    assert sorted(order) == list(range(count))
    assert order == list(stream.read(0))
    assert all(sample < position + buffer for position, sample in enumerate(order))
    assert data.IterableDataset(range(count)).shuffle(buffer).length == count


def test_a_shuffle_with_a_full_buffer_is_uniform():
    counts = np.zeros((4, 4))
    stream = numbers(4).shuffle(10, seed=1)
    for epoch in range(2000):
        for position, sample in enumerate(stream.read(epoch)):
            counts[position, sample] += 1
    # chi-square of 9 degrees of freedom: 27.9 has the probability 0.001
    assert ((counts - 500) ** 2 / 500).sum() < 27.9


def test_random_transforms_depend_on_pass_and_position_alone():
    pictures = [data.Image(np.random.default_rng(i).integers(0, 255, (6, 6, 3), "uint8")) for i in range(9)]
    stream = data.IterableDataset(pictures).map([T.RandomCrop(4), T.ToFloat()], seed=2)
    first, again, other = (np.stack(list(stream.read(e))) for e in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    for workers in (0, 1, 3):
        batches = np.concatenate(list(stream.loader(4, workers=workers, data_format="channels_last").epoch(1)))
        assert np.array_equal(batches, other)


# -- rejection_resample


def test_rejection_gives_the_classes_their_shares():
    labels = np.random.default_rng(0).choice(3, 6000, p=[0.7, 0.2, 0.1])
    samples = data.SampleDataset([(i, int(c)) for i, c in enumerate(labels)])
    target = [0.5, 0.25, 0.25]
    known, counted = (
        np.array([c for _, c in data.IterableDataset(samples).rejection_resample(target, initial, seed=1)])
        for initial in ([0.7, 0.2, 0.1], None)
    )
    fixed = samples.rejection_resample(target, seed=1)
    for classes in (known, counted, fixed.labels()):
        np.testing.assert_allclose(np.bincount(classes) / len(classes), target, atol=0.03)
    assert len(fixed) == pytest.approx(6000 * 0.1 / 0.25, rel=0.1)  # as many as the rarest class allows
    everything = samples.rejection_resample([0.7, 0.2, 0.1], [0.7, 0.2, 0.1])
    assert list(everything) == list(samples)
    assert set(samples.rejection_resample([0, 1, 0]).labels()) == {1}
    other = samples.take(100).rejection_resample([1, 1], class_func=lambda s: s[0] % 2)
    assert {i % 2 for i, _ in other} == {0, 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: s.rejection_resample([0.5, 0.5]), "shares of the classes 0 to 1, a sample has the class 2"),
        (lambda s: s.rejection_resample([0.2] * 5), "target_dist wants samples of class 3, which has none"),
        (lambda s: s.rejection_resample([1, -1, 1]), "target_dist wants a share of at least 0 for each class"),
        (lambda s: s.rejection_resample([1, 1, 1], [1, 1]), "initial_dist wants a share of at least 0 for each of 3"),
        (
            lambda s: list(data.IterableDataset(s).rejection_resample([1, 1])),
            "sample 2 of list: target_dist has the shares of the classes 0 to 1, a sample has the class 2",
        ),
    ],
)
def test_shares_that_do_not_fit(make, message):
    with pytest.raises((ConfigError, DataError), match=message):
        make(data.SampleDataset([(i, i % 3) for i in range(9)]))


# -- batches


@settings(max_examples=40, deadline=None)
@given(count=st.integers(1, 11), size=st.integers(1, 4), steps=st.integers(1, 5), workers=st.sampled_from([0, 1, 2]))
def test_epochs_of_steps_go_on_and_start_exactly_anywhere(count, size, steps, workers):
    endless = np.resize(np.arange(count), 4 * steps * size).reshape(4 * steps, size)
    loader = numbers(count).loader(size, steps_per_epoch=steps, workers=workers)
    for epoch in range(4):
        for step, batch in enumerate(loader.epoch(epoch)):
            assert batch.tolist() == endless[epoch * steps + step].tolist()
    start = steps // 2
    resumed = numbers(count).loader(size, steps_per_epoch=steps, workers=workers)
    assert [b.tolist() for b in resumed.epoch(2, start)] == endless[2 * steps + start : 3 * steps].tolist()
    assert [b.tolist() for b in resumed.epoch(3)] == endless[3 * steps :].tolist()
    assert [b.tolist() for b in resumed.epoch(0)] == endless[:steps].tolist()


def test_a_stream_is_read_on_and_not_from_its_beginning_for_each_epoch():
    opened = []

    def generate():
        opened.append(1)
        yield from itertools.count()

    loader = data.IterableDataset(generate).loader(4, steps_per_epoch=3)
    assert [int(b[0]) for e in range(5) for b in loader.epoch(e)] == list(range(0, 60, 4))
    assert len(opened) == 1
    next(loader.epoch(5))  # left in the middle
    assert [int(b[0]) for b in loader.epoch(5)] == [60, 64, 68]
    assert len(opened) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_name_the_sample_and_leave_no_thread(workers):
    def generate():
        yield from range(5)
        raise OSError("the line is cut")

    loader = data.IterableDataset(generate, name="radio").loader(2, workers=workers)
    with pytest.raises(DataError, match="sample 5 of radio cannot be read: OSError: the line is cut"):
        list(loader)

    def check(i):
        if i == 3:
            raise ValueError("a bad number")
        return i

    stream = data.IterableDataset(range(6), name="radio").map(check)
    with pytest.raises(DataError, match="sample 3 of radio cannot be read: ValueError: a bad number"):
        list(stream.loader(2, workers=workers))
    skipping = stream.loader(2, workers=workers, errors="skip")
    with pytest.warns(UserWarning, match="1 samples of radio could not be read: sample 3 of radio"):
        assert [b.tolist() for b in skipping] == [[0, 1], [2], [4, 5]]
    assert skipping.problems[0].index == 3
    assert threads_of_data() == []


def test_a_reading_that_is_left_ends_its_threads():
    batches = data.IterableDataset(lambda: itertools.count()).loader(4, steps_per_epoch=100, workers=2).epoch(0)
    next(batches)
    assert "labdl-data-stream" in threads_of_data()
    batches.close()
    assert threads_of_data() == []


def test_copies_of_loaders_read_by_themselves():
    loader = data.IterableDataset(range(12)).map(abs).loader(2, steps_per_epoch=2)
    list(loader.epoch(0))
    for copied in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
        assert [b.tolist() for b in copied.epoch(1)] == [[4, 5], [6, 7]]
    assert [b.tolist() for b in loader.epoch(1)] == [[4, 5], [6, 7]]


def test_prefetch_reads_ahead_and_gives_the_same_samples():
    """A thread reads up to so many samples in advance, and ends with the iteration."""
    read, ahead = [], threading.Event()

    def numbers():
        for i in range(100):
            read.append(i)
            if i == 4:
                ahead.set()
            yield np.float32(i)

    stream = data.IterableDataset(numbers, length=100)
    samples = iter(stream.prefetch(5))
    assert next(samples) == 0
    assert ahead.wait(10)
    assert read[-1] <= 7
    samples.close()
    assert list(stream.prefetch(5)) == list(stream)
    assert stream.prefetch(5).length == 100
    dataset = data.SampleDataset([(np.float32(i), i % 2) for i in range(7)])
    assert list(dataset.prefetch(3)) == list(dataset)
    assert dataset.prefetch(3)[4] == dataset[4]
    assert not [t for t in threading.enumerate() if t.name == "labdl-data-stream" and t.is_alive()]
    for source in (stream, dataset):
        with pytest.raises(ConfigError, match="prefetch wants an integer of at least 1, received 0"):
            source.prefetch(0)
