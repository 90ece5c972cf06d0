"""The methods of a data flow, of data sets and of streams, give the elements of tf.data's in their order."""

import numpy as np
import pytest
import tensorflow as tf

from labdl import data

COUNTS = (0, 1, 4, 7, 12)


def numbers(count):
    """Pairs of a row and a number."""
    return np.arange(2 * count, dtype="float32").reshape(count, 2), np.arange(count, dtype="int64") % 3


def pairs(count, offset=0):
    x, y = numbers(count)
    return data.SampleDataset(list(zip(x + offset, y, strict=True)))


def dictionaries(count):
    return pairs(count).map(lambda s: {"x": s[0], "y": s[1]})


def native(count, offset=0):
    x, y = numbers(count)
    return tf.data.Dataset.from_tensor_slices((x + np.float32(offset), y))


def native_dictionaries(count):
    return native(count).map(lambda x, y: {"x": x, "y": y})


def ragged(count):
    return data.SampleDataset([np.arange(i * 5 % 7, dtype="float32") for i in range(count)])


def native_ragged(count):
    rows = [np.arange(i * 5 % 7, dtype="float32") for i in range(count)]
    return tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None], tf.float32))


def plain(value):
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    array = np.asarray(value)
    return str(array.dtype), array.tolist()


def windows(dataset, size, shift=None, stride=1, drop=False):
    chosen = dataset.window(size, shift=shift, stride=stride, drop_remainder=drop)
    return chosen.flat_map(lambda x, y: tf.data.Dataset.zip((x.batch(size), y.batch(size))))


def interleaved(counts, block):
    """tf.data's interleave of the data sets of `several`."""

    def open_one(number):
        rows = tf.data.Dataset.range(tf.gather(tf.constant(counts, tf.int64), number))
        offset = 100 * tf.cast(number, tf.float32)
        return rows.map(lambda i: (tf.cast(tf.stack([2 * i, 2 * i + 1]), tf.float32) + offset, i % 3))

    return tf.data.Dataset.range(len(counts)).interleave(open_one, cycle_length=len(counts), block_length=block)


# name: ours of a data set or stream, tf.data's of a tf.data.Dataset
FLOWS = {
    "map": (lambda d: d.map(lambda s: (s[0] * 2, s[1])), lambda d: d.map(lambda x, y: (x * 2, y))),
    "filter": (lambda d: d.filter(lambda s: s[1] > 0), lambda d: d.filter(lambda x, y: y > 0)),
    "take": (lambda d: d.take(5), lambda d: d.take(5)),
    "skip": (lambda d: d.skip(5), lambda d: d.skip(5)),
    "shard": (lambda d: d.shard(3, 1), lambda d: d.shard(3, 1)),
    "repeat": (lambda d: d.repeat(3), lambda d: d.repeat(3)),
    "repeat 0": (lambda d: d.repeat(0), lambda d: d.repeat(0)),
    "batch": (lambda d: d.batch(3), lambda d: d.batch(3)),
    "batch, dropped": (lambda d: d.batch(3, drop_last=True), lambda d: d.batch(3, drop_remainder=True)),
    "batch of batches": (lambda d: d.batch(2, drop_last=True).batch(2), lambda d: d.batch(2, True).batch(2)),
    "unbatch": (lambda d: d.batch(3).unbatch(), lambda d: d.batch(3).unbatch()),
    "window": (lambda d: d.window(3), lambda d: windows(d, 3, drop=True)),
    "window, shifted": (lambda d: d.window(3, shift=1, stride=2), lambda d: windows(d, 3, 1, 2, drop=True)),
    "window, gaps": (lambda d: d.window(2, shift=4), lambda d: windows(d, 2, 4, drop=True)),
    "window, kept": (
        lambda d: d.window(3, shift=2, stride=2, drop_last=False),
        lambda d: windows(d, 3, 2, 2),
    ),
    "many": (
        lambda d: d.skip(1).repeat(2).filter(lambda s: s[1] != 1).batch(2).take(3),
        lambda d: d.skip(1).repeat(2).filter(lambda x, y: y != 1).batch(2).take(3),
    ),
}


