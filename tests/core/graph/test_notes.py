"""Notes of a graph: they are kept, saved and limited, and do not affect the model."""

import dataclasses
import io
import json

import h5py
import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import FileFormatError, ModelError
from labdl.graph import Graph, Node, Note
from labdl.graph.note import LONGEST, MOST
from labdl.lab.editor import python_code, service
from labdl.lab.editor.model_sync import ModelSync
from labdl.saving import decode, encode
from labdl.saving.structure import identity, read

NOTES = {
    "c1": Note("Why two of these?\n\tSee §3 – 中 \U0001f680 \udc80", (-12.5, 3.0), (240.0, 120.0), "blue"),
    "c2": Note("", (0.0, 0.0), (80.0, 40.0), home="encoder/0"),
}


def noted(graph: Graph, notes=NOTES) -> Graph:
    return dataclasses.replace(graph, notes=notes)


def test_notes_are_data_and_not_compared(residual):
    graph = noted(residual)
    again = Graph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert again.notes == NOTES
    assert again == graph == residual
    assert "notes" not in residual.to_dict()
    assert identity(graph) == identity(residual)


NOTE = NOTES["c1"].to_dict()


@pytest.mark.parametrize(
    ("notes", "sentence"),
    [
        ({"a": NOTE | {"text": "x" * (LONGEST + 1)}}, "at most 10,000 characters, received 10,001"),
        ({"a": NOTE | {"text": 7}}, "wants a text of at most .* received 7"),
        ({"a": NOTE | {"text": "a\0b"}}, "NUL"),
        ({"a": NOTE | {"x": float("nan")}}, "the position of a note wants two finite numbers"),
        ({"a": NOTE | {"y": 1e300}}, "the position of a note wants two finite numbers"),
        ({"a": NOTE | {"width": 0}}, "the size of a note wants two finite numbers"),
        ({"a": NOTE | {"height": float("inf")}}, "the size of a note wants two finite numbers"),
        ({"a": NOTE | {"color": "url(evil)"}}, "the name of a color"),
        ({"a": NOTE | {"home": "../x"}}, "the path of a block"),
        ({"a": NOTE | {"home": "a" * 1001}}, "the path of a block"),
        ({"a": {"text": ""}}, "not graph data: KeyError 'x'"),
        ({"a": NOTE | {"x": "far"}}, "not graph data: ValueError"),
        ({"a": 7}, "not graph data: TypeError"),
        ([NOTE], "not graph data"),
        ({str(n): NOTE for n in range(MOST + 1)}, "at most 5,000 notes, received 5,001"),
        (
            {str(n): NOTE | {"text": "x" * LONGEST} for n in range(201)},
            "at most 2,000,000 characters, received 2,010,000",
        ),
    ],
)
def test_invalid_notes_raise(residual, notes, sentence):
    with pytest.raises(ModelError, match=sentence):
        Graph.from_dict({**residual.to_dict(), "notes": notes})


def test_a_graph_without_notes_is_written_for_earlier_readers(residual):
    assert read(encode(residual)).version == 3
    assert encode(noted(residual, {})) == encode(residual)
    with h5py.File(io.BytesIO(encode(residual))) as file:
        assert "notes" not in file


def test_notes_are_saved_and_read(residual):
    data = encode(noted(residual))
    found = read(data)
    assert found.version == 4
    assert found.graph.notes == NOTES
    assert found.graph == residual
    assert encode(found.graph) == data
    assert service.decode(data, "net.labdl")["notes"] == noted(residual).to_dict()["notes"]


def test_maximum_notes_fit_into_a_file(residual):
    rocket = Note("\U0001f680" * 400, (0.0, 0.0), (200.0, 100.0), home="a" * 1000)
    graph = noted(residual, {str(n): rocket for n in range(MOST)})
    assert Graph.from_dict(graph.to_dict()).notes == graph.notes == decode(encode(graph)).notes


def replaced(name, data):
    def edit(file):
        del file[name]
        file.create_dataset(name, data=data)

    return edit


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda f: f.__delitem__("notes"), "notes is missing"),
        (lambda f: f.__delitem__("notes/text"), "notes/text is missing"),
        (replaced("notes/place", np.zeros((2, 3))), r"notes/place has shape \(2, 3\)"),
        (replaced("notes/place", np.zeros(8)), r"notes/place has shape \(8,\)"),
        (replaced("notes/place", np.full((2, 4), np.nan)), "finite numbers"),
        (replaced("notes/place", np.ones((5, 4))), "is broken"),
        (replaced("notes/text", np.frombuffer(b'{"a": 1}', "u1")), "notes/text holds no list"),
        (replaced("notes/text", np.frombuffer(b'["only one"]', "u1")), "is broken"),
        (replaced("notes/text", np.frombuffer(b"[1, 2]", "u1")), "wants a text"),
        (replaced("notes/text", np.arange(4.0)), "notes/text does not hold bytes"),
        (replaced("notes/id", np.array([b"c", b"c"])), "notes/id holds 'c' twice"),
        (replaced("notes/home", np.array([b"a b", b""])), "the path of a block"),
        (replaced("notes/color", np.array([b"\xff", b""])), "is broken"),
        (lambda f: f["notes/place"].__setitem__((0, 0), 7.0), "damaged: its checksum"),
        (lambda f: f.attrs.__setitem__("version", 3), "damaged: its checksum"),
    ],
)
def test_file_with_broken_notes_raises(residual, edit, sentence):
    buffer = io.BytesIO(encode(noted(residual)))
    with h5py.File(buffer, "r+") as file:
        edit(file)
    with pytest.raises(FileFormatError, match=sentence) as caught:
        decode(buffer.getvalue(), "net.labdl")
    assert str(caught.value).startswith("net.labdl ")


def test_newer_file_is_shown_with_its_notes(residual):
    buffer = io.BytesIO(encode(noted(residual)))
    with h5py.File(buffer, "r+") as file:
        file.attrs["version"] = 99
    shown = service.decode(buffer.getvalue(), "net.labdl")
    assert shown["notes"] == noted(residual).to_dict()["notes"]
    assert "format 99, this one reads up to 5" in shown["read_only"]


# -- kept where the graph is made anew


def test_merged_source_keeps_the_notes():
    canvas = noted(Graph({"i": Node("Input", "input", {"shape": (None, 4)})}))
    answer = python_code.read(
        "from labdl import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.linear = nn.Linear(3)\n\n    def forward(self, x):\n        return self.linear(x)\n",
        canvas.to_dict(),
    )
    assert answer["problem"] is None
    assert len(answer["graph"]["nodes"]) == 2
    assert Graph.from_dict(answer["graph"]).notes == NOTES


def test_synchronized_canvas_keeps_its_notes():
    model = nn.Sequential(nn.Linear(3)).build((None, 4), backend="numpy")
    sync = ModelSync(model)
    canvas = noted(sync.graph)
    assert sync.build(canvas, None) is model  # a note does not change the model
    model.append(nn.Linear(2))
    model.build((None, 4), backend="numpy")
    changed = sync.graph_if_changed(canvas)
    assert changed is not None
    assert len(changed.nodes) == 3
    assert changed.notes == NOTES


def test_a_model_of_a_graph_keeps_its_notes(residual):
    graph = noted(residual)
    assert graph.to_module().graph.notes == NOTES
    assert labdl.graph.as_graph(graph.to_module().build(backend="numpy")).notes == NOTES
