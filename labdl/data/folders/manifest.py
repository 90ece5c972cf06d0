"""Files that a table lists: pictures, sounds or videos, with labels and texts from the table's other columns."""

from __future__ import annotations

import copy
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset
from labdl.data.folders.decoders import Kind, decode_sample, decodes_parts, find_decoder, find_kind, read_encoded
from labdl.data.folders.label_column import LABELS, find_column, join_names, read_labels
from labdl.data.parts import Text
from labdl.errors import ConfigError, DataError, FileFormatError

_LARGEST = 1 << 30  # bytes of a manifest
_MOST_ROWS = 10_000_000
_PATHS = ("path", "file", "file_name", "filename", "image", "audio", "video", "audio_filepath", "wav")
_TEXTS = ("text", "caption", "transcript", "sentence")
_DELIMITERS = ",;\t"


class ManifestDataset(Dataset):
    """Pictures, sounds or videos that a JSON, JSON-lines or CSV file lists, with labels and texts.

    A row of the file is an object, or a line under one of names: ``{"path": "a/1.wav", "label": "yes", "text": "Yes!"}``.
    ``path`` names the column of paths, ``label`` that of labels, ``text`` one or several of texts, and ``columns`` others
    that samples keep; by default the usual names are looked for, such as path, file_name, label, text, transcript.
    Paths are relative to ``root``, the folder of the manifest by default, and stay below it.

    A sample has "image", "audio" or "video", by ``kind`` or the suffixes of the files, "label" and the texts by their
    names. Labels that are texts are numbered in alphabetical order, or that of ``classes``; whole numbers stay as they are,
    others become float32. ``settings`` are those of `decode_image`, `decode_audio` or `decode_video`.

    Example: ``data.ManifestDataset("train.jsonl", text="text", sample_rate=16_000, mono=True)``. Raises MissingFileError,
    FileFormatError for a file that is no such table, and ConfigError for a column that it does not have.
    """

    def __init__(
        self,
        manifest: str | Path,
        *,
        root: str | Path | None = None,
        kind: Kind | None = None,
        path: str | None = None,
        label: str | None = None,
        text: str | Sequence[str] | None = None,
        columns: Sequence[str] = (),
        classes: Sequence[str] | None = None,
        **settings: Any,
    ):
        file = Path(manifest)
        self.name, self.root = file.stem, file.parent if root is None else Path(root)
        rows = _read_rows(file)
        known = list(dict.fromkeys(name for row in rows for name in row))
        chosen = find_column("path", path, known, _PATHS, file.name)
        if chosen is None:
            raise ConfigError(f"{file.name} has the columns {join_names(known)}: say which one has the paths, by path=")
        label = find_column("label", label, known, LABELS, file.name)
        self.texts = _find_texts(text, known, file.name)
        self.columns = tuple(find_column("columns", name, known, (), file.name) or "" for name in columns)
        self.paths = [_text_of(row, chosen, at, file.name) for at, row in enumerate(rows)]
        self.kind = kind if kind is not None else find_kind(self.paths, file.name)
        self._decode = find_decoder(self.kind, settings, type(self).__name__)
        self._settings = settings
        self.inputs = (self.kind,)
        self.targets = ("label",) if label is not None else self.texts
        self.classes, self._labels = None, None
        if label is not None:
            self.classes, self._labels = read_labels([row.get(label) for row in rows], classes, label, file.name)
        elif classes is not None:
            raise ConfigError(
                f"classes= names the classes of a column of labels, of which {file.name} has none: label="
            )
        kept = (*self.texts, *self.columns)
        taken = [name for name in kept if name in (self.kind, *(["label"] if label is not None else []))]
        if taken:
            raise ConfigError(f"a sample of {file.name} would have {taken[0]!r} twice: rename the column")
        self._rows = [{name: row.get(name) for name in kept} for row in rows]

    def renumber(self, classes: Sequence[str]) -> None:
        """Number the classes in the order of ``classes``, which has all of them."""
        if self._labels is not None and self.classes is not None:
            numbers = [classes.index(name) for name in self.classes]
            self.classes, self._labels = list(classes), [numbers[label] for label in self._labels]

    def __len__(self) -> int:
        return len(self.paths)

    def file_of(self, index: int) -> str:
        return self.paths[index]

    def path(self, index: int) -> Path:
        """The file of a sample. Raises DataError for a path that leads out of the folder."""
        path = self.root / self.paths[index]
        if "\0" in self.paths[index] or not path.resolve().is_relative_to(self.root.resolve()):
            raise DataError(
                f"{self.paths[index]!r:.200} is not below {self.root}: a manifest names files of its folder"
            )
        return path

    def as_bytes(self) -> Dataset | None:
        if self.kind != "image" or not decodes_parts(self._settings):
            return None
        other = copy.copy(self)
        other._decode = read_encoded
        return other

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        sample = decode_sample(self.kind, self._decode, self.path(index), self._settings)
        if self._labels is not None:
            sample["label"] = self._labels[index]
        row = self._rows[index]
        sample |= {name: Text(row[name]) if row[name] is not None else Text("") for name in self.texts}
        return sample | {name: row[name] for name in self.columns}

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self._labels is None else self._labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self._labels is None else np.asarray(self._labels)


