"""Places for the nodes of a picture, as the editor arranges them: in layers, each node near those it is connected with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Size = tuple[float, float]  # width and height
Line = tuple[str, str, str]  # an edge: source, its port, target
Bend = tuple[float, float, float]  # where an edge passes a layer: across, and from where to where along

_GAP_ACROSS = 48.0
_GAP_LANES = 22.0
_GAP_PARTS = 80.0
_LIGHT = 0.001  # a passage beside a box, which weighs 1
_ASIDE = 0.01  # a source that adds to others, such as a weight: what they are made of does not move the line of nodes
_SWEEPS = 6
_LANES = 8000  # so many passages at most: past that, edges run beneath boxes and the picture still comes soon


@dataclass(eq=False)
class _Box:
    """A node while it is arranged, or where an edge passes a layer; ``across`` and ``along`` are its centre."""

    width: float
    length: float
    index: int
    weight: float = 1.0
    before: list[_Box] = field(default_factory=list)
    after: list[_Box] = field(default_factory=list)
    rank: int = 0
    layer: int = 0
    across: float = 0.0
    along: float = 0.0


def arrange(
    sizes: Mapping[str, Size], lines: Sequence[Line], *, down: bool = True, gap: float = 44
) -> tuple[dict[str, tuple[float, float]], list[list[Bend]]]:
    """Upper left corners for boxes of these sizes, and for each edge where it passes the layers between its ends.

    No boxes overlap, edges lead on wherever there is no loop, and they run between the boxes of a layer. ``gap`` is the room
    between layers. The time grows with the number of boxes and edges.
    """
    boxes = {i: _Box(*((w, h) if down else (h, w)), index) for index, (i, (w, h)) in enumerate(sizes.items())}
    for source, _, target in lines:
        if source != target:
            boxes[source].after.append(boxes[target])
            boxes[target].before.append(boxes[source])
    parts = _parts(list(boxes.values()))
    layers = [_layers(part) for part in parts]
    lanes = _lanes(boxes, lines, {box: rows for rows in layers for row in rows for box in row})
    for rows in layers:
        _arrange_part(rows, gap)
    _straighten(lanes.values(), {box: (row, n) for rows in layers for row in rows for n, box in enumerate(row)})
    _pack([[box for row in rows for box in row] for rows in layers])
    corners = {
        i: (float(round(b.across - b.width / 2)), float(round(b.along - b.length / 2))) for i, b in boxes.items()
    }
    bends = []
    for source, port, target in lines:
        passed = max(boxes[target].layer - boxes[source].layer - 1, 0)
        bends.append(
            [(b.across, b.along - b.length / 2, b.along + b.length / 2) for b in lanes.get((source, port), ())[:passed]]
        )
    return (corners if down else {i: (y, x) for i, (x, y) in corners.items()}), bends


def _lanes(
    boxes: Mapping[str, _Box], lines: Iterable[Line], rows_of: Mapping[_Box, list[list[_Box]]]
) -> dict[tuple[str, str], list[_Box]]:
    """For each port the passages of its edges through the layers that they skip; they share them as far as they go."""
    targets: dict[tuple[str, str], list[_Box]] = {}
    for source, port, target in lines:
        if boxes[target].layer > boxes[source].layer + 1:
            targets.setdefault((source, port), []).append(boxes[target])
    lanes: dict[tuple[str, str], list[_Box]] = {}
    left = _LANES
    for key, ends in sorted(targets.items(), key=lambda item: max(b.layer for b in item[1]) - boxes[item[0][0]].layer):
        source = boxes[key[0]]
        rows = rows_of[source]
        left -= max(b.layer for b in ends) - source.layer - 1
        if left < 0:
            break
        chain, before = [], source
        for layer in range(source.layer + 1, max(b.layer for b in ends)):
            lane = _Box(0, 0, source.index, _LIGHT, [before], layer=layer)
            before.after.append(lane)
            rows[layer].append(lane)
            chain.append(lane)
            before = lane
        for end in ends:
            source.after.remove(end)
            end.before.remove(source)
            lane = chain[end.layer - source.layer - 2]
            lane.after.append(end)
            end.before.append(lane)
        lanes[key] = chain
    return lanes


def _parts(boxes: list[_Box]) -> list[list[_Box]]:
    """The connected parts, each in the graph's order."""
    seen: set[_Box] = set()
    parts = []
    for first in boxes:
        if first in seen:
            continue
        seen.add(first)
        part = [first]
        for box in part:  # grows while it is walked
            for other in (*box.before, *box.after):
                if other not in seen:
                    seen.add(other)
                    part.append(other)
        parts.append(sorted(part, key=lambda box: box.index))
    return parts


