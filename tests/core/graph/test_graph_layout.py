"""Layered and nested layout: order, no overlap, frames, large graphs."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ConfigError, ModelError
from labdl.graph.drawing.frame_geometry import FOOT, HEADING, PADDING, frame_rects, rect_at
from labdl.graph.drawing.layout import GAP_ALONG, layered_layout
from labdl.graph.drawing.nested_layout import nested_layout
from labdl.lab.editor.arrangement import layout
from labdl.lab.messages.base import read
from labdl.lab.messages.layout import LayoutRequest

SIZE = (208.0, 58.0)


def graph(text):
    """Sizes and edges of ``a>b b>c d``."""
    edges = [tuple(part.split(">")) for part in text.split() if ">" in part]
    ids = dict.fromkeys(node for part in text.split() for node in part.split(">"))
    return dict.fromkeys(ids, SIZE), edges


def arrange(text, direction="down"):
    return layered_layout(*graph(text), direction=direction)


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def overlaps(positions, sizes=None):
    rects = sorted((rect_at(at, (sizes or {}).get(i, SIZE)) for i, at in positions.items()), key=lambda r: r[1])
    count = 0
    for n, rect in enumerate(rects):
        for other in rects[n + 1 :]:
            if other[1] >= rect[3]:
                break
            count += overlap(rect, other)
    return count


def test_chain_is_straight_and_targets_lie_below_sources():
    at = arrange("a>b b>c c>d")
    assert at["a"] == (0.0, 0.0)
    assert len({x for x, _ in at.values()}) == 1
    assert at["a"][1] < at["b"][1] < at["c"][1] < at["d"][1]


def test_edges_can_lead_right():
    at = arrange("a>b b>c", "right")
    assert at["a"][0] < at["b"][0] < at["c"][0]
    assert at["a"][1] == at["c"][1]
    assert at["b"][0] - at["a"][0] == SIZE[0] + GAP_ALONG["right"]


def test_branches_lie_side_by_side_and_their_join_between_them():
    at = arrange("a>b a>c a>d b>j c>j d>j")
    assert at["b"][1] == at["c"][1] == at["d"][1]
    assert overlaps(at) == 0
    assert at["j"][0] == at["a"][0]


def test_late_source_lies_right_before_its_reader():
    at = arrange("a>b b>c c>d s>d")
    assert at["s"][1] == at["c"][1]


def test_sizes_of_nodes_are_respected():
    at = layered_layout({"a": (100, 300), "b": (100, 300)}, [("a", "b")])
    assert at["b"][1] - at["a"][1] > 300


def test_loops_and_edges_to_the_same_node():
    at = arrange("a>b b>c c>a d>d")
    assert len(at) == 4
    assert overlaps(at) == 0


def test_unconnected_nodes_fill_a_rectangle():
    at = arrange(" ".join(f"n{n}" for n in range(40)))
    assert overlaps(at) == 0
    assert len({y for _, y in at.values()}) > 3


def test_empty_graph():
    assert layered_layout({}, []) == nested_layout({}, [], []) == {}


def test_layout_is_deterministic():
    text = "a>b a>c b>d c>d d>e a>e"
    assert arrange(text) == arrange(text)


def test_crowded_boxes_are_spread_around_their_mean():
    at = arrange("a>b a>c a>d")
    assert at["c"][0] == at["a"][0]
    assert at["d"][0] - at["c"][0] == at["c"][0] - at["b"][0]


def count_calls(function, *args):
    """The result of a function, and the number of calls in it: a measure of work that no other process changes."""
    calls = 0

    def on_event(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        result = function(*args)
    finally:
        sys.setprofile(None)
    return result, calls


@pytest.mark.parametrize("skips", [False, True])
def test_work_grows_with_the_nodes(skips):
    """Five times the nodes are little more than five times the work; a chain of 5,000 needs no recursion."""

    def chain(count):
        parts = [f"n{n}>n{n + 1}" for n in range(count)]
        if skips:
            parts += [f"n{n}>n{n + 2 + n % 5}" for n in range(count)]
        return graph(" ".join(parts))

    (_, few), (at, many) = (count_calls(layered_layout, *chain(count)) for count in (1000, 5000))
    assert many < 8 * few
    assert overlaps(at) == 0


# -- blocks

NAMES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(NAMES, st.data(), st.sampled_from(["down", "right"]))
def test_open_blocks_have_frames_that_nothing_else_overlaps(names, data, direction):
    nodes = {f"n{n}": ("/".join([*words, f"layer{n}"]), SIZE) for n, words in enumerate(names)}
    paths = {"/".join(words[:n]) for words in names for n in range(1, len(words) + 1)}
    ends = st.tuples(st.sampled_from(sorted(nodes)), st.sampled_from(sorted(nodes)))
    edges = data.draw(st.lists(ends, max_size=30))
    frames = [path for path in paths if data.draw(st.booleans())]
    at = nested_layout(nodes, edges, frames, direction=direction)
    assert at.keys() == nodes.keys()
    assert overlaps(at) == 0
    content = [(name, rect_at(at[i], size)) for i, (name, size) in nodes.items()]
    rects = frame_rects(sorted(frames, key=lambda path: path.count("/")), content)
    for path, frame in rects.items():
        for name, rect in [*content, *((other, rects[other]) for other in rects if other != path)]:
            inside = name.startswith(f"{path}/")
            around = path.startswith(f"{name}/")
            assert inside or around or not overlap(frame, rect)
            if inside:
                assert frame[0] <= rect[0]
                assert frame[1] <= rect[1]
                assert frame[2] >= rect[2]
                assert frame[3] >= rect[3]


def test_headings_lie_between_layers_inside_and_outside():
    names = ["input", "a/b/c", "a/b/d", "a/e", "f"]
    nodes = {f"n{n}": (name, SIZE) for n, name in enumerate(names)}
    at = nested_layout(nodes, [(f"n{n}", f"n{n + 1}") for n in range(4)], ["a", "a/b"])
    tops = [at[i][1] for i in nodes]
    assert tops == sorted(tops)
    assert tops[1] - tops[0] == SIZE[1] + GAP_ALONG["down"] + 2 * (HEADING + PADDING / 2)
    assert tops[3] - tops[2] == SIZE[1] + FOOT + GAP_ALONG["down"]


def test_work_of_open_blocks_grows_with_the_nodes():
    def blocks(count):
        nodes = {f"n{n}": (f"stack/{n // 50}/{n // 10 % 5}/l{n}", SIZE) for n in range(count)}
        edges = [(f"n{n}", f"n{n + 1}") for n in range(count - 1)]
        edges += [(f"n{n}", f"n{n + 4}") for n in range(0, count - 10, 10)]
        return nodes, edges, {"/".join(name.split("/")[:k]) for name, _ in nodes.values() for k in (1, 2, 3)}

    (_, few), (at, many) = (count_calls(nested_layout, *blocks(count)) for count in (1000, 5000))
    assert many < 8 * few
    assert overlaps(at) == 0


# -- the answer to the front end


def request(**fields):
    box = {"name": "a", "width": 208, "height": 58}
    return {"nodes": {"a": box, "b": box}, "edges": [["a", "b"]], "frames": [], "direction": "down"} | fields


def answer(**fields):
    return layout(read(LayoutRequest, request(**fields)))


def test_answer_has_a_position_for_each_box():
    assert answer() == {"positions": {"a": (0.0, 0.0), "b": (0.0, 102.0)}}
    beyond = answer(edges=[["a", "gone"], ["b", "b"]], frames=["none"])
    assert beyond["positions"].keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"nodes": 3}, "nodes"),
        ({"nodes": {"a": {"name": "a", "width": float("nan"), "height": 1}}}, "nodes.a.width"),
        ({"nodes": {"a": {"name": "a", "width": -1, "height": 1}}}, "nodes.a.width"),
        ({"nodes": {"a//": {"name": "a", "width": 1, "height": 1}}}, "a//"),
        ({"edges": [["a"]]}, "edges.0"),
        ({"direction": "up"}, "direction"),
        ({"frames": None}, "frames"),
    ],
)
def test_wrong_requests_are_refused(fields, message):
    with pytest.raises((ConfigError, ModelError), match=message):
        answer(**fields)


def test_requests_that_are_no_table_are_refused():
    with pytest.raises(ConfigError):
        read(LayoutRequest, [])
