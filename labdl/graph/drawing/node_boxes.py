"""Boxes of nodes: texts, ports and sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from labdl.errors import ModelError
from labdl.graph.analysis.check import CheckResult, spec_of_edge
from labdl.graph.drawing.colors import hues
from labdl.graph.drawing.folding import Block, Scene
from labdl.graph.drawing.short_settings import SEPARATOR, short_settings
from labdl.graph.drawing.text_metrics import clean, setting, short_count, size_text, width, wrap
from labdl.graph.graph import Edge, Graph, Node
from labdl.graph.node import outputs_of, ports_of
from labdl.nn.schema import LAYERS

WIDTH, HEIGHT = 208.0, 58.0  # as on the canvas (scripts/generate_drawing.py), and so are the sizes of letters
_WIDEST = 272.0  # maximum width of a box
NAME, TYPE, FIGURE, LABEL, PORT = 13.0, 11.5, 12.0, 11.0, 10.0
LEFT, RIGHT = 14.0, 11.0  # padding beside texts
LINE = 16.0  # line height of a problem
INPUTS_ROOM, OUTPUTS_ROOM = 12.0, 18.0  # additional height for names of ports
_LINES = 4


@dataclass(frozen=True)
class Mark:
    """A drawn port; ``text`` is its label and ``hint`` its tooltip."""

    name: str
    wide: bool = False
    optional: bool = False
    text: str = ""
    hint: str = ""


@dataclass
class Box:
    """A drawn node; x and y are its upper left corner."""

    name: str
    kind: str
    settings: str
    count: str
    hue: int | None  # None for an unknown layer
    shared: bool
    hints: list[str]
    problem: list[str]  # lines of the first problem
    inputs: dict[str, Mark]
    outputs: dict[str, Mark]
    down: bool
    width: float
    height: float
    stacked: bool = False  # more than one layer
    x: float = 0.0
    y: float = 0.0

    @property
    def top(self) -> float:
        """Distance from the upper edge to the texts."""
        return INPUTS_ROOM if self.down and len(self.inputs) > 1 else 0.0

    @property
    def bottom(self) -> float:
        """Distance from the texts to the lower edge."""
        return OUTPUTS_ROOM if self.down and len(self.outputs) > 1 else 0.0

    def label(self, name: str) -> str:
        """Label beside an output: its shape, and in left-to-right drawings its name."""
        mark = self.outputs[name]
        return mark.text if self.down or len(self.outputs) == 1 else f"{mark.name} {mark.text}".strip()

    def slot(self, *, out: bool) -> float:
        """The width available to each port on its side."""
        return (self.width if self.down else self.height) / max(len(self.outputs if out else self.inputs), 1)

    def port(self, name: str, *, out: bool) -> tuple[float, float]:
        """Where an edge meets the box."""
        across = (list(self.outputs if out else self.inputs).index(name) + 0.5) * self.slot(out=out)
        if self.down:
            return self.x + across, self.y + (self.height if out else 0)
        return self.x + (self.width if out else 0), self.y + across


def make_boxes(
    graph: Graph, scene: Scene, checked: CheckResult, *, down: bool, shapes: bool, free: bool
) -> dict[str, Box]:
    """The boxes of a scene, by id. With ``free`` positions, boxes are as wide as their texts and ports need."""
    hue_of = hues([*(cls.layer_category for cls in LAYERS.values()), "operators"])  # type: ignore[attr-defined]
    used: dict[str, tuple[dict[str, Edge], dict[str, Edge]]] = {i: ({}, {}) for i in scene.nodes}
    for edge in scene.edges.values():
        used[edge.target][0][edge.target_port] = edge
        used[edge.source][1][edge.source_port] = edge
    problems: dict[str, list[str]] = {}
    for problem in checked.problems:
        if problem.node is not None:
            problems.setdefault(problem.node, []).append(clean(problem.message))
    boxes = {}
    for node_id, node in scene.nodes.items():
        if node_id in scene.blocks:
            boxes[node_id] = _block(graph, scene.blocks[node_id], node, checked, problems, down=down, shapes=shapes)
            continue
        inputs, outputs = _inputs(node, used[node_id][0]), _outputs(node, node_id, used[node_id][1], checked, shapes)
        kind = LAYERS[node.type].__name__ if node.type in LAYERS else clean(node.type.removeprefix("ops."))
        origin = graph.nodes.get(node.shares, node)
        settings = clean(", ".join(f"{clean(k)}={setting(v)}" for k, v in list(origin.params.items())[:20]))
        short = short_settings(node.type, origin.params)
        count = checked.counts.get(node_id, 0)
        said = problems.get(node_id, [])
        hints = [f"{node.name}: {kind}", settings, f"{count:,} parameters" if count else "", *said]
        if node.shares:
            hints.insert(1, f"shares settings and weights with {clean(origin.name)}")
        boxes[node_id] = Box(
            clean(node.name),
            kind,
            short,
            short_count(count) if count else "",
            hue_of.get(_category(node)),
            bool(node.shares),
            [h for h in hints if h],
            said[:1],
            inputs,
            outputs,
            down,
            WIDTH,
            0.0,
        )
    common = max([WIDTH, *(min(_room(box), _WIDEST) for box in boxes.values())]) if free else WIDTH
    for box in boxes.values():
        box.width, box.height = _size(box, common, free)
        if box.problem:
            box.problem = wrap(box.problem[0], box.width - 46, FIGURE, _LINES)
            box.height += len(box.problem) * LINE + 11
    return boxes


def _block(
    graph: Graph,
    block: Block,
    node: Node,
    checked: CheckResult,
    problems: Mapping[str, list[str]],
    *,
    down: bool,
    shapes: bool,
) -> Box:
    def label(end: tuple[str, str]) -> str:
        return clean(f"{graph.nodes[end[0]].name.removeprefix(f'{block.path}/')}.{end[1]}")

    outputs = {}
    for name, end in block.outputs.items():
        spec = spec_of_edge(checked, Edge(end[0], "", end[1])) if shapes else None
        text = "" if spec is None else size_text(spec.shape)
        hint = f"{label(end)}: {text}, {spec.dtype}" if spec is not None else ""
        outputs[name] = Mark(label(end), text=text, hint=hint)
    inputs = {name: Mark(label(end)) for name, end in block.inputs.items()}
    count = sum(checked.counts.get(i, 0) for i in block.members)
    layers = f"{len(block.members)} layer{'s' if len(block.members) != 1 else ''}"
    wrong = sum(i in problems for i in block.members)
    said = [f"{wrong} layer{'s' if wrong != 1 else ''} in it with problems"] if wrong else []
    hints = [
        f"{block.path}: {clean(node.type)}".removesuffix(": "),
        layers,
        f"{count:,} parameters" if count else "",
        *said,
    ]
    return Box(
        clean(block.path),
        clean(node.type),
        layers,
        short_count(count) if count else "",
        None,
        False,
        [h for h in hints if h],
        said,
        inputs,
        outputs,
        down,
        WIDTH,
        0.0,
        stacked=True,
    )


def _category(node: Node) -> str:
    try:
        ports_of(node)
    except ModelError:  # an unknown layer
        return ""
    return LAYERS[node.type].layer_category if node.type in LAYERS else "operators"  # type: ignore[attr-defined]


def _inputs(node: Node, used: Collection[str]) -> dict[str, Mark]:
    """The input ports of a node, and unknown ones that edges lead to."""
    try:
        known = {p.name: Mark(clean(p.name), p.variadic, p.optional) for p in ports_of(node)}
    except ModelError:  # an unknown layer: the connected ones
        known = {}
    return known | {name: Mark(clean(name)) for name in used if name not in known}


def _outputs(node: Node, node_id: str, used: Mapping[str, Edge], checked: CheckResult, shapes: bool) -> dict[str, Mark]:
    try:
        known = outputs_of(node)
    except ModelError:
        known = ()
    specs = dict(checked.specs.get(node_id, {}))
    specs.update((name, spec) for name, edge in used.items() if (spec := spec_of_edge(checked, edge)) is not None)
    marks = {}
    for name in dict.fromkeys([*known, *specs, *used]):
        spec = specs.get(name) if shapes else None
        text = "" if spec is None else size_text(spec.shape)
        marks[name] = Mark(
            clean(name), text=text, hint=f"{clean(name)}: {text}, {spec.dtype}" if spec is not None else ""
        )
    return marks


def _room(box: Box) -> float:
    """The width at which no text of a box is shortened."""
    head = width(box.kind, NAME, bold=True) + (26 if box.shared else 8)
    figures = width(second_line(box), FIGURE) + (width(box.count, FIGURE) + 20 if box.count else 0)
    return LEFT + RIGHT + max(head, figures)


def _size(box: Box, common: float, free: bool) -> tuple[float, float]:
    """The size of a box; with free positions large enough for the labels of ports."""
    sides = [list(side.values()) for side in (box.inputs, box.outputs) if len(side) > 1]
    if not box.down:
        return common, max([HEIGHT, *(18.0 * len(side) for side in sides if free)])
    names = [len(side) * (max(width(m.name, PORT) for m in side) + 10) for side in sides]
    labels = [len(side) * (max(width(m.text, LABEL) for m in side) + 18) for side in sides]
    wide = min(max([common, *names, *labels]), 40 * WIDTH) if free else common
    return wide, HEIGHT + box.top + box.bottom


def own_name(box: Box) -> str:
    """The name, where it says more than the type."""
    return "" if box.name == box.kind.lower() else box.name


def second_line(box: Box) -> str:
    """The name and the settings below the type."""
    return SEPARATOR.join(text for text in (own_name(box), box.settings) if text)
