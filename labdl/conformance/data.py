"""Clauses 6.2.2.2, 6.2.2.3, 6.2.3.4, B.1 and B.7: data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labdl import data, dispatch, standard
from labdl.conformance.row import close, equal, holds, raises, row
from labdl.data import ArrayDataset
from labdl.errors import ConfigError, MissingFileError


def points(count: int = 10) -> ArrayDataset:
    """Samples of two numbers each, with their indices as targets."""
    return ArrayDataset(np.arange(2 * count, dtype="float32").reshape(count, 2), np.arange(count))


# -- 6.2.2.2, augmentation


def _picture() -> data.Image:
    return data.Image(np.arange(4 * 6 * 3, dtype="uint8").reshape(4, 6, 3))


def _tone() -> data.Audio:
    time = np.arange(4000) / 8000
    return data.Audio(np.sin(2 * np.pi * 440 * time).astype("float32"), sample_rate=8000)


def _pitch(sound: data.Audio) -> float:
    """The loudest frequency in Hz."""
    wave = np.asarray(sound)[0]
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave))))
    return float(np.argmax(spectrum) * (sound.sample_rate or 0) / len(wave))


@row(
    "6.2.2.2 a)1",
    "Transforms of images: scaling, flipping, color",
    "Resize, HorizontalFlip and AdjustBrightness on a picture",
    name="transforms of images",
)
def transforms_of_images():
    from labdl.data import transforms as T

    picture = _picture()
    equal(T.HorizontalFlip(p=1.0)(picture), np.asarray(picture)[:, ::-1])
    holds(T.Resize((8, 12))(picture).shape == (8, 12, 3), "Resize gives the size")
    close(T.AdjustBrightness(0.5)(picture), np.asarray(picture) // 2)


@row(
    "6.2.2.2 a)2",
    "Transforms of texts: splitting into words, changes of grammar",
    "WhitespaceTokenizer and ChangeTense",
    name="transforms of texts",
)
def transforms_of_texts():
    from labdl.data import transforms as T

    words = T.WhitespaceTokenizer()(data.Text("we walk home"))
    holds(list(words) == ["we", "walk", "home"], "a text is split into its words")
    changed = T.ChangeTense("past")(data.Text("we walk home"))
    holds(str(changed) == "we walked home", "the tense is changed")


@row(
    "6.2.2.2 a)3",
    "Transforms of audio: speed, pitch, background noise",
    "Speed, PitchShift and AddNoise on a tone of 440 Hz",
    name="transforms of audio",
)
def transforms_of_audio():
    from labdl.data import transforms as T

    tone = _tone()
    holds(T.Speed(2.0)(tone).shape[-1] == 2000, "twice the speed takes half of the samples")
    holds(abs(_pitch(T.PitchShift(12)(tone)) - 880) < 20, "12 semitones higher is twice the frequency")
    noise = np.random.default_rng(0).normal(size=(1, 4000)).astype("float32")
    noisy = T.AddNoise(snr=10.0, array=noise)(tone, rng=0)
    added = np.asarray(noisy) - np.asarray(tone)
    close(10 * np.log10(np.sum(np.square(tone)) / np.sum(np.square(added))), 10.0, 1e-3)


@row(
    "6.2.2.2 b)",
    "Transforms of data and labels alike: such as the mixture of two images and of their labels",
    "HorizontalFlip on a picture and its boxes; MixUp of two pictures",
    name="transforms of data and labels alike",
)
def transforms_of_data_and_labels():
    from labdl.data import transforms as T

    sample = {"image": _picture(), "boxes": data.BoundingBoxes([[1, 0, 3, 2]], canvas_size=(4, 6))}
    equal(T.HorizontalFlip(p=1.0)(sample)["boxes"], [[3, 0, 5, 2]])
    first, second = ({"image": data.Image(np.full((2, 2, 1), v, "float32")), "label": v} for v in (0, 1))
    mixed = T.MixUp(num_classes=2)([first, second], rng=3)
    share = float(np.asarray(mixed["image"])[0, 0, 0])
    close(mixed["label"], [1 - share, share])


@row(
    "6.2.2.2 c)",
    "Random choices of transforms: also their order and combination, by a seed",
    "RandomChoice, RandomOrder, RandomApply and Compose with the same seed and with others",
    name="random choices of transforms",
)
def random_choices():
    from labdl.data import transforms as T

    steps = (T.HorizontalFlip(p=1.0), T.VerticalFlip(p=1.0), T.Invert())
    for cls in (T.RandomChoice, T.RandomOrder, T.RandomApply, T.Compose):
        equal(cls(steps)(_picture(), rng=4), cls(steps)(_picture(), rng=4))
    chosen = {np.asarray(T.RandomChoice(steps)(_picture(), rng=seed)).tobytes() for seed in range(30)}
    holds(len(chosen) == 3, "each of three transforms is chosen")


@row(
    "6.2.2.2 a)4",
    "Transforms of any data: normalization and scaling",
    "construct_operator with normalize and multiply against NumPy",
)
def transforms_of_any_data():
    x = np.array([[3.0, 4.0], [6.0, 8.0]], "float32")
    unit = standard.construct_operator({"name": "normalize", "axis": 1})
    close(standard.operate(unit, {"inputs": x})["inputs"], x / np.linalg.norm(x, axis=1, keepdims=True))
    scale = standard.construct_operator({"name": "multiply", "y": np.float32(1 / 255)})
    close(standard.operate(scale, {"inputs": x})["inputs"], x / 255)


# -- 6.2.2.3 and B.1, data sets


def _save_points(folder: str) -> str:
    path = Path(folder) / "points.npz"
    x, y = points().arrays
    np.savez(path, x=x, y=y)
    return str(path)


@row("6.2.2.3 a)", "A data set from its path and parameters", "construct_dataset on an .npz file with arrays=")
def from_path():
    with tempfile.TemporaryDirectory() as folder:
        dataset = standard.construct_dataset(_save_points(folder), arrays=["y", "x"])
    equal(dataset[2][0], 2)
    equal(dataset[2][1], [4, 5])


@row("6.2.2.3 b)", "The number of elements of a data set", "len")
def number_of_elements():
    with tempfile.TemporaryDirectory() as folder:
        holds(len(standard.construct_dataset(_save_points(folder))) == 10, "the data set has 10 samples")


@row("6.2.2.3 c)", "Part or all of the data are read", "one array of two, some samples, all of them")
def parts_of_the_data():
    with tempfile.TemporaryDirectory() as folder:
        dataset = standard.construct_dataset(_save_points(folder), arrays=["x"])
    equal(dataset[np.array([1, 3])][0], [[2, 3], [6, 7]])
    equal(dataset[:][0], points().arrays[0])


@row(
    "6.2.2.3 d)",
    "Pre-processing of what a data set gives",
    "construct_dataset with an operator of arrays, and with transforms of a folder of pictures and of annotations",
)
def preprocessing_in_a_data_set():
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        clip = standard.construct_operator({"name": "clip", "min": 0.0, "max": 7.0})
        dataset = standard.construct_dataset(_save_points(folder), operator=clip)
        equal(dataset[4][0], [7, 7])
        equal(dataset[4][1], 4)
        root = Path(folder) / "pictures"
        (root / "a").mkdir(parents=True)
        Image.fromarray(np.asarray(_picture())).save(root / "a" / "1.png")
        steps = [{"name": "HorizontalFlip", "p": 1.0}, {"name": "ToFloat"}]
        dataset = standard.construct_dataset(str(root), operator=steps)
        close(dataset[0]["image"], np.asarray(_picture())[:, ::-1] / np.float32(255))
        equal(dataset[0]["label"], 0)
        (root / "images").mkdir()
        (root / "labels").mkdir()
        (root / "a" / "1.png").rename(root / "images" / "1.png")
        (root / "labels" / "1.txt").write_text("2 0.25 0.5 0.5 0.5")
        dataset = standard.construct_dataset(str(root), operator=steps)
        close(dataset[0]["boxes"], [[3, 1, 6, 3]])
        equal(dataset[0]["labels"], [2])


@row(
    "B.1.1, table B.1",
    "A data set from its path",
    ".npz and .npy, Parquet and a packed data set; the class by name; no such path, unknown parameters and formats",
    interface="construct_dataset",
)
def construct_dataset():
    from labdl.data.formats import write_parquet
    from labdl.data.packing import pack

    with tempfile.TemporaryDirectory() as folder:
        dataset = standard.construct_dataset(_save_points(folder), classes=["a", "b"])
        np.save(Path(folder) / "x.npy", np.eye(3))
        equal(standard.construct_dataset(str(Path(folder) / "x.npy"))[:][0], np.eye(3))
        write_parquet(dataset.map(lambda s: {"x": s[0], "y": int(s[1])}), Path(folder) / "points.parquet")
        equal(standard.construct_dataset(str(Path(folder) / "points.parquet"))[3]["x"], [6, 7])
        pack(dataset, Path(folder) / "packed")
        equal(standard.construct_dataset(str(Path(folder) / "packed"))[3][0], [6, 7])
        (Path(folder) / "a.text").write_text("no; yes")
        texts = standard.construct_dataset(str(Path(folder) / "a.text"), format="TextDataset", sample_by="document")
        holds(str(texts[0]["text"]) == "no; yes", "the class by its name reads the document")
        with raises(ConfigError, "TextDataset"):
            standard.construct_dataset(str(folder), format="TextDatasets")
        with raises(MissingFileError, "nothing.npz"):
            standard.construct_dataset(str(Path(folder) / "nothing.npz"))
        with raises(ConfigError, "color"):
            standard.construct_dataset(_save_points(folder), color=True)
    equal(dataset[:][0], points().arrays[0])
    holds(dataset.classes == ["a", "b"], "the classes have names")


class _Files:
    """A data set whose files have been deleted."""

    def __init__(self, read: Callable):
        self.read = read

    def __getitem__(self, index: int):
        return self.read(f"/nowhere/{index}.txt")


@row(
    "B.1.2, table B.2",
    "The sample of a data set at an index",
    "a tuple of arrays; the file of a sample that is gone",
    interface="get_sample",
)
def get_sample():
    x, y = standard.get_sample(points(), 3)
    equal(x, [6, 7])
    equal(y, 3)
    with raises(MissingFileError, "sample 5"):
        standard.get_sample(_Files(open), 5)
    with raises(IndexError):
        standard.get_sample(points(), 10)


# -- 6.2.3.4 and B.7, pre-processing


@row("6.2.3.4 a)", "Pre-processing of images, audio and texts", "a data.Pipeline for each, saved and loaded")
def preprocessing_of_kinds():
    from labdl.data import transforms as T

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pipeline.json"
        for steps, sample, shape in (
            ([T.Resize((2, 3)), T.ToFloat()], _picture(), (2, 3, 3)),
            ([T.MelSpectrogram(n_fft=256, n_mels=16)], _tone(), (1, 16, 32)),
            ([T.Lower(), T.WhitespaceTokenizer()], data.Text("Two Words"), (2,)),
        ):
            data.Pipeline(steps).save(file)
            holds(np.shape(data.Pipeline.load(file)(sample)) == shape, f"the result has the shape {shape}")


@row("6.2.3.4 b)", "Several kinds of data are processed together", "an operator on inputs and targets at once")
def several_kinds():
    flip = standard.construct_operator({"name": "flip", "axis": -1, "on": ["inputs", "targets"]})
    image, mask = np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3)
    found = standard.operate(flip, {"inputs": image, "targets": mask})
    equal(found["inputs"], image[:, ::-1])
    equal(found["targets"], mask[:, ::-1])


@row("6.2.3.4 c)", "What is processed becomes a tensor", "operate, then initialize")
def to_tensor():
    clip = standard.construct_operator({"name": "clip", "min": 0.0, "max": 1.0})
    tensor = standard.initialize(standard.operate(clip, {"inputs": np.array([-1.0, 0.5, 3.0], "float32")})["inputs"])
    holds(dispatch.owner(tensor) is dispatch.get(), "the result is a tensor of the framework")
    close(tensor, [0, 0.5, 1])


@row(
    "B.7.1, table B.17",
    "An operation on data from its settings",
    "operators and transforms by name, functions; wrong names and settings",
    interface="construct_operator",
)
def construct_operator():
    values = {"inputs": np.array([1.0, -2.0])}
    for config, expected in (
        (None, [1, -2]),
        ({"name": "abs"}, [1, 2]),
        ({"name": lambda x, by: x * by, "by": 3}, [3, -6]),
    ):
        equal(standard.operate(standard.construct_operator(config), values)["inputs"], expected)
    sample = {"image": _picture(), "boxes": data.BoundingBoxes([[1, 0, 3, 2]], canvas_size=(4, 6)), "label": 1}
    flip = standard.construct_operator({"name": "HorizontalFlip", "p": 1.0})
    found = standard.operate(flip, sample)
    equal(found["image"], np.asarray(_picture())[:, ::-1])
    equal(found["boxes"], [[3, 0, 5, 2]])
    equal(found["label"], 1)
    equal(standard.operate(flip, {"inputs": np.arange(6).reshape(2, 3, 1)})["inputs"][:, :, 0], [[2, 1, 0], [5, 4, 3]])
    several = {"name": "RandomOrder", "transforms": [{"name": "VerticalFlip", "p": 1.0}, {"name": "Invert"}], "rng": 0}
    equal(standard.operate(standard.construct_operator(several), sample)["image"], 255 - np.asarray(_picture())[::-1])
    for wrong, word in (
        ({}, "name"),
        ({"name": "sharpen"}, "sharpen"),
        ({"name": "clip", "bottom": 0}, "bottom"),
        ({"name": "Resize", "sice": 3}, "sice"),
        ({"name": "Compose", "transforms": [{"name": "Resice"}]}, "Resize"),
        (7, "int"),
    ):
        with raises(ConfigError, word):
            standard.construct_operator(wrong)  # type: ignore[arg-type]


@row(
    "B.7.2, table B.18",
    "The data that an operation makes of data",
    "inputs changed, targets kept, the data given untouched",
    interface="operate",
)
def operate():
    given = {"inputs": np.array([4.0]), "targets": np.array([1])}
    found = standard.operate(standard.construct_operator({"name": "sqrt"}), given)
    equal(found["inputs"], [2.0])
    equal(found["targets"], [1])
    equal(given["inputs"], [4.0])
    holds(standard.operate(standard.construct_operator()) == {}, "no data give no data")
