"""Settings keep their number types through a browser, which writes 0.0 as 0, and through shared maps."""

import base64
import json
import types
import typing
from typing import Annotated, Literal, get_args, get_origin

import jupyter_ydoc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import labdl
from labdl import nn
from labdl.errors import ModelError
from labdl.graph import Graph, GraphModule
from labdl.graph.graph import Node
from labdl.lab import Diff, Editor
from labdl.lab.collaboration import ydoc_maps
from labdl.lab.editor import comparison, service
from labdl.models.vision.vit import VisionTransformer
from labdl.nn.schema import LAYERS, layer_declaration
from labdl.ops.operator import OPERATORS
from labdl.saving import structure
from labdl.settings import create
from labdl.train.optimizers import OPTIMIZERS

pytest_plugins = ["pytest_jupyter.jupyter_server"]

FLOATS = st.sampled_from([0.0, 1.0, 2.0, -1.0, 1e3, 1e15, 1e20, 0.5, 1e-7, 1e22]) | st.floats(-1e6, 1e6).map(
    lambda x: x + 0.0  # JavaScript has no -0 in its JSON
)
INTEGERS = st.integers(-(2**53), 2**53)
UNDECLARED = st.recursive(FLOATS | INTEGERS | st.booleans() | st.none() | st.text(max_size=3), st.tuples, max_leaves=3)


def values_of(hint):
    """Values of an annotated type, without its bounds."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return values_of(args[0])
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values_of, args))
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        return (
            st.lists(values_of(args[0]), max_size=3).map(tuple)
            if args[-1] is Ellipsis
            else st.tuples(*map(values_of, args))
        )
    found = {float: FLOATS, int: INTEGERS, bool: st.booleans(), str: st.text(max_size=3), type(None): st.none()}
    return found.get(hint, UNDECLARED)


@st.composite
def graphs(draw):
    """A graph of a node with any settings: of each layer, of an operator, and of a layer that is not imported."""
    kind = draw(st.sampled_from([*LAYERS, *(f"ops.{name}" for name in OPERATORS), "acme.Unknown"]))
    return Graph({"n": Node(kind, "n", draw(settings_of(kind)))})


def settings_of(kind):
    if kind in LAYERS:
        return st.fixed_dictionaries(
            {}, optional={k: values_of(v) for k, v in layer_declaration(LAYERS[kind]).annotations.items()}
        )
    return st.dictionaries(st.sampled_from(["x", "axis", "value"]), UNDECLARED)


def through_javascript(value):
    """What `JSON.stringify(JSON.parse(text))` makes of JSON data."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    if isinstance(value, list | tuple):
        return [through_javascript(item) for item in value]
    return {k: through_javascript(v) for k, v in value.items()} if isinstance(value, dict) else value


