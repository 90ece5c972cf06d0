"""Data sets of Hugging Face in both directions, libraries that are missing, and objects that are no data sets."""

import datasets
import numpy as np
import pytest

from labdl import data, framework_info
from labdl.data import transforms as T
from labdl.errors import BackendError, ConfigError, DataError


class Samples(data.Dataset):
    name, classes, inputs, targets = "samples", ("even", "odd"), ("image",), ("label",)

    def __len__(self):
        return 7

    def read(self, index, epoch=0):
        return {
            "image": data.Image(np.full((2, 3, 1 if index % 2 else 3), 30 * index, "uint8")),
            "label": index % 2,
            "score": index / 2,
            "name": f"é{index}",
            "boxes": data.BoundingBoxes(np.full((index, 4), index), canvas_size=(2, 3)),
            "tokens": data.TokenIds(range(index)),
            "words": data.Tokens(["a"] * index),
            "matrix": np.full((2, 2), index, "uint8"),
            "sound": data.Audio(np.linspace(-1, 1, 5 + index, dtype="float32"), sample_rate=8000),
            "good": bool(index % 2),
            "half": np.float16(index),
        }


def assert_same(ours, theirs):
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        if isinstance(value, str):
            assert theirs[name] == value
        elif name == "words":
            assert list(theirs[name]) == value
        else:
            array = np.asarray(value, {int: "int64", float: "float32"}.get(type(value)))
            assert (name, theirs[name].dtype, theirs[name].shape) == (name, array.dtype, array.shape)
            np.testing.assert_array_equal(array, theirs[name])


def test_a_data_set_of_hugging_face_holds_the_samples():
    native = Samples().to_native("datasets")
    assert type(native) is datasets.Dataset
    assert native.features["label"] == datasets.ClassLabel(names=["even", "odd"])
    assert native[3]["image"].size == (3, 2)
    back = data.from_native(native)
    assert (len(back), back.targets, back.classes) == (7, ("label",), ["even", "odd"])
    np.testing.assert_array_equal(back.labels(), [0, 1, 0, 1, 0, 1, 0])
    assert back.label_of(3) == 1
    for ours, theirs in zip(Samples(), back, strict=True):
        assert_same(ours, theirs)
    assert (type(back[0]["image"]), type(back[0]["sound"])) == (data.Image, data.Audio)
    assert back[0]["sound"].sample_rate == 8000


def test_a_stream_of_hugging_face_reads_the_samples():
    native = data.IterableDataset(Samples()).to_native("datasets")
    assert type(native) is datasets.IterableDataset
    for _ in range(2):
        for ours, theirs in zip(Samples(), data.from_native(native), strict=True):
            assert_same(ours, theirs)
    assert [row["name"] for row in native.take(2)] == ["é0", "é1"]


def test_numbered_columns_are_tuples():
    arrays = data.ArrayDataset(np.arange(6.0).reshape(3, 2), np.array([1, 0, 1]), classes=["a", "b"])
    native = arrays.to_native("datasets")
    assert native.column_names == ["column_0", "column_1"]
    assert native.features["column_1"].names == ["a", "b"]
    x, y = data.from_native(native)[2]
    assert (x.tolist(), x.dtype, y, y.dtype) == ([4.0, 5.0], "float64", 1, "int64")


