"""What stands behind the boxes and lines of a picture: the frames of open blocks, and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from labdl.graph.drawing.boxes import NAME
from labdl.graph.drawing.colours import NOTES, Theme, mixed
from labdl.graph.drawing.elements import FAR, put
from labdl.graph.drawing.folding import Drawn, Rect
from labdl.graph.drawing.lettering import clean, shorten, wrap
from labdl.graph.graph import Graph
from labdl.graph.note import Note

_LINE, _LINES = 18.85, 200  # of a note: from one line to the next, and how many of a paragraph at most

Points = list[tuple[float, float]]


def notes_in(graph: Graph, drawn: Drawn) -> list[Note]:
    """The notes of the model itself and of open blocks."""
    return [note for note in graph.notes.values() if not note.home or note.home in drawn.frames]


def draw_frames(group: ElementTree.Element, frames: Mapping[str, Rect], theme: Theme) -> Points:
    """A frame with the block's name around what stands in it; how far they reach."""
    reached: Points = []
    for path, (left, top, right, bottom) in frames.items():
        put(group, "rect", x=left, y=top, width=right - left, height=bottom - top, rx=8, fill=theme.back2,
            fill_opacity=0.6, stroke=theme.line)  # fmt: skip
        name = shorten(clean(path.rpartition("/")[2]), right - left - 24, NAME, bold=True)
        put(group, "text", x=left + 12, y=top + 21, font_weight=600, fill=theme.text).text = name
        reached += [(left, top), (right, bottom)]
    return reached


def draw_notes(group: ElementTree.Element, notes: Sequence[Note], theme: Theme) -> Points:
    """Each as much of its text as its rectangle holds; how far they reach."""
    reached: Points = []
    for note in notes:
        (x, y), (wide, high) = note.position, note.size
        if max(abs(x), abs(y), wide, high) > FAR:
            continue
        item = put(group, "g")
        put(item, "title").text = clean(note.text)
        colour = NOTES.get(note.color, theme.muted)
        put(item, "rect", x=x, y=y, width=wide, height=high, rx=5, fill=mixed(colour, theme.canvas, 0.14),
            stroke=mixed(colour, theme.canvas, 0.55))  # fmt: skip
        lines: list[str] = []
        for paragraph in note.text.split("\n"):
            lines += wrap(clean(paragraph), wide - 24, NAME, _LINES) or [""]
        for n, line in enumerate(lines[: max(int((high - 12) / _LINE), 0)]):
            put(item, "text", x=x + 12, y=y + 22 + n * _LINE, fill=theme.text).text = line
        reached += [(x, y), (x + wide, y + high)]
    return reached
