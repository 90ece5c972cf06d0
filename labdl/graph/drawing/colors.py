"""Colors of pictures and of the canvas; scripts/generate_drawing.py writes them as a style sheet for the front end.

In JupyterLab the canvas takes the colors of its theme, elsewhere those of `THEMES`, as pictures do.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Base colors of a drawing; all others are mixed from them."""

    canvas: str
    back: str
    back2: str
    line_strong: str
    text: str
    muted: str
    error: str

    @property
    def edge(self) -> str:
        return self._mix("edge")

    @property
    def error_text(self) -> str:
        return self._mix("error_text")

    @property
    def error_back(self) -> str:
        return self._mix("error_back")

    def _mix(self, name: str) -> str:
        first, second, part = MIXTURES[name]
        return mix(getattr(self, first), getattr(self, second), part)


THEMES = {
    "light": Theme("#ffffff", "#ffffff", "#f3f4f6", "#b3b8c0", "#1f2328", "#5b626c", "#c62828"),
    "dark": Theme("#15171a", "#1e2126", "#2a2e35", "#555c68", "#e6e8eb", "#a5acb6", "#ef5350"),
}
# two base colors, and the part of the first one
MIXTURES = {
    "edge": ("text", "canvas", 0.45),
    "error_text": ("error", "text", 0.72),
    "error_back": ("error", "back", 0.09),
}
NOTES = {"yellow": "#ef9a00", "green": "#43a047", "blue": "#1e88e5", "purple": "#8e24aa", "red": "#e53935"}
NOTE_FILL, NOTE_BORDER = 0.14, 0.55  # the part of a note's color, the rest is the canvas
HUES = (210, 28, 145, 275, 350, 185, 50, 320, 95, 240)  # by the order of the categories; neighbors differ much
SATURATION, LIGHTNESS = 0.58, 0.55  # of the color of a category

JUPYTERLAB = {  # the variables of JupyterLab's themes
    "canvas": "--jp-layout-color0",
    "back": "--jp-layout-color1",
    "back2": "--jp-layout-color2",
    "line_strong": "--jp-border-color1",
    "text": "--jp-ui-font-color1",
    "muted": "--jp-ui-font-color2",
    "error": "--jp-error-color1",
    "yellow": "--jp-warn-color1",
    "green": "--jp-success-color1",
    "blue": "--jp-brand-color1",
    "red": "--jp-error-color1",
}


def mix(first: str, second: str, part: float) -> str:
    """Mix two colors; ``part`` is the share of the first."""
    pairs = [(int(first[n : n + 2], 16), int(second[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(a * part + b * (1 - part)):02x}" for a, b in pairs)


def strip(hue: int) -> str:
    """The color of a category."""
    return "#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue / 360, LIGHTNESS, SATURATION))


def hues(categories: Iterable[str]) -> dict[str, int]:
    """Hue of each category, by their order."""
    return {category: HUES[n % len(HUES)] for n, category in enumerate(dict.fromkeys(categories))}
