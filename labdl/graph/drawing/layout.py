"""Layered layout of boxes (Sugiyama, Tagawa and Toda, 1981): layers by longest path, order by barycenters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Direction = Literal["down", "right"]
Point = tuple[float, float]
Size = tuple[float, float]  # width and height
Line = tuple[str, str, str]  # an edge: source, its port, target
Bend = tuple[float, float, float]  # where an edge passes a layer: position across, start and end along

GAP_ALONG: Mapping[Direction, float] = {"down": 44.0, "right": 124.0}  # labels of edges are wider than high
_GAP_ACROSS = 48.0
_GAP_DUMMIES = 22.0
_GAP_COMPONENTS = 80.0
_DUMMY_WEIGHT = 0.001  # weight of a dummy node; that of a box is 1, so edges give way to boxes
_SIDE_SOURCE_WEIGHT = 0.01  # side sources, such as weights, hardly move the main line of nodes
_SWEEPS = 6
_MAX_DUMMIES = 8000  # limit of run time; beyond it, long edges cross boxes


@dataclass(eq=False, slots=True)
class _Box:
    """A node or a dummy node (where an edge passes a layer); ``across`` and ``along`` are its center."""

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


def layered_layout(
    sizes: Mapping[str, Size], edges: Iterable[tuple[str, str]], *, direction: Direction = "down"
) -> dict[str, Point]:
    """Upper left corners for boxes of these sizes.

    No boxes overlap, and every target lies after its source unless they are in a loop. The time is linear in the number of
    boxes and edges.
    """
    boxes = _make_boxes(sizes, edges, direction)
    layers = [_assign_layers(part) for part in _components(list(boxes.values()))]
    _arrange(layers, GAP_ALONG[direction])
    return _corners(boxes, direction)


def routed_layout(
    sizes: Mapping[str, Size], lines: Sequence[Line], *, direction: Direction = "down", gap: float
) -> tuple[dict[str, Point], list[list[Bend]]]:
    """Upper left corners for boxes, and for each edge its positions in the layers between its ends.

    As `layered_layout`, with room for the edges between the boxes of each layer. ``gap`` is the distance between layers.
    """
    boxes = _make_boxes(sizes, ((source, target) for source, _, target in lines), direction)
    layers = [_assign_layers(part) for part in _components(list(boxes.values()))]
    dummies = _insert_dummies(boxes, lines, {box: rows for rows in layers for row in rows for box in row})
    _arrange(layers, gap, dummies.values())
    bends = []
    for source, port, target in lines:
        passed = max(boxes[target].layer - boxes[source].layer - 1, 0)
        chain = dummies.get((source, port), ())[:passed]
        bends.append([(b.across, b.along - b.length / 2, b.along + b.length / 2) for b in chain])
    return _corners(boxes, direction), bends


def _make_boxes(sizes: Mapping[str, Size], edges: Iterable[tuple[str, str]], direction: Direction) -> dict[str, _Box]:
    boxes = {
        i: _Box(*((w, h) if direction == "down" else (h, w)), index) for index, (i, (w, h)) in enumerate(sizes.items())
    }
    for source, target in edges:
        if source != target:
            boxes[source].after.append(boxes[target])
            boxes[target].before.append(boxes[source])
    return boxes


def _corners(boxes: Mapping[str, _Box], direction: Direction) -> dict[str, Point]:
    corners = {
        i: (float(round(b.across - b.width / 2)), float(round(b.along - b.length / 2))) for i, b in boxes.items()
    }
    return corners if direction == "down" else {i: (y, x) for i, (x, y) in corners.items()}


def _components(boxes: list[_Box]) -> list[list[_Box]]:
    """The connected components, each in the order of the boxes."""
    seen: set[_Box] = set()
    components = []
    for first in boxes:
        if first in seen:
            continue
        seen.add(first)
        component = [first]
        for box in component:  # grows during the loop
            for other in (*box.before, *box.after):
                if other not in seen:
                    seen.add(other)
                    component.append(other)
        components.append(sorted(component, key=lambda box: box.index))
    return components


def _topological_order(component: list[_Box]) -> list[_Box]:
    """Sources first; in a loop the earliest node goes first."""
    waiting = {box: len(box.before) for box in component}
    ready = [box for box in component if not box.before]
    rest = iter(component)
    done: dict[_Box, None] = {}
    at = 0
    while len(done) < len(component):
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


def _assign_layers(component: list[_Box]) -> list[list[_Box]]:
    """The layers of a component from first to last."""
    order = _topological_order(component)
    for rank, box in enumerate(order):
        box.rank = rank
    for box in order:
        box.layer = max((s.layer + 1 for s in box.before if s.rank < box.rank), default=0)
    for box in order:  # a source is right before its first reader
        readers = [t.layer for t in box.after if box.rank < t.rank]
        if not box.before and readers:
            box.layer = min(readers) - 1
            if all(len(target.before) > 1 for target in box.after):
                box.weight = _SIDE_SOURCE_WEIGHT
    layers: dict[int, list[_Box]] = {}
    for box in order:
        layers.setdefault(box.layer, []).append(box)
    rows = [layers[n] for n in sorted(layers)]
    for n, row in enumerate(rows):
        for box in row:
            box.layer = n
    return rows


def _insert_dummies(
    boxes: Mapping[str, _Box], lines: Iterable[Line], rows_of: Mapping[_Box, list[list[_Box]]]
) -> dict[tuple[str, str], list[_Box]]:
    """Dummy nodes for each port in the layers that its edges skip; edges of one port share them."""
    targets: dict[tuple[str, str], list[_Box]] = {}
    for source, port, target in lines:
        if boxes[target].layer > boxes[source].layer + 1:
            targets.setdefault((source, port), []).append(boxes[target])
    chains: dict[tuple[str, str], list[_Box]] = {}
    left = _MAX_DUMMIES
    for key, ends in sorted(targets.items(), key=lambda item: max(b.layer for b in item[1]) - boxes[item[0][0]].layer):
        source = boxes[key[0]]
        rows = rows_of[source]
        left -= max(b.layer for b in ends) - source.layer - 1
        if left < 0:
            break
        chain, before = [], source
        for layer in range(source.layer + 1, max(b.layer for b in ends)):
            dummy = _Box(0, 0, source.index, _DUMMY_WEIGHT, [before], layer=layer)
            before.after.append(dummy)
            rows[layer].append(dummy)
            chain.append(dummy)
            before = dummy
        for end in ends:
            source.after.remove(end)
            end.before.remove(source)
            dummy = chain[end.layer - source.layer - 2]
            dummy.after.append(end)
            end.before.append(dummy)
        chains[key] = chain
    return chains


def _arrange(components: list[list[list[_Box]]], gap: float, chains: Iterable[list[_Box]] = ()) -> None:
    """Set the centers of all boxes."""
    for layers in components:
        for layer in layers:
            _place(layer, [_barycenter(box.before, box.index) for box in layer])
        for sweep in range(_SWEEPS):
            if sweep % 2:
                for layer in layers:
                    _place(layer, [_barycenter(box.before, box.across) for box in layer])
            else:
                for layer in reversed(layers):
                    _place(layer, [_barycenter(box.after, box.across) for box in layer])
        along = 0.0
        for layer in layers:
            length = max(box.length for box in layer)
            for box in layer:
                box.along = along + length / 2
                box.length = box.length or length  # a dummy node is as long as the boxes beside it
            along += length + gap
    _straighten(chains, {box: (row, n) for rows in components for row in rows for n, box in enumerate(row)})
    _pack([[box for row in rows for box in row] for rows in components])


def _barycenter(boxes: list[_Box], fallback: float) -> float:
    if len(boxes) == 1:
        return boxes[0].across
    if not boxes:
        return fallback
    total = weight = 0.0
    for box in boxes:
        total += box.across * box.weight
        weight += box.weight
    return total / weight


def _place(layer: list[_Box], wishes: list[float]) -> None:
    """Order a layer by the desired positions of its boxes and place them without overlap."""
    if len(layer) == 1:
        layer[0].across = wishes[0]
        return
    order = sorted(range(len(layer)), key=lambda n: (wishes[n], layer[n].across))
    layer[:] = [layer[n] for n in order]
    _separate(layer, [wishes[n] for n in order])


def _separate(row: list[_Box], wishes: list[float]) -> None:
    """Place boxes in this order without overlap, with the least sum of squared distances from the desired positions.

    Pool adjacent violators (Ayer and others, 1955): measured from a packed row, "apart" becomes "not decreasing".
    """
    packed = [0.0]
    left = row[0]
    for right in row[1:]:
        gap = _GAP_ACROSS if left.width and right.width else _GAP_DUMMIES
        packed.append(packed[-1] + (left.width + right.width) / 2 + gap)
        left = right
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


def _straighten(chains: Iterable[list[_Box]], home: Mapping[_Box, tuple[list[_Box], int]]) -> None:
    """Align all dummy nodes of a chain, if the position of one of them is free in every layer."""
    for chain in chains:
        least, most = -math.inf, math.inf
        for box in chain:
            row, n = home[box]
            if n > 0:
                least = max(least, row[n - 1].across + row[n - 1].width / 2 + _GAP_DUMMIES)
            if n + 1 < len(row):
                most = min(most, row[n + 1].across - row[n + 1].width / 2 - _GAP_DUMMIES)
        places = [box.across for box in chain if least - 0.5 <= box.across <= most + 0.5]
        if places:
            best = sorted(places)[len(places) // 2]
            for box in chain:
                box.across = best


def _pack(components: list[list[_Box]]) -> None:
    """Place components side by side, in rows about as long as the total height."""
    frames = []
    for component in components:
        left = min(b.across - b.width / 2 for b in component)
        top = min(b.along - b.length / 2 for b in component)
        right = max(b.across + b.width / 2 for b in component)
        bottom = max(b.along + b.length / 2 for b in component)
        frames.append((component, left, top, right - left, bottom - top))
    area = sum((width + _GAP_COMPONENTS) * (length + _GAP_COMPONENTS) for *_, width, length in frames)
    limit = max([1.3 * math.sqrt(area), *(width for *_, width, _ in frames)])
    x = y = row = 0.0
    for component, left, top, width, length in frames:
        if x > 0 and x + width > limit:
            x, y, row = 0.0, y + row + _GAP_COMPONENTS, 0.0
        for box in component:
            box.across += x - left
            box.along += y - top
        x += width + _GAP_COMPONENTS
        row = max(row, length)
