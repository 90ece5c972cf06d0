"""Data sets that are read sample by sample: indexing, flow, batches, and the same numbers for any number of threads."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError


class Squares(data.Dataset):
    """Pictures of one color and their class; sample 7 can be made unreadable."""

    name, classes, inputs, targets = "squares", ["a", "b", "c"], ("image",), ("label",)

    def __init__(self, count=20, broken=()):
        self.count, self.broken = count, set(broken)

    def __len__(self):
        return self.count

    def read(self, index, epoch=0):
        if index in self.broken:
            raise OSError("no such picture")
        return {"image": data.Image(np.full((4, 6, 3), index, "uint8")), "label": index % 3}


class Torchlike(data.Dataset):
    """As in PyTorch: __len__ and __getitem__ alone."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return np.full(2, index, "float32"), index


def numbers(dataset) -> list[int]:
    return [int(sample["image"][0, 0, 0]) for sample in dataset]


def test_indices_slices_and_batches():
    d = Squares()
    assert d[3]["label"] == 0
    assert d[-1]["label"] == 1
    assert numbers(d[2:8:2]) == [2, 4, 6]
    batch = d[np.array([4, 1])]
    assert batch["image"].shape == (2, 3, 4, 6)
    assert batch["label"].tolist() == [1, 1]
    with pytest.raises(IndexError, match="squares has 20 samples, received the index 20"):
        d[20]
    assert [y for _, y in Torchlike()] == [0, 1, 2, 3, 4]
    x, y = Torchlike()[np.array([1, 2])]
    assert x.tolist() == [[1, 1], [2, 2]]
    assert y.tolist() == [1, 2]


def test_flow_changes_the_order_and_leaves_the_source():
    d = Squares(10)
    assert numbers(d.take(3)) == [0, 1, 2]
    assert numbers(d.skip(8)) == [8, 9]
    assert numbers(d.shard(3, 1)) == [1, 4, 7]
    assert numbers(d.repeat(2)) == [*range(10), *range(10)]
    assert numbers(d.concat(Squares(2))) == [*range(10), 0, 1]
    assert numbers(Squares(3).interleave(Squares(2), block=2)) == [0, 1, 0, 1, 2]
    assert sorted(numbers(d.shuffle(3))) == list(range(10))
    assert numbers(d.filter(lambda s: s["label"] == 2)) == [2, 5, 8]
    assert [tuple(int(p["image"][0, 0, 0]) for p in pair) for pair in Squares(3).zip(Squares(2))] == [(0, 0), (1, 1)]
    assert numbers(d) == list(range(10))
    assert d.labels().tolist() == [i % 3 for i in range(10)]
    assert d.select(np.arange(10) % 2 == 0).labels().tolist() == [0, 2, 1, 0, 2]


def test_batches_windows_and_entries():
    d = Squares(7)
    assert [len(b["label"]) for b in d.batch(3)] == [3, 3, 1]
    assert len(d.batch(3, drop_last=True)) == 2
    assert [int(s["label"]) for s in d.batch(3).unbatch()] == [i % 3 for i in range(7)]
    assert [w["label"].tolist() for w in d.window(3, shift=2)] == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    assert list(d.project("label")[0]) == ["label"]
    assert list(d.rename({"label": "class"})[0]) == ["image", "class"]
    x, y = d.as_supervised()[2]
    assert (x.shape, y) == ((4, 6, 3), 2)
    assert d.rename({"label": "class"}).as_supervised()[2][1] == 2
    with pytest.raises(ConfigError, match=r"entries image, label, not 'lable': did you mean 'label'\?"):
        d.as_supervised("image", "lable")[0]
    padded = data.SampleDataset([np.ones(n) for n in (1, 3, 2)]).padded_batch(3, value=-1)[0]
    assert padded.tolist() == [[1, -1, -1], [1, 1, 1], [1, 1, -1]]


def test_sample_from_follows_its_weights():
    mixed = data.sample_from([Squares(10), Squares(10)], [0, 1], length=30)
    assert len(mixed) == 30
    assert np.bincount(numbers(mixed)).tolist() == [3] * 10
    with pytest.raises(ConfigError, match="a weight of at least 0"):
        data.sample_from([Squares(1)], [-1])


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.floats(0.05, 0.95), st.integers(0, 5))
def test_split_divides_all_samples(count, share, seed):
    first, second = Squares(count).split(share, seed=seed)
    assert sorted([*first.indices, *second.indices]) == list(range(count))
    assert len(first) == min(max(round(count * share), 1), count - 1)


