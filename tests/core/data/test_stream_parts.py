"""Streams split in two parts and kept in a cache."""

import itertools
import pickle
import threading

import numpy as np
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError


def numbers(count):
    def generate():
        yield from range(count)

    return data.IterableDataset(generate)


class Counted(data.IterableDataset):
    """Counts the samples that are read."""

    def __init__(self, count):
        self.count, self.reads = count, 0

    def __iter__(self):
        for i in range(self.count):
            self.reads += 1
            yield {"image": np.full((4, 4, 3), i, "uint8"), "label": i % 3}


# -- split


@pytest.mark.parametrize("seed", [None, 0, 7])
@pytest.mark.parametrize("share", [0.8, 0.5, 1 / 3, 0.9, 0.001, 0.9999])
def test_parts_have_each_sample_once_and_the_share(share, seed):
    first, second = numbers(3000).split(share, seed=seed)
    one, other = list(first), list(second)
    assert sorted(one + other) == list(range(3000))
    assert one == sorted(one)
    assert other == sorted(other)
    assert abs(len(one) - 3000 * share) <= 3
    assert list(first.read(epoch=5)) == one
    sized = data.IterableDataset(range(3000)).split(share, seed=seed)
    assert [part.length for part in sized] == [len(one), len(other)]


def test_an_even_split_takes_every_nth_sample_and_a_seed_another():
    _, test = numbers(20).split(seed=None)
    assert list(test) == [0, 5, 10, 15]
    by_seed = [tuple(numbers(200).split(seed=seed)[1]) for seed in range(4)]
    assert len(set(by_seed)) == 4
    assert [len(part) for part in by_seed] == [40] * 4
    # not one class alone where the classes come in turn
    assert len({i % 5 for i in by_seed[0]}) == 5


@pytest.mark.parametrize("key", ["name", lambda sample: sample["name"]])
def test_a_key_keeps_the_samples_of_a_group_together_in_any_order(key):
    samples = [{"name": f"speaker {i % 50}", "number": i} for i in range(500)]
    stream = data.IterableDataset(samples)
    train, test = stream.split(0.8, key=key)
    names = [{sample["name"] for sample in part} for part in (train, test)]
    assert not names[0] & names[1]
    assert len(names[0] | names[1]) == 50
    assert 30 < len(names[0]) < 48
    shuffled = stream.shuffle(100).split(0.8, key=key)
    assert {s["number"] for s in shuffled[0].read(3)} == {s["number"] for s in train}
    assert {s["name"] for s in stream.split(0.8, seed=1, key=key)[0]} != names[0]


def test_keys_are_texts_bytes_and_numbers():
    pairs = data.IterableDataset([(np.int64(i), f"{i}") for i in range(100)])
    assert sorted(len(list(part)) for part in pairs.split(0.5, key=0))[0] > 30
    assert len(list(pairs.split(0.5, key=lambda p: p[1].encode())[0])) > 30
    with pytest.raises(DataError, match="text, bytes or a number, received tuple"):
        next(iter(pairs.split(key=lambda pair: pair)[0]))
    with pytest.raises(DataError, match="no entry 7"):
        next(iter(pairs.split(key=7)[0]))
    with pytest.raises(ConfigError, match="key wants a function"):
        pairs.split(key=1.5)


def test_streams_that_cannot_be_split_say_why():
    for share in (0, 1, 1.5, "half", True):
        with pytest.raises(ConfigError, match="share between 0 and 1"):
            numbers(9).split(share)
    with pytest.raises(ConfigError, match="an iterator can be read once only"):
        data.IterableDataset(iter(range(9))).split()
    for stream in (
        numbers(9).shuffle(3),
        numbers(9).repeat(),
        numbers(9).shuffle(3).map(abs),
        numbers(9).shuffle(3).take(2),
    ):
        with pytest.raises(ConfigError, match="call split before it, or name what a sample is called by key="):
            stream.split()
    with pytest.raises(ConfigError, match="would be empty"):
        data.IterableDataset([1]).split()
    assert list(numbers(9).shuffle(3).cache().split(0.5)[0]) == list(numbers(9).shuffle(3).cache().split(0.5)[0])
    assert list(data.IterableDataset(iter(range(9))).cache().split(0.5, seed=None)[0]) == [1, 3, 5, 7]


def test_parts_train_batch_by_batch_and_go_to_other_processes():
    train, _ = Counted(50).split(0.8)
    batches = list(pickle.loads(pickle.dumps(train)).map(T.ToFloat()).loader(8, workers=2).epoch(0))
    assert sum(len(batch["label"]) for batch in batches) == 40
    endless = data.IterableDataset(lambda: itertools.count()).split(0.5)
    assert len(list(itertools.islice(endless[1], 100))) == 100