def _ordered(part: list[_Box]) -> list[_Box]:
    """Sources first; in a loop the earliest node goes first."""
    waiting = {box: len(box.before) for box in part}
    ready = [box for box in part if not box.before]
    rest = iter(part)
    done: dict[_Box, None] = {}
    at = 0
    while len(done) < len(part):
        if at == len(ready):
            ready.append(next(box for box in rest if box not in done))
        box = ready[at]
        at += 1
        if box in done:
            continue
        done[box] = None
        for target in box.after:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return list(done)


def _layers(part: list[_Box]) -> list[list[_Box]]:
    order = _ordered(part)
    for rank, box in enumerate(order):
        box.rank = rank
    for box in order:
        box.layer = max((s.layer + 1 for s in box.before if s.rank < box.rank), default=0)
    for box in order:  # a source stands right above its first reader, not at the very top
        readers = [t.layer for t in box.after if box.rank < t.rank]
        if not box.before and readers:
            box.layer = min(readers) - 1
            if all(len(target.before) > 1 for target in box.after):
                box.weight = _ASIDE
    layers: dict[int, list[_Box]] = {}
    for box in order:
        layers.setdefault(box.layer, []).append(box)
    rows = [layers[n] for n in sorted(layers)]
    for n, row in enumerate(rows):
        for box in row:
            box.layer = n
    return rows


def _arrange_part(layers: list[list[_Box]], gap: float) -> None:
    for layer in layers:
        _place(layer, [_mean(box.before, box.index) for box in layer])
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 1
        for layer in layers if down else reversed(layers):
            _place(layer, [_mean(box.before if down else box.after, box.across) for box in layer])
    along = 0.0
    for layer in layers:
        length = max(box.length for box in layer)
        for box in layer:
            box.along = along + length / 2
            box.length = box.length or length  # a passage is as long as the boxes beside it
        along += length + gap


def _mean(boxes: list[_Box], fallback: float) -> float:
    weight = sum(box.weight for box in boxes)
    return sum(box.across * box.weight for box in boxes) / weight if boxes else fallback


def _place(layer: list[_Box], wishes: list[float]) -> None:
    """Orders a layer by where its boxes want to be and puts them there, apart."""
    order = sorted(range(len(layer)), key=lambda n: (wishes[n], layer[n].across))
    layer[:] = [layer[n] for n in order]
    _spread(layer, [wishes[n] for n in order])


def _spread(row: list[_Box], wishes: list[float]) -> None:
    """Puts boxes in this order apart, with the least sum of squared distances from the wishes (pool adjacent violators).

    Passages weigh little, so that they go around boxes and not boxes around them.
    """
    packed = [0.0]  # measured from a packed row, "apart" becomes "not decreasing"
    for left, right in pairwise(row):
        gap = _GAP_ACROSS if left.width and right.width else _GAP_LANES
        packed.append(packed[-1] + (left.width + right.width) / 2 + gap)
    pools: list[tuple[float, float, int]] = []
    for box, wish, place in zip(row, wishes, packed, strict=True):
        total, weight, count = (wish - place) * box.weight, box.weight, 1
        while pools and pools[-1][0] / pools[-1][1] > total / weight:
            more, heavy, number = pools.pop()
            total, weight, count = total + more, weight + heavy, count + number
        pools.append((total, weight, count))
    shifts = [total / weight for total, weight, count in pools for _ in range(count)]
    for box, place, shift in zip(row, packed, shifts, strict=True):
        box.across = place + shift


def _straighten(lanes: Iterable[list[_Box]], home: Mapping[_Box, tuple[list[_Box], int]]) -> None:
    """Gives all passages of a lane one place across, if one of theirs leaves their neighbours room everywhere."""
    for lane in lanes:
        least, most = -math.inf, math.inf
        for box in lane:
            row, n = home[box]
            if n > 0:
                least = max(least, row[n - 1].across + row[n - 1].width / 2 + _GAP_LANES)
            if n + 1 < len(row):
                most = min(most, row[n + 1].across - row[n + 1].width / 2 - _GAP_LANES)
        places = [box.across for box in lane if least - 0.5 <= box.across <= most + 0.5]
        if places:
            best = sorted(places)[len(places) // 2]
            for box in lane:
                box.across = best


def _pack(parts: list[list[_Box]]) -> None:
    """Puts parts side by side, in rows about as long as the whole is high."""
    frames = []
    for part in parts:
        left, top = min(b.across - b.width / 2 for b in part), min(b.along - b.length / 2 for b in part)
        right, bottom = max(b.across + b.width / 2 for b in part), max(b.along + b.length / 2 for b in part)
        frames.append((part, left, top, right - left, bottom - top))
    area = sum((width + _GAP_PARTS) * (length + _GAP_PARTS) for *_, width, length in frames)
    limit = max([1.3 * math.sqrt(area), *(width for *_, width, _ in frames)])
    x = y = row = 0.0
    for part, left, top, width, length in frames:
        if x > 0 and x + width > limit:
            x, y, row = 0.0, y + row + _GAP_PARTS, 0.0
        for box in part:
            box.across += x - left
            box.along += y - top
        x += width + _GAP_PARTS
        row = max(row, length)
