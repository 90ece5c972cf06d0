"""MarianTokenizer: text to numbers of tokens and back with two SentencePiece models and one table of numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.parts import TokenIds, Tokens
from labdl.data.text.batch_encoder import BatchEncoder
from labdl.data.text.sentencepiece_model import SentencePiece
from labdl.errors import ConfigError, DataError, FileFormatError

FILES = ("source.spm", "target.spm", "vocab.json")
_LARGEST = 1 << 28  # bytes of a file
_MOST = 1 << 24  # tokens
_LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)  # of the target, at the beginning of a text, such as >>fra<<
_SPACE = "\u2581"  # as SentencePiece writes it


class MarianTokenizer(BatchEncoder):
    """Text to numbers of tokens and back as OPUS-MT models have it: pieces of ``source`` become numbers, numbers a text of
    ``target``.

    ``numbers`` is the table of both, with the tokens ``unknown``, ``end`` and ``padding_token``; ``special`` are further tokens
    that are found in a text as they are. A language such as ">>fra<<" at the beginning of a text is one token.

    Example: ``tokenizer = data.text.MarianTokenizer.load("opus-mt-en-de")``; ``tokenizer.encode("A small boat")``;
    ``tokenizer.target.encode("Ein kleines Boot")`` for translations. Source: transformers.MarianTokenizer.
    """

    def __init__(
        self,
        source: SentencePiece,
        target: SentencePiece,
        numbers: Mapping[str, int],
        *,
        unknown: str = "<unk>",
        end: str = "</s>",
        padding_token: str = "<pad>",
        special: Sequence[str] = (),
    ):
        self.source_model, self.target_model, self.numbers = source, target, dict(numbers)
        self.special = tuple(dict.fromkeys((end, unknown, padding_token, *special)))
        for token, number in self.numbers.items():
            if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < _MOST:
                raise FileFormatError(f"the token {token!r:.80} wants a whole number from 0, received {number!r:.80}")
        for token in self.special:
            if token not in self.numbers:
                raise FileFormatError(f"the vocabulary has no token {token!r:.80}")
        self.by_number = {number: token for token, number in self.numbers.items()}
        self.unknown, self.end, self.padding = (self.numbers[token] for token in (unknown, end, padding_token))
        longest_first = sorted(self.special, key=len, reverse=True)
        self._split = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    @property
    def target(self) -> MarianTokenizer:
        """The tokenizer whose texts are those of the target, for translations that a model learns from."""
        names = self.by_number
        return MarianTokenizer(
            self.target_model,
            self.target_model,
            self.numbers,
            unknown=names[self.unknown],
            end=names[self.end],
            padding_token=names[self.padding],
            special=self.special,
        )

    # -- text to tokens and back

    def encode(self, text: str, *, add_special_tokens: bool = True, max_length: int | None = None) -> TokenIds:
        """Numbers of the tokens of a text and of its end; cut off behind ``max_length`` of them, the end kept."""
        ids = [self.numbers.get(token, self.unknown) for token in self.tokens(text)]
        ends = [self.end] if add_special_tokens else []
        return TokenIds((ids if max_length is None else ids[: max(max_length - len(ends), 0)]) + ends)

    def tokens(self, text: str, *, add_special_tokens: bool = False) -> Tokens:
        """Tokens of a text, such as "▁cat"."""
        tokens: list[str] = []
        for at, part in enumerate(self._split.split(text)):
            tokens += [part] if at % 2 else self._pieces(part)
        return Tokens([*tokens, self.by_number[self.end]] if add_special_tokens else tokens)

    def _pieces(self, text: str) -> list[str]:
        language = _LANGUAGE.match(text)
        code = [] if language is None else [language[0]]
        return code + self.source_model.model.EncodeAsPieces(text if language is None else text[language.end() :])

    def encode_many(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[list[int]]:
        """Numbers of the tokens of each text."""
        return [list(self.encode(text, add_special_tokens=add_special_tokens)) for text in texts]

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of numbers in the target's language. Raises DataError for numbers that no token has."""
        model, text, pieces = self.target_model.model, "", []
        for token in [self._token(int(number)) for number in ids]:
            if token not in self.special:
                pieces.append(token)
            elif not skip_special_tokens:  # not SentencePiece's, whose pieces around it are texts of their own
                text, pieces = f"{text}{model.DecodePieces(pieces)}{token} ", []
        return (text + model.DecodePieces(pieces)).replace(_SPACE, " ").strip()

    def _token(self, number: int) -> str:
        if number not in self.by_number:
            raise DataError(f"the tokenizer has the numbers 0 to {self.vocab_size - 1}, received {number}")
        return self.by_number[number]

    @property
    def vocab_size(self) -> int:
        """Number of tokens: the largest number and one."""
        return max(self.by_number) + 1

    def id_of(self, token: str) -> int:
        """Number of a token. Raises ConfigError for one that it has not."""
        if token not in self.numbers:
            raise ConfigError(f"the tokenizer has no token {token!r:.80}")
        return self.numbers[token]

    def token_of(self, number: int) -> str:
        """Token of a number. Raises ConfigError for one that no token has."""
        if number not in self.by_number:
            raise ConfigError(f"the tokenizer has no token {number}")
        return self.by_number[number]

    # -- files

    def to_text(self) -> str:
        """The tokenizer as JSON, for files of text."""
        names = {"unknown": self.unknown, "end": self.end, "padding_token": self.padding}
        values: dict[str, Any] = {name: self.by_number[number] for name, number in names.items()}
        values |= {"special": self.special, "numbers": self.numbers}
        values |= {"source": self.source_model.to_text(), "target": self.target_model.to_text()}
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> MarianTokenizer:
        """The tokenizer of `to_text`. Raises FileFormatError."""
        try:
            values = loads(text.encode())
            source, target = (SentencePiece.from_text(values.pop(name)) for name in ("source", "target"))
            return cls(source, target, values.pop("numbers"), **values)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"not a MarianTokenizer: {error!s:.200}") from None

    def save(self, folder: str | Path) -> None:
        """Write source.spm, target.spm and vocab.json into a folder, which Hugging Face's libraries read too."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        contents = (self.source_model.content, self.target_model.content, json.dumps(self.numbers, indent=2).encode())
        with replace_files(*(folder / name for name in FILES)) as files:
            for file, content in zip(files, contents, strict=True):
                file.write(content)

    @classmethod
    def load(cls, folder: str | Path, **settings: Any) -> MarianTokenizer:
        """Read source.spm, target.spm and vocab.json of a folder; ``settings`` are those of the class.

        Raises MissingFileError and FileFormatError.
        """
        folder = Path(folder)
        source, target = (SentencePiece.load(folder / name) for name in FILES[:2])
        try:
            numbers = loads(read_file(folder / FILES[2], _LARGEST, "vocabulary"))
        except ValueError as error:
            raise FileFormatError(f"{FILES[2]} cannot be read: {error!s:.200}") from None
        if not isinstance(numbers, dict):
            raise FileFormatError(f"{FILES[2]} wants a number for each token")
        try:
            return cls(source, target, numbers, **settings)
        except FileFormatError as error:
            raise FileFormatError(f"{FILES[2]}: {error}") from None

    def __reduce__(self) -> Any:
        return MarianTokenizer.from_text, (self.to_text(),)

    def __repr__(self) -> str:
        return f"MarianTokenizer({self.vocab_size} tokens)"
