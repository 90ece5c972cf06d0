"""The background of a drawing: frames of open blocks, and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from labdl.graph.drawing.colors import NOTE_BORDER, NOTE_FILL, NOTES, Theme, mix
from labdl.graph.drawing.folding import Scene
from labdl.graph.drawing.frame_geometry import Rect
from labdl.graph.drawing.node_boxes import NAME
from labdl.graph.drawing.svg import FAR, put
from labdl.graph.drawing.text_metrics import clean, shorten, wrap
from labdl.graph.graph import Graph
from labdl.graph.note import Note

_LINE, _LINES = 18.85, 200  # line height of a note, and maximum lines of a paragraph

Points = list[tuple[float, float]]


def visible_notes(graph: Graph, scene: Scene) -> list[Note]:
    """The notes of the model itself and of open blocks, without those outside of the drawing."""
    return [
        note
        for note in graph.notes.values()
        if (not note.home or note.home in scene.frames) and max(map(abs, (*note.position, *note.size))) <= FAR
    ]


def draw_frames(group: ElementTree.Element, frames: Mapping[str, Rect], theme: Theme) -> Points:
    """Draw each frame with the block's name; returns the corners."""
    corners: Points = []
    for path, (left, top, right, bottom) in frames.items():
        put(
            group,
            "rect",
            x=left,
            y=top,
            width=right - left,
            height=bottom - top,
            rx=8,
            fill=theme.back2,
            fill_opacity=0.6,
            stroke=theme.line_strong,
        )
        name = shorten(clean(path.rpartition("/")[2]), right - left - 24, NAME, bold=True)
        put(group, "text", x=left + 12, y=top + 21, font_weight=600, fill=theme.text).text = name
        corners += [(left, top), (right, bottom)]
    return corners


def draw_notes(group: ElementTree.Element, notes: Sequence[Note], theme: Theme) -> Points:
    """Draw each note with as much text as its rectangle holds; returns the corners."""
    corners: Points = []
    for note in notes:
        (x, y), (wide, high) = note.position, note.size
        item = put(group, "g")
        put(item, "title").text = clean(note.text)
        color = NOTES.get(note.color, theme.muted)
        put(
            item,
            "rect",
            x=x,
            y=y,
            width=wide,
            height=high,
            rx=5,
            fill=mix(color, theme.canvas, NOTE_FILL),
            stroke=mix(color, theme.canvas, NOTE_BORDER),
        )
        lines: list[str] = []
        for paragraph in note.text.split("\n"):
            lines += wrap(clean(paragraph), wide - 24, NAME, _LINES) or [""]
        for n, line in enumerate(lines[: max(int((high - 12) / _LINE), 0)]):
            put(item, "text", x=x + 12, y=y + 22 + n * _LINE, fill=theme.text).text = line
        corners += [(x, y), (x + wide, y + high)]
    return corners
