"""Data sets of Hugging Face (the library ``datasets``), as data sets of LabDL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.native.foreign_samples import as_tuple, convert_sample
from labdl.data.parts import Audio
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import DataError

if TYPE_CHECKING:
    import datasets

_LARGEST = 1 << 30  # bytes of a file that a sample names


def from_hugging_face(value: Any) -> Any:
    """A `Dataset` or `IterableDataset`, or a dictionary of them by split."""
    import datasets

    if isinstance(value, datasets.DatasetDict | datasets.IterableDatasetDict):
        return {name: from_hugging_face(part) for name, part in value.items()}
    if isinstance(value, datasets.Dataset):
        return HuggingFaceDataset(value)
    return HuggingFaceStream(value)


class HuggingFaceDataset(Dataset):
    """A ``datasets.Dataset``: dictionaries of its columns; see `labdl.data.from_native`."""

    def __init__(self, value: datasets.Dataset):
        self.native = value
        self._rows, self._features = _with_files(value)
        self.name = value.info.dataset_name or "datasets.Dataset"
        self.inputs, self.targets, self.classes = _roles(value.features)

    def __len__(self) -> int:
        return len(self.native)

    def read(self, index: int, epoch: int = 0) -> Any:
        return _sample(self._rows[index], self._features)

    def label_of(self, index: int) -> Any:
        if not self.targets:
            return super().label_of(index)
        return self._rows.select_columns(list(self.targets[:1]))[index][self.targets[0]]

    def labels(self) -> np.ndarray:
        return np.asarray(self._rows[self.targets[0]][:]) if self.targets else super().labels()


class HuggingFaceStream(IterableDataset):
    """A ``datasets.IterableDataset``; see `labdl.data.from_native`."""

    def __init__(self, value: datasets.IterableDataset):
        super().__init__()
        self.native = value
        self.name = value.info.dataset_name or "datasets.IterableDataset"
        self.inputs, self.targets, self.classes = _roles(value.features)

    @property
    def length(self) -> int | None:
        return None

    @property
    def restartable(self) -> bool:
        return True

    def read(self, epoch: int = 0) -> Iterator[Any]:
        rows, features = _with_files(self.native)
        rows.set_epoch(epoch)
        return (_sample(row, features) for row in rows)


def _with_files(value: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """The data set with files in place of pictures and sounds, which are decoded here, and its features.

    A transform that is set as its format stays; its results have no features.
    """
    import datasets

    form = getattr(value, "format", None)
    if form is not None and form["type"] == "custom":
        return value, None
    if form is not None:
        value = value.with_format(None).select_columns(list(form["columns"]))
    for name, feature in (value.features or {}).items():
        if isinstance(feature, datasets.Image | datasets.Audio) and feature.decode:
            value = value.cast_column(name, dataclasses.replace(feature, decode=False))
    return value, value.features


def _roles(features: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[str, ...], list[str] | None]:
    """Inputs, targets and class names: the column of class numbers is the target, the only other column the input."""
    import datasets

    labels = [name for name, feature in (features or {}).items() if isinstance(feature, datasets.ClassLabel)]
    if len(labels) != 1:
        return (), (), None
    others = tuple(name for name in features or {} if name != labels[0])
    return others if len(others) == 1 else (), (labels[0],), list(features[labels[0]].names)  # type: ignore[index]


def _sample(row: Any, features: Mapping[str, Any] | None) -> Any:
    if features is None:
        return convert_sample(row, _as_array)
    return as_tuple({name: _decode(value, features[name], name) for name, value in row.items()})


def _as_array(value: Any) -> Any:
    return np.asarray(value) if hasattr(value, "__array__") else value


def _decode(value: Any, feature: Any, name: str) -> Any:
    """A value of a column in the dtype of its feature."""
    import datasets

    if value is None:
        return None
    if isinstance(feature, datasets.Image):
        from labdl.data.codecs.image import decode_image

        return decode_image(_file(value, name), feature.mode if feature.mode in ("RGB", "RGBA", "L") else "unchanged")
    if isinstance(feature, datasets.Audio):
        from labdl.data.codecs.audio import decode_audio

        return decode_audio(_file(value, name), sample_rate=feature.sampling_rate)
    if isinstance(feature, dict) and feature.keys() == {"array", "sampling_rate"}:
        return Audio(_decode(value["array"], feature["array"], name), sample_rate=value["sampling_rate"])
    if isinstance(feature, dict):
        return {key: _decode(value[key], feature[key], f"{name}.{key}") for key in feature}
    if isinstance(feature, datasets.Value | datasets.ClassLabel):
        kind = _dtype(feature)
        return value if kind is None else np.asarray(value, kind)[()]
    kind = _dtype(feature)
    if kind is not None:
        try:
            array = np.asarray(value, kind)
            shape = getattr(feature, "shape", None)
            return array if array.size or shape is None else array.reshape([n or 0 for n in shape])
        except (ValueError, TypeError):  # rows of different lengths, missing values
            return value
    inner = getattr(feature, "feature", None)
    if inner is not None and isinstance(value, list):
        return [_decode(v, inner, name) for v in value]
    return value


def _dtype(feature: Any) -> np.dtype | None:
    """The dtype of the numbers of a feature; None if they are something else."""
    while getattr(feature, "feature", None) is not None and not isinstance(feature.feature, dict):
        feature = feature.feature
    try:
        return np.dtype(feature.dtype) if feature.dtype not in ("string", "list", "dict") else None
    except TypeError:  # dates, binary
        return None


def _file(value: Mapping[str, Any], name: str) -> bytes:
    """The content of a file of a column: stored in it, or on this machine."""
    if value.get("bytes") is not None:
        return value["bytes"]
    from labdl.bounded.files import read_file

    path = value.get("path")
    if not path or "://" in path:
        raise DataError(f"the column {name} names {path!r:.200}, which is no file on this machine: download it first")
    return read_file(path, _LARGEST, "file of a column")
