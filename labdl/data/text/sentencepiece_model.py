"""SentencePiece: text to numbers of pieces and back, by the library ``sentencepiece``."""

from __future__ import annotations

import base64
import binascii
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.data.parts import TokenIds, Tokens
from labdl.data.text.batches import PaddedBatch, pad_sequences
from labdl.data.text.tokenizer import NO_TEXT
from labdl.errors import ConfigError, DataError, FileFormatError

_LARGEST = 1 << 28  # bytes of a file


class SentencePiece:
    """Text to numbers of pieces and back: a .model file of the library ``sentencepiece``.

    Example: ``tokenizer = data.text.SentencePiece.train(texts, vocab_size=8000)``; ``tokenizer.encode("a cat")``;
    ``tokenizer.save("pieces.model")``; ``data.text.SentencePiece.load("pieces.model")``.
    """

    def __init__(self, content: bytes):
        import sentencepiece

        self.content = bytes(content)
        self.model: Any = sentencepiece.SentencePieceProcessor()
        try:
            self.model.LoadFromSerializedProto(self.content)
        except RuntimeError as error:
            raise FileFormatError(f"not a model of the library sentencepiece: {error!s:.200}") from None
        if self.model.GetPieceSize() == 0:
            raise FileFormatError("not a model of the library sentencepiece: it has no pieces")
        self.padding = max(self.model.pad_id(), 0)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int = 8000,
        *,
        model_type: Literal["unigram", "bpe", "char", "word"] = "unigram",
        character_coverage: float = 0.9995,
        special_tokens: Sequence[str] = (),
        byte_fallback: bool = False,
    ) -> SentencePiece:
        """Train on texts; pieces 0 to 3 are unknown, padding, begin and end.

        ``character_coverage`` is 0.9995 for languages of many characters and 1.0 for others. A vocabulary larger than the
        texts allow becomes smaller. Source: sentencepiece.SentencePieceTrainer.
        """
        import sentencepiece

        if isinstance(texts, str):
            raise ConfigError("SentencePiece wants a list or generator of texts, received one text: write [text]")
        sentences = (line for text in texts for line in str(text).splitlines() if line.strip())
        first = next(sentences, None)
        if first is None:
            raise DataError("a tokenizer wants texts to be trained on, received none")
        written = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.Train(
                sentence_iterator=itertools.chain([first], sentences),
                model_writer=written,
                vocab_size=vocab_size,
                model_type=model_type,
                character_coverage=character_coverage,
                user_defined_symbols=list(special_tokens),
                byte_fallback=byte_fallback,
                hard_vocab_limit=False,
                unk_id=0,
                pad_id=1,
                bos_id=2,
                eos_id=3,
                num_threads=1,
                minloglevel=2,
            )
        except (RuntimeError, OSError) as error:
            reason = re.sub(r"^.*\.cc\(\d+\) \[.*?\] ", "", str(error))
            raise ConfigError(f"SentencePiece cannot be trained with vocab_size={vocab_size}: {reason:.200}") from None
        return cls(written.getvalue())

    # -- text to pieces and back

    def encode(self, text: str, *, add_special_tokens: bool = False, max_length: int | None = None) -> TokenIds:
        """Numbers of at most ``max_length`` pieces of a text; begin and end are around it, also if it is cut, if asked for."""
        with _TEXTS_ALONE:
            ids = self.model.EncodeAsIds(text, add_bos=add_special_tokens, add_eos=add_special_tokens)
        if max_length is None or len(ids) <= max_length:
            return TokenIds(ids)
        return TokenIds([*ids[: max_length - 1], ids[-1]] if add_special_tokens and max_length else ids[:max_length])

    def tokens(self, text: str, *, add_special_tokens: bool = False, with_offsets: bool = False) -> Tokens:
        """Pieces of a text, such as "▁cat"."""
        settings = {"add_bos": add_special_tokens, "add_eos": add_special_tokens}
        with _TEXTS_ALONE:
            if not with_offsets:
                return Tokens(self.model.EncodeAsPieces(text, **settings))
            mapping = self.model.EncodeAsOffsetMapping(text, **settings)
        tokens = Tokens(mapping["pieces"])
        tokens.offsets = np.array(mapping["offsets"], "int64").reshape(-1, 2)
        return tokens

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        length: int | None = None,
        add_special_tokens: bool = False,
        side: Literal["right", "left"] = "right",
        multiple_of: int = 1,
    ) -> PaddedBatch:
        """Numbers (texts, pieces) with a mask of what is no padding; ``length`` by default that of the longest text."""
        with _TEXTS_ALONE:
            sequences = self.model.EncodeAsIds(
                list(map(str, texts)), add_bos=add_special_tokens, add_eos=add_special_tokens, num_threads=1
            )
        return pad_sequences(sequences, length, value=self.padding, side=side, multiple_of=multiple_of)

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of numbers; begin, end and padding are nothing in it. Raises DataError for numbers that no piece has."""
        numbers = [int(number) for number in ids]
        for number in numbers:
            if not 0 <= number < self.vocab_size:
                raise DataError(f"the tokenizer has the numbers 0 to {self.vocab_size - 1}, received {number}")
        if skip_special_tokens:
            return self.model.DecodeIds([n for n in numbers if n not in (self.model.pad_id(),)])
        return self.model.DecodePieces([self.model.IdToPiece(n) for n in numbers])

    @property
    def vocab_size(self) -> int:
        """Number of pieces, with the special ones."""
        return self.model.GetPieceSize()

    def id_of(self, token: str) -> int:
        """Number of a piece. Raises ConfigError for one that it has not."""
        number = self.model.PieceToId(token)
        if self.model.IdToPiece(number) != token:
            raise ConfigError(f"the tokenizer has no token {token!r:.80}")
        return number

    def token_of(self, number: int) -> str:
        """Piece of a number."""
        return self.model.IdToPiece(number)

    # -- files

    def to_text(self) -> str:
        """The model in base64, for files of text."""
        return base64.b64encode(self.content).decode()

    @classmethod
    def from_text(cls, text: str) -> SentencePiece:
        """The model of `to_text`. Raises FileFormatError."""
        try:
            return cls(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError) as error:
            raise FileFormatError(f"not a model of the library sentencepiece: {error!s:.200}") from None

    def save(self, path: str | Path) -> None:
        """Write a .model file, which sentencepiece reads too."""
        with replace_files(path) as (file,):
            file.write(self.content)

    @classmethod
    def load(cls, path: str | Path) -> SentencePiece:
        """Read a .model file. Raises MissingFileError and FileFormatError."""
        try:
            return cls(read_file(path, _LARGEST, "tokenizer"))
        except FileFormatError as error:
            raise FileFormatError(f"{Path(path).name}: {error}") from None

    def __reduce__(self) -> Any:
        return SentencePiece, (self.content,)

    def __repr__(self) -> str:
        return f"SentencePiece({self.vocab_size} pieces)"


_CASTS = ("Unable to cast", "must be str or bytes")


class _TextsAlone:
    """Errors of the library for values that are no texts, or half of a pair of surrogates, as DataError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind in (RuntimeError, TypeError, UnicodeEncodeError) and any(words in str(error) for words in _CASTS):
            raise DataError(NO_TEXT) from None


_TEXTS_ALONE = _TextsAlone()
