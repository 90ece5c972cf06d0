"""Classes of characters: Chinese ones, punctuation, control characters, scripts."""

from __future__ import annotations

import functools
import unicodedata

# blocks of CJK ideographs; kana, Hangul and punctuation are not among them, as in BERT's tokenizer
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_SCRIPTS = (
    "Common|Latin|Han|Cyrillic|Arabic|Hiragana|Katakana|Hangul|Greek|Devanagari|Hebrew|Thai|Inherited|Bengali|Tamil|Telugu|"
    "Kannada|Malayalam|Gujarati|Gurmukhi|Georgian|Armenian|Ethiopic|Khmer|Lao|Myanmar|Sinhala|Tibetan|Mongolian"
)


@functools.lru_cache(1 << 16)
def is_ideograph(character: str) -> bool:
    """True for a Chinese, Japanese or Korean ideograph."""
    code = ord(character)
    return code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPHS)


@functools.lru_cache(1 << 16)
def is_punctuation(character: str) -> bool:
    """True for punctuation and for all ASCII symbols, such as $ and ~."""
    code = ord(character)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(character).startswith("P")


@functools.lru_cache(1 << 16)
def is_control(character: str) -> bool:
    """True for control and format characters but tab and line ends."""
    return character not in "\t\n\r" and unicodedata.category(character) in ("Cc", "Cf")


@functools.lru_cache(1 << 16)
def script_of(character: str) -> str:
    """Name of the script of a character as Unicode has it: "Latin", "Han", "Common" for digits and punctuation.

    Rare scripts that are not listed here have one name, "Unknown".
    """
    import regex

    for name in _SCRIPTS.split("|"):
        if regex.match(rf"\p{{Script={name}}}", character):
            return name
    return "Unknown"


def strip_accents(text: str) -> str:
    """The text without combining marks, such as cafe for café."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
