"""Data sets from files: arrays (.npz, .npy) and tables (.csv).

Files are never executed. Errors name the file and the position.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labdl.data.array_dataset import ArrayDataset
from labdl.data.csv_features import CHOICES, Encode, Missing, encode_features, read_features
from labdl.data.csv_reader import Table, read_table
from labdl.data.npz import open_arrays
from labdl.data.preprocessing import standardize, train_test_split
from labdl.errors import ConfigError, FileFormatError

CLASSES = 20  # an integer column with at most so many distinct values holds class labels
LARGEST = 1e18  # of the values of a table: their squares are finite in float32


def npz(path: str | Path, test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test) from a file of arrays: ``x`` and ``y``, or ``x_train``, ``y_train``, ``x_test`` and ``y_test``.

    ``x`` and ``y`` alone are split by ``seed``. uint8 images are scaled to 0..1, other integers become int64, floats float32.
    A ``y`` of integers (N,) holds class labels, one of strings (N,) class names; float targets (N,) become (N, 1).
    Raises MissingFileError and FileFormatError.
    """
    arrays = _inputs_and_targets(path)
    name = Path(path).name
    x, y = [_concatenate(arrays, which) for which in "xy"]
    if len(x) != len(y):
        raise FileFormatError(f"{name}: x and y want as many samples each, received {len(x)} and {len(y)}")
    y, classes = _targets(y, name)
    if "x" in arrays:
        train, test = _split(len(x), test_share, seed, name)
    else:
        border = len(arrays["x_train"])
        train, test = np.arange(border), np.arange(border, len(x))
    return _make_datasets(_inputs(x, name), y, train, test, Path(path).stem, classes)


def array_dataset(
    path: str | Path, names: Sequence[str] | None = None, classes: Sequence[str] | None = None
) -> ArrayDataset:
    """The arrays of an .npz file as they are, all in their order or those of ``names``, or the one of an .npy file.

    Raises MissingFileError and FileFormatError, and ConfigError for a name that the file does not have and for arrays of
    different lengths.
    """
    with open_arrays(path) as arrays:
        names = list(arrays) if names is None else names
        unknown = [name for name in names if name not in arrays]
        if unknown:
            raise ConfigError(f"{Path(path).name} has the arrays {', '.join(arrays)}, not {unknown[0]!r}")
        return ArrayDataset(*(arrays[name] for name in names), name=Path(path).stem, classes=classes)


