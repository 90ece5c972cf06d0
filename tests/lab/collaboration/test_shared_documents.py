"""Shared model files: round trips through the shared maps, and no loss of files."""

import base64
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jupyter_ydoc", reason="jupyter-collaboration is not installed")
import jupyter_ydoc
from pycrdt import Doc, Map

from labdl.errors import FileFormatError
from labdl.graph import Graph, Node
from labdl.lab.collaboration import ydoc_maps
from labdl.lab.collaboration.conflict_resolution import resolve_conflicts, unique
from labdl.lab.editor import service
from labdl.lab.server.extension import keep_model_files_binary
from labdl.nn.schema import LAYERS
from labdl.saving import structure

FIXTURE = json.loads((Path(__file__).parent / "files" / "shared.json").read_text(encoding="utf-8"))
FILES = sorted((Path(__file__).parents[2] / "core" / "files").glob("*.labdl"))


def shared(data: bytes | None = None, *, updates=()):
    """A shared document: of a file's bytes, or of what others have sent."""
    document = jupyter_ydoc.ydocs["labdl"](Doc())
    if data is not None:
        document.set(text(data))
    for update in updates:
        document.ydoc.apply_update(update)
    return document


def text(data: bytes) -> str:
    return base64.encodebytes(data).decode("ascii")


def graph_of(document) -> Graph:
    return structure.decode(base64.b64decode(document.get()))


def maps_of(document) -> dict[str, Map]:
    return ydoc_maps.roots(document.ydoc)


# -- the layout, which is that of the editor


def test_the_editor_and_the_server_lay_a_graph_out_alike():
    document = shared(service.encode(FIXTURE["graph"]))
    assert {name: root.to_py() or {} for name, root in maps_of(document).items()} == FIXTURE["layout"]


def test_what_the_editor_wrote_is_read_and_the_other_way_round():
    for writer in (
        "typescript",
        "python",
    ):  # labextension/src/jupyter/documents/__tests__/collaboration.spec.ts reads the second
        document = shared(updates=[base64.b64decode(FIXTURE[writer])])
        found, wanted = graph_of(document).to_dict(), Graph.from_dict(FIXTURE["graph"]).to_dict()
        assert json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)
        assert [list(found[part]) for part in ("nodes", "edges")] == [list(wanted[part]) for part in ("nodes", "edges")]


# -- there and back


