"""A graph as an SVG document that looks like the editor's canvas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from xml.etree import ElementTree

from labdl.errors import ConfigError
from labdl.graph.analysis.check import check
from labdl.graph.drawing import node_boxes as texts
from labdl.graph.drawing.background import draw_frames, draw_notes, visible_notes
from labdl.graph.drawing.colors import THEMES, Theme, strip
from labdl.graph.drawing.edge_paths import LANE, Path, number, skips
from labdl.graph.drawing.folding import Scene, fold
from labdl.graph.drawing.frame_geometry import Rect, frame_rects, rect_at
from labdl.graph.drawing.layout import Bend, routed_layout
from labdl.graph.drawing.node_boxes import Box, Mark, make_boxes, own_name, second_line
from labdl.graph.drawing.svg import FAR, put, set_on
from labdl.graph.drawing.text_metrics import clean, shorten, width
from labdl.graph.drawing.two_themes import with_dark_colors
from labdl.graph.graph import Edge, Graph
from labdl.graph.note import Note

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_WARNING = "M12 4 2.5 20h19zM12 10v5M12 17.5v.5"  # icons of the editor
_LINK = "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1"
_MARGIN = 28.0
_LABEL, _NAME = 220.0, 90.0  # maximum widths of labels beside a port in left-to-right drawings


def to_svg(graph: Graph, *, direction: str, shapes: bool, theme: str) -> str:
    """See `Graph.to_svg`."""
    themes = (*THEMES, "auto")
    for word, value, allowed in (("direction", direction, ("down", "right")), ("theme", theme, themes)):
        if value not in allowed:
            raise ConfigError(f"{word} wants one of {', '.join(allowed)}, received {value!r}")
    checked, scene = check(graph), fold(graph)
    places = _own_places(graph, scene)
    down = direction == "down" if places is None else _flows_down(scene, places)
    boxes = make_boxes(graph, scene, checked, down=down, shapes=shapes, free=places is None)
    bends = None
    if places is None:
        lines = [(e.source, e.source_port, e.target) for e in scene.edges.values()]
        places, bends = routed_layout(
            {i: (b.width, b.height) for i, b in boxes.items()},
            lines,
            direction="down" if down else "right",
            gap=_gap(boxes, down),
        )
    for node_id, box in boxes.items():
        box.x, box.y = places[node_id]
    broken = {p.edge for p in checked.problems if p.edge is not None}
    general = [clean(p.message) for p in checked.problems if p.node is None and p.edge is None]
    routes = dict(zip(scene.edges, bends, strict=True)) if bends is not None else None
    notes = visible_notes(graph, scene)
    light, *dark = (
        _Picture(scene, boxes, routes, THEMES[name], notes).draw(broken, general)
        for name in (THEMES if theme == "auto" else (theme,))
    )
    return ElementTree.tostring(with_dark_colors(light, *dark) if dark else light, encoding="unicode")


def _gap(boxes: Mapping[str, Box], down: bool) -> float:
    """The gap between layers, including labels."""
    labels = max((width(box.label(name), texts.LABEL) for box in boxes.values() for name in box.outputs), default=0)
    if down:
        return 58 if labels else 44
    names = max(
        (width(m.name, texts.PORT) for b in boxes.values() if len(b.inputs) > 1 for m in b.inputs.values()), default=0
    )
    return 44 + min(labels, _LABEL) + min(names, _NAME)


def _own_places(graph: Graph, scene: Scene) -> Mapping[str, tuple[float, float]] | None:
    """The graph's positions of the boxes, if it has one for each."""
    found = {i: graph.positions[i] for i in scene.nodes if i in graph.positions}
    usable = all(math.isfinite(v) and abs(v) < FAR for place in found.values() for v in place)
    return found if usable and len(found) == len(scene.nodes) else None


