"""Estimated widths of texts, and fitting of texts: no font is available, so widths are generous."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

# widths relative to the font size, of wide system fonts such as DejaVu Sans and Verdana
_WIDTHS = {
    letter: width
    for letters, width in (
        ("iljI|'!.,:; ", 0.36),
        ('ftr()[]{}-/\\"`', 0.46),
        ("mwMWOQGD%@×+=<>~#&…", 0.98),
        ("_*^?$", 0.6),
        ("abcdeghknopqsuvxyz0123456789", 0.65),
        ("ABCEFHJKLNPRSTUVXYZ", 0.77),
    )
    for letter in letters
}
_BOLD = 1.1
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # invalid in XML
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # would change the direction of the following text
_LONG = 400  # maximum length of a text


def clean(text: object) -> str:
    """A text on one line, without characters that XML forbids or that change the direction of text."""
    return " ".join(_TURNING.sub("", _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)[: 4 * _LONG])).split())


def width(text: str, size: float, *, bold: bool = False) -> float:
    """An upper bound of the width of a text."""
    return sum(map(_letter, text)) * size * (_BOLD if bold else 1)


def _letter(letter: str) -> float:
    known = _WIDTHS.get(letter)
    if known is not None:
        return known
    return 0 if unicodedata.combining(letter) else 1.4 if unicodedata.category(letter) == "So" else 1


def shorten(text: str, room: float, size: float, *, bold: bool = False, end: bool = False) -> str:
    """The text if it fits, else with an ellipsis after its start, or before its ``end``."""
    if width(text, size, bold=bold) <= room:
        return text
    left, kept = room - width("…", size, bold=bold), 0
    for letter in reversed(text) if end else text:
        left -= width(letter, size, bold=bold)
        if left < 0:
            break
        kept += 1
    return f"…{text[len(text) - kept :].lstrip()}" if end else f"{text[:kept].rstrip()}…"


def wrap(text: str, room: float, size: float, lines: int) -> list[str]:
    """Wrap a text to at most so many lines; a truncated one ends in an ellipsis."""
    done: list[str] = []
    words = text.split()
    while words and len(done) < lines - 1:
        line = words.pop(0)
        if width(line, size) > room:  # a word longer than a line
            kept = len(shorten(line, room, size)) - 1
            words.insert(0, line[max(kept, 1) :])
            line = line[: max(kept, 1)]
        else:
            while words and width(f"{line} {words[0]}", size) <= room:
                line = f"{line} {words.pop(0)}"
        done.append(line)
    return [*done, shorten(" ".join(words), room, size)] if words else done


def setting(value: object, depth: int = 3) -> str:
    """The repr of a setting, shortened."""
    if isinstance(value, list | tuple):
        if depth == 0:
            return "…"
        inner = ", ".join(setting(item, depth - 1) for item in value[:6])
        return f"({inner}, …)" if len(value) > 6 else f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, Mapping):
        return "{…}"
    if isinstance(value, float):
        return f"{value:g}"
    return clean(value[:_LONG] if isinstance(value, str) else repr(value)[:_LONG])


def size_text(shape: tuple[int | None, ...]) -> str:
    """``N × 16 × ? × 8``, N for the batch and ? for unknown sizes; a shape without axes is one number."""
    marks = ["N" if at == 0 else "?" for at in range(len(shape))]
    return " × ".join(mark if n is None else str(n) for n, mark in zip(shape, marks, strict=True)) or "one number"


def short_count(count: int) -> str:
    """``160``, ``12.3 k``, ``1.2 M``: three digits."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= max(size * 0.99995, 1000):  # 999 950 would round to "1000 k"
            value = count / size
            return f"{value:.{1 if value < 99.95 else 0}f}".removesuffix(".0") + f" {unit}"
    return str(count)
