"""The data sets that a server has open: the last few, by path and time of change."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset
from labdl.data.folders.survey import MOST_LOOKED_AT, count_files
from labdl.data.opening import PIPELINE_SUFFIX
from labdl.data.pipeline import Pipeline
from labdl.data.splits import open_data
from labdl.errors import ConfigError, DataError, FileFormatError
from labdl.lab.dataset_view import steps
from labdl.lab.dataset_view.service import DatasetView

MOST_OPEN = 8
_LARGEST_PIPELINE = 16 << 20  # bytes
MOST_FILES = 2_000_000
LARGEST = 256 << 20  # bytes of a table or of annotations, which take several times as many in memory


class OpenedDatasets:
    """Views of data sets by path, one for each part; one that has changed on disk is opened again."""

    def __init__(self) -> None:
        self._opened: OrderedDict[str, tuple[Any, dict[str, DatasetView]]] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def view(self, file: Path, path: str, split: str = "") -> DatasetView:
        """The view of a folder or a file, which may be that of a pipeline; ``path`` is what its code names.

        ``split`` is a part of a data set that has parts, by default the training part, or the first where there is none.
        Raises MissingFileError, DataError, FileFormatError and ConfigError.
        """
        views = self._views(file, path)
        if split and split not in views:
            parts = f"has the parts {', '.join(views)}" if all(views) else "has no parts"
            raise ConfigError(f"{file.name} {parts}, received {split!r:.40}")
        return views[split] if split else next(iter(views.values()))

    def _views(self, file: Path, path: str) -> dict[str, DatasetView]:
        with self._lock:
            opening = self._opening.setdefault(path, threading.Lock())
        with opening:
            stamp = _stamp(file)
            with self._lock:
                known = self._opened.get(path)
                if known is not None and known[0] == stamp:
                    self._opened.move_to_end(path)
                    return known[1]
            views = _open(file, path)
            with self._lock:
                self._opened[path] = stamp, views
                closed = [self._opened.popitem(last=False)[1][1] for _ in range(len(self._opened) - MOST_OPEN)]
                if known is not None:
                    closed.append(known[1])
                self._opening = {
                    name: lock for name, lock in self._opening.items() if lock.locked() or name in self._opened
                }
        for old in closed:
            for view in old.values():
                view.close()
        return views


def pipeline_path(path: str) -> str:
    """Where the pipeline of a data set is saved: beside it."""
    return path if path.endswith(PIPELINE_SUFFIX) else path + PIPELINE_SUFFIX


def load_pipeline(file: Path) -> Pipeline:
    """The saved pipeline of a data set, or one without steps. Raises FileFormatError for a damaged file, ConfigError."""
    saved = Path(pipeline_path(str(file)))
    return load_checked(saved) if saved.exists() else Pipeline([])


def load_checked(file: Path) -> Pipeline:
    """The pipeline of a file, if none of its steps reads files, which a server must not do for a page."""
    try:
        values = loads(read_file(file, _LARGEST_PIPELINE, "pipeline"))
    except ValueError as error:
        raise FileFormatError(f"{file.name} is no JSON: {error}") from None
    steps.check_reads_no_files(values.get("transforms") if isinstance(values, dict) else None)
    return Pipeline.load(file)


def dataset_of(file: Path) -> Path:
    """The folder or file with the samples; that of a pipeline is what it names. Raises ConfigError."""
    if not file.name.endswith(PIPELINE_SUFFIX):
        return file
    pipeline = load_checked(file)
    if pipeline.dataset is None:
        raise ConfigError(f"{file.name} names no data set: open a data set and add its steps there")
    return file.parent / pipeline.dataset


def open_limited(data: Path) -> Dataset | dict[str, Dataset]:
    """Open a data set, or its parts, with the limits of a server that others use too.

    Raises as `labdl.data.open_dataset` and `labdl.data.open_splits`.
    """
    if data.is_dir() and count_files(data, MOST_FILES) >= MOST_FILES:
        raise DataError(f"{data.name} has more than {MOST_FILES:,} files: pack it with labdl.data.pack, and open that")
    opened = open_data(data, largest=LARGEST)
    if not len(opened):
        raise DataError(f"{data.name} has no samples")
    return opened


def _open(file: Path, path: str) -> dict[str, DatasetView]:
    """The views of a data set by its parts; by an empty name where it has none."""
    data = dataset_of(file)
    opened = open_limited(data)
    name = path.rpartition("/")[2]
    splits = opened if isinstance(opened, dict) else {}
    views = {}
    for split, dataset in splits.items() if isinstance(opened, dict) else [("", opened)]:
        code = _code(name, split, is_pipeline=file is not data)
        settings = {"code": code, "pipeline_file": pipeline_path(path), "split": split, "splits": splits}
        views[split] = DatasetView(dataset, files=False, **settings)
    return views


def _code(name: str, split: str, *, is_pipeline: bool) -> str:
    """Python code that opens what a view shows."""
    if is_pipeline:
        return f"import labdl\n\ntrain_set, test_set = labdl.data.Pipeline.load({name!r}).datasets()\n"
    opened = f"labdl.data.open_splits({name!r})[{split!r}]" if split else f"labdl.data.open_dataset({name!r})"
    return f"import labdl\n\ndataset = {opened}\n"


def _stamp(file: Path) -> Any:
    """Times of a folder and of those two levels below, which change when files are added, removed or replaced."""
    data = dataset_of(file)
    status = data.stat()
    times = [(data.name, status.st_mtime_ns, status.st_size)]
    folders = [data] if data.is_dir() else []
    left = MOST_LOOKED_AT
    for _ in range(2):  # parts, and their classes
        above, folders = folders, []
        for folder in above:
            with os.scandir(folder) as entries:
                for _, entry in zip(range(left), entries, strict=False):
                    left -= 1
                    if entry.is_dir():
                        times.append((entry.path, entry.stat().st_mtime_ns, 0))
                        folders += [] if entry.is_symlink() else [Path(entry.path)]
    return tuple(times)
