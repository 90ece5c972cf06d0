"""Statistics of a data set, read bit by bit as long as a page asks for them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import numpy as np

from labdl.data import parts
from labdl.data.dataset import Dataset, find_label
from labdl.errors import DataError
from labdl.lab.dataset_view import images
from labdl.lab.dataset_view.part_views import class_name, entries_of, kind_of, to_array
from labdl.lab.dataset_view.source import ClassIndex, read_small, sample_file, sample_name, shorten_paths

MOST_READ = 20_000  # samples, spread over the data set
MOST_SECONDS = 300.0  # of reading
PATIENCE = 10.0  # seconds after the last request until the reading stops
_MOST_BROKEN, _MOST_CLASSES, _MOST_MEASURES = 100, 1000, 16
_BINS = 24
_BATCH = 0.05  # seconds of reading between two looks at the clock of the last request
_THUMBNAIL = 32
_UNITS = {"width": "px", "height": "px", "seconds": "s"}


class Statistics:
    """Counts and measures of the samples read so far; `answer` starts or continues a thread that reads further ones.

    Samples are read in a random order, so that the first ones already speak for all. Reading stops ten seconds after the
    last `answer`, after 20,000 samples or five minutes; what is kept of a sample are a few numbers.
    """

    def __init__(self, dataset: Dataset, index: ClassIndex, *, background: bool = True):
        self._dataset, self._index, self._background = dataset, index, background
        count = len(dataset)
        order = np.random.default_rng(0).permutation(count) if count <= 10 * MOST_READ else None
        self._order = order[:MOST_READ] if order is not None else np.linspace(0, count - 1, MOST_READ).astype(np.int64)
        self._read, self._seconds = 0, 0.0
        self._measures: dict[str, list[float]] = {}
        self._labels: Counter[str] = Counter()
        self._members: dict[str, list[int]] = {}
        self._broken: list[dict[str, Any]] = []
        self._broken_count = 0
        self._lock = threading.Lock()
        self._asked, self._thread = 0.0, None

    @property
    def complete(self) -> bool:
        return self._read >= len(self._order) or self._seconds >= MOST_SECONDS

    def answer(self) -> dict[str, Any]:
        """Fields of the `StatisticsAnswer`."""
        self._asked = time.monotonic()
        if not self.complete:
            self._go_on()
        with self._lock:
            return {
                "read": self._read,
                "samples": len(self._dataset),
                "complete": self.complete,
                "classes": self._index.counts() or self._counted_classes(),
                "histograms": [_histogram(name, values) for name, values in self._measures.items() if values],
                "broken": sorted(self._broken, key=lambda b: b["index"]),
                "broken_count": self._broken_count,
            }

    def members(self, name: str) -> np.ndarray:
        """The samples of a class among those read so far, where they cannot be known before."""
        with self._lock:
            return np.sort(np.array(self._members.get(name, []), np.int64))

    def close(self) -> None:
        """Stop reading."""
        self._asked = -PATIENCE

    def _go_on(self) -> None:
        if not self._background:
            self._advance(0.2)
            return
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="labdl-statistics", daemon=True)
                self._thread = thread
                thread.start()

    def _run(self) -> None:
        while not self.complete and time.monotonic() - self._asked < PATIENCE:
            self._advance(_BATCH)
            time.sleep(0.002)  # requests of the page come first
        with self._lock:
            self._thread = None

    def _advance(self, seconds: float) -> None:
        start = time.monotonic()
        while not self.complete and time.monotonic() - start < seconds:
            self._measure(int(self._order[self._read]))
        self._seconds += time.monotonic() - start

    def _measure(self, index: int) -> None:
        measures: dict[str, float] = {}
        labels: list[str] = []
        problem = ""
        try:
            sample, full = read_small(self._dataset, index, _THUMBNAIL)
            measures = _measure(sample, full, self._dataset.targets)
            labels = [] if self._index.known else _labels(sample, self._dataset)
        except Exception as error:  # of a reader of the user; it is listed
            problem = shorten_paths(str(error) or type(error).__name__, self._dataset)[:500]
        with self._lock:
            self._read += 1
            if problem:
                self._broken_count += 1
                if len(self._broken) < _MOST_BROKEN:
                    self._broken.append(
                        {
                            "index": index,
                            "name": sample_name(self._dataset, index),
                            "problem": problem,
                            "path": str(sample_file(self._dataset, index) or ""),
                        }
                    )
                return
            for name, value in measures.items():
                if name in self._measures or len(self._measures) < _MOST_MEASURES:
                    self._measures.setdefault(name, []).append(value)
            for label in labels:
                if label in self._labels or len(self._labels) < _MOST_CLASSES:
                    self._labels[label] += 1
                    members = self._members.setdefault(label, [])
                    if not members or members[-1] != index:
                        members.append(index)

    def _counted_classes(self) -> list[dict[str, Any]]:
        names = [str(name) for name in self._dataset.classes or ()]
        others = sorted(
            set(self._labels) - set(names), key=lambda n: (not n.isdigit(), int(n) if n.isdigit() else 0, n)
        )
        return [{"name": name, "count": self._labels[name]} for name in [*names, *others]] if self._labels else []


def _measure(sample: Any, full: tuple[int, int] | None, targets: Any) -> dict[str, float]:
    """Numbers of a sample, by the name of their histogram."""
    found: dict[str, float] = {}
    for name, value in entries_of(sample):
        for measure, number in _measures_of(name, value, full, targets):
            found.setdefault(measure, float(number))  # of the first picture, the first text
    return found


def _measures_of(name: str, value: Any, full: tuple[int, int] | None, targets: Any) -> list[tuple[str, float]]:
    kind = kind_of(name, value, targets)
    array = to_array(value) if kind in ("image", "number") else None
    if kind == "image" and array is not None:
        height, width = full or images.size_of(array)
        return [("width", width), ("height", height)]
    if kind == "audio":
        return [("seconds", value.seconds or 0.0)]
    if kind == "video":
        return [("frames", len(value)), ("width", value.shape[2]), ("height", value.shape[1])]
    if kind == "boxes":
        return [("objects", len(value))]
    if isinstance(value, parts.Text):
        return [("characters", len(value))]
    if kind == "tokens":
        return [("tokens", len(value))]
    if array is not None and array.size == 1 and array.dtype.kind in "iuf" and np.isfinite(array).all():
        return [(name, array.reshape(()).item())]
    return []


def _labels(sample: Any, dataset: Dataset) -> list[str]:
    """Names of the classes of a sample: of its label, or of its objects."""
    try:
        label = (
            sample["labels"] if isinstance(sample, dict) and "labels" in sample else find_label(sample, dataset.targets)
        )
    except DataError:
        return []
    if type(label) is str:
        return [label[:200]]
    array = to_array(label)
    if array is None or array.ndim > 1 or array.dtype.kind not in "biu" or isinstance(label, parts.Part):
        return []
    return [class_name(number, dataset.classes) for number in array.reshape(-1)]


def _histogram(name: str, values: list[float]) -> dict[str, Any]:
    array = np.asarray(values)
    least, most = float(array.min()), float(array.max())
    integers = bool((array == np.round(array)).all())
    if integers:  # each bin is of as many numbers
        step = -(-int(most - least + 1) // _BINS)
        edges = np.arange(least, most + 1 + step, step) - 0.5
    elif least == most:
        edges = np.array([least - 0.5, most + 0.5])
    else:
        edges = np.linspace(least, most, _BINS + 1)
    counts, edges = np.histogram(array, edges)
    unit = _UNITS.get(name, "")
    return {
        "name": name,
        "unit": unit,
        "edges": [round(float(e), 6) for e in edges],
        "counts": counts.tolist(),
        "integers": integers,
    }