WORDS = st.text("abcxyz_019", min_size=1, max_size=6)
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
SETTINGS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text("aé\n中", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS.filter(lambda w: w != "float"), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def graphs(draw):
    """Any graph: layers with the settings of their examples, and others with settings that nobody knows."""
    names = draw(st.lists(st.lists(WORDS, min_size=1, max_size=3).map("/".join), unique=True, max_size=6))
    ids = draw(st.permutations([f"n{n}" for n in range(len(names))]))
    nodes = {}
    for key, name in zip(ids, names, strict=True):
        kind = draw(st.sampled_from([*LAYERS, "acme.Unknown", "ops.reshape"]))
        params = (
            LAYERS[kind].layer_example.params if kind in LAYERS else draw(st.dictionaries(WORDS, SETTINGS, max_size=3))
        )
        shares = draw(st.sampled_from(["", *nodes]))
        nodes[key] = {"type": kind, "name": name, "params": params, "shares": shares}
    ends = st.sampled_from(ids) if ids else st.nothing()
    edge = st.fixed_dictionaries({"source": ends, "source_port": WORDS, "target": ends, "target_port": WORDS})
    edges = draw(st.lists(edge, max_size=8)) if ids else []
    note = {
        "text": st.text("aé\n中", max_size=9),
        "home": st.just("a/b"),
        "color": st.just("blue"),
        "x": NUMBERS,
        "y": NUMBERS,
        "width": st.floats(1, 999),
        "height": st.floats(1, 999),
    }
    return Graph.from_dict(
        {
            "name": draw(st.text("né中 ", min_size=1, max_size=5)),
            "nodes": nodes,
            "edges": {f"e{n}": edge for n, edge in zip(draw(st.permutations(range(len(edges)))), edges, strict=True)},
            "positions": {key: draw(st.tuples(NUMBERS, NUMBERS)) for key in ids if draw(st.booleans())},
            "groups": dict(sorted(draw(st.dictionaries(WORDS, WORDS, max_size=3)).items())),
            "ties": dict(sorted(draw(st.dictionaries(WORDS, WORDS, max_size=3)).items())),
            "notes": {
                f"t{n}": value for n, value in enumerate(draw(st.lists(st.fixed_dictionaries(note), max_size=2)))
            },
        }
    )


@pytest.mark.sample(False)
@given(graphs())
@settings(max_examples=80, deadline=None)
def test_any_graph_comes_out_as_it_went_in(graph):
    data = structure.encode(graph)
    document = shared(data)
    found = graph_of(document)
    assert found == graph
    assert [list(found.nodes), list(found.edges)] == [list(graph.nodes), list(graph.edges)]
    assert (found.positions, found.notes) == (graph.positions, graph.notes)
    # somebody who joins, and a server that starts again, write the same bytes
    assert shared(updates=[document.ydoc.get_update()]).get() == document.get()
    assert document.get() == text(data)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_opening_a_file_of_any_version_again_changes_nothing(path):
    data = path.read_bytes()
    document = shared(data)
    assert graph_of(document) == structure.decode(data)
    state = document.ydoc.get_state()
    document.set(text(data))
    assert document.ydoc.get_state()[:1] == state[:1]
    assert shared(updates=[document.ydoc.get_update()]).get() == document.get()


def test_unknown_entries_of_the_maps_are_kept():
    document = shared(service.encode(FIXTURE["graph"]))
    maps_of(document)["nodes"]["n2"]["comment"] = "mine"
    document.ydoc.get("elsewhere", type=Map)["a"] = 1.0
    document.set(text(service.encode(FIXTURE["graph"] | {"name": "other"})))
    assert graph_of(document).name == "other"
    assert maps_of(document)["nodes"]["n2"]["comment"] == "mine"
    assert document.ydoc.get("elsewhere", type=Map)["a"] == 1.0


def test_a_file_that_changed_elsewhere_replaces_only_what_differs():
    document = shared(service.encode(FIXTURE["graph"]))
    seen = []
    document.observe(lambda part, events: seen.append((part, len(events))))
    data = json.loads(json.dumps(FIXTURE["graph"]))
    document.set(text(service.encode(data)))
    assert seen == []
    data["nodes"]["n2"]["params"]["out_channels"] = 32
    del data["positions"]["n3"]
    document.set(text(service.encode(data)))
    assert sorted(seen) == [("nodes", 1), ("positions", 1)]
    document.dirty = True
    document.path = "elsewhere.labdl"
    assert len(seen) == 2, "the state of the document is not the graph: no file is written for it"


# -- what people do at the same time


def edited_apart(*edits):
    """What becomes of a document that people edit without hearing of each other, in each order of arrival."""
    start = shared(service.encode(FIXTURE["graph"])).ydoc.get_update()
    updates = []
    for edit in edits:
        document = shared(updates=[start])
        with document.ydoc.transaction():
            edit(maps_of(document))
        updates.append(document.ydoc.get_update())
    found = {shared(updates=order).get() for order in itertools.permutations(updates)}
    assert len(found) == 1, "the order of arrival decides what is written"
    return structure.decode(base64.b64decode(found.pop()))


def adding(key: str, name: str):
    def add(maps):
        maps["nodes"][key] = Map({"type": "ReLU", "name": name, "order": 6.0, "params": Map({})})

    return add


def test_two_layers_of_one_name_get_two_names():
    graph = edited_apart(adding("b", "relu"), adding("a", "relu"))
    assert [(key, graph.nodes[key].name) for key in list(graph.nodes)[-2:]] == [("a", "relu"), ("b", "relu_1")]


def test_an_edge_to_a_layer_that_somebody_removed_goes_with_it():
    def connect(maps):
        edge = {"source": "n9", "source_port": "output", "target": "n7", "target_port": "x", "order": 5.0}
        maps["edges"]["new"] = Map(edge)

    def remove(maps):
        del maps["nodes"]["n7"]
        del maps["edges"]["e1"]
        del maps["edges"]["e9"]

    graph = edited_apart(connect, remove)
    assert "n7" not in graph.nodes
    assert list(graph.edges) == ["e5", "e2", "e3"]


def test_a_layer_whose_settings_somebody_removed_has_its_own():
    graph = edited_apart(adding("a", "more"), lambda maps: maps["nodes"].pop("n2"))
    assert graph.nodes["n1"].shares == ""


def test_names_are_counted_on():
    assert unique("relu", set(), {}) == "relu"
    assert unique("relu", {"relu"}, {}) == "relu_1"
    assert unique("relu_1", {"relu", "relu_1"}, {}) == "relu_2"
    assert unique("blocks/0", {"blocks/0", "blocks/1"}, {}) == "blocks/2"
    assert unique("no name!", set(), {}) == "no_name_"


@pytest.mark.sample(False)
def test_many_equal_names_and_names_without_end_take_little_time():
    nodes = {
        f"n{i}": {"type": "ReLU", "name": ("relu", "a/" * 40_000 + "b", "c" * 10_000)[i % 3]} for i in range(30_000)
    }
    graph = resolve_conflicts({"nodes": nodes, "edges": {}})
    assert len({node.name for node in graph.nodes.values()}) == len(nodes)


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text("a/\0\n é", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "name",
                    "params",
                    "order",
                    "shares",
                    "source",
                    "target",
                    "source_port",
                    "target_port",
                    "text",
                    "a",
                    "b",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.sample(False)
@given(
    st.dictionaries(
        st.sampled_from([*ydoc_maps.ROOTS]), st.dictionaries(st.text("ab\0/", max_size=2), JUNK, max_size=4)
    )
)
@settings(max_examples=150, deadline=None)
def test_any_content_of_the_maps_can_be_written(junk):
    document = shared()
    for name, entries in junk.items():
        for key, value in entries.items():
            maps_of(document)[name][key] = value
    resolve_conflicts(ydoc_maps.read(maps_of(document)))
    assert isinstance(graph_of(document), Graph)


# -- files that must not be written


def newer_file() -> bytes:
    """A file as a later version may write it."""
    import io

    import h5py

    buffer = io.BytesIO(service.encode(FIXTURE["graph"]))
    with h5py.File(buffer, "r+") as file:
        file.attrs["version"] = structure.VERSION + 1
        file["new"] = [1, 2, 3]
    return buffer.getvalue()


GOOD = service.encode(FIXTURE["graph"])
UNEDITABLE = {
    "newer": (newer_file(), "This file was written by a newer version of LabDL"),
    "truncated": (GOOD[:-50], "This file is truncated"),
    "empty": (b"", "This file is not a LabDL structure file: it is empty"),
    "other": (b"\x89PNG", "This file is not a LabDL structure file: it is not HDF5"),
}


@pytest.mark.parametrize("kind", UNEDITABLE)
@pytest.mark.parametrize("before", [None, GOOD], ids=["opened", "changed"])
def test_a_file_that_cannot_be_edited_keeps_its_bytes_and_says_why(kind, before):
    data, sentence = UNEDITABLE[kind]
    document = shared(before)
    document.set(text(data))
    assert document.get() == text(data)
    again = shared(updates=[document.ydoc.get_update()])  # somebody who joins, or the server after a restart
    assert again.ydoc.get("file", type=Map)["reason"].startswith(sentence)
    adding("a", "relu")(maps_of(again))
    assert again.get() == text(data)
    again.set(text(GOOD))  # it has been repaired
    assert again.get() == text(GOOD)
    assert "reason" not in again.ydoc.get("file", type=Map)


@pytest.mark.parametrize(("value", "word"), [(2**70, "64 bits"), ("\ud800", "not Unicode")])
def test_what_the_maps_cannot_hold_is_not_shared(value, word):
    data = structure.encode(Graph({"n": Node("X", "n", {"a": value})}, {}))
    document = shared(data)
    assert word in document.ydoc.get("file", type=Map)["reason"]
    assert document.get() == text(data)
    with pytest.raises(FileFormatError, match=word):
        ydoc_maps.shareable({"a": [value]})


def test_the_graph_is_written_as_a_file_when_the_page_saves_it_elsewhere():
    model = {"type": "file", "format": "base64", "content": json.dumps(FIXTURE["graph"])}
    keep_model_files_binary(model, "copy.labdl")
    assert base64.b64decode(model["content"]) == GOOD
    before = dict(model)
    keep_model_files_binary(model, "copy.labdl")
    assert model == before


def test_works_without_jupyter_collaboration():
    code = "import sys\nsys.modules |= dict.fromkeys(['pycrdt', 'jupyter_ydoc', 'jupyter_server_ydoc'])\n"
    code += "import labdl, labdl.lab, labdl.lab.server.extension, labdl.lab.editor.service\n"
    code += "assert 'labdl.lab.collaboration.shared_graph' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
