"""Tokenizer: text to numbers of tokens and back, by a model of the library ``tokenizers``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.data.parts import TokenIds, Tokens
from labdl.data.text.batch_encoder import BatchEncoder
from labdl.errors import ConfigError, DataError, FileFormatError

if TYPE_CHECKING:
    import tokenizers

Kind = Literal["bpe", "wordpiece", "unigram"]

_LARGEST = 1 << 28  # bytes of a file
# unknown, padding, begin, end, and the mask of BERT
SPECIAL_TOKENS: dict[str, tuple[str, ...]] = {
    "bpe": ("<unk>", "<pad>", "<s>", "</s>"),
    "unigram": ("<unk>", "<pad>", "<s>", "</s>"),
    "wordpiece": ("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"),
}


NO_TEXT = (
    "the tokenizer wants texts, without halves of characters such as '\\ud800': write "
    "text.encode('utf-8', 'replace').decode()"
)


@dataclass(frozen=True, eq=False)
class Encoding:
    """The tokens of a text, or of a pair of texts, with their places in them.

    ``ids`` (tokens) are their numbers, ``types`` (tokens) those of the segments for BERT, ``offsets`` (tokens, 2) the first
    character of each token and the one after its last, ``parts`` (tokens) 0 in the first text, 1 in the second and -1 at
    tokens that the tokenizer puts around them.
    """

    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray
    parts: np.ndarray
    tokens: tuple[str, ...]


class Tokenizer(BatchEncoder):
    """Text to numbers of tokens and back: a model of the library ``tokenizers``, such as a tokenizer.json of a model hub.

    Example: ``tokenizer = data.text.Tokenizer.train(texts, "bpe", vocab_size=8000)``; ``tokenizer.encode("a cat")``;
    ``tokenizer.save("tokenizer.json")``; ``data.text.Tokenizer.load("tokenizer.json")``. Nothing is downloaded.
    """

    def __init__(self, model: tokenizers.Tokenizer, _text: str | None = None):
        self.model = model
        self._text = _text  # the library reads numbers that differ in the last digit from those that it writes
        vocab = model.get_vocab(with_added_tokens=True)
        self._highest = max(vocab.values(), default=-1)
        self.padding = next((vocab[token] for token in ("<pad>", "[PAD]", "<|padding|>") if token in vocab), 0)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        kind: Kind = "bpe",
        vocab_size: int = 8000,
        *,
        min_frequency: int = 2,
        special_tokens: Sequence[str] | None = None,
        lower_case: bool = False,
    ) -> Tokenizer:
        """Train on texts.

        "bpe" merges pairs of bytes as GPT-2 does and restores any text exactly; "wordpiece" is BERT's; "unigram" takes the
        most probable pieces. ``special_tokens`` are unknown, padding, begin and end by their places (see
        `SPECIAL_TOKENS`), and further ones; begin and end are put around encoded texts.
        """
        from labdl.data.text.training import train_model

        if kind not in SPECIAL_TOKENS:
            raise ConfigError(f'a tokenizer is of the kind "bpe", "wordpiece" or "unigram", received {kind!r:.80}')
        special = tuple(SPECIAL_TOKENS[kind] if special_tokens is None else special_tokens)
        if len(set(special)) != len(special) or len(special) < 4 or "" in special:
            raise ConfigError(
                f"special_tokens wants unknown, padding, begin and end, each another text, received {special!r:.200}"
            )
        return cls(train_model(texts, kind, vocab_size, min_frequency, special, lower_case))

    # -- text to tokens and back

    def encode(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True, max_length: int | None = None
    ) -> TokenIds:
        """Numbers of the tokens of a text, or of a pair of texts, at most ``max_length`` of them.

        The ends of texts that are too long are cut off, of a pair the longer text first; special tokens behind them stay.
        """
        if max_length is not None and (add_special_tokens or pair is not None):
            return TokenIds(self._encode_within(text, pair, max_length, add_special_tokens).ids)
        with _PANICS_AS_ERRORS:
            ids = self.model.encode(text, pair, add_special_tokens=add_special_tokens).ids
        return TokenIds(ids if max_length is None else ids[:max_length])

    def encode_segments(self, text: str, pair: str | None = None, *, max_length: int) -> tuple[list[int], list[int]]:
        """Numbers of at most ``max_length`` tokens with special ones, and of each the number of its segment, 1 in ``pair``."""
        encoding = self._encode_within(text, pair, max_length, True)
        return encoding.ids, encoding.type_ids

    def _encode_within(self, text: str, pair: str | None, length: int, add_special_tokens: bool) -> tokenizers.Encoding:
        with _PANICS_AS_ERRORS:
            first = self.model.encode(text, add_special_tokens=False)
            second = None if pair is None else self.model.encode(pair, add_special_tokens=False)
            added = self.model.num_special_tokens_to_add(pair is not None) if add_special_tokens else 0
            room = max(0, length - added)
            other = 0 if second is None else len(second.ids)
            if len(first.ids) + other > room:  # the longer one is cut until both are equally long
                count = min(len(first.ids), max(room - other, -(-room // 2)))
                first.truncate(count)
                if second is not None:
                    second.truncate(room - count)
            encoding = self.model.post_process(first, second, add_special_tokens)
            encoding.truncate(length)  # where special tokens alone are more
        return encoding

    def encoding(self, text: str, pair: str | None = None, *, max_length: int | None = None) -> Encoding:
        """The tokens of a text, or of a pair, with special tokens, segments and their places in the texts.

        Texts of more than ``max_length`` tokens are cut off as by `encode`.
        """
        if max_length is not None:
            return _as_encoding(self._encode_within(text, pair, max_length, True))
        with _PANICS_AS_ERRORS:
            return _as_encoding(self.model.encode(text, pair, add_special_tokens=True))

    def windows(self, text: str, pair: str, *, max_length: int, stride: int) -> list[Encoding]:
        """The tokens of a pair in windows of at most ``max_length``, of which each has the whole text and a part of ``pair``.

        Neighboring parts have ``stride`` tokens in common. Raises DataError for a text that leaves no room for more. Source:
        transformers.PreTrainedTokenizer with truncation="only_second".
        """
        with _PANICS_AS_ERRORS:
            first, second = (self.model.encode(part, add_special_tokens=False) for part in (text, pair))
            room = max_length - len(first.ids) - self.model.num_special_tokens_to_add(True)
            if room <= stride and len(second.ids) > room:
                raise DataError(
                    f"a window of {max_length} tokens has room for {max(room, 0)} beside a text of {len(first.ids)}: that "
                    f"has to be more than stride={stride}"
                )
            if len(second.ids) > room:
                second.truncate(room, stride=stride)
            whole = self.model.post_process(first, second, True)
        return [_as_encoding(each) for each in (whole, *whole.overflowing)]

    def tokens(self, text: str, *, add_special_tokens: bool = False, with_offsets: bool = False) -> Tokens:
        """Tokens of a text as the model writes them, such as "Ġcat" or "##s"."""
        with _PANICS_AS_ERRORS:
            encoding = self.model.encode(text, add_special_tokens=add_special_tokens)
        tokens = Tokens(encoding.tokens)
        if with_offsets:
            tokens.offsets = np.array(encoding.offsets, "int64").reshape(-1, 2)
        return tokens

    def encode_many(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[list[int]]:
        """Numbers of the tokens of each text, computed side by side."""
        with _PANICS_AS_ERRORS:
            encodings = self.model.encode_batch_fast(list(texts), add_special_tokens=add_special_tokens)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of numbers. Raises DataError for numbers that no token has."""
        numbers = [int(number) for number in ids]
        size = self.vocab_size
        for number in numbers:
            if not 0 <= number < size:
                raise DataError(f"the tokenizer has the numbers 0 to {size - 1}, received {number}")
        return self.model.decode(numbers, skip_special_tokens=skip_special_tokens)

    @property
    def vocab_size(self) -> int:
        """Number of tokens, with the special ones; one more than the highest number, where some are left out."""
        return max(self.model.get_vocab_size(with_added_tokens=True), self._highest + 1)

    @property
    def unknown(self) -> int | None:
        """Number of the token that stands for what the tokenizer does not know, None without one."""
        token = getattr(self.model.model, "unk_token", None)
        return None if token is None else self.model.token_to_id(token)

    def id_of(self, token: str) -> int:
        """Number of a token. Raises ConfigError for one that it has not."""
        number = self.model.token_to_id(token)
        if number is None:
            raise ConfigError(f"the tokenizer has no token {token!r:.80}")
        return number

    def token_of(self, number: int) -> str:
        """Token of a number. Raises ConfigError for one that no token has."""
        token = self.model.id_to_token(number)
        if token is None:
            raise ConfigError(f"the tokenizer has no token {number}")
        return token

    # -- files

    def to_text(self) -> str:
        """The tokenizer as JSON."""
        return self._text or self.model.to_str()

    @classmethod
    def from_text(cls, text: str) -> Tokenizer:
        """The tokenizer of JSON of `to_text`, or of a tokenizer.json. Raises FileFormatError.

        Padding and truncation that a file asks for are left out: `encode_batch` has them, with the mask.
        """
        import tokenizers

        try:
            with _PANICS_AS_ERRORS:
                model = tokenizers.Tokenizer.from_str(text)
                model.no_padding()
                model.no_truncation()
                return cls(model, text)
        except Exception as error:  # the library raises Exception itself
            raise FileFormatError(f"not a tokenizer of the library tokenizers: {error!s:.200}") from None

    def save(self, path: str | Path) -> None:
        """Write a tokenizer.json, which Hugging Face's libraries read too."""
        with replace_files(path) as (file,):
            file.write(self.to_text().encode())

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read a tokenizer.json; nothing of it is run. Raises MissingFileError and FileFormatError."""
        try:
            return cls.from_text(read_file(path, _LARGEST, "tokenizer").decode("utf-8"))
        except (UnicodeDecodeError, FileFormatError) as error:
            raise FileFormatError(f"{Path(path).name}: {error}") from None

    def __reduce__(self) -> Any:
        return Tokenizer.from_text, (self.to_text(),)

    def __repr__(self) -> str:
        return f"Tokenizer({type(self.model.model).__name__}, {self.vocab_size} tokens)"


def _as_encoding(encoding: Any) -> Encoding:
    parts = [-1 if part is None else part for part in encoding.sequence_ids]
    return Encoding(
        np.array(encoding.ids, "int64"),
        np.array(encoding.type_ids, "int64"),
        np.array(encoding.offsets, "int64").reshape(-1, 2),
        np.array(parts, "int64"),
        tuple(encoding.tokens),
    )


class _PanicsAsErrors:
    """Errors of the library as DataError.

    A pattern of a tokenizer.json that backtracks too often panics in Rust, which is no Exception in Python. A text with half
    a pair of surrogates, as programs cut it out of UTF-16, is a TypeError.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind is not None and kind.__name__ == "PanicException":
            raise DataError(f"the tokenizer cannot split this text: {error!s:.200}") from None
        if kind is TypeError:
            raise DataError(NO_TEXT) from None


_PANICS_AS_ERRORS = _PanicsAsErrors()
