"""A note on the canvas, without effect on the model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labdl.errors import ModelError
from labdl.nn.names import fault_of

MOST = 5_000  # notes of a graph
LONGEST = 10_000  # characters of a note
TOGETHER = 2_000_000  # characters of all notes of a graph
FARTHEST = 1e9  # units of the canvas
COLOR = re.compile(r"[a-z]{0,20}")


@dataclass(frozen=True)
class Note:
    """A rectangle with a text on the canvas.

    ``color`` is the name of a hue, such as "blue", or empty. ``home`` is the path of the block that contains the note,
    such as "encoder/0", and empty for the model itself: a note is shown with its block.
    """

    text: str
    position: tuple[float, float]
    size: tuple[float, float]
    color: str = ""
    home: str = ""

    def __post_init__(self):
        if not isinstance(self.text, str) or len(self.text) > LONGEST:
            raise ModelError(
                f"a note wants a text of at most {LONGEST:,} characters, received {_abbreviate(self.text)}"
            )
        if "\0" in self.text:
            raise ModelError("a note holds a NUL character, which a file cannot hold")
        if not isinstance(self.color, str) or not COLOR.fullmatch(self.color):
            raise ModelError(f"a note wants the name of a color in small letters, received {_abbreviate(self.color)}")
        if not isinstance(self.home, str) or (self.home and fault_of(self.home)):
            raise ModelError(f"a note wants the path of a block, received {_abbreviate(self.home)}")
        for part, least in (("position", -FARTHEST), ("size", 1.0)):
            pair = getattr(self, part)
            if len(pair) != 2 or not all(_is_number(n) and least <= n <= FARTHEST for n in pair):
                raise ModelError(f"the {part} of a note wants two finite numbers, received {_abbreviate(pair)}")

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON data."""
        (x, y), (width, height) = self.position, self.size
        return {
            "text": self.text,
            "home": self.home,
            "color": self.color,
            "x": x,
            "y": y,
            "width": width,
            "height": height,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Note:
        """A note from JSON data. Raises ModelError, or KeyError for missing keys."""
        place, size = ((float(data[a]), float(data[b])) for a, b in (("x", "y"), ("width", "height")))
        return cls(data["text"], place, size, data.get("color", ""), data.get("home", ""))


def notes_from(data: Mapping[str, Any]) -> dict[str, Note]:
    """Notes by their ids from JSON data. Raises ModelError for too many."""
    if len(data) > MOST:
        raise ModelError(f"a graph has at most {MOST:,} notes, received {len(data):,}")
    notes = {str(i): Note.from_dict(n) for i, n in data.items()}
    if (together := sum(len(n.text) for n in notes.values())) > TOGETHER:
        raise ModelError(f"the notes of a graph have at most {TOGETHER:,} characters, received {together:,}")
    return notes


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _abbreviate(value: Any) -> str:
    return f"{len(value):,} of them" if isinstance(value, str) and len(value) > LONGEST else f"{value!r:.80}"
