"""Texts of which each word has a tag: files of CoNLL, and rows of JSON or Parquet with lists of words and of tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labdl.data.dataset import Dataset
from labdl.data.folders.label_column import find_column, join_names
from labdl.data.formats.path_list import Paths, list_paths
from labdl.data.parts import Tokens
from labdl.data.text_files.encodings import EncodingErrors, check_encoding
from labdl.data.text_files.row_files import open_rows, read_text
from labdl.errors import ConfigError, DataError, suggest_name

_WORDS, _TAGS = ("tokens", "words"), ("ner_tags", "tags", "labels", "pos_tags", "upos", "chunk_tags")
_ROWS = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_DOCUMENT = "-DOCSTART-"  # of CoNLL-2003, begins a document


class TaggedTextDataset(Dataset):
    """Texts of which each word has a tag, such as named entities: samples ``{"tokens": Tokens, "tags": [int, ...]}``.

    A file of CoNLL has a word a line with its columns, and a blank line behind each text; the first column is the word,
    ``column`` that of the tags, by default the last one. Files .json, .jsonl and .parquet have a list of words and one of tags
    in each row; ``words`` and ``tags`` name these columns, by default tokens or words, and ner_tags, tags, labels, pos_tags.
    Tags that are texts are numbered in the order of ``classes``, or of the alphabet; numbers want ``classes``.

    Example: ``data.TaggedTextDataset("eng.train", column=3)``. As datasets.load_dataset("conll2003") and seqeval's
    examples. Raises MissingFileError, FileFormatError, ConfigError for a column that there is not, and DataError that names the
    text whose words and tags differ in number.
    """

    inputs, targets = ("tokens",), ("tags",)

    def __init__(
        self,
        paths: Paths,
        *,
        classes: Sequence[str] | None = None,
        column: int = -1,
        words: str | None = None,
        tags: str | None = None,
        encoding: str = "utf-8",
        encoding_errors: EncodingErrors = "strict",
    ):
        self.paths = list_paths(paths)
        self.name = self.paths[0].stem
        encoding = check_encoding(encoding, encoding_errors, lines=False)
        texts: list[tuple[Tokens, list[Any]]] = []
        for path in self.paths:
            if path.suffix.lower() in _ROWS:
                texts += _read_rows(path, encoding, encoding_errors, words, tags)
            else:
                texts += _read_columns(path, read_text(path, encoding, encoding_errors), column)
        if not texts:
            raise DataError(f"{', '.join(path.name for path in self.paths[:3])} has no texts")
        self.classes, self._texts = _number_tags(texts, classes, self.paths[0].name)

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        words, tags = self._texts[index]
        return {"tokens": Tokens(words), "tags": list(tags)}


def _read_columns(path: Path, content: str, column: int) -> list[tuple[Tokens, list[Any]]]:
    texts: list[tuple[Tokens, list[Any]]] = []
    words, tags = Tokens(), []
    for number, line in enumerate([*content.splitlines(), ""], 1):
        parts = line.split("\t") if "\t" in line else line.split()
        if line.strip() and parts[0] != _DOCUMENT:
            if len(parts) < 2 or not -len(parts) <= column < len(parts):
                raise DataError(
                    f"{path.name}: line {number:,} wants a word and its tag in column {column}, received {line!r:.60}"
                )
            words.append(parts[0])
            tags.append(parts[column].strip())
        elif words:
            texts.append((words, tags))
            words, tags = Tokens(), []
    return texts


def _read_rows(
    path: Path, encoding: str, errors: EncodingErrors, words: str | None, tags: str | None
) -> list[tuple[Tokens, list[Any]]]:
    rows = open_rows(path, encoding, errors, kind=_ROWS[path.suffix.lower()])
    if not len(rows):
        return []
    own = list(rows.columns)
    first, second = (
        find_column(argument, name, own, usual, path.name)
        for argument, name, usual in (("words", words, _WORDS), ("tags", tags, _TAGS))
    )
    if first is None or second is None:
        argument, kind = ("words", "words") if first is None else ("tags", "tags of words")
        raise ConfigError(
            f"{path.name} has the columns {join_names(own)}: say which one has the {kind}, by {argument}="
        )
    texts = []
    for at in range(len(rows)):
        row = rows.read(at)
        values, labels = (list(row[name]) if _is_list(row.get(name)) else None for name in (first, second))
        if values is None or labels is None or not all(isinstance(word, str) for word in values):
            raise DataError(f"{path.name}: the row {at + 1:,} wants a list of words and a list of tags")
        if len(values) != len(labels):
            raise DataError(
                f"{path.name}: the row {at + 1:,} has {len(values)} words and {len(labels)} tags: each word wants its tag"
            )
        texts.append((Tokens(values), labels))
    return texts


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or type(value).__module__ == "numpy"


def _number_tags(
    texts: list[tuple[Tokens, list[Any]]], classes: Sequence[str] | None, file: str
) -> tuple[list[str], list[tuple[Tokens, list[int]]]]:
    tags = {tag for _, own in texts for tag in own}
    if all(isinstance(tag, int) or type(tag).__module__ == "numpy" for tag in tags):
        if classes is None:
            raise ConfigError(f"the tags of {file} are numbers: give their names, classes=")
        names = list(classes)
        wrong = next((tag for tag in tags if not 0 <= tag < len(names)), None)
        if wrong is not None:
            raise ConfigError(f"{file} has the tag {wrong}, classes has the names of 0 to {len(names) - 1}")
        return names, [(words, [int(tag) for tag in own]) for words, own in texts]
    names = sorted(map(str, tags)) if classes is None else list(classes)
    places = {name: at for at, name in enumerate(names)}
    unknown = next((str(tag) for tag in tags if str(tag) not in places), None)
    if unknown is not None:
        raise ConfigError(
            f"{file} has the tag {unknown!r:.60}, none of classes={names[:10]}{suggest_name(unknown, names)}"
        )
    return names, [(words, [places[str(tag)] for tag in own]) for words, own in texts]
