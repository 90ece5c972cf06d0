"""Pictures, sounds or videos of a list of paths."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import (
    Kind,
    decode_sample,
    decodes_parts,
    find_decoder,
    find_kind,
    read_encoded,
)
from labdl.errors import ConfigError, MissingFileError


class FileDataset(Dataset):
    """Pictures, sounds or videos of files: ``{"image": Image}``, ``{"audio": Audio}`` or ``{"video": Video}``.

    ``paths`` is one path or a sequence of them, ``labels`` a class number for each, or another number or array as target;
    ``classes`` are names of the classes. ``kind`` is "image", "audio" or "video", by default that of the suffixes;
    ``settings`` are those of `decode_image`, `decode_audio` or `decode_video`; ``fast=True`` of pictures is that of
    `ImageFolder`.

    Example: ``data.FileDataset(["a.jpg", "b.jpg"], labels=[0, 1])``. As datasets.Image on a column of paths. Raises
    MissingFileError for a path without a file, and ConfigError.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        labels: Sequence[Any] | np.ndarray | None = None,
        classes: Sequence[str] | None = None,
        kind: Kind | None = None,
        **settings: Any,
    ):
        listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        self.paths = [os.fspath(path) for path in listed]
        if not self.paths:
            raise ConfigError("FileDataset wants at least one path")
        for path in self.paths:
            if not os.path.isfile(path):
                raise MissingFileError(f"there is no file {path}")
        if labels is not None and len(labels) != len(self.paths):
            raise ConfigError(
                f"FileDataset wants a label for each of {len(self.paths):,} paths, received {len(labels):,}"
            )
        self.kind = find_kind(self.paths, "paths=") if kind is None else kind
        self.settings, self._decode = settings, find_decoder(self.kind, settings, type(self).__name__)
        self._labels = None if labels is None else np.asarray(labels)
        self.name, self.classes = Path(self.paths[0]).stem, None if classes is None else list(classes)
        self.inputs, self.targets = (self.kind,), () if labels is None else ("label",)

    def __len__(self) -> int:
        return len(self.paths)

    def path(self, index: int) -> Path:
        """The file of a sample."""
        return Path(self.paths[index])

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        sample = decode_sample(self.kind, self._decode, self.path(index), self.settings)
        return sample if self._labels is None else {**sample, "label": self._label(index)}

    def as_bytes(self) -> Dataset | None:
        if self.kind != "image" or not decodes_parts(self.settings):
            return None
        other = copy.copy(self)
        other._decode = read_encoded
        return other

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self._labels is None else self._label(index)

    def labels(self) -> np.ndarray:
        return super().labels() if self._labels is None else self._labels

    def _label(self, index: int) -> Any:
        assert self._labels is not None
        value = self._labels[index]
        return value.item() if isinstance(value, np.integer) else value
