"""Text files of a folder tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import FileList
from labdl.data.parts import Text
from labdl.data.text_files.encodings import EncodingErrors, check_encoding
from labdl.data.text_files.row_files import read_text


class TextFolder(Dataset):
    """Text files of a folder, of which each sub-folder is a class: samples ``{"text": Text, "label": int}``.

    ``classes`` are names of sub-folders in the order of their numbers, by default all in alphabetical order. With
    ``labels=False`` all files of the folder and those below are read, ``{"text": Text}``. Files have one of ``suffixes``
    and at most 64 MB; ``encoding`` is theirs, such as "gb18030". Links that lead out of the folder are refused unless
    ``follow_links``. As keras.utils.text_dataset_from_directory.

    Example: ``train, test = data.TextFolder("aclImdb/train").split(0.8, stratify=True)``. Raises MissingFileError, DataError.
    """

    inputs = ("text",)

    def __init__(
        self,
        root: str | Path,
        *,
        classes: Sequence[str] | None = None,
        labels: bool = True,
        suffixes: Sequence[str] = (".txt",),
        encoding: str = "utf-8",
        encoding_errors: EncodingErrors = "strict",
        follow_links: bool = False,
    ):
        self.encoding, self.encoding_errors = (
            check_encoding(encoding, encoding_errors, lines=False),
            encoding_errors,
        )
        self.files = FileList(root, list(suffixes), what="texts", labels=labels, classes=classes)
        self.name, self.classes = self.files.root.name, self.files.classes
        self.targets = ("label",) if labels else ()
        self.follow_links = follow_links

    def __len__(self) -> int:
        return len(self.files.paths)

    def file_of(self, index: int) -> str:
        return self.files.paths[index]

    def path(self, index: int) -> Path:
        """The file of a sample."""
        return self.files.path(index, follow_links=self.follow_links)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        text = Text(read_text(self.path(index), self.encoding, self.encoding_errors))
        return {"text": text} if self.files.labels is None else {"text": text, "label": self.files.labels[index]}

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self.files.labels is None else self.files.labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self.files.labels is None else np.array(self.files.labels, np.int64)
