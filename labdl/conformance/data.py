"""Clauses 6.2.2, 6.2.3.4, B.1 and B.7: data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labdl import data, dispatch, standard
from labdl.conformance.row import Missing, close, equal, holds, lacking, later, raises, row
from labdl.data import ArrayDataset
from labdl.errors import ConfigError, FileFormatError, MissingFileError


def points(count: int = 10) -> ArrayDataset:
    """Samples of two numbers each, with their indices as targets."""
    return ArrayDataset(np.arange(2 * count, dtype="float32").reshape(count, 2), np.arange(count))


# -- 6.2.2.1, reading files


def try_suffixes(suffixes: str, what: str) -> None:
    """Read a file of each format; formats without a reader are missing."""
    unread = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in suffixes.split():
            path = Path(folder) / f"sample.{suffix}"
            path.write_bytes(b"sample\n")
            try:
                standard.construct_dataset(str(path))
            except ConfigError:
                unread.append(suffix)
            except FileFormatError:  # there is a reader, which rejects the dummy file
                pass
    if unread:
        raise Missing(f"construct_dataset reads no {', '.join(unread)}")
    raise AssertionError(f"there are readers of {suffixes} now: this row must compare what they read ({what})")


_FILES = [
    ("6.2.2.1 a)", "text files", "txt json xml"),
    ("6.2.2.1 b)", "image files", "jpg png bmp"),
    ("6.2.2.1 c)", "audio files", "mp3 wma wav"),
    ("6.2.2.1 d)", "video files", "mp4 mov"),
]
for _clause, _what, _suffixes in _FILES:
    row(_clause, f"Reading {_what}", f"construct_dataset on {_suffixes}", name=_what)(
        lambda suffixes=_suffixes, what=_what: try_suffixes(suffixes, what)
    )


@row("6.2.2.1 c)", "Decoding H.264, H.265 and AV1", "a reader of videos")
def video_decoding():
    later(data, "VideoDataset VideoReader read_video", "the decoding of H.264, H.265 and AV1")


@row(
    "6.2.2.1 e)",
    "Data are checked when they are read",
    "a broken .npz file, one with Python objects, arrays of unequal lengths",
)
def validation():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        path.write_bytes(b"PK\3\4 nothing")
        with raises(FileFormatError, "data.npz"):
            standard.construct_dataset(str(path))
        np.savez(path, x=np.array([{}, {}], object))
        with raises(FileFormatError, "data.npz"):
            standard.construct_dataset(str(path))
        np.savez(path, x=np.zeros(3), y=np.zeros(2))
        with raises(ConfigError, "equal length"):
            standard.construct_dataset(str(path))


# -- 6.2.2.2, augmentation


_TRANSFORMS = [
    ("6.2.2.2 a)1", "transforms of images", "scaling, flipping, color"),
    ("6.2.2.2 a)2", "transforms of texts", "splitting into words, changes of grammar"),
    ("6.2.2.2 a)3", "transforms of audio", "speed, pitch, background noise"),
    ("6.2.2.2 b)", "transforms of data and labels alike", "such as the mixture of two images and of their labels"),
    ("6.2.2.2 c)", "random choices of transforms", "also their order and combination, by a seed"),
]
for _clause, _what, _which in _TRANSFORMS:
    row(_clause, f"{_what.capitalize()}: {_which}", "labdl.data.transforms", name=_what)(
        lambda what=_what: later(data, "transforms", what)
    )


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


@row("6.2.2.3 d)", "Pre-processing of what a data set gives", "construct_dataset with an operator")
def preprocessing_in_a_data_set():
    with tempfile.TemporaryDirectory() as folder:
        path = _save_points(folder)
        clip = standard.construct_operator({"name": "clip", "min": 0.0, "max": 1.0})
        with lacking(ConfigError, "construct_dataset takes no pre-processing of samples"):
            standard.construct_dataset(path, operator=clip)
    raise AssertionError("construct_dataset takes pre-processing now: this row must compare what it gives")


@row(
    "B.1.1, table B.1",
    "A data set from its path",
    ".npz and .npy; a path that does not exist, an unknown parameter",
    interface="construct_dataset",
)
def construct_dataset():
    with tempfile.TemporaryDirectory() as folder:
        dataset = standard.construct_dataset(_save_points(folder), classes=["a", "b"])
        np.save(Path(folder) / "x.npy", np.eye(3))
        equal(standard.construct_dataset(str(Path(folder) / "x.npy"))[:][0], np.eye(3))
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


@row("6.2.3.4 a)", "Pre-processing of images, audio and texts", "labdl.data.transforms")
def preprocessing_of_kinds():
    later(data, "transforms", "pre-processing of images, audio and texts")


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
    "operators by name, functions; wrong names and settings",
    interface="construct_operator",
)
def construct_operator():
    data = {"inputs": np.array([1.0, -2.0])}
    for config, expected in (
        (None, [1, -2]),
        ({"name": "abs"}, [1, 2]),
        ({"name": lambda x, by: x * by, "by": 3}, [3, -6]),
    ):
        equal(standard.operate(standard.construct_operator(config), data)["inputs"], expected)
    for wrong, word in (
        ({}, "name"),
        ({"name": "sharpen"}, "sharpen"),
        ({"name": "clip", "bottom": 0}, "bottom"),
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
