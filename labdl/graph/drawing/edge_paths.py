"""The lines of edges in a picture, as curves along the flow."""

from __future__ import annotations

import math

from labdl.graph.drawing.node_boxes import HEIGHT, WIDTH, Box


class Path:
    """A line that runs along the flow and bends across it."""

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
        reach = (along - self.along) / 2 if along > self.along else 6.25 * math.sqrt(self.along - along)
        if abs(across - self.across) < 0.5 and along > self.along:
            self.line(along)
        else:
            self._go("C", (self.across, self.along + reach), (across, along - reach), (across, along))

    def around(self, across: float, along: float, side: float) -> None:
        """Out to the side, along a lane, and back."""
        turn = 36
        a, b = self.along, self.across
        self._go("C", (b, a + turn), (side, a + 4), (side, a + turn + 18))
        self._go("L", (side, along - turn - 18))
        self._go("C", (side, along - 4), (across, along - turn), (across, along))

    def back(self, across: float, along: float, side: float) -> None:
        """Out to the side and against the flow, to close a loop."""
        turn = 36
        a, b = self.along, self.across
        self._go("C", (b, a + turn), (side, a + turn), (side, a))
        self._go("L", (side, along))
        self._go("C", (side, along - turn), (across, along - turn), (across, along))

    def text(self, down: bool) -> str:
        places = (p if down else p[::-1] for p in self.points)
        return " ".join(f"{word}{number(x)},{number(y)}" for word, (x, y) in zip(self.words, places, strict=True))


def skips(start: tuple[float, float], end: tuple[float, float], source: Box) -> bool:
    """Whether an edge would run through boxes in between."""
    (b0, a0), (b1, a1) = (start, end) if source.down else (start[::-1], end[::-1])
    length, wide = (HEIGHT, WIDTH) if source.down else (WIDTH, HEIGHT)
    return a1 - a0 > length * 1.9 and abs(b1 - b0) < wide * 0.35


def number(value: float) -> str:
    """A coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")
