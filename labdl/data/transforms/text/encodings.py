"""Bytes, texts and numbers of Unicode characters, with the places of characters in the bytes."""

from __future__ import annotations

import codecs
from typing import Any, Literal

import numpy as np

from labdl.data.parts import Text, TokenIds
from labdl.data.transforms.sample_parts import replace, select
from labdl.data.transforms.transform import Transform, transform
from labdl.errors import ConfigError, DataError

Errors = Literal["strict", "replace", "ignore"]
_SLOW = ("idna", "punycode", "undefined")  # no encodings of texts; the time of some grows with the square of the text


def _check_encoding(owner: Transform, name: str) -> None:
    try:
        codec = codecs.lookup(name)
        valid = codec._is_text_encoding and codec.name not in _SLOW
    except (LookupError, ValueError):
        valid = False
    if not valid:
        raise ConfigError(
            f'{type(owner).__name__} wants an encoding such as "utf-8" or "gb18030", received {name!r:.80}'
        )


def _decode(owner: Transform, part: Any, encoding: str, errors: Errors) -> str:
    if isinstance(part, str):
        return str(part)
    if isinstance(part, np.ndarray) and part.dtype == np.uint8:
        part = part.tobytes()
    if not isinstance(part, bytes | bytearray):
        raise DataError(f"{type(owner).__name__} wants bytes or a text, received {type(part).__name__}")
    try:
        return bytes(part).decode(encoding, errors)
    except UnicodeError as error:
        raise DataError(f"{type(owner).__name__}: the bytes are not {encoding}: {error!s:.200}") from None


def _encode(owner: Transform, text: str, encoding: str, errors: Errors) -> bytes:
    try:
        return text.encode(encoding, errors)
    except UnicodeError as error:
        raise DataError(f"{type(owner).__name__}: {encoding} has no bytes for the text: {error!s:.200}") from None


@transform({"key": "text"})
class UnicodeTranscode(Transform):
    """Convert bytes from one encoding to another, or to a Text when ``output_encoding`` is None.

    ``errors`` is what wrong bytes become: an error, U+FFFD, or nothing. Source: tf.strings.unicode_transcode.
    """

    input_encoding: str = "utf-8"
    output_encoding: str | None = None
    errors: Errors = "replace"
    key: str | None = None

    def check_settings(self) -> None:
        for name in (self.input_encoding, self.output_encoding or "utf-8"):
            _check_encoding(self, name)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        text = _decode(self, select(self, sample, self.key), self.input_encoding, self.errors)
        output = self.output_encoding
        return replace(sample, self.key, Text(text) if output is None else _encode(self, text, output, self.errors))


@transform({"key": "text"})
class UnicodeDecode(Transform):
    """Convert bytes or a text to the numbers of its characters, TokenIds. Source: tf.strings.unicode_decode_with_offsets.

    ``offsets`` names an entry of the dictionary for the first byte of each character.
    """

    input_encoding: str = "utf-8"
    errors: Errors = "replace"
    key: str | None = None
    offsets: str | None = None

    def check_settings(self) -> None:
        _check_encoding(self, self.input_encoding)
        if self.offsets is None:
            return
        if self.key is None:
            raise ConfigError("UnicodeDecode with offsets wants the key of the part in a dictionary")
        if codecs.lookup(self.input_encoding).name not in _WIDTHS:
            raise ConfigError(
                f"UnicodeDecode has offsets for {', '.join(_WIDTHS)}, received {self.input_encoding!r:.80}"
            )

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        part = select(self, sample, self.key)
        if self.offsets is None:
            return replace(sample, self.key, _numbers(_decode(self, part, self.input_encoding, self.errors)))
        if isinstance(part, str):
            part = _encode(self, part, self.input_encoding, self.errors)
        if self.errors == "strict":
            _decode(self, part, self.input_encoding, "strict")
        numbers = _numbers(_decode(self, part, self.input_encoding, _LENGTHS)).array  # type: ignore[arg-type]
        wrong = (numbers >= 0xDC00) & (numbers < 0xE000)
        widths = np.where(wrong, numbers - 0xDC00, _WIDTHS[codecs.lookup(self.input_encoding).name](numbers))
        starts = np.cumsum(widths) - widths
        numbers = np.where(wrong, 0xFFFD, numbers)
        kept = ~wrong if self.errors == "ignore" else slice(None)
        return {**sample, self.key: TokenIds(numbers[kept]), self.offsets: starts[kept]}


_LENGTHS = "labdl.lengths"
# a lone surrogate, which no decoded text has, for wrong bytes; it tells how many there are
codecs.register_error(_LENGTHS, lambda error: (chr(0xDC00 + error.end - error.start), error.end))  # type: ignore[attr-defined]


def _two_or_four(numbers: np.ndarray) -> np.ndarray:
    return np.where(numbers >= 0x10000, 4, 2)


# bytes of a character
_WIDTHS = {
    "utf-8": lambda numbers: 1 + (numbers >= 0x80) + (numbers >= 0x800) + (numbers >= 0x10000),
    "utf-16-be": _two_or_four,
    "utf-16-le": _two_or_four,
    "utf-32-be": lambda numbers: np.full(numbers.shape, 4),
    "utf-32-le": lambda numbers: np.full(numbers.shape, 4),
}


def _numbers(text: str) -> TokenIds:
    return TokenIds(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype("int64"))


@transform
class UnicodeEncode(Transform):
    """Convert numbers of characters to a Text, or to bytes of an encoding. Source: tf.strings.unicode_encode.

    ``errors`` is what numbers that no character has become: an error, U+FFFD, or nothing.
    """

    output_encoding: str | None = None
    errors: Errors = "replace"

    def check_settings(self) -> None:
        _check_encoding(self, self.output_encoding or "utf-8")

    def apply_to_token_ids(self, ids: TokenIds, params: dict) -> Text | bytes:
        numbers = ids.array
        valid = (numbers >= 0) & (numbers <= 0x10FFFF) & ~((numbers >= 0xD800) & (numbers <= 0xDFFF))
        if not valid.all():
            if self.errors == "strict":
                raise DataError(f"UnicodeEncode wants numbers of characters, received {numbers[~valid][0]}")
            numbers = np.where(valid, numbers, 0xFFFD) if self.errors == "replace" else numbers[valid]
        text = numbers.astype("<u4").tobytes().decode("utf-32-le")
        return Text(text) if self.output_encoding is None else _encode(self, text, self.output_encoding, self.errors)
