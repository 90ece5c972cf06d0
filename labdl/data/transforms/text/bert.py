"""BERT's tokenizer: words and punctuation, then pieces of words from a vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Text, Tokens
from labdl.data.text.characters import is_control, is_ideograph, is_punctuation, strip_accents
from labdl.data.text.vocabulary import Vocab, texts_of
from labdl.data.transforms.text.splitting import cut_text
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError
from labdl.settings import INNER

Form = Literal["NONE", "NFC", "NFKC", "NFD", "NFKD"]
_UNUSED = re.compile(r"\[(?:CLS|SEP|UNK|PAD|MASK|unused\d{1,10})\]")


def split_words(text: str, keep_whitespace: bool, keep_special: bool) -> Iterator[tuple[int, int]]:
    """Places of words, punctuation marks and ideographs; white space too if it is kept."""
    special = {m.start(): m.end() for m in _UNUSED.finditer(text)} if keep_special else {}
    at = start = 0
    kind = ""
    while at < len(text):
        if at in special:
            if start < at and (kind != " " or keep_whitespace):
                yield start, at
            yield at, special[at]
            start, at, kind = special[at], special[at], ""
            continue
        character = text[at]
        alone = is_punctuation(character) or is_ideograph(character)
        new = " " if character.isspace() else "" if alone else "w"
        if start < at and (new != kind or alone):
            if kind != " " or keep_whitespace:
                yield start, at
            start = at
        if alone:
            yield at, at + 1
            start = at + 1
        elif start == at and new == " " and not keep_whitespace:
            start = at
        kind = new
        at += 1
    if start < at and (kind != " " or keep_whitespace):
        yield start, at


def clean_text(text: str, lower_case: bool, form: Form) -> str:
    """The text without control characters, in lower case without accents, or normalized."""
    if lower_case:
        text = strip_accents(text.casefold())
    elif form != "NONE":
        text = unicodedata.normalize(form, text)
    return "".join([" " if c.isspace() else c for c in text if not is_control(c) and c not in "\0\ufffd"])


@transform
class BasicTokenizer(Transform):
    """Split a text into words, punctuation marks and single ideographs. Source: mindspore.dataset.text.BasicTokenizer.

    ``lower_case`` also removes accents; else ``normalization_form`` is applied. ``preserve_unused_token`` keeps [CLS],
    [SEP], [UNK], [PAD] and [MASK] whole. The places of ``with_offsets`` are those in the cleaned text.
    """

    lower_case: bool = False
    keep_whitespace: bool = False
    normalization_form: Form = "NONE"
    preserve_unused_token: bool = True
    with_offsets: bool = False

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        cleaned = _clean(text, self.lower_case, self.normalization_form, self.preserve_unused_token)
        spans = split_words(cleaned, self.keep_whitespace, self.preserve_unused_token)
        return cut_text(cleaned, spans, self.with_offsets)


def _clean(text: str, lower_case: bool, form: Form, keep_special: bool) -> str:
    if not keep_special:
        return clean_text(text, lower_case, form)
    parts, at = [], 0
    for match in _UNUSED.finditer(text):
        parts += [clean_text(text[at : match.start()], lower_case, form), match[0]]
        at = match.end()
    return "".join([*parts, clean_text(text[at:], lower_case, form)])


def split_pieces(word: str, vocab: Any, prefix: str, most: int, unknown: str) -> list[tuple[str, int, int]]:
    """The longest pieces of a vocabulary from left to right; else the unknown token, or the word if that is ""."""
    whole = [(unknown or word, 0, len(word))]
    if len(word.encode("utf-8", "replace")) > most:
        return whole
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else prefix + word[start:end]
            if piece in vocab:
                break
        else:
            return whole
        pieces.append((piece, start, end))
        start = end
    return pieces


def vocab_tokens(owner: str, vocab: Any) -> tuple[str, ...]:
    """The tokens of a setting that is a Vocab or a list of tokens. Raises ConfigError."""
    if isinstance(vocab, Vocab):
        return vocab.tokens
    if not isinstance(vocab, tuple | list) or not all(isinstance(token, str) for token in vocab):
        raise ConfigError(f"{owner} wants a data.text.Vocab or a list of tokens, received {vocab!r:.80}")
    return tuple(vocab)


_EXAMPLE = {"vocab": ("[UNK]", "the", "quick", "br", "##own", "fox", "jump", "##s", "over", "dog", ",", ".")}


@transform(_EXAMPLE)
class WordPieceTokenizer(Transform):
    """Split words into the longest pieces of a vocabulary. Source: mindspore.dataset.text.WordpieceTokenizer.

    Pieces inside of a word have the prefix ``suffix_indicator``. A word that cannot be split, or of more than
    ``max_bytes_per_token`` bytes, becomes ``unknown_token``; "" leaves it as it is. The places of ``with_offsets`` are
    those in the word.
    """

    vocab: Any = field(metadata=INNER)
    suffix_indicator: str = "##"
    max_bytes_per_token: Annotated[int, Ge(0)] = 100
    unknown_token: str = "[UNK]"
    with_offsets: bool = False

    def check_settings(self) -> None:
        self.vocab = vocab_tokens("WordPieceTokenizer", self.vocab)
        self._known = frozenset(self.vocab)

    def apply_to_tokens(self, words: Tokens, params: Parameters) -> Tokens:
        found = [
            piece
            for word in words
            for piece in split_pieces(
                word, self._known, self.suffix_indicator, self.max_bytes_per_token, self.unknown_token
            )
        ]
        tokens = Tokens(piece for piece, _, _ in found)
        if self.with_offsets:
            tokens.offsets = np.array([(first, last) for _, first, last in found], "int64").reshape(-1, 2)
        return tokens


@transform(_EXAMPLE)
class BertTokenizer(Transform):
    """Split a text into the pieces of BERT: `BasicTokenizer`, then `WordPieceTokenizer`.

    ``vocab`` is a data.text.Vocab (of a vocab.txt), or left out and trained by ``fit(texts)``. Source:
    mindspore.dataset.text.BertTokenizer.
    """

    vocab: Any = field(default=(), metadata=INNER)
    suffix_indicator: str = "##"
    max_bytes_per_token: Annotated[int, Ge(0)] = 100
    unknown_token: str = "[UNK]"
    lower_case: bool = False
    keep_whitespace: bool = False
    normalization_form: Form = "NONE"
    preserve_unused_token: bool = True

    def check_settings(self) -> None:
        self.vocab = vocab_tokens("BertTokenizer", self.vocab)
        self._known = frozenset(self.vocab)

    def fit(self, samples: Iterable[Any], vocab_size: int = 8000) -> BertTokenizer:
        """Train the vocabulary on samples with texts."""
        from labdl.data.text.tokenizer import Tokenizer

        trained = Tokenizer.train(texts_of(samples), "wordpiece", vocab_size, lower_case=self.lower_case)
        self.vocab = tuple(trained.token_of(number) for number in range(trained.vocab_size))
        self._known = frozenset(self.vocab)
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether there is a vocabulary, trained or given."""
        return bool(self.vocab)

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        if not self.vocab:
            raise ConfigError("BertTokenizer has no vocabulary: give it vocab=, or train it with fit(samples)")
        cleaned = _clean(text, self.lower_case, self.normalization_form, self.preserve_unused_token)
        prefix, most, unknown = self.suffix_indicator, self.max_bytes_per_token, self.unknown_token
        return Tokens(
            piece
            for first, last in split_words(cleaned, self.keep_whitespace, self.preserve_unused_token)
            for piece, _, _ in split_pieces(cleaned[first:last], self._known, prefix, most, unknown)
        )
