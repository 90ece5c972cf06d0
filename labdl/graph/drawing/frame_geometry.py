"""Rectangles of boxes and of the frames around open blocks."""

from __future__ import annotations

from collections.abc import Iterable

from labdl.graph.graph import paths_around

Rect = tuple[float, float, float, float]  # left, top, right, bottom

PADDING = 16.0  # between a frame and its content
HEADING = 28.0  # height of the line with the block's name
FOOT = 24.0  # room below for the shapes of outgoing edges


def bounds(rects: Iterable[Rect]) -> Rect:
    """The bounding rectangle of others. Raises ValueError for none."""
    lefts, tops, rights, bottoms = zip(*rects, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def frame_around(content: Rect) -> Rect:
    """The frame of a block whose content has this rectangle."""
    left, top, right, bottom = content
    return left - PADDING, top - HEADING - PADDING / 2, right + PADDING, bottom + FOOT


def frame_rects(paths: Iterable[str], content: Iterable[tuple[str, Rect]]) -> dict[str, Rect]:
    """The frame of each open block, by path.

    Args:
        paths: The open blocks, outer ones before those inside them; a block without content has no frame.
        content: Names of layers, folded blocks and notes (``block/name``) with their rectangles.
    """
    held: dict[str, list[Rect]] = {path: [] for path in paths}

    def put(name: str, rect: Rect) -> None:
        home = next((path for path in reversed(paths_around(name)) if path in held), None)
        if home is not None:
            held[home].append(rect)

    for name, rect in content:
        put(name, rect)
    frames: dict[str, Rect] = {}
    for path in reversed(held):
        if held[path]:
            frames[path] = frame_around(bounds(held[path]))
            put(path, frames[path])
    return {path: frames[path] for path in held if path in frames}


def rect_at(corner: tuple[float, float], size: tuple[float, float]) -> Rect:
    """The rectangle with this upper left corner and size."""
    return corner[0], corner[1], corner[0] + size[0], corner[1] + size[1]


def size_of(rect: Rect) -> tuple[float, float]:
    """Width and height."""
    return rect[2] - rect[0], rect[3] - rect[1]