@pytest.mark.parametrize("as_stream", [False, True], ids=["data set", "stream"])
@pytest.mark.parametrize("flow", FLOWS)
def test_elements_are_those_of_tf_data(flow, as_stream):
    ours, theirs = FLOWS[flow]
    for count in COUNTS:
        dataset = ours(data.IterableDataset(pairs(count)) if as_stream else pairs(count))
        expected = [plain(e) for e in theirs(native(count)).as_numpy_iterator()]
        for _ in range(2):
            assert [plain(e) for e in dataset] == expected, count
        if not as_stream:
            assert len(dataset) == len(expected)
        elif dataset.length is not None:
            assert dataset.length == len(expected)


def several(as_stream, counts):
    sets = [pairs(count, 100 * i) for i, count in enumerate(counts)]
    return [data.IterableDataset(d) for d in sets] if as_stream else sets


@pytest.mark.parametrize("as_stream", [False, True], ids=["data set", "stream"])
@pytest.mark.parametrize("counts", [(4, 4), (7, 3), (3, 7), (5, 0), (4, 1, 6)])
def test_several_data_sets_are_combined_as_by_tf_data(counts, as_stream):
    first, *others = several(as_stream, counts)
    theirs = [native(count, 100 * i) for i, count in enumerate(counts)]
    joined = theirs[0]
    for other in theirs[1:]:
        joined = joined.concatenate(other)
    cases = [
        (first.concat(*others), joined),
        (first.zip(*others), tf.data.Dataset.zip(tuple(theirs))),
        (first.interleave(*others), interleaved(counts, 1)),
        (first.interleave(*others, block=2), interleaved(counts, 2)),
    ]
    for ours, expected in cases:
        assert [plain(e) for e in ours] == [plain(e) for e in expected.as_numpy_iterator()], type(ours)


@pytest.mark.parametrize("as_stream", [False, True], ids=["data set", "stream"])
def test_dictionaries_are_batched_and_unbatched_as_by_tf_data(as_stream):
    for count in COUNTS:
        dataset = data.IterableDataset(dictionaries(count)) if as_stream else dictionaries(count)
        for ours, theirs in (
            (dataset.batch(3), native_dictionaries(count).batch(3)),
            (dataset.batch(3).unbatch(), native_dictionaries(count).batch(3).unbatch()),
            (dataset.project("y"), native_dictionaries(count).map(lambda s: {"y": s["y"]})),
            (dataset.rename({"y": "z"}), native_dictionaries(count).map(lambda s: {"x": s["x"], "z": s["y"]})),
        ):
            assert [plain(e) for e in ours] == [plain(e) for e in theirs.as_numpy_iterator()], count


@pytest.mark.parametrize("as_stream", [False, True], ids=["data set", "stream"])
def test_padding_is_that_of_tf_data(as_stream):
    for count in COUNTS:
        dataset = data.IterableDataset(ragged(count)) if as_stream else ragged(count)
        for ours, theirs in (
            (dataset.padded_batch(3), native_ragged(count).padded_batch(3)),
            (dataset.padded_batch(3, value=-1), native_ragged(count).padded_batch(3, padding_values=-1.0)),
            (dataset.padded_batch(3, drop_last=True), native_ragged(count).padded_batch(3, drop_remainder=True)),
            (
                dataset.bucket_by_length([2, 5], [3, 2, 1]),
                native_ragged(count).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 5], [3, 2, 1]),
            ),
            (
                dataset.bucket_by_length([3], 2, value=7, drop_last=True),
                native_ragged(count).bucket_by_sequence_length(
                    lambda x: tf.shape(x)[0], [3], [2, 2], padding_values=7.0, drop_remainder=True
                ),
            ),
        ):
            assert [plain(e) for e in ours] == [plain(e) for e in theirs.as_numpy_iterator()], count


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_cache_keeps_what_the_first_pass_gave(on_disk, tmp_path):
    calls, native_calls = [], []

    def count(sample):
        calls.append(sample)
        return sample

    def count_native(value):
        native_calls.append(value)
        return value

    ours = pairs(5).map(count).cache(tmp_path / "ours" if on_disk else None)
    theirs = native(5).map(lambda x, y: (tf.py_function(count_native, [x], tf.float32), y))
    theirs = theirs.cache(str(tmp_path / "theirs") if on_disk else "")
    for _ in range(3):
        assert [plain(e) for e in ours] == [plain(e) for e in theirs.as_numpy_iterator()]
    assert (len(calls), len(native_calls)) == (5, 5)


