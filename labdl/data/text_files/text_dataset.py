"""Texts of files as a data set: lines of text, JSON, JSON lines, CSV, XML and Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.folders.label_column import LABELS, find_column, join_names, read_labels
from labdl.data.formats.path_list import Paths, Places, list_paths
from labdl.data.parts import Text
from labdl.data.text_files.encodings import EncodingErrors, check_encoding
from labdl.data.text_files.row_files import Rows, open_rows
from labdl.errors import ConfigError, DataError

Format = Literal["text", "json", "jsonl", "csv", "xml", "parquet"]
_FORMATS = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".xml": "xml",
    ".parquet": "parquet",
}
_TEXTS = ("text", "content", "sentence", "review", "document", "body", "title")


class TextDataset(Dataset):
    """Texts of one file or several, by their suffix: .txt, .json, .jsonl, .csv, .tsv, .xml or .parquet.

    A sample is a dictionary: texts by the names of their columns as `Text`, "label", and ``columns`` as they are. ``text``
    names one column of texts or several, ``label`` that of labels; by default the usual names are looked for, such as text,
    content, sentence, and label, class, target. Labels that are texts are numbered in the order of ``classes``, or of the
    alphabet. ``format`` is for files with another suffix.

    Lines of text, JSON lines and CSV are read from disk by an index of 16 bytes a line, so files may be larger than the
    memory; .json and .xml are read into memory, of .parquet groups of rows. Blank lines are no samples. The settings of
    formats:

    * text: ``sample_by`` "line", "paragraph" (blank lines between them) or "document", a whole file of at most 64 MB;
    * JSON: a list of objects, at its top or under the name ``field``;
    * CSV: commas, semicolons or tabs; ``column_names`` for a file whose first line has none; ``quotes=False`` for one in which
      quotation marks are letters as others;
    * XML: samples are elements of the name ``record``, by default the children of the outermost one; their attributes and
      children are columns. Declarations of entities are refused;
    * all but XML and Parquet: ``encoding``, such as "gb18030" (a byte order mark is skipped), and ``encoding_errors``.

    Example: ``data.TextDataset("reviews.csv", text="review", label="rating")``. As datasets.load_dataset("text" | "json" |
    "csv" | "parquet"). Raises MissingFileError, FileFormatError, ConfigError for a column that there is not, and DataError
    with the line of a row that cannot be read.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        text: str | Sequence[str] | None = None,
        label: str | None = None,
        columns: Sequence[str] = (),
        classes: Sequence[str] | None = None,
        format: Format | None = None,
        sample_by: Literal["line", "paragraph", "document"] = "line",
        field: str | None = None,
        record: str | None = None,
        column_names: Sequence[str] | None = None,
        quotes: bool = True,
        encoding: str = "utf-8",
        encoding_errors: EncodingErrors = "strict",
    ):
        if sample_by not in ("line", "paragraph", "document"):
            raise ConfigError(f'sample_by wants "line", "paragraph" or "document", received {sample_by!r:.40}')
        self.paths = list_paths(paths)
        self.name = self.paths[0].stem
        kinds = [_format_of(path, format) for path in self.paths]
        by_lines = any(kind in ("jsonl", "csv") or (kind == "text" and sample_by != "document") for kind in kinds)
        encoding = check_encoding(encoding, encoding_errors, lines=by_lines)
        self.files: list[Rows] = []
        for path, kind in zip(self.paths, kinds, strict=True):
            rows = open_rows(
                path,
                encoding,
                encoding_errors,
                kind=kind,
                sample_by=sample_by,
                field=field,
                record=record,
                names=column_names,
                quotes=quotes,
            )
            self.files.append(rows)
        self._places = Places(map(len, self.files))
        if not len(self._places):
            raise DataError(f"{', '.join(path.name for path in self.paths[:3])} has no texts")
        self._choose_columns(text, label, columns)
        self.inputs, self.targets = self.texts, ("label",) if self.label else ()
        self.classes, self._labels = None, None
        if self.label:
            values = [self._value(self._row(at), self.label, at) for at in range(len(self))]
            values = [value.item() if isinstance(value, np.generic) else value for value in values]
            self.classes, self._labels = read_labels(values, classes, self.label, self.paths[0].name)
        elif classes is not None:
            raise ConfigError(
                f"classes= names the classes of a column of labels, of which {self.paths[0].name} has none: label="
            )

    def _choose_columns(self, text: str | Sequence[str] | None, label: str | None, columns: Sequence[str]) -> None:
        """Find the columns in the first file that has rows; rows of the others are checked when they are read."""
        known = list(next(rows.columns for rows in self.files if len(rows)))
        file = self.paths[0].name
        self.label = find_column("label", label, known, LABELS, file)
        if text is None:
            found = find_column("text", None, known, _TEXTS, file)
            if found is None:
                raise ConfigError(f"{file} has the columns {join_names(known)}: say which one has the texts, by text=")
            text = found
        names = (text,) if isinstance(text, str) else tuple(text)
        self.texts = tuple(find_column("text", name, known, (), file) or "" for name in names)
        self.columns = tuple(find_column("columns", name, known, (), file) or "" for name in columns)
        kept = [*self.texts, *self.columns, *(["label"] if self.label else [])]
        twice = next((name for name in kept if kept.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"a sample of {file} would have {twice!r} twice: name each column once, labels as label=")

    def renumber(self, classes: Sequence[str]) -> None:
        """Number the classes in the order of ``classes``, which has all of them."""
        if self._labels is not None and self.classes is not None:
            numbers = [classes.index(name) for name in self.classes]
            self.classes, self._labels = list(classes), [numbers[label] for label in self._labels]

    def __len__(self) -> int:
        return len(self._places)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        row = self._row(index)
        sample: dict[str, Any] = {name: self._text(row, name, index) for name in self.texts}
        if self._labels is not None:
            sample["label"] = self._labels[index]
        return sample | {name: self._value(row, name, index) for name in self.columns}

    def _row(self, index: int) -> dict[str, Any]:
        file, own = self._places.find(index)
        return self.files[file].read(own)

    def _value(self, row: dict[str, Any], name: str, index: int) -> Any:
        if name not in row:
            file, own = self._places.find(index)
            raise DataError(
                f"{self.paths[file].name}: the row {own + 1:,} has no {name!r:.60}, but {join_names(list(row))}"
            )
        return row[name]

    def _text(self, row: dict[str, Any], name: str, index: int) -> Text:
        value = self._value(row, name, index)
        if isinstance(value, list | dict | np.ndarray | bytes):
            raise DataError(
                f"{self.name}: the row {index + 1:,} has no text in {name!r:.60}, but {type(value).__name__}: name another "
                "column by text="
            )
        return Text("" if value is None else value)

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self._labels is None else self._labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self._labels is None else np.asarray(self._labels)


class ParallelTextDataset(Dataset):
    """Texts and their translations in two files, line by line: samples ``{"source": Text, "target": Text}``.

    Blank lines count, so that line 7 of one file is line 7 of the other. Example: ``data.ParallelTextDataset("train.en",
    "train.de")``; `data.text.TranslationPairs` makes tokens of them. As torchtext's translation sets (Multi30k).
    Raises MissingFileError, and DataError for files of different numbers of lines.
    """

    inputs, targets = ("source",), ("target",)

    def __init__(
        self,
        source: str | Path,
        target: str | Path,
        *,
        encoding: str = "utf-8",
        encoding_errors: EncodingErrors = "strict",
    ):
        encoding = check_encoding(encoding, encoding_errors, lines=True)
        files = [Path(source), Path(target)]
        self.source, self.target = (
            open_rows(path, encoding, encoding_errors, kind="text", keep_blank=True) for path in files
        )
        self.name = files[0].stem
        if len(self.source) != len(self.target):
            raise DataError(
                f"{files[0].name} has {len(self.source):,} lines and {files[1].name} {len(self.target):,}: each text wants "
                "its translation in the same line of the other file"
            )

    def __len__(self) -> int:
        return len(self.source)

    def read(self, index: int, epoch: int = 0) -> dict[str, Text]:
        return {"source": Text(self.source.read(index)["text"]), "target": Text(self.target.read(index)["text"])}


def _format_of(path: Path, chosen: str | None) -> str:
    if chosen is not None:
        if chosen not in _FORMATS.values():
            raise ConfigError(f"format wants {', '.join(dict.fromkeys(_FORMATS.values()))}, received {chosen!r:.40}")
        return chosen
    if path.suffix.lower() not in _FORMATS:
        raise ConfigError(f"TextDataset reads {', '.join(_FORMATS)}, received {path.name}: name its format=")
    return _FORMATS[path.suffix.lower()]
