"""Encodings of text files, and errors that name the file and the byte."""

from __future__ import annotations

import codecs
from typing import Literal

from labdl.errors import ConfigError, DataError

EncodingErrors = Literal["strict", "replace", "ignore"]
BOM = codecs.BOM_UTF8
# a line end or a quotation mark may be a part of another character there
_STATEFUL = ("iso2022", "hz", "utf_7", "utf-7")


def check_encoding(encoding: str, errors: str, *, lines: bool) -> str:
    """The standard name of an encoding; ``lines`` wants one in which bytes of line ends are nothing else.

    Raises ConfigError for an unknown encoding and an unknown rule for wrong bytes.
    """
    if errors not in ("strict", "replace", "ignore"):
        raise ConfigError(f'encoding_errors wants "strict", "replace" or "ignore", received {errors!r:.40}')
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding:  # type: ignore[attr-defined]
            raise LookupError
        plain = found.encode('\n"')[0] == b'\n"'
    except (LookupError, TypeError, ValueError):
        raise ConfigError(
            f'there is no encoding {encoding!r:.40}: such are "utf-8", "gb18030", "latin-1", "shift_jis", "utf-16"'
        ) from None
    if found.name == "utf-8-sig":
        return "utf-8"  # a byte order mark is skipped anyway
    if lines and (not plain or found.name.startswith(_STATEFUL)):
        raise ConfigError(
            f"lines of a file in {found.name} cannot be found by their bytes: write it in UTF-8, or read whole files "
            'with sample_by="document"'
        )
    return found.name


def decode_text(content: bytes, encoding: str, errors: str, where: str) -> str:
    """The text of bytes, without a byte order mark. ``where`` names them in the DataError for wrong ones."""
    if encoding == "utf-8" and content.startswith(BOM):
        content = content[len(BOM) :]
    try:
        return content.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where} is no {encoding}: byte {error.start:,} is 0x{content[error.start]:02x}. Name its encoding, such as "
            'encoding="gb18030", or read it with encoding_errors="replace"'
        ) from None