def _flows_down(scene: Scene, places: Mapping[str, tuple[float, float]]) -> bool:
    """Infer the direction from positions; nodes are wider than high, so steps to the right are longer."""
    steps = [(places[e.source], places[e.target]) for e in scene.edges.values()]
    right = sum(abs(b[0] - a[0]) for a, b in steps) / texts.WIDTH
    return right <= sum(abs(b[1] - a[1]) for a, b in steps) / texts.HEIGHT


class _Picture:
    """The document under construction, and its extent."""

    def __init__(
        self,
        scene: Scene,
        boxes: dict[str, Box],
        routes: Mapping[str, list[Bend]] | None,
        theme: Theme,
        notes: list[Note],
    ):
        self.scene, self.boxes, self.routes, self.theme, self.notes = scene, boxes, routes, theme, notes
        self.xs: list[float] = []
        self.ys: list[float] = []

    def draw(self, broken: set[str], general: list[str]) -> ElementTree.Element:
        theme = self.theme
        root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
        put(root, "title").text = clean(self.scene.name)
        ground = put(root, "rect", fill=theme.canvas)
        if self.routes is None:  # automatic layout has no rectangles of blocks and no places for notes
            background = put(root, "g", font_size=texts.NAME)
            self._reach(*draw_frames(background, self._frames(), theme))
            self._reach(*draw_notes(background, self.notes, theme))
        lines = put(root, "g", fill="none", stroke=theme.edge, stroke_width=1.6)
        labels = put(root, "g", font_size=texts.LABEL, fill=theme.muted)
        nodes = put(root, "g", font_size=texts.FIGURE)
        for edge_id, edge in self.scene.edges.items():
            line = put(lines, "path", d=self._edge(edge_id, edge))
            if not broken.isdisjoint(self.scene.bundles[edge_id]):
                line.set("stroke", theme.error)
                line.set("stroke-dasharray", "6 4")
        bends = self._bending()
        for node_id, box in self.boxes.items():
            self.xs += [box.x, box.x + box.width]
            self.ys += [box.y, box.y + box.height]
            for mark in box.outputs:
                self._label(labels, box, mark, (node_id, mark) in bends)
            self._node(nodes, box)
        for n, message in enumerate(general):
            left, top = min(self.xs, default=0), min(self.ys, default=0) - (28 if n == 0 else 20)
            put(nodes, "text", x=left, y=top, fill=theme.error_text).text = message
            self._reach((left, top - 12), (left + width(message, texts.FIGURE), top))
        left, top = min(self.xs, default=0) - _MARGIN, min(self.ys, default=0) - _MARGIN
        wide, high = max(self.xs, default=0) + _MARGIN - left, max(self.ys, default=0) + _MARGIN - top
        set_on(ground, x=left, y=top, width=wide, height=high)
        set_on(
            root,
            viewBox=" ".join(map(number, (left, top, wide, high))),
            width=wide,
            height=high,
            style="max-width:100%;height:auto",
            font_family=_FONT,
        )
        return root

    def _reach(self, *points: tuple[float, float]) -> None:
        self.xs += [x for x, _ in points]
        self.ys += [y for _, y in points]

    def _frames(self) -> dict[str, Rect]:
        content = [
            (node.name, rect_at((box.x, box.y), (box.width, box.height)))
            for node, box in zip(self.scene.nodes.values(), self.boxes.values(), strict=True)
        ]
        content += [(f"{note.home}/note", rect_at(note.position, note.size)) for note in self.notes if note.home]
        return frame_rects(self.scene.frames, content)

    # -- edges

    def _bending(self) -> set[tuple[str, str]]:
        """Ports with an edge that leaves to the right; their label is on the left."""
        found = set()
        for edge_id, edge in self.scene.edges.items():
            source, target = self.boxes[edge.source], self.boxes[edge.target]
            a, b = source.port(edge.source_port, out=True), target.port(edge.target_port, out=False)
            bends = self.routes[edge_id] if self.routes is not None else []
            next_across = bends[0][0] if bends else b[0]
            across, along = (b[0] - a[0], b[1] - a[1]) if source.down else (b[1] - a[1], b[0] - a[0])
            is_skip = skips(across, along, source.down)
            if next_across > a[0] + 8 or (self.routes is None and is_skip):
                found.add((edge.source, edge.source_port))
        return found

    def _edge(self, edge_id: str, edge: Edge) -> str:
        """Path of an edge: routed by the layout, or around boxes that it would cross."""
        first, last = self.boxes[edge.source], self.boxes[edge.target]
        down = first.down
        start, end = first.port(edge.source_port, out=True), last.port(edge.target_port, out=False)
        path = Path(*(start if down else start[::-1]))
        b1, a1 = end if down else end[::-1]
        half = (first.width if down else first.height) / 2
        if a1 <= path.along and abs(b1 - path.across) < half:
            path.back(b1, a1, max(path.across, b1) + half + LANE)
        elif self.routes is not None:
            stub = _stub(first, edge.source_port)
            if stub and a1 > path.along + stub:
                path.line(path.along + stub)
            for across, enter, leave in self.routes[edge_id]:
                path.curve(across, enter)
                path.line(leave)
            path.curve(b1, a1)
        else:
            path.connect(b1, a1, down)
        self._reach(*((b, a) if down else (a, b) for b, a in path.points))
        return path.text(down)

    def _label(self, group: ElementTree.Element, box: Box, name: str, left: bool) -> None:
        """Draw the shape of a port beside the edge."""
        mark, label = box.outputs[name], box.label(name)
        if not label:
            return
        x, y = box.port(name, out=True)
        several = len(box.outputs) > 1
        text = shorten(label, min(box.slot(out=True) - 12, _LABEL) if box.down else _LABEL, texts.LABEL)
        long = width(text, texts.LABEL)
        left = left and box.down and not several and long < box.width / 2 + 16
        x, y = (x + (-7 if left else 7), y + 18) if box.down else (x + 9, y - 6)
        start = x - long if left else x
        item = put(group, "g")
        if mark.hint:
            put(item, "title").text = mark.hint
        put(
            item,
            "rect",
            x=start - 2,
            y=y - 10,
            width=long + 4,
            height=13,
            rx=3,
            fill=self.theme.canvas,
            fill_opacity=0.85,
        )
        shown = put(item, "text", x=x, y=y)
        shown.text = text
        if left:
            shown.set("text-anchor", "end")
        self._reach((start, y - 10), (start + long, y + 4))

    # -- nodes

    def _node(self, group: ElementTree.Element, box: Box) -> None:
        theme = self.theme
        item = put(group, "g", transform=f"translate({number(box.x)},{number(box.y)})", data_node=box.name)
        put(item, "title").text = "\n".join(box.hints)
        if box.stacked:
            put(
                item,
                "rect",
                x=3,
                y=3,
                width=box.width,
                height=box.height,
                rx=5,
                fill=theme.back2,
                stroke=theme.line_strong,
            )
        frame = put(
            item,
            "rect",
            width=box.width,
            height=box.height,
            rx=5,
            fill=theme.back,
            stroke=theme.error if box.problem else theme.line_strong,
        )
        if box.hue is None and not box.stacked:
            frame.set("stroke-dasharray", "4 3")
        edge = f"M5,0 v{number(box.height)} a5,5 0 0 1 -5,-5 v{number(10 - box.height)} a5,5 0 0 1 5,-5z"
        put(item, "path", d=edge, fill=theme.line_strong if box.hue is None else strip(box.hue))
        self._texts(item, box)
        if box.problem:
            self._problem(item, box)
        for out, marks in ((False, box.inputs), (True, box.outputs)):
            for name, mark in marks.items():
                x, y = box.port(name, out=out)
                self._port(item, box, mark, (x - box.x, y - box.y), out=out, named=len(marks) > 1)

    def _texts(self, item: ElementTree.Element, box: Box) -> None:
        theme, end = self.theme, box.width - texts.RIGHT
        kind = shorten(box.kind, end - texts.LEFT - (18 if box.shared else 0), texts.NAME, bold=True)
        second = second_line(box)
        y = box.top + (22 if second or box.count else 33)
        put(item, "text", x=texts.LEFT, y=y, font_size=texts.NAME, font_weight=600, fill=theme.text).text = kind
        if box.shared:
            at = texts.LEFT + width(kind, texts.NAME, bold=True) + 2
            self._icon(item, _LINK, at, y - 11, theme.muted)
        room = end - texts.LEFT
        if box.count:
            pill = width(box.count, texts.FIGURE) + 12
            put(item, "rect", x=end - pill, y=y + 8, width=pill, height=17, rx=8, fill=theme.back2)
            put(item, "text", x=end - pill / 2, y=y + 21, fill=theme.text, text_anchor="middle").text = box.count
            room -= pill + 8
        left = texts.LEFT
        if name := own_name(box):
            # a path keeps its end, which distinguishes it from others
            name = shorten(name, room * (0.6 if box.settings else 1), texts.FIGURE, end=True)
            put(item, "text", x=left, y=y + 21, fill=theme.text).text = name
            room, left = room - width(name, texts.FIGURE) - 8, left + width(name, texts.FIGURE) + 8
        if box.settings:
            text = shorten(box.settings, max(room, 0), texts.FIGURE)
            put(item, "text", x=left, y=y + 21, fill=theme.muted).text = text

    def _problem(self, item: ElementTree.Element, box: Box) -> None:
        """Draw the message at the bottom of the box, below the warning icon."""
        high = len(box.problem) * texts.LINE + 11
        top = box.height - high - box.bottom
        band = put(item, "g", fill=self.theme.error_text)
        put(band, "rect", x=5, y=top, width=box.width - 5.5, height=high - 0.5, rx=4, fill=self.theme.error_back)
        self._icon(band, _WARNING, 13, top + 6, self.theme.error_text)
        for n, line in enumerate(box.problem):
            put(band, "text", x=34, y=top + 17 + n * texts.LINE).text = line

    @staticmethod
    def _icon(item: ElementTree.Element, path: str, x: float, y: float, color: str) -> None:
        put(
            item,
            "path",
            d=path,
            transform=f"translate({number(x)},{number(y)}) scale(.58)",
            fill="none",
            stroke=color,
            stroke_width=2,
            stroke_linecap="round",
            stroke_linejoin="round",
        )

    def _port(
        self, item: ElementTree.Element, box: Box, mark: Mark, at: tuple[float, float], *, out: bool, named: bool
    ) -> None:
        theme, (x, y) = self.theme, at
        long, short = (22, 10) if mark.wide else (10, 10)
        wide, high = (long, short) if box.down else (short, long)
        fill, stroke, line = (theme.back, theme.edge, 2) if mark.optional else (theme.edge, theme.back, 1.5)
        put(
            item,
            "rect",
            x=x - wide / 2,
            y=y - high / 2,
            width=wide,
            height=high,
            rx=5,
            fill=fill,
            stroke=stroke,
            stroke_width=line,
        )
        if not named or (out and not box.down):
            return
        if box.down:
            text = shorten(mark.name, box.slot(out=out) - 4, texts.PORT)
            place = {"x": x, "y": y + (-9 if out else 16), "text_anchor": "middle"}
        else:
            text = shorten(mark.name, _NAME, texts.PORT)
            place = {"x": x - 8, "y": y - 4, "text_anchor": "end"}
        put(item, "text", font_size=texts.PORT, fill=theme.muted, **place).text = text


def _stub(box: Box, port: str) -> float:
    """Length of the straight start of an edge, beside its label."""
    if box.down:
        return 17 if any(mark.text for mark in box.outputs.values()) else 0
    label = box.label(port)
    return min(width(label, texts.LABEL), _LABEL) + 14 if label else 0