def test_a_shuffle_has_each_sample_once_and_only_within_the_buffer():
    for count in (1, 12, 50):
        for buffer in (1, 5, 100):
            order = [int(s) for s in data.IterableDataset(range(count)).shuffle(buffer, seed=3)]
            shuffled = tf.data.Dataset.range(count).shuffle(buffer, seed=3)
            for found in (order, [int(v) for v in shuffled.as_numpy_iterator()]):
                assert sorted(found) == list(range(count))
                assert all(value < place + buffer for place, value in enumerate(found))  # as documented by tf.data


def test_weights_of_sample_from_are_those_of_tf_data():
    sets, shares = [data.SampleDataset([i] * 4000) for i in range(3)], [0.2, 0.5, 0.3]
    natives = [tf.data.Dataset.from_tensors(i).repeat(4000) for i in range(3)]
    ours = list(data.sample_from(sets, shares, length=4000, seed=1))
    streams = [data.IterableDataset(d).repeat() for d in sets]
    drawn = list(data.sample_from(streams, shares, length=4000, seed=1))
    theirs = list(tf.data.Dataset.sample_from_datasets(natives, shares, seed=1).take(4000).as_numpy_iterator())
    for found in (ours, drawn, theirs):
        np.testing.assert_allclose(np.bincount(found) / 4000, shares, atol=0.03)


def test_sample_from_reads_each_stream_in_its_order_to_its_end():
    counts = (5, 0, 9)
    sets = [
        data.IterableDataset(range(100 * i, 100 * i + count), length=count or None) for i, count in enumerate(counts)
    ]
    stream = data.sample_from(sets, [1, 1, 2], seed=4)
    natives = [tf.data.Dataset.range(100 * i, 100 * i + count) for i, count in enumerate(counts)]
    theirs = tf.data.Dataset.sample_from_datasets(natives, [0.25, 0.25, 0.5], seed=4)
    for found in (list(stream), list(stream.read(1)), [int(v) for v in theirs.as_numpy_iterator()]):
        assert [v for v in found if v < 100] == list(range(5))
        assert [v for v in found if v >= 200] == list(range(200, 209))
    assert list(stream) == list(stream)
    assert list(stream.read(0)) != list(stream.read(1))
    assert not data.sample_from([sets[0], sets[0].repeat()], [1, 0]).endless


@pytest.mark.sample(False)
@pytest.mark.parametrize("initial", [None, [0.8, 0.2]])
def test_rejection_resample_reaches_the_shares_of_tf_data(initial):
    labels = (np.random.default_rng(0).random(20_000) < 0.2).astype("int64")
    target = [0.5, 0.5]
    native_labels = tf.data.Dataset.from_tensor_slices(labels)
    theirs = [
        int(c) for c, _ in native_labels.rejection_resample(lambda y: y, target, initial, seed=1).as_numpy_iterator()
    ]
    samples = [(i, int(y)) for i, y in enumerate(labels)]
    dataset = data.SampleDataset(samples).rejection_resample(target, initial, seed=1)
    stream = data.IterableDataset(samples).rejection_resample(target, initial, seed=1)
    for ours in (dataset, stream):
        found = list(ours)
        np.testing.assert_allclose(np.mean([y for _, y in found]), np.mean(theirs), atol=0.02)
        assert len({i for i, _ in found}) == len(found)  # tf.data draws a part of them twice
        np.testing.assert_allclose(len(found), 2 * labels.sum(), rtol=0.05)  # all of the rare class
