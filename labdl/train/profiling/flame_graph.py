"""A flame graph as SVG, in the colors of the page: a row for each level of nested times."""

from __future__ import annotations

import dataclasses
from xml.sax.saxutils import escape

_WIDTH, _ROW, _TOP = 720, 22, 26
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_NARROW = 0.6  # pixels: narrower frames are left out
_LETTER = 6.2  # pixels, about, of the font


@dataclasses.dataclass
class Frame:
    """A time with the times inside of it; ``title`` is shown under the pointer."""

    name: str
    seconds: float
    inner: list[Frame] = dataclasses.field(default_factory=list)
    title: str = ""


def render_flame_graph(root: Frame, heading: str) -> str:
    """The frames, each as wide as its share of the time of the root and below the one that contains it."""
    parts: list[str] = []
    depth = _draw(root, 0.0, _WIDTH / max(root.seconds, 1e-12), 0, 0, parts)
    height = _TOP + (depth + 1) * _ROW + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" style="max-width:100%;height:auto" font-family="system-ui,sans-serif" font-size="11" fill="currentColor">'
        f"<title>{escape(heading)}</title>"
        f'<text x="0" y="14" font-weight="600">{escape(heading)}</text>{"".join(parts)}</svg>'
    )


def _draw(frame: Frame, left: float, scale: float, depth: int, color: int, parts: list[str]) -> int:
    """Append a frame and those inside of it; returns the depth of the lowest one."""
    width = frame.seconds * scale
    if width < _NARROW:
        return depth
    y, text = _TOP + depth * _ROW, f"{frame.name} {_milliseconds(frame.seconds)}"
    shown = text if len(text) * _LETTER < width - 8 else frame.name if len(frame.name) * _LETTER < width - 8 else ""
    parts.append(
        f"<g><title>{escape(frame.title or frame.name)}: {_milliseconds(frame.seconds)}</title>"
        f'<rect x="{left:.1f}" y="{y}" width="{max(width - 1, 0.5):.1f}" height="{_ROW - 2}" rx="2" '
        f'fill="{_COLORS[color % len(_COLORS)]}" fill-opacity=".28" stroke="{_COLORS[color % len(_COLORS)]}"/>'
        + (f'<text x="{left + 5:.1f}" y="{y + 14}">{escape(shown)}</text>' if shown else "")
        + "</g>"
    )
    lowest, at = depth, left
    for number, inner in enumerate(frame.inner):
        lowest = max(lowest, _draw(inner, at, scale, depth + 1, number + (color if depth else 0), parts))
        at += inner.seconds * scale
    return lowest


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"
