"""Names of files and class numbers of a data set, without reading its samples; small pictures of folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.annotations.coco import CocoDetection
from labdl.data.annotations.segmentation_folder import SegmentationFolder
from labdl.data.annotations.voc import VOCDetection
from labdl.data.annotations.yolo import YOLODetection
from labdl.data.array_dataset import ArrayDataset
from labdl.data.dataset import Dataset
from labdl.data.flow.caching import CachedDataset, FileCachedDataset
from labdl.data.flow.combination import ConcatDataset
from labdl.data.flow.entries import ProjectedDataset, RenamedDataset, SupervisedDataset
from labdl.data.flow.map import MappedDataset
from labdl.data.flow.selection import SelectedDataset
from labdl.data.folders.image_folder import ImageFolder
from labdl.lab.dataset_view.part_views import class_name

_SAME_SAMPLES = (MappedDataset, CachedDataset, FileCachedDataset, ProjectedDataset, RenamedDataset, SupervisedDataset)
_MOST_CLASSES = 1000
_FILES: dict[type, Callable[[Any, int], Path]] = {  # others have a method `path`
    CocoDetection: lambda dataset, at: dataset.root / str(dataset.images[at]["file_name"]),
    SegmentationFolder: lambda dataset, at: dataset.images / dataset.paths[at],
    VOCDetection: lambda dataset, at: dataset.root / "Annotations" / f"{dataset.names[at]}.xml",
    YOLODetection: lambda dataset, at: dataset.root / "images" / dataset.paths[at],
}


def locate(dataset: Dataset, index: int, *, through: tuple[type, ...] = _SAME_SAMPLES) -> tuple[Dataset, int]:
    """The data set that a sample comes from, and its index there."""
    while True:
        if isinstance(dataset, SelectedDataset):
            dataset, index = dataset.source, int(dataset.indices[index])
        elif isinstance(dataset, ConcatDataset):
            for source in dataset.sources:
                if index < len(source):
                    break
                index -= len(source)
            dataset = source
        elif isinstance(dataset, through):
            dataset = dataset.source  # type: ignore[attr-defined]
        else:
            return dataset, index


def sample_name(dataset: Dataset, index: int) -> str:
    """The file of a sample, or its position."""
    origin, at = locate(dataset, index)
    for owner, attribute in ((getattr(origin, "files", None), "paths"), (origin, "paths"), (origin, "names")):
        listed = getattr(owner, attribute, None)
        if isinstance(listed, list) and len(listed) == len(origin) and isinstance(listed[at], str):
            return listed[at]
    if isinstance(origin, CocoDetection):
        return str(origin.images[at].get("file_name", at))
    return f"{at:,}" if origin is dataset else f"{index:,}"


def sample_file(dataset: Dataset, index: int) -> Path | None:
    """The file of a sample, where it has one of its own, which need not exist."""
    origin, at = locate(dataset, index)
    known, own = _FILES.get(type(origin)), getattr(origin, "path", None)
    try:
        found = known(origin, at) if known else own(at) if callable(own) else None
    except Exception:  # a link out of the folder, or a method of the user
        return None
    return Path(found) if isinstance(found, str | Path) else None


def known_labels(dataset: Dataset) -> np.ndarray | None:
    """The class numbers (N,) of all samples; None if they cannot be had without reading samples, or are no classes."""
    if isinstance(dataset, _SAME_SAMPLES):
        return known_labels(dataset.source)
    if isinstance(dataset, SelectedDataset):
        labels = known_labels(dataset.source)
        return None if labels is None else labels[np.asarray(dataset.indices, np.int64)]
    if isinstance(dataset, ConcatDataset):
        all_labels = [known_labels(source) for source in dataset.sources]
        return None if any(v is None for v in all_labels) else np.concatenate([v for v in all_labels if v is not None])
    if isinstance(dataset, ArrayDataset):
        return _class_numbers(dataset.arrays[-1]) if len(dataset.arrays) > 1 else None
    if type(dataset).labels is Dataset.labels or (dataset.targets and "label" not in dataset.targets):
        return None
    files = getattr(dataset, "files", None)
    if files is not None and getattr(files, "labels", None) is None:
        return None
    return _class_numbers(np.asarray(dataset.labels()))


def _class_numbers(labels: np.ndarray) -> np.ndarray | None:
    if labels.ndim != 1 or labels.dtype.kind not in "biu":
        return None
    return labels.astype(np.int64)


class ClassIndex:
    """The classes of samples that are known without reading them: counts of the classes, and the samples of one."""

    def __init__(self, dataset: Dataset):
        self._names: list[str] = list(dataset.classes or [])
        labels = known_labels(dataset)
        origin = dataset if isinstance(dataset, CocoDetection) else None
        if labels is not None:
            self._labels, self._samples = labels, np.arange(len(labels))
        elif origin is not None:
            counts = [len(objects) for objects in origin.objects]
            self._labels = np.array([o["label"] for objects in origin.objects for o in objects], np.int64)
            self._samples = np.repeat(np.arange(len(counts)), counts)
        else:
            self._labels = self._samples = np.zeros(0, np.int64)
        numbers = np.unique(self._labels)
        self.known = len(self._labels) > 0 and (bool(self._names) or len(numbers) <= _MOST_CLASSES)
        self._numbers = {class_name(number, self._names): int(number) for number in numbers} if self.known else {}

    def counts(self) -> list[dict[str, Any]]:
        """Name and count of each class, in the order of their numbers."""
        if not self.known:
            return []
        numbers, counts = np.unique(self._labels, return_counts=True)
        found = {int(n): int(c) for n, c in zip(numbers, counts, strict=True)}
        listed = sorted({*found, *range(len(self._names))})
        return [{"name": class_name(n, self._names), "count": found.get(n, 0)} for n in listed]

    def members(self, name: str) -> np.ndarray | None:
        """Indices of the samples of a class; None where they are not known."""
        if not self.known:
            return None
        number = self._numbers.get(name)
        return np.unique(self._samples[self._labels == number]) if number is not None else np.zeros(0, np.int64)


def label_text(sample: Any, label: Any, classes: Sequence[str] | None) -> str:
    """The label of a sample as text; empty if it has not one number or text."""
    if isinstance(label, str):
        return label[:200]
    array = np.asarray(label)
    if array.shape not in ((), (1,)) or array.dtype.kind not in "biuf":
        return ""
    return class_name(array.reshape(()), classes)


def read_small(dataset: Dataset, index: int, size: int) -> tuple[Any, tuple[int, int] | None]:
    """A sample with pictures of at least ``size`` pixels, and height and width in the file where they are smaller."""
    origin, at = locate(dataset, index, through=())
    if type(origin) is ImageFolder:
        image, full = origin.thumbnail(at, size)
        sample: dict[str, Any] = {"image": image}
        if origin.files.labels is not None:
            sample["label"] = origin.files.labels[at]
        return sample, full
    return dataset.read(index), None


def shorten_paths(message: str, dataset: Dataset) -> str:
    """A message without the folders above the data set, which a page need not know."""
    origin, _ = locate(dataset, 0) if len(dataset) else (dataset, 0)
    files = getattr(origin, "files", None)
    for root in (getattr(origin, "root", None), getattr(files, "root", None), getattr(origin, "images", None)):
        if isinstance(root, Path):
            message = message.replace(f"{root.parent}/", "")
    return message