def with_floats(value):
    """What pycrdt gives back of what a browser has put into the maps."""
    if isinstance(value, dict):
        return {k: with_floats(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [with_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def params(graph):
    """Settings with the types of their numbers: 2 == 2.0, but their texts differ."""
    return repr({i: dict(sorted(node.params.items())) for i, node in graph.nodes.items()})


def edited(data):
    """Graph data that a browser sends back."""
    return through_javascript(json.loads(json.dumps(data, allow_nan=False)))


# -- every way that a graph takes from Python to a page and back


def over_rest(graph):
    shown = service.decode(structure.encode(graph), "net.labdl")
    return structure.decode(service.encode(edited(shown)))


def over_shared_maps(graph):
    document = jupyter_ydoc.ydocs["labdl"]()
    document.set(base64.encodebytes(structure.encode(graph)).decode())
    maps = ydoc_maps.roots(document.ydoc)
    with document.ydoc.transaction():
        ydoc_maps.write(maps, with_floats(edited(ydoc_maps.read(maps))))
    return structure.decode(base64.b64decode(document.get()))


def over_widget(graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labdl.lab.widgets.base.read_static", lambda name: "")
        editor = Editor(graph)
        editor.set_state({"_graph": edited(editor.get_state("_graph")["_graph"])})
        found = editor.graph
        editor.close()
    return found


def over_comparison(graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labdl.lab.widgets.base.read_static", lambda name: "")
        diff = Diff(graph, graph)
        shown = diff.get_state("_graph")["_graph"]
        diff.close()
    answer = comparison.difference(edited(graph.to_dict(tagged=True)), edited(shown))
    assert not answer["changed"]
    return Graph.from_dict(edited(shown))


def over_sample_code(graph):
    sent = graph.to_dict(tagged=True)
    return Graph.from_dict(json.loads(json.dumps(Graph.from_dict(edited(sent)).to_dict())))


ROUTES = [over_rest, over_shared_maps, over_widget, over_comparison, over_sample_code]


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graph=graphs())
def test_numbers_round_trip_through_a_page(route, graph):
    assert params(route(graph)) == params(graph)


@pytest.mark.parametrize("route", ROUTES)
def test_the_settings_of_every_layer_come_back_as_they_were(route):
    layers = {kind: cls(**cls.layer_example.params) for kind, cls in LAYERS.items()}
    graph = Graph(
        {
            kind: Node(
                kind, f"n{at}", {name: getattr(layer, name) for name in layer_declaration(type(layer)).annotations}
            )
            for at, (kind, layer) in enumerate(layers.items())
        }
    )
    assert params(route(graph)) == params(graph)


@pytest.mark.parametrize(
    ("kind", "given", "restored"),
    [
        ("Dropout", {"rate": 0}, {"rate": 0.0}),
        ("Linear", {"out_features": 8.0}, {"out_features": 8}),
        ("Input", {"shape": [None, 3.0, 8.0]}, {"shape": (None, 3, 8)}),
        ("MultiMarginLoss", {"p": 2.0}, {"p": 2}),
        ("Upsample", {"scale": [2, 3]}, {"scale": (2.0, 3.0)}),
        ("Conv2d", {"padding": [[1.0, 2.0], 0.0]}, {"padding": ((1, 2), 0)}),
        ("Constant", {"value": [{"float": "2.0"}, 2]}, {"value": (2.0, 2)}),
        ("ops.clip", {"low": {"float": "-inf"}, "high": {"float": "6.0"}}, {"low": float("-inf"), "high": 6.0}),
        ("ops.where", {"x": {"float": "many"}}, {"x": {"float": "many"}}),
    ],
)
def test_numbers_get_their_declared_types(kind, given, restored):
    graph = Graph.from_dict({"nodes": {"n": {"type": kind, "name": "n", "params": given}}, "edges": {}})
    assert repr(graph.nodes["n"].params) == repr(restored)


def test_numbers_of_more_bits_than_any_size_are_refused():
    with pytest.raises(ModelError, match="1,329 bits"):
        Graph.from_dict({"nodes": {"n": {"type": "Dropout", "name": "n", "params": {"rate": 10**400}}}, "edges": {}})


@pytest.mark.parametrize(
    ("made", "written"),
    [
        (lambda: nn.Dropout(0), "Dropout(rate=0.0)"),
        (lambda: create(OPTIMIZERS["adam"].cls, {"learning_rate": 1}).learning_rate, "1.0"),
    ],
)
def test_settings_have_one_type_however_they_are_given(made, written):
    assert repr(made()) == written


async def test_an_unedited_model_that_the_canvas_saves_is_the_same(jp_fetch, jp_root_dir, recwarn):
    vit = VisionTransformer(8, 4, layers=1, heads=2, features=8, feed_forward=8, classes=2)
    labdl.save(vit.build((None, 3, 8, 8), backend="numpy"), jp_root_dir / "net")
    before = structure.load_structure(jp_root_dir / "net.labdl")
    shown = json.loads((await jp_fetch("labdl", "graph", params={"path": "net.labdl"})).body)["content"]
    body = json.dumps({"content": edited(shown)})
    await jp_fetch("labdl", "graph", method="PUT", body=body, params={"path": "net.labdl"})
    after = structure.load_structure(jp_root_dir / "net.labdl")
    assert params(after) == params(before)
    assert isinstance(labdl.load(jp_root_dir / "net", backend="numpy"), GraphModule)
    assert not [str(w.message) for w in recwarn if "was changed since" in str(w.message)]
