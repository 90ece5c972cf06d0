"""Renamed or grouped layers keep their parameters in the parameter file."""

import json
import os

import numpy as np
import pytest
from example_graphs import graph_with_input

import labdl
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import parameter_renaming
from labdl.saving import parameters, structure

pytest_plugins = ["pytest_jupyter.jupyter_server"]


def model(first="first", second="second", **changed):
    nodes = {
        "i": Node("Input", "input", {"shape": (None, 4)}),
        "a": Node("Linear", first, {"out_features": 5, **changed}),
        "r": Node("ReLU", "relu"),
        "b": Node("Linear", second, {"out_features": 2}),
    }
    return Graph(nodes, {"1": Edge("i", "a"), "2": Edge("a", "r"), "3": Edge("r", "b")})


@pytest.fixture
def trained(tmp_path):
    """A document with parameters beside it."""
    labdl.save(model().to_module().build(backend="numpy", seed=1), tmp_path / "net")
    return tmp_path / "net.npz"


def follow(file, before, after):
    return parameter_renaming.follow(file, structure.encode(before), structure.encode(after))


X = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)


def output(file, graph):
    net = graph.to_module().build(backend="numpy")
    labdl.swap_parameters(net, file)
    return labdl.predict(net, X)


@pytest.mark.parametrize(
    "after",
    [
        model(first="stem"),
        model(first="block/first", second="block/second"),
        model(first="second", second="first"),
        model(first="first/inner"),
        model(first="block", second="block/0"),
    ],
)
def test_the_model_says_the_same_under_new_names(trained, after):
    expected = output(trained, model())
    note = parameters.ParameterFile(trained).note
    assert follow(trained, model(), after)
    np.testing.assert_array_equal(output(trained, after), expected)
    assert parameters.ParameterFile(trained).note == note
    assert follow(trained, after, model())  # undone, and saved again
    np.testing.assert_array_equal(output(trained, model()), expected)
    assert [path.name for path in trained.parent.iterdir() if path.suffix == ".part"] == []


def test_entries_of_removed_layers_are_replaced(trained):
    nodes = {at: node for at, node in model(first="gone", second="first").nodes.items() if at != "a"}
    after = Graph(nodes, {"1": Edge("i", "r"), "3": Edge("r", "b")})
    before = parameters.load_parameters(trained)
    assert follow(trained, model(), after) == {"second": "first"}
    now = parameters.load_parameters(trained)
    np.testing.assert_array_equal(now["first/kernel:0"], before["second/kernel:0"])


@pytest.mark.parametrize(
    "after",
    [
        model(),
        model(out_features=7),
        Graph({"a": Node("Linear", "x", {"out_features": 5})}, {}),
        Graph({"i": Node("ReLU", "first"), "a": Node("Linear", "other", {"out_features": 9})}, {}),
    ],
    ids=["the same", "other settings", "hardly any layer", "another document"],
)
def test_other_changes_leave_the_file_alone(trained, after):
    data, state = trained.read_bytes(), os.stat(trained).st_ino
    assert follow(trained, model(), after) == {}
    assert (trained.read_bytes(), os.stat(trained).st_ino) == (data, state)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\3\4broken"])
def test_a_broken_file_stays_as_it_is(trained, content, caplog):
    trained.write_bytes(content)
    assert follow(trained, model(), model(first="stem")) == {}
    assert trained.read_bytes() == content
    assert "net.npz keeps its names" in caplog.text
    assert parameter_renaming.follow(trained, b"no structure", structure.encode(model())) == {}


def test_a_training_that_writes_meanwhile_is_not_lost(trained, monkeypatch):
    """What it has written last is what gets the new names."""
    write, later = parameters.write_parameters, {"first/kernel:0": np.ones((4, 5), "float32")}

    def interrupted(*args, **options):
        if later:
            values = parameters.load_parameters(trained) | later
            later.clear()
            parameters.save_parameters(values, trained)
        write(*args, **options)

    monkeypatch.setattr(parameter_renaming, "write_parameters", interrupted)
    assert follow(trained, model(), model(first="stem"))
    np.testing.assert_array_equal(parameters.load_parameters(trained)["stem/kernel:0"], np.ones((4, 5)))


async def test_saving_a_document_renames_beside_it(jp_fetch, jp_root_dir):
    labdl.save(model().to_module().build(backend="numpy", seed=1), jp_root_dir / "net")
    expected = output(jp_root_dir / "net.npz", model())
    body = json.dumps({"content": model(first="block/stem").to_dict()})
    response = await jp_fetch("labdl", "graph", params={"path": "net.labdl"}, method="PUT", body=body)
    assert response.code == 200
    np.testing.assert_array_equal(output(jp_root_dir / "net.npz", model(first="block/stem")), expected)
    other = json.dumps({"content": graph_with_input()})  # a document of its own has nothing to do with it
    await jp_fetch("labdl", "graph", params={"path": "other.labdl"}, method="PUT", body=other)
    assert not (jp_root_dir / "other.npz").exists()
