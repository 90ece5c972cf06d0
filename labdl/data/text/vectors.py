"""Word vectors of GloVe, fastText and word2vec files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from labdl.bounded.files import open_file, size_of
from labdl.errors import ConfigError, DataError, FileFormatError

_LONGEST = 1 << 20  # bytes of a line
_MOST = 1 << 16  # numbers of a vector


class WordVectors:
    """Words and their vectors (words, dimensions), float32.

    Example: ``vectors = data.text.WordVectors.load("glove.6B.100d.txt", limit=50_000)``; ``vectors.look_up(["a", "cat"])``.
    """

    def __init__(self, words: Iterable[str], values: Any):
        self.words = tuple(words)
        self.values = np.ascontiguousarray(values, "float32")
        if self.values.ndim != 2 or len(self.values) != len(self.words):
            raise DataError(
                f"WordVectors wants an array (words, dimensions) of {len(self.words)} words, received {self.values.shape}"
            )
        self.numbers: dict[str, int] = {}
        for at, word in enumerate(self.words):
            self.numbers.setdefault(word, at)

    @classmethod
    def load(cls, path: str | Path, *, limit: int | None = None) -> WordVectors:
        """Read GloVe's .txt, fastText's .vec, and word2vec's files of text or binary numbers (.bin); at most ``limit`` words.

        Raises MissingFileError, and FileFormatError with the line of a wrong vector.
        """
        name = Path(path).name
        with open_file(path) as file:
            first = file.readline(_LONGEST)
            header = first.split()
            counted = len(header) == 2 and all(part.isdigit() and len(part) < 12 for part in header)
            count, size = (int(header[0]), int(header[1])) if counted else (None, None)
            if size is not None and not 1 <= size <= _MOST:
                raise FileFormatError(f"{name} has vectors of {size:,} numbers, more than any has")
            if Path(path).suffix == ".bin":
                if count is None or size is None:
                    raise FileFormatError(f"{name} is not a file of word2vec: its first line has no two numbers")
                return cls(*_read_binary(file, name, min(count, limit or count), size))
            if not counted:
                file.seek(0)
            return cls(*_read_text(file, name, limit, size, 2 if counted else 1))

    def look_up(self, words: Iterable[str], *, unknown: Any = None, lower_case_backup: bool = False) -> np.ndarray:
        """Vectors (words, dimensions); for words that it has not, ``unknown``, by default zeros.

        With ``lower_case_backup``, words that it has not are looked up in lower case too.
        """
        found = [self._number(word, lower_case_backup) for word in words]
        if not found:
            return np.zeros((0, self.dimensions), "float32")
        at = np.array(found)
        result = self.values[at]
        result[at < 0] = 0 if unknown is None else np.asarray(unknown, "float32")
        return result

    def _number(self, word: str, lower_case_backup: bool) -> int:
        number = self.numbers.get(word, -1)
        return self.numbers.get(word.lower(), -1) if number < 0 and lower_case_backup else number

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self.values.shape[1]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.numbers

    def __repr__(self) -> str:
        return f"WordVectors({len(self)} words, {self.dimensions} dimensions)"


def vectors_of(value: Any) -> WordVectors:
    """Word vectors of a mapping or of pairs of words and vectors."""
    pairs = list(value.items()) if isinstance(value, Mapping) else list(value)
    try:
        return WordVectors([word for word, _ in pairs], [list(vector) for _, vector in pairs])
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"word vectors are pairs of a word and as many numbers for each, received {value!r:.80}"
        ) from error


def _read_text(file: BinaryIO, name: str, limit: int | None, size: int | None, line_number: int):
    words: list[str] = []
    rows: list[np.ndarray] = []
    while limit is None or len(words) < limit:
        line = file.readline(_LONGEST)
        if not line:
            break
        parts = line.rstrip().split(b" ")
        if size is None:
            size = len(parts) - 1
        try:
            # a word of GloVe may have spaces in it, such as ". . ."
            row = np.array(parts[-size:], "S").astype("float32") if len(parts) > size >= 1 else None
        except ValueError:
            row = None
        if row is None or not np.isfinite(row).all():
            raise FileFormatError(
                f"{name}, line {line_number + len(words)}: wants a word and {size} numbers, received {line!r:.80}"
            )
        words.append(b" ".join(parts[:-size]).decode("utf-8", "replace"))
        rows.append(row)
    if not rows:
        raise FileFormatError(f"{name} has no vectors")
    return words, np.stack(rows)


def _read_binary(file: BinaryIO, name: str, count: int, size: int):
    if count * (4 * size + 1) > size_of(file):
        raise FileFormatError(
            f"{name} is cut off: it has not the {count:,} vectors of {size} numbers that it announces"
        )
    words: list[str] = []
    values = np.empty((count, size), "float32")
    for at in range(count):
        word = bytearray()
        while (byte := file.read(1)) != b" ":
            if not byte or len(word) > 4096:
                raise FileFormatError(f"{name}, vector {at}: its word has no end")
            if byte != b"\n":  # some writers put a line end behind each vector
                word += byte
        row = file.read(4 * size)
        if len(row) != 4 * size:
            raise FileFormatError(f"{name} is cut off at vector {at}")
        values[at] = np.frombuffer(row, "<f4")
        words.append(word.decode("utf-8", "replace"))
    return words, values
