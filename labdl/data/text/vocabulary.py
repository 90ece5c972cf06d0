"""Vocab: tokens and their numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.parts import Text, TokenIds, Tokens
from labdl.errors import ConfigError, DataError, FileFormatError

_LARGEST = 1 << 28  # bytes of a file


class Vocab:
    """Tokens and their numbers, which are their places in a list; ``unknown`` is the token for those not in it.

    Example: ``vocab = data.text.Vocab.train(texts, size=10_000)``; ``vocab.encode(["a", "cat"])``.
    """

    def __init__(self, tokens: Iterable[str], unknown: str | None = None):
        self.tokens = tuple(tokens)
        self.numbers = {token: at for at, token in enumerate(self.tokens)}
        if not all(isinstance(token, str) for token in self.tokens):
            raise ConfigError("a vocabulary wants texts as tokens")
        if len(self.numbers) != len(self.tokens):
            twice = next(token for token, count in Counter(self.tokens).items() if count > 1)
            raise ConfigError(f"a vocabulary wants each token once, received {twice!r:.80} several times")
        if unknown is not None and unknown not in self.numbers:
            raise ConfigError(
                f"the unknown token {unknown!r:.80} is not in the vocabulary: add it to its special tokens"
            )
        self.unknown = unknown

    @classmethod
    def train(
        cls,
        texts: Iterable[Any],
        size: int | None = None,
        *,
        min_frequency: int = 1,
        special_tokens: Sequence[str] = ("<pad>", "<unk>"),
        unknown: str | None = "<unk>",
    ) -> Vocab:
        """The most frequent tokens of texts, split at spaces, or of lists of tokens; at equal frequency by alphabet.

        ``size`` counts the special tokens, which come first. Source: mindspore.dataset.text.Vocab.from_dataset.
        """
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text.split() if isinstance(text, str) else text)
        for token in special_tokens:
            counts.pop(token, None)
        kept = sorted((t for t, n in counts.items() if n >= min_frequency), key=lambda t: (-counts[t], t))
        if size is not None:
            if size < len(special_tokens):
                raise ConfigError(f"a vocabulary of {size} has no room for {len(special_tokens)} special tokens")
            kept = kept[: size - len(special_tokens)]
        return cls([*special_tokens, *kept], unknown)

    def encode(self, tokens: Iterable[str]) -> TokenIds:
        """Numbers of tokens. Raises DataError for one that is not in the vocabulary, unless it has an unknown token."""
        other = None if self.unknown is None else self.numbers[self.unknown]
        numbers = [self.numbers.get(token, other) for token in tokens]
        if None in numbers:
            raise DataError(
                f"the token {list(tokens)[numbers.index(None)]!r:.80} is not in the vocabulary of {len(self)} tokens: give "
                "it an unknown token"
            )
        return TokenIds(numbers)

    def decode(self, ids: Iterable[int]) -> Tokens:
        """Tokens of numbers. Raises DataError for a number that is not in the vocabulary."""
        numbers = [int(number) for number in ids]
        for number in numbers:
            if not 0 <= number < len(self.tokens):
                raise DataError(f"the vocabulary has the numbers 0 to {len(self) - 1}, received {number}")
        return Tokens(self.tokens[number] for number in numbers)

    def save(self, path: str | Path) -> None:
        """Write a .txt file of one token a line, or a .json file, which also holds the unknown token and any character."""
        if Path(path).suffix == ".json":
            written = json.dumps({"tokens": self.tokens, "unknown": self.unknown}, ensure_ascii=False)
        else:
            if any("\n" in token or "\r" in token for token in self.tokens):
                raise ConfigError("a token has a line end: save the vocabulary as .json")
            written = "".join(f"{token}\n" for token in self.tokens)
        with replace_files(path) as (file,):
            file.write(written.encode())

    @classmethod
    def load(cls, path: str | Path, unknown: str | None = None) -> Vocab:
        """Read a file of `save`, or of one token a line as BERT's vocab.txt."""
        content = read_file(path, _LARGEST, "vocabulary")
        try:
            if Path(path).suffix == ".json":
                values = loads(content)
                if not isinstance(values, dict) or not isinstance(values.get("tokens"), list):
                    raise FileFormatError(f"{Path(path).name} is not a vocabulary: it has no list of tokens")
                return cls(values["tokens"], unknown if unknown is not None else values.get("unknown"))
            lines = content.decode("utf-8").split("\n")
        except ValueError as error:
            raise FileFormatError(f"{Path(path).name} is not a vocabulary: {error}") from None
        tokens = [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
        return cls(tokens, unknown)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self.numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __getitem__(self, token: str) -> int:
        return self.numbers[token]

    def __repr__(self) -> str:
        return f"Vocab({len(self)} tokens, unknown={self.unknown!r})"


def texts_of(samples: Iterable[Any], key: str | None = None) -> Iterator[str]:
    """The text of each sample: the part ``key`` of a dictionary, else its first text."""
    from labdl.data.transforms.transform import iterate_parts

    for sample in samples:
        if key is not None and isinstance(sample, dict):
            sample = sample.get(key)
        leaves = list(iterate_parts(sample))
        text = next((leaf for leaf in leaves if isinstance(leaf, Text)), None)
        if text is None:
            text = next((leaf for leaf in leaves if isinstance(leaf, str)), None)
        if text is None:
            raise DataError(f"a sample without a text: {sample!r:.200}")
        yield str(text)
