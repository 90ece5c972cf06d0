"""Images of graphs: contents, positions, and escaping of texts."""

import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labdl
from labdl import nn
from labdl.errors import ConfigError
from labdl.graph import Edge, Graph, Node, Note
from labdl.graph.drawing.colors import THEMES
from labdl.graph.drawing.folding import fold
from labdl.graph.drawing.node_boxes import HEIGHT, WIDTH
from labdl.graph.drawing.text_metrics import clean, setting, short_count, shorten, width, wrap

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parents[3]


def parse(text):
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {"svg", "g", "rect", "path", "text", "title"}
    assert not any(name.startswith("on") or "href" in name for e in root.iter() for name in e.attrib)
    return root


def boxes(root):
    """(x, y, width, height) by the name of the node."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("data-node"):
            x, y = map(float, re.findall(r"-?[\d.]+", group.get("transform")))
            frame = group.find(f"{SVG}rect")
            found[group.get("data-node")] = (x, y, float(frame.get("width")), float(frame.get("height")))
    return found


def texts(root):
    return [e.text or "" for e in root.iter(f"{SVG}text")]


def hints(root):
    return [e.text or "" for e in root.iter(f"{SVG}title")]


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def chain(n):
    nodes = {"0": Node("Input", "input", {"shape": (None, 4)})}
    nodes |= {str(k): Node("Linear", f"linear_{k}", {"out_features": 4}) for k in range(1, n)}
    return Graph(nodes, {str(k): Edge(str(k - 1), str(k)) for k in range(1, n)})


# -- what is in it


@pytest.mark.parametrize("direction", ["down", "right"])
def test_names_types_settings_counts_and_shapes(residual, direction):
    root = parse(residual.to_svg(direction=direction))
    said = texts(root)
    assert root[0].text == "residual"
    for node in residual.nodes.values():
        assert node.name in said or node.name == node.type.removeprefix("ops.").lower()
    for text in ("Conv2d", "relu", "→ 10", "2.6 k", "112"):
        assert text in said
    assert any("2,570 parameters" in hint for hint in hints(root))
    specs, _ = residual.check()
    for edge in residual.edges.values():
        shape = specs[edge.source][edge.source_port].shape
        assert " × ".join(["N" if shape[0] is None else str(shape[0]), *map(str, shape[1:])]) in said
    assert not any(" × " in text for text in texts(parse(residual.to_svg(shapes=False))))


def test_an_edge_for_each_edge_and_a_port_for_each_input(residual):
    root = parse(residual.to_svg())
    lines = next(g for g in root.iter(f"{SVG}g") if g.get("stroke"))
    assert len(lines) == len(residual.edges)
    ends = {path.get("d").split()[-1] for path in lines if path.get("d")}
    graph = Graph(
        {"a": Node("Input", "a", {"shape": (None, 4)}), "m": Node("ops.multiply", "m")},
        {"1": Edge("a", "m", target_port="x"), "2": Edge("a", "m", target_port="y")},
    )
    root = parse(graph.to_svg())
    lines = next(g for g in root.iter(f"{SVG}g") if g.get("stroke"))
    ends = {path.get("d").split()[-1] for path in lines}
    assert len(ends) == 2
    assert {"x", "y"} <= set(texts(root))


def test_outputs_and_parameters_that_others_use():
    graph = Graph(
        {
            "i": Node("Input", "tokens", {"shape": (None, 5), "dtype": "int64"}),
            "e": Node("Embedding", "embedding", {"size": 9, "features": 6}),
            "l": Node("LSTM", "memory", {"hidden_size": 9}),
            "d": Node("ops.matmul", "scores"),
        },
        {
            "1": Edge("i", "e"),
            "2": Edge("e", "l"),
            "3": Edge("l", "d", target_port="x"),
            "4": Edge("e", "d", source_port="embeddings:0", target_port="y"),
        },
    )
    for direction in ("down", "right"):
        root = parse(graph.to_svg(direction=direction))
        assert boxes(root).keys() == {"tokens", "embedding", "memory", "scores"}
        for shape in ("N × 5 × 6", "9 × 6", "N × 5 × 9", "1 × ? × 9", "N × 5 × 6"):
            assert any(text.endswith(shape) for text in texts(root))


def test_a_whole_model():
    from labdl.models.vision.resnet import BasicBlock, ResNet

    graph = labdl.trace(ResNet(BasicBlock, (1, 1), classes=10), (None, 3, 32, 32))
    root = parse(graph.to_svg())
    assert boxes(root).keys() == {n.name for n in graph.nodes.values()}
    for node in graph.nodes.values():
        assert any(hint.startswith(f"{node.name}: ") for hint in hints(root))


def test_an_empty_graph():
    assert "the graph" not in "".join(texts(parse(Graph().to_svg())))


def test_a_graph_that_shares_layers():
    graph = Graph(
        {
            "i": Node("Input", "i", {"shape": (None, 4)}),
            "a": Node("Linear", "first", {"out_features": 4}),
            "b": Node("Linear", "again", shares="a"),
        },
        {"1": Edge("i", "a"), "2": Edge("a", "b")},
    )
    root = parse(graph.to_svg())
    assert any("shares settings and weights with first" in hint for hint in hints(root))
    assert texts(root).count("→ 4") == 2
    assert texts(root).count("20") == 1


# -- problems


def test_problems_are_drawn_where_they_are():
    graph = Graph(
        {
            "i": Node("Input", "input", {"shape": (None, 8)}),
            "c": Node("Conv2d", "conv", {"out_channels": 4}),
            "r": Node("ReLU", "relu"),
            "u": Node("acme.Strange", "strange"),
            "l": Node("ReLU", "loop"),
        },
        {
            "1": Edge("i", "c"),
            "2": Edge("c", "r", target_port="wrong"),
            "3": Edge("r", "u", "left", "right"),
            "4": Edge("l", "l"),
        },
    )
    root = parse(graph.to_svg())
    groups = {g.get("data-node"): g for g in root.iter(f"{SVG}g") if g.get("data-node")}
    marked = {name for name, g in groups.items() if THEMES["light"].error in ElementTree.tostring(g, "unicode")}
    assert marked == {"conv", "relu", "strange", "loop"}
    assert "Conv2d wants 4 axes" in groups["conv"].find(f"{SVG}title").text
    assert "Conv2d wants 4 axes" in " ".join(texts(groups["conv"]))
    assert "lies on a loop" in " ".join(texts(groups["loop"]))
    assert sum("stroke-dasharray" in p.attrib for p in root.iter(f"{SVG}path")) == 1  # the edge to a port there is not
    assert groups["strange"].find(f"{SVG}rect").get("stroke-dasharray")


def test_problem_of_a_graph_without_input():
    assert "the graph has no Input" in " ".join(texts(parse(Graph({"r": Node("ReLU", "relu")}).to_svg())))


HOSTILE = [
    "<script>alert(1)</script>",
    "]]>",
    "<!--",
    "&amp;&lt;",
    "a\x00b\x01\x1f",
    "\ud800",
    "\uffff",
    "</title></svg>",
    "\"'",
    "x" * 5000,
    "\u202eright",
    "\n\t",
    "😀字",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("direction", ["down", "right"])
def test_hostile_texts_are_escaped(text, direction, tmp_path):
    graph = Graph(
        {
            "i": Node("Input", "input", {"shape": (None, 8)}),
            "u": Node(text, "unknown", {text: text, "other": [text] * 9}),
            "r": Node("ReLU", "relu", {"x": {text: text}}),
            "s": Node("ReLU", "shared", shares=text),
        },
        {
            "1": Edge("i", "u", source_port=text, target_port=text),
            "2": Edge("u", "r", target_port=text),
            "3": Edge("u", "r", source_port="<b>"),
        },
        name=text,
    )
    root = parse(graph.to_svg(tmp_path / "a.svg", direction=direction))
    assert ElementTree.parse(tmp_path / "a.svg").getroot()[0].text == root[0].text
    assert clean(text) == (root[0].text or "")
    assert (tmp_path / "a.svg").stat().st_size < 40_000


# -- where it stands


def test_positions_are_kept(residual):
    places = {i: (300.5 * n, -70.0 * n) for n, i in enumerate(residual.nodes)}
    placed = Graph(residual.nodes, residual.edges, positions=places)
    for direction in ("down", "right"):
        found = boxes(parse(placed.to_svg(direction=direction)))
        assert {i: found[n.name][:2] for i, n in placed.nodes.items()} == places
        assert {box[2:] for box in found.values()} == {(WIDTH, HEIGHT)}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_invalid_positions(residual, value):
    graph = Graph(residual.nodes, residual.edges, positions=dict.fromkeys(residual.nodes, (value, 0.0)))
    assert boxes(parse(graph.to_svg())) == boxes(parse(Graph(residual.nodes, residual.edges).to_svg()))


KINDS = [
    ("ReLU", {}),
    ("Add", {}),
    ("LSTM", {"hidden_size": 3}),
    ("ops.multiply", {}),
    ("Unknown", {}),
    ("MultiHeadAttention", {}),
    ("Linear", {"out_features": 5, "bias": False}),
]


@st.composite
def graphs(draw, loops=True):
    chosen = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=25))
    nodes = {"0": Node("Input", "input", {"shape": (None, 4)})}
    nodes |= {str(n): Node(k, f"{'deep/' * (n % 4)}n{n}", p) for n, (k, p) in enumerate(chosen, 1)}
    ends = st.tuples(
        *[st.integers(0, len(nodes) - 1)] * 2, st.sampled_from(["output", "h"]), st.sampled_from(["x", "xs", "y"])
    )
    edges = {}
    for n, (a, b, source_port, port) in enumerate(draw(st.lists(ends, max_size=40))):
        if loops or a != b:
            first, last = (a, b) if loops else sorted((a, b))
            edges[str(n)] = Edge(str(first), str(last), source_port, port)
    return Graph(nodes, edges)


@settings(max_examples=50, deadline=None)
@given(graphs(), st.sampled_from(["down", "right"]))
def test_boxes_do_not_overlap(graph, direction):
    found = list(boxes(parse(graph.to_svg(direction=direction))).values())
    assert len(found) == len(graph.nodes)
    for n, box in enumerate(found):
        assert not any(overlap(box, other) for other in found[:n])


@settings(max_examples=50, deadline=None)
@given(graphs(loops=False), st.sampled_from(["down", "right"]))
def test_edges_do_not_cross_boxes(graph, direction):
    root = parse(graph.to_svg(direction=direction))
    found, along = boxes(root), 1 if direction == "down" else 0
    lines = next(g for g in root.iter(f"{SVG}g") if g.get("stroke"))
    for edge, line in zip(dict.fromkeys(graph.edges.values()), lines, strict=True):
        source, target = (found[graph.nodes[i].name] for i in (edge.source, edge.target))
        assert source[along] + source[along + 2] < target[along]
        last = (0.0, 0.0)
        for word, x, y in re.findall(r"([MLC]?)(-?[\d.]+),(-?[\d.]+)", line.get("d")):
            at = (float(x), float(y))
            if word == "L":  # past a layer
                middle = ((last[0] + at[0]) / 2, (last[1] + at[1]) / 2, 0.0, 0.0)
                assert not any(overlap(box, middle) for box in found.values())
            last = at


@settings(max_examples=30, deadline=None)
@given(graphs(), st.sampled_from(["down", "right"]))
def test_image_contains_everything(graph, direction):
    root = parse(graph.to_svg(direction=direction))
    left, top, wide, high = map(float, root.get("viewBox").split())
    for x, y, w, h in boxes(root).values():
        assert left < x < x + w < left + wide
        assert top < y < y + h < top + high


def test_loop_is_drawn_beside_its_box():
    graph = Graph({"a": Node("ReLU", "a")}, {"1": Edge("a", "a")})
    for placed in (graph, Graph(graph.nodes, graph.edges, positions={"a": (5.0, 5.0)})):
        root = parse(placed.to_svg())
        (box,) = boxes(root).values()
        line = next(g for g in root.iter(f"{SVG}g") if g.get("stroke"))[0].get("d")
        assert max(float(x) for x in re.findall(r"(-?[\d.]+),", line)) > box[0] + box[2]


def test_side_inputs_do_not_bend_the_main_line():
    """Residual connections run beside it, and weights stand there."""
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)})}
    nodes |= {str(n): Node("Linear", f"linear_{n}", {"out_features": 4}) for n in range(4)}
    nodes |= {"w": Node("Weight", "weight", {"shape": (4,)}), "s": Node("Add", "sum")}
    edges = {str(n): Edge(str(n - 1) if n else "i", str(n)) for n in range(4)}
    edges |= {f"s{end}": Edge(end, "s", target_port="xs") for end in ("3", "i", "1", "w")}
    found = boxes(parse(Graph(nodes, edges).to_svg()))
    line = [found[nodes[i].name][0] for i in ("i", "0", "1", "2", "3", "s")]
    assert max(line) - min(line) < 8


def test_many_nodes():
    graph = chain(1000)
    found = boxes(parse(graph.to_svg()))
    assert len(found) == 1000
    assert len({box[0] for box in found.values()}) == 1  # a chain is straight


def test_source_with_many_readers():
    """Its edges share a lane, and where there are too many lanes the picture comes all the same."""
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)})}
    nodes |= {str(n): Node("Add", f"add{n}") for n in range(300)}
    edges = {f"{n}": Edge(str(n - 1) if n else "i", str(n), target_port="xs") for n in range(300)}
    edges |= {f"m{n}": Edge("i", str(n), target_port="xs") for n in range(2, 300)}
    edges |= {f"l{n}": Edge(str(n), "299", target_port="xs") for n in range(120)}
    found = list(boxes(parse(Graph(nodes, edges).to_svg())).values())
    assert len(found) == 301
    assert not any(overlap(a, b) for a, b in pairwise(found))


# -- how it looks


def luminance(color):
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def painted(item, fill="#000000", x=0.0, y=0.0, under=()):
    """(text, its color, the color beneath it) in the order of painting."""
    under = list(under)
    for part in item:
        color = part.get("fill", fill)
        if part.tag == f"{SVG}rect":
            box = [float(part.get(k, 0)) for k in ("x", "y", "width", "height")]
            under.append(((x + box[0], y + box[1], box[2], box[3]), color))
        elif part.tag == f"{SVG}text":
            shift = {"end": -3, "middle": 0}.get(part.get("text-anchor"), 3)
            at = (x + float(part.get("x")) + shift, y + float(part.get("y")) - 4, 0.0, 0.0)
            yield part.text, color, [c for box, c in under if overlap(at, box)][-1]
        elif part.tag == f"{SVG}g":
            dx, dy = map(float, re.findall(r"-?[\d.]+", part.get("transform", "0 0")))
            yield from painted(part, color, x + dx, y + dy, under)


def test_one_picture_has_the_colors_of_both_themes(residual):
    auto, light, dark = (residual.to_svg(theme=name) for name in ("auto", "light", "dark"))
    style = re.search(r"<style>@media \(prefers-color-scheme:dark\)\{(.*)\}</style>", auto)
    assert re.sub(r' class="[^"]*"', "", auto.replace(style[0], "")) == light, (
        "programs without style sheets show the light one"
    )
    rules = dict(re.findall(r"\.([\w-]+)\{([^}]*)\}", style[1]))
    for item, other in zip(parse(auto.replace(style[0], "")).iter(), parse(dark).iter(), strict=True):
        colors = {key: item.get(key) for key in ("fill", "stroke") if item.get(key)}
        for name in (item.get("class") or "").split():
            attribute, _, value = rules[name].partition(":")
            colors[attribute] = value
        assert colors == {key: other.get(key) for key in ("fill", "stroke") if other.get(key)}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("direction", ["down", "right"])
def test_texts_can_be_read(residual, theme, direction):
    nodes = {**residual.nodes, "x": Node("Conv2d", "broken"), "m": Node("LSTM", "memory", {"hidden_size": 3})}
    root = parse(Graph(nodes, residual.edges).to_svg(theme=theme, direction=direction))
    rows = list(painted(root))
    assert len({under for *_, under in rows}) > 2
    for text, color, under in rows:
        assert contrast(color, under) >= 4.5, (text, color, under)


def test_what_the_editor_shares_with_pictures_is_up_to_date():
    command = [sys.executable, ROOT / "scripts" / "generate_drawing.py", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("text", [*HOSTILE, "encoder/layers/11/attention/query", "WWWWWWWWWWWWWWWWWWWWWW", "a b c d"])
def test_texts_are_shortened_to_fit(text):
    text = clean(text)
    for room in (0, 20, 80, 300):
        for end in (False, True):
            short = shorten(text, room, 12, end=end)
            assert width(short, 12) <= max(room, width("…", 12))
            assert short == text or "…" in short
    lines = wrap(text, 80, 12, 3)
    assert len(lines) <= 3
    assert all(width(line, 12) <= 80 for line in lines)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((3, 3), "(3, 3)"),
        ([None, 4], "(None, 4)"),
        ((4,), "(4,)"),
        (1e-5, "1e-05"),
        (0.1, "0.1"),
        ("same", "same"),
        (True, "True"),
        (tuple(range(9)), "(0, 1, 2, 3, 4, 5, …)"),
        ([[[[[1]]]]], "(((…,),),)"),
        ({"a": 1}, "{…}"),
        (None, "None"),
    ],
)
def test_settings_are_shown_as_in_source(value, text):
    assert setting(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1 k"),
        (12_345, "12.3 k"),
        (999_950, "1 M"),
        (123_456_789, "123 M"),
        (2_500_000_000, "2.5 G"),
    ],
)
def test_counts_have_three_digits(count, text):
    assert short_count(count) == text


def test_unknown_names_and_options(residual):
    with pytest.raises(ConfigError, match="theme wants one of light, dark, auto, received 'blue'"):
        residual.to_svg(theme="blue")
    with pytest.raises(ConfigError, match="direction wants one of down, right, received 'up'"):
        residual.to_svg(direction="up")


# -- in a notebook


def test_unbuilt_model_is_shown_as_text(monkeypatch):
    shown = nn.Sequential(nn.Linear(2))._repr_mimebundle_()
    assert shown.keys() == {"text/plain"}


# -- blocks and notes


def towers(depth, width):
    """Blocks in a row, each of layers side by side that are added."""
    nodes, edges = {"x": Node("Input", "x", {"shape": (None, 4)})}, []
    last = "x"
    for d in range(depth):
        for w in range(width):
            nodes[f"{d}.{w}"] = Node("Linear", f"tower/{d}/linear_{w}", {"out_features": 4})
            edges.append(Edge(last, f"{d}.{w}"))
        nodes[f"{d}"] = Node("Add", f"tower/{d}/add")
        edges += [Edge(f"{d}.{w}", f"{d}", target_port="xs") for w in range(width)]
        last = f"{d}"
    groups = {"tower": "ModuleList"} | {f"tower/{d}": "Block" for d in range(depth)}
    return Graph(nodes, {str(k): e for k, e in enumerate(edges)}, groups=groups)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_folded_block_is_one_box(depth, width, data):
    graph = towers(depth, width)
    folded = data.draw(st.sets(st.sampled_from([f"tower/{d}/" for d in range(depth)] + ["tower/"])))
    shown = fold(replace(graph, positions=dict.fromkeys(folded, (0.0, 0.0))))
    outer = {"tower/"} if "tower/" in folded else folded
    inside = {i: next((path for path in outer if n.name.startswith(path)), i) for i, n in graph.nodes.items()}
    assert set(shown.nodes) == set(inside.values())
    crossing = {(inside[e.source], inside[e.target]) for e in graph.edges.values()}
    assert {(e.source, e.target) for e in shown.edges.values()} == {
        (a, b) for a, b in crossing if a != b or a not in outer
    }
    assert sorted(m for b in shown.blocks.values() for m in b.members) == sorted(
        i for i, as_ in inside.items() if as_ != i
    )
    root = parse(replace(graph, positions=dict.fromkeys(folded, (0.0, 0.0))).to_svg())
    assert set(boxes(root)) == {n.name for n in shown.nodes.values()}


def test_readers_of_one_value_share_an_input_of_a_block():
    graph = replace(towers(2, 3), positions={"tower/0/": (0.0, 0.0), "tower/1/": (0.0, 0.0)})
    blocks = fold(graph).blocks
    assert [len(b.inputs) for b in blocks.values()] == [len(b.outputs) for b in blocks.values()] == [1, 1]
    root = parse(graph.to_svg())
    assert "4 layers" in texts(root)
    assert "60" in texts(root), "the parameters of its layers"
    assert texts(root).count("N × 4") == 3


def test_open_blocks_have_frames_and_notes_are_drawn():
    graph = towers(2, 1)
    places = {i: (0.0, 110.0 * n) for n, i in enumerate(graph.nodes)}
    notes = {
        "a": Note("of the model", (300.0, 0.0), (200.0, 60.0), "yellow"),
        "b": Note("of a block", (300.0, 200.0), (200.0, 60.0), home="tower/0"),
        "c": Note("of one that is folded", (300.0, 300.0), (200.0, 60.0), home="tower/1"),
    }
    open_block = {**places, "tower/1/": (0.0, 400.0)}
    root = parse(replace(graph, positions=open_block, notes=notes).to_svg())
    shown = texts(root)
    assert {"tower", "0", "of the model", "of a block"} <= set(shown)
    assert not {"1", "of one that is folded"} & set(shown)
    frames = [r for r in root.iter(f"{SVG}rect") if r.get("rx") == "8" and r.get("stroke")]
    [inner] = [f for f in frames if float(f.get("height")) < 300]
    for name in ("tower/0/linear_0", "tower/0/add"):
        x, y, wide, high = boxes(root)[name]
        left, top = float(inner.get("x")), float(inner.get("y"))
        assert left < x
        assert x + wide < left + float(inner.get("width"))
        assert top < y
        assert y + high < top + float(inner.get("height"))


@pytest.mark.parametrize("text", HOSTILE)
def test_notes_are_text(text):
    text = text.replace("\0", "\1")  # no note holds that
    graph = replace(
        chain(2),
        positions={"0": (0.0, 0.0), "1": (0.0, 110.0)},
        notes={"a": Note(text, (0.0, -200.0), (2.0, 2.0)), "b": Note(text, (1e9, 0.0), (1e9, 1e9))},
    )
    parse(graph.to_svg())
