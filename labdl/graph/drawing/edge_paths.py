"""The lines of edges in a picture, as curves along the flow.

The canvas draws edges between boxes that a person has placed in the same way (labextension/src/editor/canvas/edge-path.ts).
"""

from __future__ import annotations

import math

from labdl.graph.drawing.node_boxes import HEIGHT, WIDTH

TURN = 36.0  # length of a curve out to the side
LANE = 22.0  # between a box and the line that is led around it
LONG, NEAR = 1.9, 0.35  # an edge skips boxes if it is so long and so straight, in sizes of a box
OUTWARD, FARTHEST = 28.0, 90.0  # longer edges take outer lanes: a unit farther for so many of length, up to a bound
CURVATURE = 6.25  # of an edge against the flow, as in React Flow


class Path:
    """A path with coordinates along and across the flow."""

    def __init__(self, across: float, along: float):
        self.across, self.along = across, along
        self.points = [(across, along)]
        self.words = ["M"]

    def _go(self, word: str, *points: tuple[float, float]) -> None:
        self.points += points
        self.words += [word, *[""] * (len(points) - 1)]
        self.across, self.along = points[-1]

    def line(self, along: float) -> None:
        if self.words[-1] == "L" and self.points[-2][0] == self.across:
            self.points[-1] = (self.across, along)
            self.along = along
        else:
            self._go("L", (self.across, along))

    def curve(self, across: float, along: float) -> None:
        reach = (along - self.along) / 2 if along > self.along else CURVATURE * math.sqrt(self.along - along)
        if abs(across - self.across) < 0.5 and along > self.along:
            self.line(along)
        else:
            self._go("C", (self.across, self.along + reach), (across, along - reach), (across, along))

    def connect(self, across: float, along: float, down: bool) -> None:
        """A curve to the other end, led around the boxes that it would run through."""
        if skips(across - self.across, along - self.along, down):
            half = (WIDTH if down else HEIGHT) / 2
            outward = min(FARTHEST, (along - self.along) / OUTWARD)
            self._around(across, along, max(self.across, across) + half + LANE + outward)
        else:
            self.curve(across, along)

    def _around(self, across: float, along: float, side: float) -> None:
        """Go to the side, along a lane, and back."""
        a, b = self.along, self.across
        self._go("C", (b, a + TURN), (side, a + 4), (side, a + TURN * 1.5))
        self._go("L", (side, along - TURN * 1.5))
        self._go("C", (side, along - 4), (across, along - TURN), (across, along))

    def back(self, across: float, along: float, side: float) -> None:
        """Go to the side and against the flow, to close a loop."""
        a, b = self.along, self.across
        self._go("C", (b, a + TURN), (side, a + TURN), (side, a))
        self._go("L", (side, along))
        self._go("C", (side, along - TURN), (across, along - TURN), (across, along))

    def text(self, down: bool) -> str:
        places = (p if down else p[::-1] for p in self.points)
        return " ".join(f"{word}{number(x)},{number(y)}" for word, (x, y) in zip(self.words, places, strict=True))


def skips(across: float, along: float, down: bool) -> bool:
    """Whether an edge that leads so far across the flow and along it would run through boxes in between."""
    length, wide = (HEIGHT, WIDTH) if down else (WIDTH, HEIGHT)
    return along > length * LONG and abs(across) < wide * NEAR


def number(value: float) -> str:
    """A coordinate rounded to a tenth."""
    return f"{value:.1f}".removesuffix(".0")
