"""Data sets in files of a folder: arrays (.npz) and tables (.csv), each as samples for training and for testing.

Nothing of a file is run, and whatever is no data set is refused in a sentence that names the file and the place.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labdl.arrayfile import ArrayFile
from labdl.data.dataset import ArrayDataset
from labdl.data.splitting import parted, standardised
from labdl.data.tabulated import Table, read_table
from labdl.errors import ConfigError, FileFormatError, MissingFileError

CLASSES = 20  # a column of whole numbers that has no more different values than these tells classes
LARGEST = 1e18  # in a table: the squares of such numbers still are float32


def npz(path: str | Path, test_share: float = 0.2, seed: int = 0) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test) from a file of arrays: ``x`` and ``y``, or ``x_train``, ``y_train``, ``x_test`` and ``y_test``.

    ``x`` and ``y`` alone are split by ``seed``. Images of uint8 become numbers from 0 to 1, other whole numbers int64, the
    rest float32. A ``y`` of whole numbers (N,) tells classes, one of texts as well, by their names; numbers (N,) become
    (N, 1), as a model gives them. Raises MissingFileError and FileFormatError.
    """
    arrays = read_arrays(path)
    name = Path(path).name
    x, y = [_joined(arrays, which) for which in "xy"]
    if len(x) != len(y):
        raise FileFormatError(f"{name}: x and y want as many samples each, received {len(x)} and {len(y)}")
    y, classes = _targets(y, name)
    if "x" in arrays:
        train, test = _parted(len(x), test_share, seed, name)
    else:
        border = len(arrays["x_train"])
        train, test = np.arange(border), np.arange(border, len(x))
    return _sets(_inputs(x, name), y, train, test, Path(path).stem, classes)


def csv(
    path: str | Path, target: str | None = None, scale: bool = True, test_share: float = 0.2, seed: int = 0
) -> tuple[ArrayDataset, ArrayDataset]:
    """(train, test) from a table with a sample in each line: the ``target`` column, by default the last, from the others.

    The others have to be numbers. A target of texts, or of whole numbers with at most 20 different values, tells classes
    (N,) int64; other numbers are (N, 1) float32. With ``scale`` the columns, and a target of numbers, get the mean 0 and the
    deviation 1 over the samples for training. Split by ``seed``. Columns are divided by commas, semicolons or tabulators;
    their names stand in the first line, or are column_1, column_2 and so on. Raises MissingFileError, FileFormatError, and
    ConfigError for a column that there is none of.
    """
    table = read_table(path)
    name = Path(path).name
    at = table.place(target)
    x = table.numbers([i for i in range(len(table.columns)) if i != at])
    y, classes = _told(table, at)
    train, test = _parted(len(x), test_share, seed, name)
    if max(np.abs(x).max(), np.abs(y).max()) > LARGEST:
        raise FileFormatError(f"{name} holds numbers that are too large for a model: give them in other units")
    if scale:
        x = standardised(x, train)
        y = y if classes else standardised(y, train)
    return _sets(x.astype("float32"), y, train, test, Path(path).stem, classes)


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """The arrays that `npz` wants, by the names that it gives them. Raises MissingFileError and FileFormatError."""
    file = Path(path)
    if not file.is_file():
        raise MissingFileError(f"there is no file {file}")
    with ArrayFile(file) as found:
        names = {name.lower(): name for name in found}
        for wanted in (("x", "y"), ("x_train", "y_train", "x_test", "y_test")):
            if all(name in names for name in wanted):
                return {name: found[names[name]] for name in wanted}
        listed = ", ".join(list(found)[:10]) or "nothing"
    raise FileFormatError(
        f"{file.name} wants the arrays x and y, or x_train, y_train, x_test and y_test; it has {listed}"
    )


def _joined(arrays: dict[str, np.ndarray], which: str) -> np.ndarray:
    parts = [arrays[name] for name in arrays if name.partition("_")[0] == which]
    for part in parts:
        if part.ndim == 0 or part.shape[1:] != parts[0].shape[1:]:
            raise FileFormatError(f"{which} wants an axis of samples, and samples of one shape, received "
                                  f"{' and '.join(str(p.shape) for p in parts)}")  # fmt: skip
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
    """Targets as the losses want them, and the names of the classes if they tell such."""
    if y.dtype.kind in "SU" and y.ndim == 1:
        return _named(y.astype(str))
    if y.dtype.kind not in "biuf":
        raise FileFormatError(f"{name}: y wants numbers, or names of classes (N,), received {y.dtype} {y.shape}")
    if y.dtype.kind in "biu" and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype.kind in "biu" and y.ndim == 1:
        y = y.astype("int64")
        if len(y) and y.min() < 0:
            raise FileFormatError(f"{name}: y wants the numbers of classes from 0 on, received {y.min()}: give numbers that "
                                  "are to be foretold as float32")  # fmt: skip
        return y, [str(n) for n in range(int(y.max()) + 1)] if len(y) and y.max() < 10_000 else None
    if y.dtype.kind in "biu":
        return y.astype("int64"), None
    y = _finite(y.astype("float32"), f"{name}: y")
    return (y[:, None] if y.ndim == 1 else y), None


def _told(table: Table, at: int) -> tuple[np.ndarray, list[str] | None]:
    """What a column of a table tells: classes, or numbers (N, 1)."""
    if table.is_texts(at):
        texts = table.texts[at]
        if "" in texts:
            raise FileFormatError(f"{table.name}: line {table.line(texts.index(''))} has nothing in the column "
                                  f"{table.columns[at]!r:.60}: fill it or leave the line out")  # fmt: skip
        return _named(np.array(texts))
    values = table.numbers([at])
    found = np.unique(values)
    if len(found) <= CLASSES and (found == np.round(found)).all():
        return np.searchsorted(found, values[:, 0]).astype("int64"), [f"{value:.0f}" for value in found]
    return values.astype("float32"), None


def _named(texts: np.ndarray) -> tuple[np.ndarray, list[str]]:
    names, y = np.unique(texts, return_inverse=True)
    return y.reshape(-1).astype("int64"), [str(name) for name in names]


def _finite(values: np.ndarray, what: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise FileFormatError(f"{what} holds numbers that are not finite: fill them or leave those samples out")
    return values


def _parted(samples: int, test_share: float, seed: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        return parted(samples, test_share, seed)
    except ConfigError as error:
        raise type(error)(f"{name}: {error}") from None


def _sets(x, y, train, test, name: str, classes: list[str] | None) -> tuple[ArrayDataset, ArrayDataset]:
    if not len(train) or not len(test):
        raise FileFormatError(f"{name} wants samples to train and to test, received {len(train)} and {len(test)}")
    return (ArrayDataset(x[train], y[train], name=name, classes=classes),
            ArrayDataset(x[test], y[test], name=f"{name} (test)", classes=classes))  # fmt: skip