def test_what_hugging_face_data_sets_hold_besides():
    rows = datasets.Dataset.from_dict({"x": [[1, 2], [3]], "y": ["a", None], "z": [{"u": 1, "v": [0.5]}] * 2})
    sample = data.from_native(rows)[1]
    assert (sample["x"].tolist(), sample["y"], sample["z"]["u"], sample["z"]["v"].tolist()) == ([3], None, 1, [0.5])
    assert data.from_native(rows.with_format("numpy", columns=["x"]))[0].keys() == {"x"}
    rows.set_transform(lambda batch: {"w": [np.float32(len(x)) for x in batch["x"]]})
    assert [sample["w"] for sample in data.from_native(rows)] == [2.0, 1.0]
    splits = data.from_native(datasets.DatasetDict({"train": rows, "test": rows.select([0])}))
    assert {name: len(part) for name, part in splits.items()} == {"train": 2, "test": 1}
    shuffled = data.from_native(datasets.Dataset.from_dict({"i": range(20)}).to_iterable_dataset().shuffle(seed=1))
    first, second = ([s["i"].item() for s in shuffled.read(epoch)] for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second


def test_pictures_and_sounds_in_files(tmp_path):
    from labdl.data.codecs.audio import encode_audio
    from labdl.data.codecs.image import encode_image

    image = np.arange(18, dtype="uint8").reshape(2, 3, 3)
    (tmp_path / "a.png").write_bytes(encode_image(image))
    (tmp_path / "a.wav").write_bytes(encode_audio(data.Audio(np.zeros(80, "float32"), sample_rate=8000), "wav"))
    rows = datasets.Dataset.from_dict({"image": [str(tmp_path / "a.png")], "sound": [str(tmp_path / "a.wav")]})
    rows = rows.cast(datasets.Features({"image": datasets.Image(), "sound": datasets.Audio(16_000)}))
    sample = data.from_native(rows)[0]
    np.testing.assert_array_equal(sample["image"], image)
    assert (sample["sound"].sample_rate, sample["sound"].shape) == (16_000, (1, 160))
    scaled = data.from_native(rows).map(T.Resize((4, 6)))[0]
    assert scaled["image"].shape == (4, 6, 3)
    elsewhere = {"image": [{"bytes": None, "path": "https://example.org/a.png"}]}
    remote = datasets.Dataset.from_dict(elsewhere, datasets.Features({"image": datasets.Image()}))
    with pytest.raises(DataError, match=r"names 'https://example.org/a.png', which is no file on this machine"):
        data.from_native(remote)[0]


def test_samples_that_columns_cannot_hold():
    with pytest.raises(ConfigError, match="the entry a is a object, columns are arrays and strings"):
        data.SampleDataset([{"a": object()}]).to_native("datasets")
    mixed = data.SampleDataset([{"a": 1}] * 20 + [{"b": 1}])
    with pytest.raises(ConfigError, match="samples have different entries, a and b: columns want the same"):
        mixed.to_native("datasets")
    with pytest.raises(ConfigError, match="the data set list is empty"):
        data.SampleDataset([]).to_native("datasets")


def test_unknown_libraries_and_objects():
    with pytest.raises(ConfigError, match=r"to_native wants one of .*'torch'.*'datasets', received 'pytorch'"):
        Samples().to_native("pytorch")
    with pytest.raises(ConfigError, match='data_format wants "channels_first" or "channels_last", received \'NHWC\''):
        Samples().to_native("datasets", data_format="NHWC")
    for value in ([1, 2], np.zeros(3), "torch", None, Samples()):
        with pytest.raises(
            ConfigError, match=rf"received {type(value).__name__}: wrap other objects as data.SampleDataset"
        ):
            data.from_native(value)


@pytest.mark.parametrize("library", framework_info.TRAINING)
def test_a_missing_framework_is_named_with_its_command(library, monkeypatch):
    monkeypatch.setattr(framework_info, "is_installed", lambda name: name == "numpy")
    monkeypatch.setattr("labdl.dispatch._loaded", {})
    with pytest.raises(BackendError, match=rf"backend '{library}' is not installed: pip install .labdl\[{library}\]."):
        Samples().to_native(library)


def test_missing_hugging_face_datasets(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(
        ConfigError, match="the library datasets of Hugging Face is not installed: pip install datasets"
    ):
        Samples().to_native("datasets")


@pytest.mark.sample(False)
def test_questions_about_objects_import_no_framework(fresh_python):
    code = """
import sys
from labdl import data
from labdl.data.native.reading import is_native
assert not is_native(data.ArrayDataset([1.0])) and not is_native([1]) and not is_native("x")
loaded = {"torch", "tensorflow", "paddle", "mindspore", "datasets", "keras"} & set(sys.modules)
assert not loaded, loaded
print("ok")
"""
    fresh_python(code).result()


def test_a_batch_is_a_sample_that_a_training_takes_as_it_is():
    arrays = data.ArrayDataset(np.arange(5))
    assert [d.batched for d in (arrays, arrays.batch(2), arrays.batch(2).take(1), arrays.batch(2).unbatch())] == [
        False, True, True, False]  # fmt: skip
    stream = data.IterableDataset(arrays)
    assert [d.batched for d in (stream, stream.batch(2), stream.batch(2).skip(1), stream.batch(2).unbatch())] == [
        False, True, True, False]  # fmt: skip
    from labdl.data.batch_loader import BatchLoader

    loader = BatchLoader(arrays.batch(2))
    assert (len(loader), loader.samples, loader.batch_size) == (3, 6, 2)
    assert [batch[0].tolist() for batch in loader] == [[0, 1], [2, 3], [4]]
    with pytest.raises(ConfigError, match="makes its own batches, of 2 samples"):
        loader.replace(arrays.batch(3), batch_size=3)