# -- cache


@pytest.mark.parametrize("folder", [None, "cache"])
def test_a_cache_reads_the_stream_once(folder, tmp_path):
    stream = Counted(5)
    cached = stream.cache(None if folder is None else tmp_path / folder)
    assert cached.length is None
    for epoch in range(3):
        assert [int(s["image"][0, 0, 0]) for s in cached.read(epoch)] == [0, 1, 2, 3, 4]
    assert stream.reads == 5
    assert cached.length == 5
    assert cached.finite
    if folder is not None:
        again = Counted(5)
        assert [s["label"] for s in again.cache(tmp_path / folder)] == [0, 1, 2, 0, 1]
        assert again.reads == 0


@pytest.mark.parametrize("folder", [None, "cache"])
def test_a_pass_that_is_left_early_and_passes_side_by_side(folder, tmp_path):
    stream = Counted(6)
    cached = stream.cache(None if folder is None else tmp_path / folder)
    assert len(list(itertools.islice(cached, 2))) == 2
    assert stream.reads == 2
    one, other = iter(cached), iter(cached)
    assert [(next(one)["label"], next(other)["label"]) for _ in range(6)] == [(i % 3, i % 3) for i in range(6)]
    assert next(one, None) is next(other, None) is None
    assert stream.reads == 6
    if folder is not None:  # a program that was killed
        (tmp_path / folder / "end.json").unlink()
        (tmp_path / folder / "00000" / "5.sample").unlink()
        again = Counted(6)
        assert len(list(again.cache(tmp_path / folder))) == 6


def test_passes_in_threads_have_all_samples():
    cached, results = Counted(200).cache(), []
    threads = [threading.Thread(target=lambda: results.append(len(list(cached)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [200] * 4
    assert cached.source.reads == 200  # type: ignore[attr-defined]


def test_a_damaged_file_of_the_cache_is_read_again(tmp_path):
    cached = Counted(3).cache(tmp_path / "cache")
    assert len(list(cached)) == 3
    (tmp_path / "cache" / "00000" / "1.sample").write_bytes(b"no sample")
    again = Counted(3)
    assert [int(s["image"][0, 0, 0]) for s in again.cache(tmp_path / "cache")] == [0, 1, 2]
    assert again.reads == 2
    (tmp_path / "cache" / "end.json").write_text('{"samples": -1}')
    with pytest.raises(ConfigError, match="no description of a cache"):
        Counted(3).cache(tmp_path / "cache")


def test_an_iterator_can_be_read_again_from_its_cache():
    cached = data.IterableDataset(iter(range(4))).cache()
    assert cached.peek() == 0
    assert [list(cached), list(cached)] == [[0, 1, 2, 3]] * 2


def test_an_error_of_the_stream_is_no_end():
    tries = []

    def generate():
        yield 1
        tries.append(1)
        if len(tries) == 1:
            raise OSError("the network is away")
        yield 2

    cached = data.IterableDataset(generate).cache()
    with pytest.raises(OSError, match="network"):
        list(cached)
    assert [list(cached), list(cached)] == [[1, 2], [1, 2]]
    broken = data.IterableDataset(map(lambda i: 1 // (2 - i), range(4))).cache()
    with pytest.raises(ZeroDivisionError):
        list(broken)
    with pytest.raises(DataError, match="cannot be read on after the error at sample 2"):
        list(broken)


def test_what_cannot_be_cached_says_why(tmp_path):
    with pytest.raises(ConfigError, match="a stream with an end"):
        numbers(3).repeat().cache()
    assert list(numbers(3).repeat().take(5).cache()) == [0, 1, 2, 0, 1]
    numbers(3).map(abs).cache(tmp_path / "absolute")
    with pytest.raises(ConfigError, match="is a cache of"):
        numbers(3).map(float).cache(tmp_path / "absolute")
    with pytest.raises(ConfigError, match="is a cache of"):
        numbers(3).map(abs).split()[0].cache(tmp_path / "absolute")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(ConfigError, match="has other files"):
        numbers(3).cache(tmp_path / "other")


def test_a_cache_before_random_transforms_trains():
    noisy = Counted(20).cache().shuffle(8).map([T.HorizontalFlip(), T.ToFloat()])
    epochs = [list(noisy.loader(8, workers=2).epoch(epoch)) for epoch in (0, 1)]
    assert [len(batch["label"]) for batch in epochs[1]] == [8, 8, 4]
    assert not np.array_equal(epochs[0][0]["image"], epochs[1][0]["image"])
    copy = pickle.loads(pickle.dumps(noisy))
    assert len(list(copy)) == 20
