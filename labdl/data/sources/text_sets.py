"""Readers of text sets: folders of reviews, news in csv files, paragraphs of text files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.dataset import Dataset
from labdl.data.parts import Text
from labdl.data.text_files.text_folder import TextFolder
from labdl.errors import FileFormatError

_LARGEST = 2 << 30  # bytes of a text file; that of WikiText-103 has 540 MB


class Texts(Dataset):
    """Texts in memory, with class numbers: samples ``{"text": Text, "label": int}``."""

    inputs, targets = ("text",), ("label",)

    def __init__(self, texts: Sequence[str], labels: Sequence[int], *, name: str, classes: Sequence[str]):
        self.texts, self._labels = texts, np.array(labels, np.int64)
        self.name, self.classes = name, list(classes)

    def __len__(self) -> int:
        return len(self.texts)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        return {"text": Text(self.texts[index]), "label": int(self._labels[index])}

    def label_of(self, index: int) -> Any:
        return int(self._labels[index])

    def labels(self) -> np.ndarray:
        return self._labels


class Paragraphs(Dataset):
    """The lines of a text file that are not blank: samples ``{"text": Text}``."""

    inputs = ("text",)

    def __init__(self, file: Path, *, name: str):
        self.name = name
        self._text = read_file(file, _LARGEST, "text file")
        starts, at = [], 0
        for line in io.BytesIO(self._text):
            if line.strip():
                starts.append((at, at + len(line)))
            at += len(line)
        self._ends = np.array(starts, np.int64).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self._ends)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        start, end = self._ends[index]
        return {"text": Text(self._text[start:end].decode("utf-8", "replace").strip())}


def read_imdb(split: str, folder: Path) -> TextFolder:
    """Film reviews, negative 0 and positive 1."""
    data = TextFolder(folder / "aclImdb" / split, classes=["neg", "pos"], encoding_errors="replace")
    data.name = f"IMDB ({split})"
    return data


def read_news(split: str, file: Path, *, name: str, classes: Sequence[str]) -> Texts:
    """News of a csv file without header: the class number from 1, title and text, which are joined."""
    texts, labels = [], []
    content = io.StringIO(read_file(file, _LARGEST, "csv file").decode("utf-8", "replace"), newline="")
    try:
        for number, row in enumerate(csv.reader(content, strict=True), 1):
            if len(row) < 2 or not row[0].isdecimal() or not 1 <= int(row[0]) <= len(classes):
                raise FileFormatError(
                    f"{file.name}, row {number} wants a class from 1 to {len(classes)} and a text, "
                    f"received {','.join(row)!r:.60}"
                )
            labels.append(int(row[0]) - 1)
            texts.append(" ".join(row[1:]))
    except csv.Error as error:
        raise FileFormatError(f"{file.name} is no csv file: {error}") from None
    return Texts(texts, labels, name=f"{name} ({split})", classes=classes)


def read_wikitext(split: str, folder: Path, *, name: str, inside: str) -> Paragraphs:
    """Paragraphs and headings of Wikipedia articles, with rare words as <unk>."""
    return Paragraphs(folder / inside / f"wiki.{split}.tokens", name=f"{name} ({split})")