def test_a_stratified_split_keeps_the_shares_of_the_classes():
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    d = data.ArrayDataset(np.arange(100), labels)
    first, second = d.split(0.8, stratify=True)
    assert np.bincount(first.labels()).tolist() == [48, 24, 8]
    assert np.bincount(second.labels()).tolist() == [12, 6, 2]


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_any_number_of_threads_gives_the_same_batches(workers):
    d = Squares(23).map([T.HorizontalFlip(), T.GaussianNoise(sigma=0.1)], seed=5)
    expected = list(d.loader(4, shuffle=True, seed=2, workers=0).epoch(3))
    found = list(d.loader(4, shuffle=True, seed=2, workers=workers).epoch(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one["image"], other["image"])
        np.testing.assert_array_equal(one["label"], other["label"])
    resumed = list(d.loader(4, shuffle=True, seed=2, workers=workers).epoch(3, start=4))
    np.testing.assert_array_equal(resumed[0]["image"], expected[4]["image"])


def test_random_numbers_depend_on_seed_epoch_and_index():
    noise = [T.GaussianNoise(sigma=0.2)]
    d = Squares(3).map(noise, seed=1)
    same = Squares(3).map(noise, seed=1)
    np.testing.assert_array_equal(d.read(1, 4)["image"], same.read(1, 4)["image"])
    for other in (d.read(1, 5), Squares(3).map(noise, seed=2).read(1, 4), d.map(noise).read(1, 4)):
        assert not np.array_equal(other["image"], d.read(1, 4)["image"])


@pytest.mark.parametrize("errors", ["skip", "replace"])
def test_unreadable_samples_are_reported(errors):
    loader = Squares(20, broken=[7, 12]).loader(5, errors=errors, workers=2)
    with pytest.warns(
        UserWarning, match="2 samples of squares could not be read: sample 7 of squares cannot be read: OSError"
    ):
        sizes = [len(b["label"]) for b in loader]
    assert sizes == ([5, 4, 4, 5] if errors == "skip" else [5, 5, 5, 5])
    assert [p.index for p in loader.problems] == [7, 12]


def test_an_unreadable_sample_has_its_place_in_the_whole_data_set():
    whole = Squares(20, broken=[7])
    parts = [
        whole.skip(5),
        whole.skip(5).map([T.ToFloat()]).take(9),
        Squares(3).concat(whole),
        whole.select([2, 7]).repeat(2).project("image"),
        Squares(4).interleave(whole),
    ]
    for part in parts:
        with pytest.raises(DataError, match=r"^sample 7 of squares cannot be read: OSError: no such picture"):
            list(part.loader(4, workers=0))
    mixed = Squares(2, broken=[1]).map([T.MixUp(num_classes=3, p=1.0)])
    with pytest.raises(DataError, match=r"sample 1 of squares cannot be read: OSError: no such picture"):
        [mixed.read(0, epoch) for epoch in range(20)]


def test_an_unreadable_sample_raises_and_leaves_no_thread():
    before = threading.active_count()
    with pytest.raises(DataError, match="sample 7 of squares cannot be read: OSError: no such picture"):
        list(Squares(20, broken=[7]).loader(5, workers=3))
    batches = Squares(20).loader(2, workers=3).epoch(0)
    next(batches)
    batches.close()
    assert threading.active_count() == before


def test_batches_of_different_shapes_say_what_to_do():
    d = data.SampleDataset([data.Image(np.zeros((n, 4, 3), "uint8")) for n in (3, 5)])
    with pytest.raises(
        DataError, match=r"different shapes, \(3, 4, 3\) and \(5, 4, 3\): add a transform such as T.Resize"
    ):
        d.batch(2)[0]
    sounds = data.SampleDataset([data.Audio(np.ones(n), sample_rate=8) for n in (3, 5)])
    with pytest.raises(DataError, match="pad=0 in the Loader"):
        sounds.batch(2)[0]
    assert next(iter(sounds.loader(2, pad=0))).shape == (2, 1, 5)


def test_boxes_of_samples_are_lists_in_a_batch():
    def sample(count):
        boxes = data.BoundingBoxes(np.ones((count, 4)), canvas_size=(8, 8))
        return {"image": data.Image(np.zeros((8, 8, 3), "uint8")), "boxes": boxes, "labels": np.zeros(count, "int64")}

    batch = data.SampleDataset([sample(1), sample(3)]).batch(2)[0]
    assert batch["image"].shape == (2, 3, 8, 8)
    assert [b.shape for b in batch["boxes"]] == [(1, 4), (3, 4)]
    assert [b.shape for b in batch["labels"]] == [(1,), (3,)]


def test_memory_of_batches_is_aligned():
    for batch in Squares(5).loader(2):
        assert batch["image"].ctypes.data % 64 == 0


def test_a_cache_on_disk_is_of_one_half_and_of_its_transforms(tmp_path):
    halves = Squares(8).split(0.5, seed=0)
    assert numbers(halves[0].cache(tmp_path / "half")) == numbers(halves[0])
    assert numbers(Squares(8).split(0.5, seed=0)[0].cache(tmp_path / "half")) == numbers(halves[0])
    with pytest.raises(ConfigError, match="is a cache of"):
        halves[1].cache(tmp_path / "half")
    for transforms in ([T.Invert(), lambda_free], [T.Invert(), lambda_free]):
        Squares(8).map(transforms).cache(tmp_path / "inverted")
    with pytest.raises(ConfigError, match="Invert"):
        Squares(8).map([T.Solarize(threshold=0.5)]).cache(tmp_path / "inverted")


@pytest.mark.parametrize("folder", [None, "cache"])
def test_a_cache_reads_each_sample_once(folder, tmp_path):
    reads = []

    class Counter(Squares):
        def read(self, index, epoch=0):
            reads.append(index)
            return super().read(index)

    cached = Counter(4).cache(None if folder is None else tmp_path / folder)
    first, second = list(cached), list(cached)
    assert sorted(reads) == [0, 1, 2, 3]
    for one, other in zip(first, second, strict=True):
        assert type(other["image"]) is data.Image
        np.testing.assert_array_equal(one["image"], other["image"])
    if folder:
        assert next(iter(Counter(4).cache(tmp_path / folder)))["label"] == 0
        assert sorted(reads) == [0, 1, 2, 3]
        with pytest.raises(ConfigError, match="is a cache of"):
            Counter(5).cache(tmp_path / folder)
        with pytest.raises(ConfigError, match="is a cache of"):
            Counter(8).take(4).cache(tmp_path / folder)
        next((tmp_path / folder).glob("*/0.sample")).write_bytes(b"LDLSbroken")
        assert cached[0]["label"] == 0


def test_data_sets_are_sent_to_other_processes():
    d = Squares(9).map([T.HorizontalFlip()]).filter(lambda_free).cache()
    restored = pickle.loads(pickle.dumps(d))
    assert numbers(restored) == numbers(d)


def lambda_free(sample):
    return sample["label"] == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Squares().take(-1), "take wants a number of samples of at least 0"),
        (lambda: Squares().shard(2, 2), "an index below it"),
        (lambda: Squares().select([25]), "indices from 0 to 19, received 25"),
        (lambda: Squares().split(1.5), "a share above 0 and below 1"),
        (lambda: Squares().window(0), "size of at least 1"),
        (lambda: Squares().zip([1]), "wants data sets"),
        (lambda: Squares().map([3]), "wants transforms and functions of a sample"),
        (lambda: Squares().map([T.HorizontalFlip]), r"write T.HorizontalFlip\(\)"),
        (lambda: Squares().loader(4, errors="ignore"), '"raise", "skip" or "replace"'),
        (lambda: Squares().loader(4, workers=-1), "workers wants an integer at least 0"),
        (lambda: data.SampleDataset(lambda i: i), "wants length="),
    ],
)
def test_wrong_settings_are_refused(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


def test_pipelines_are_files(tmp_path):
    pipeline = data.Pipeline([T.HorizontalFlip(p=0.3), T.RandomApply([T.Invert()], p=0.5)])
    pipeline.save(tmp_path / "prepare.json")
    assert data.Pipeline.load(tmp_path / "prepare.json") == pipeline
    with pytest.raises(ConfigError, match=r"step 1: the function .* of Lambda cannot be saved"):
        data.Pipeline([lambda s: s]).save(tmp_path / "function.json")
    for text in ("{", "[]", '{"version": 9, "transforms": []}', '{"version": 1, "transforms": [{"type": "Nothing"}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json"):
            data.Pipeline.load(tmp_path / "bad.json")


def test_ctrl_c_ends_the_threads_of_a_loader():
    def wait(i):
        time.sleep(0.01)
        return i

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(data.SampleDataset(wait, length=100_000).loader(16, workers=3))
    deadline = time.monotonic() + 60
    while any(thread.name.startswith("labdl-data") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "a thread goes on reading"
        time.sleep(0.02)