def csv(
    path: str | Path,
    target: str | None = None,
    scale: bool = True,
    test_share: float = 0.2,
    seed: int = 0,
    *,
    missing: Missing = "error",
    encode: Encode = "none",
) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test) from a table with a sample per line; ``target`` is the column of the targets, by default the last.

    A target of strings, or of integers with at most 20 distinct values, becomes class
    labels (N,) int64; other numbers are regression targets (N, 1) float32. ``scale`` standardizes features and regression
    targets by the training samples. Split by ``seed``.

    ``missing``: a value that is missing (empty, or a text such as NA) is an "error"; "drop" leaves the sample out; "mean",
    "median" and "most_frequent" fill numbers with what the training samples have. Among texts it is a category of its own, or
    the most frequent one with "most_frequent". Targets are not filled. ``encode``: a column of texts is an error ("none"), a
    column of 0 and 1 for each category ("one_hot"; all 0 for one that only test samples have), or one of the categories'
    numbers in the order of the alphabet ("ordinal"); neither is scaled. `labdl.data.Table` keeps rows, dates and texts.

    Columns are separated by commas, semicolons or tabs; their names are
    in the first line, or column_1, column_2 and so on. Raises MissingFileError, FileFormatError, and ConfigError if there is
    no such column.
    """
    table = read_table(path)
    name = Path(path).name
    at = table.column_index(target)
    for argument, value in (("missing", missing), ("encode", encode)):
        if value not in CHOICES[argument]:
            raise ConfigError(f"{argument} wants one of {', '.join(CHOICES[argument])}, received {value!r:.80}")
    features = read_features(table, [i for i in range(len(table.columns)) if i != at], at, missing, encode)
    y, classes = _table_targets(table, at, features.rows)
    train, test = _split(len(features.rows), test_share, seed, name)
    x, largest = encode_features(features, train, scale, missing, encode)
    if max(largest, np.abs(y).max()) > LARGEST:
        raise FileFormatError(f"{name} holds numbers that are too large for float32: scale them")
    if scale and not classes:
        y = standardize(y, train)
    return _make_datasets(x, y, train, test, Path(path).stem, classes)


def _inputs_and_targets(path: str | Path) -> dict[str, np.ndarray]:
    """Read the arrays for `npz`, by name."""
    with open_arrays(path) as found:
        names = {name.lower(): name for name in found}
        for wanted in (("x", "y"), ("x_train", "y_train", "x_test", "y_test")):
            if all(name in names for name in wanted):
                return {name: found[names[name]] for name in wanted}
        listed = ", ".join(list(found)[:10]) or "nothing"
    raise FileFormatError(
        f"{Path(path).name} wants the arrays x and y, or x_train, y_train, x_test and y_test; it has {listed}"
    )


def _concatenate(arrays: dict[str, np.ndarray], which: str) -> np.ndarray:
    parts = [arrays[name] for name in arrays if name.partition("_")[0] == which]
    for part in parts:
        if part.ndim == 0 or part.shape[1:] != parts[0].shape[1:]:
            raise FileFormatError(
                f"{which} wants an axis of samples, and samples of one shape, received "
                f"{' and '.join(str(p.shape) for p in parts)}"
            )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _inputs(x: np.ndarray, name: str) -> np.ndarray:
    if x.dtype.kind not in "biuf":
        raise FileFormatError(f"{name}: x wants numbers, received {x.dtype}")
    if x.dtype == np.uint8:
        return x.astype("float32") / 255
    if x.dtype.kind in "iu":
        return x.astype("int64")
    return _finite(x.astype("float32"), f"{name}: x")


def _targets(y: np.ndarray, name: str) -> tuple[np.ndarray, list[str] | None]:
    """Targets for the losses, and the names of the classes for class labels."""
    if y.dtype.kind in "SU" and y.ndim == 1:
        return _encode_classes(_decode(y) if y.dtype.kind == "S" else y)
    if y.dtype.kind not in "biuf":
        raise FileFormatError(f"{name}: y wants numbers, or names of classes (N,), received {y.dtype} {y.shape}")
    if y.dtype.kind in "biu" and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype.kind in "biu" and y.ndim == 1:
        y = y.astype("int64")
        if len(y) and y.min() < 0:
            raise FileFormatError(
                f"{name}: y wants the numbers of classes from 0 on, received {y.min()}: give regression "
                "targets as float32"
            )
        return y, [str(n) for n in range(int(y.max()) + 1)] if len(y) and y.max() < 10_000 else None
    if y.dtype.kind in "biu":
        return y.astype("int64"), None
    y = _finite(y.astype("float32"), f"{name}: y")
    return (y[:, None] if y.ndim == 1 else y), None


def _table_targets(table: Table, at: int, rows: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Targets of rows from a column of a table: class labels (N,), or numbers (N, 1)."""
    if table.gaps(at)[rows].any():
        table.refuse_gap(at, "or missing='drop' leaves the line out")
    if table.is_text(at):
        texts = np.array(table.texts[at], object)  # an array of texts has the longest one's place for each
        return _encode_classes(texts[rows])
    values = table.numbers(at, gaps=True)[rows]
    found = np.unique(values)
    if len(found) <= CLASSES and (found == np.round(found)).all():
        return np.searchsorted(found, values).astype("int64"), [f"{value:.0f}" for value in found]
    return values.astype("float32")[:, None], None


def _decode(texts: np.ndarray) -> np.ndarray:
    """Bytes as texts, in UTF-8 or else in Latin-1, which any bytes are."""
    try:
        return np.char.decode(texts, "utf-8")
    except UnicodeDecodeError:
        return np.char.decode(texts, "latin-1")


def _encode_classes(texts: np.ndarray) -> tuple[np.ndarray, list[str]]:
    names, y = np.unique(texts, return_inverse=True)
    return y.reshape(-1).astype("int64"), [str(name) for name in names]


def _finite(values: np.ndarray, what: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise FileFormatError(f"{what} holds numbers that are not finite: fill them or leave those samples out")
    return values


def _split(samples: int, test_share: float, seed: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        return train_test_split(samples, test_share, seed)
    except ConfigError as error:
        raise type(error)(f"{name}: {error}") from None


def _make_datasets(x, y, train, test, name: str, classes: list[str] | None) -> tuple[ArrayDataset, ArrayDataset]:
    if not len(train) or not len(test):
        raise FileFormatError(
            f"{name} wants samples for training and for testing, received {len(train)} and {len(test)}"
        )
    return (
        ArrayDataset(x[train], y[train], name=name, classes=classes),
        ArrayDataset(x[test], y[test], name=f"{name} (test)", classes=classes),
    )
