"""Texts split into tokens by rules: at spaces, patterns, scripts, into characters and bytes, by a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

import numpy as np

from labdl.data.parts import Text, TokenIds, Tokens
from labdl.data.text.characters import script_of
from labdl.data.text.patterns import compile_pattern, limit_time
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER

_WORDS = re.compile(r"\S+")
Spans = list[tuple[int, int]]


def cut_text(text: str, spans: Iterable[tuple[int, int]], with_offsets: bool) -> Tokens:
    """The tokens of a text at places (first character, the one behind the last)."""
    spans = list(spans)
    tokens = Tokens(text[first:last] for first, last in spans)
    if with_offsets:
        tokens.offsets = np.array(spans, "int64").reshape(-1, 2)
    return tokens


@transform
class WhitespaceTokenizer(Transform):
    """Split a text at white space. Source: mindspore.dataset.text.WhitespaceTokenizer.

    ``with_offsets`` notes the places of the tokens, in characters, as ``tokens.offsets``.
    """

    with_offsets: bool = False

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        if not self.with_offsets:
            return Tokens(text.split())
        return cut_text(text, (m.span() for m in _WORDS.finditer(text)), True)


@transform({"delim_pattern": r"[\s,.]+"})
class RegexTokenizer(Transform):
    """Split a text at a regular expression. Source: mindspore.dataset.text.RegexTokenizer.

    Delimiters that ``keep_delim_pattern`` matches as a whole become tokens too. The search is stopped with a DataError
    after 5 seconds a text.
    """

    delim_pattern: str
    keep_delim_pattern: str = ""
    with_offsets: bool = False

    def check_settings(self) -> None:
        compile_pattern("RegexTokenizer", self.delim_pattern)
        compile_pattern("RegexTokenizer", self.keep_delim_pattern)

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        pattern = compile_pattern("RegexTokenizer", self.delim_pattern)
        kept = compile_pattern("RegexTokenizer", self.keep_delim_pattern) if self.keep_delim_pattern else None

        def search(timeout: float) -> Spans:
            return [match.span() for match in pattern.finditer(text, timeout=timeout)]

        spans, at = [], 0
        for first, last in limit_time("RegexTokenizer", search):
            if first == last:
                continue
            if first > at:
                spans.append((at, first))
            if kept is not None and limit_time("RegexTokenizer", kept.fullmatch, text[first:last]):
                spans.append((first, last))
            at = last
        if at < len(text):
            spans.append((at, len(text)))
        return cut_text(text, spans, self.with_offsets)


@transform
class UnicodeScriptTokenizer(Transform):
    """Split a text where the script changes: Latin, Han, Cyrillic; digits and punctuation are a script of their own.

    White space separates tokens; with ``keep_whitespace`` it is a token too. Source:
    mindspore.dataset.text.UnicodeScriptTokenizer.
    """

    keep_whitespace: bool = False
    with_offsets: bool = False

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        spans: Spans = []
        start, before = 0, None
        for at, character in enumerate(text):
            script = " " if character.isspace() else script_of(character)
            if script != before:
                if at > start and (before != " " or self.keep_whitespace):
                    spans.append((start, at))
                start, before = at, script
        if len(text) > start and (before != " " or self.keep_whitespace):
            spans.append((start, len(text)))
        return cut_text(text, spans, self.with_offsets)


@transform
class UnicodeCharTokenizer(Transform):
    """Split a text into its characters. Source: mindspore.dataset.text.UnicodeCharTokenizer."""

    with_offsets: bool = False

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        return cut_text(text, ((at, at + 1) for at in range(len(text))), True) if self.with_offsets else Tokens(text)


@transform
class ByteTokenizer(Transform):
    """Split a text into the numbers of its UTF-8 bytes, plus ``offset`` for special tokens below. Source: tf.io.decode_raw."""

    offset: int = 0

    def apply_to_text(self, text: Text, params: Parameters) -> TokenIds:
        data = text.encode("utf-8", "surrogatepass")
        return TokenIds(np.frombuffer(data, "uint8").astype("int64") + self.offset)


@transform({"function": str.split})
class PythonTokenizer(Transform):
    """Split a text by a function that returns a list of texts; it cannot be saved to a file.

    Source: mindspore.dataset.text.PythonTokenizer.
    """

    function: Callable[[str], Any] = field(metadata=INNER)

    def check_settings(self) -> None:
        if not callable(self.function):
            raise ConfigError(f"PythonTokenizer wants a function of a text, received {self.function!r:.80}")

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        tokens = self.function(str(text))
        if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
            raise DataError(
                f"PythonTokenizer wants a function that returns a list of texts, it returned {tokens!r:.80}"
            )
        return Tokens(tokens)
