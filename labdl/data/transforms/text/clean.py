"""Texts made alike: letter case, Unicode forms, white space, cut pieces, patterns."""

from __future__ import annotations

import functools
import unicodedata
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Text, TokenIds, Tokens
from labdl.data.text.patterns import compile_pattern, limit_time
from labdl.data.transforms.sample_parts import part_at, replace, select
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError


@transform
class Lower(Transform):
    """Convert texts and tokens to lower case. Source: tf.strings.lower."""

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(text.lower())

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(token.lower() for token in tokens)


@transform
class Upper(Transform):
    """Convert texts and tokens to upper case. Source: tf.strings.upper."""

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(text.upper())

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(token.upper() for token in tokens)


@transform
class CaseFold(Transform):
    """Convert to lower case for comparisons: ß becomes ss. Source: mindspore.dataset.text.CaseFold."""

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(text.casefold())

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(token.casefold() for token in tokens)


@transform
class NormalizeUTF8(Transform):
    """Normalize Unicode: composed (NFC) or decomposed (NFD), with K also of like shape.

    Source: mindspore.dataset.text.NormalizeUTF8.
    """

    normalize_form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC"

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(unicodedata.normalize(self.normalize_form, text))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(unicodedata.normalize(self.normalize_form, token) for token in tokens)


@transform
class Strip(Transform):
    """Remove white space, or the characters ``characters``, from both ends of texts and tokens. Source: tf.strings.strip."""

    characters: str | None = None

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(text.strip(self.characters))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(token.strip(self.characters) for token in tokens)


@transform({"pos": 4, "len": 5})
class Substr(Transform):
    """Keep ``len`` characters or bytes from position ``pos``, a negative one from the end. Source: tf.strings.substr.

    Bytes of cut characters become U+FFFD. Raises DataError for a text that ends before ``pos``.
    """

    pos: int
    len: Annotated[int, Ge(0)]
    unit: Literal["UTF8_CHAR", "BYTE"] = "UTF8_CHAR"

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(self._cut(text))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(map(self._cut, tokens))

    def _cut(self, text: str) -> str:
        whole: Any = text.encode("utf-8", "replace") if self.unit == "BYTE" else text
        if not -len(whole) <= self.pos <= len(whole):
            raise DataError(f"Substr wants a text with a position {self.pos}, received {text!r:.80}")
        start = self.pos + len(whole) if self.pos < 0 else self.pos
        piece = whole[start : start + self.len]
        return piece.decode("utf-8", "replace") if isinstance(piece, bytes) else piece


@transform({"pattern": r"[aeiou]", "rewrite": "*"})
class RegexReplace(Transform):
    """Replace what a regular expression matches, in texts and tokens. Source: tf.strings.regex_replace.

    ``\\\\1`` in ``rewrite`` is the first group. The search is stopped with a DataError after 5 seconds a text.
    """

    pattern: str
    rewrite: str
    replace_global: bool = True

    def check_settings(self) -> None:
        compiled = compile_pattern("RegexReplace", self.pattern)
        names = {number: name for name, number in compiled.groupindex.items()}
        # an empty text with the same groups tries the rewrite
        groups = "".join(f"(?P<{names[at]}>)" if at in names else "()" for at in range(1, compiled.groups + 1))
        try:
            compile_pattern("RegexReplace", groups).sub(self.rewrite, "")
        except Exception as error:  # the package raises several kinds for groups that there are not
            raise ConfigError(
                f"RegexReplace wants groups of its pattern in rewrite, received {self.rewrite!r:.80}: {error}"
            ) from None

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(self._replace(text))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(map(self._replace, tokens))

    def _replace(self, text: str) -> str:
        compiled = compile_pattern("RegexReplace", self.pattern)
        count = 0 if self.replace_global else 1
        return limit_time("RegexReplace", compiled.sub, self.rewrite, str(text), count)


@transform({"pattern": r"\w+"})
class RegexFullMatch(Transform):
    """Test whether a regular expression matches the whole text, or each token. Source: tf.strings.regex_full_match.

    The result, true or false, takes the place ``into`` of a dictionary, by default that of the text. The search is stopped
    with a DataError after 5 seconds a text.
    """

    pattern: str
    key: str | None = None
    into: str | None = None

    def check_settings(self) -> None:
        compile_pattern("RegexFullMatch", self.pattern)
        if self.into is not None and self.key is None:
            raise ConfigError("RegexFullMatch with into wants the key of the text in a dictionary")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.key is None:
            return Transform.apply(self, sample, rng)
        part = part_at(self, sample, self.key)
        result = (
            self.apply_to_tokens(Tokens(part), {}) if isinstance(part, list) else self.apply_to_text(Text(part), {})
        )
        return {**sample, self.into or self.key: result}

    def apply_to_text(self, text: Text, params: Parameters) -> np.bool_:
        return np.bool_(limit_time("RegexFullMatch", self._search_pattern.fullmatch, str(text)) is not None)

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> np.ndarray:
        return np.array([self.apply_to_text(Text(token), params) for token in tokens], "bool")

    @property
    def _search_pattern(self) -> Any:
        return compile_pattern("RegexFullMatch", self.pattern)


@transform
class Length(Transform):
    """Count the characters or bytes of a text, or of each token, or the tokens. Source: tf.strings.length.

    ``unit`` "TOKEN" counts tokens. The number takes the place ``into`` of a dictionary, by default that of the part.
    """

    unit: Literal["UTF8_CHAR", "BYTE", "TOKEN"] = "UTF8_CHAR"
    key: str = "text"
    into: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        key = self.key if isinstance(sample, dict) else None
        part = select(self, sample, key)
        return replace(sample, (self.into or key) if key is not None else None, self._count(part))

    def _count(self, part: Any) -> Any:
        if not isinstance(part, str | list | tuple | np.ndarray):
            raise DataError(f"Length wants a text or tokens, received {type(part).__name__}")
        if self.unit == "TOKEN":
            if isinstance(part, str):
                raise DataError('Length in the unit "TOKEN" wants tokens, received a text: put a tokenizer before it')
            return np.int64(len(part))
        if isinstance(part, TokenIds):
            raise DataError(f'Length in the unit "{self.unit}" wants a text, received numbers: write unit="TOKEN"')
        size = functools.partial(_size, unit=self.unit)
        return size(part) if isinstance(part, str) else np.array([size(token) for token in part], "int64")


def _size(text: str, unit: str) -> np.int64:
    return np.int64(len(text.encode("utf-8", "surrogatepass")) if unit == "BYTE" else len(text))
