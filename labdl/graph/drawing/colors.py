"""The colors of a picture: the editor's outside JupyterLab."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Base colors of a drawing; all others are mixed from them."""

    canvas: str
    back: str
    back2: str
    line: str
    text: str
    muted: str
    error: str

    @property
    def edge(self) -> str:
        return mixed(self.text, self.canvas, 0.45)

    @property
    def error_text(self) -> str:
        return mixed(self.error, self.text, 0.72)

    @property
    def error_back(self) -> str:
        return mixed(self.error, self.back, 0.09)


THEMES = {
    "light": Theme("#ffffff", "#ffffff", "#f3f4f6", "#b3b8c0", "#1f2328", "#5b626c", "#c62828"),
    "dark": Theme("#15171a", "#1e2126", "#2a2e35", "#555c68", "#e6e8eb", "#a5acb6", "#ef5350"),
}

# the colors of notes
NOTES = {"yellow": "#ef9a00", "green": "#43a047", "blue": "#1e88e5", "purple": "#8e24aa", "red": "#e53935"}


def mixed(first: str, second: str, part: float) -> str:
    """So much of one color, the rest of the other."""
    pairs = [(int(first[n : n + 2], 16), int(second[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(a * part + b * (1 - part)):02x}" for a, b in pairs)


def strip(hue: int) -> str:
    """The color of a category."""
    return "#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue / 360, 0.55, 0.58))