def has_paths(file: Path) -> bool:
    """Whether a table has a column of one of the usual names of paths. Raises as `ManifestDataset`."""
    known = {name for row in _read_rows(file) for name in row}
    return not known.isdisjoint(_PATHS)


def _read_rows(file: Path) -> list[dict[str, Any]]:
    suffix = file.suffix.lower()
    readers = {".json": _json_rows, ".jsonl": _line_rows, ".ndjson": _line_rows, ".csv": _csv_rows, ".tsv": _csv_rows}
    if suffix not in readers:
        raise ConfigError(f"ManifestDataset reads {', '.join(readers)}, received {file.name}")
    content = read_file(file, _LARGEST, "manifest")
    try:
        text = content.decode("utf-8-sig")
        rows = []
        for row in readers[suffix](text):
            if not isinstance(row, dict):
                raise ValueError(f"its row {len(rows) + 1:,} is no object of names and values")
            rows.append(row)
            if len(rows) > _MOST_ROWS:
                raise ValueError(f"it has more than {_MOST_ROWS:,} rows")
    except (ValueError, csv.Error) as error:
        raise FileFormatError(f"{file.name} is no manifest: {error}") from None
    if not rows:
        raise FileFormatError(f"{file.name} has no rows")
    return rows


def _json_rows(text: str) -> Iterator[Any]:
    content = loads(text)
    if isinstance(content, dict):  # {"data": [...]}
        content = next((value for value in content.values() if isinstance(value, list)), content)
    if not isinstance(content, list):
        raise ValueError("it wants a list of objects")
    yield from content


def _line_rows(text: str) -> Iterator[Any]:
    for number, line in enumerate(io.StringIO(text), 1):
        if line.strip():
            try:
                yield loads(line)
            except ValueError as error:
                raise ValueError(f"line {number:,}: {error}") from None


def _csv_rows(text: str) -> Iterator[Any]:
    first = text[: text.find("\n")] if "\n" in text else text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=first.count), strict=True)
    names: list[str] | None = None
    for row in reader:
        if not row:
            continue
        if names is None:
            names = [name.strip() for name in row]
            if len(set(names)) < len(names):
                raise ValueError("two of its columns have the same name")
        elif len(row) != len(names):
            raise ValueError(f"line {reader.line_num:,} has {len(row)} columns, the first has {len(names)}")
        else:
            yield dict(zip(names, row, strict=True))


def _find_texts(text: str | Sequence[str] | None, known: list[str], file: str) -> tuple[str, ...]:
    if text is None:
        return tuple(name for name in _TEXTS if name in known)[:1]
    names = (text,) if isinstance(text, str) else text
    return tuple(find_column("text", name, known, (), file) or "" for name in names)


def _text_of(row: dict[str, Any], column: str, at: int, file: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise FileFormatError(f"{file}: the row {at + 1:,} has no path in the column {column!r:.60}, but {value!r:.60}")
    return value.strip()
