"""Text from a graph or a request never becomes code: names, settings and paths may be hostile."""

import ast

import pytest

from labdl.errors import ConfigError, LabDLError, ModelError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service
from labdl.lab.training import script

ATTACK = "__import__('os').abort()"
TEXTS = [
    ATTACK,
    f"0]; {ATTACK}; x[0",
    f"x\n    {ATTACK}",
    f"'); {ATTACK} #",
    f'"""{ATTACK}',
    f"a={ATTACK}",
    "\\'); abort() #",
    "\u2028abort()",
]


def graph_data(kind="ReLU", name="a", params=None, title="model", port="x"):
    return {
        "name": title,
        "nodes": {
            "i": {"type": "Input", "name": "input", "params": {"shape": [None, 4]}},
            "n": {"type": kind, "name": name, "params": params or {}},
        },
        "edges": {"e": {"source": "i", "target": "n", "target_port": port}},
    }


def calls(source):
    """What the program calls and reads, as text: names inside string literals are not among them."""
    tree = ast.parse(source)
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return names | {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}


def assert_harmless(make):
    try:
        source = make()
    except LabDLError:
        return
    assert not calls(source) & {"__import__", "abort", "os"}


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_in_graph_data_reaches_the_source_as_code(text):
    for data in (
        graph_data(name=text),
        graph_data(kind=text),
        graph_data(title=text),
        graph_data(port=text),
        graph_data(kind=f"ops.{text}"),
        graph_data("Linear", params={"out_features": text}),
        graph_data("Linear", params={text: 3}),
        graph_data("Linear", params={"out_features": [{text: text}]}),
        graph_data("Reshape", params={"shape": [text, [text]]}),
        graph_data("ops.getitem", params={"index": text}),
        graph_data("ops.getitem", params={"index": [text]}),
        graph_data("ops.relu", params={text: 1}),
        graph_data("ops.sum", params={"axis": text}),
        graph_data("ops.einsum", params={"equation": text}),
        graph_data("ops.reshape", params={"shape": {text: 1}}),
    ):
        assert_harmless(lambda data=data: service.code(data)["source"])


@pytest.mark.parametrize("text", TEXTS)
def test_checking_hostile_data_runs_nothing(text):
    for data in (
        graph_data("ops.getitem", params={"index": text}),
        graph_data("ops.einsum", params={"equation": text}),
        graph_data("Input", params={"shape": [text]}),
        graph_data("ops.astype", params={"dtype": text}),
    ):
        answer = service.check(data)
        assert answer["problems"]


def test_an_index_is_read_as_a_literal():
    graph = Graph.from_dict(graph_data("ops.getitem", params={"index": ":, 1:3, None, ..., -1"}))
    assert "x[:, 1:3, None, ..., -1]" in graph.to_python()
    with pytest.raises(ConfigError, match="an index has Python"):
        Graph.from_dict(graph_data("ops.getitem", params={"index": ATTACK})).to_python()


def test_settings_that_are_not_plain_data_are_rejected():
    class Evil:
        def __repr__(self):
            return ATTACK

    for value in (Evil(), {"a": 1}, [Evil()], type("Text", (str,), {"__repr__": Evil.__repr__})("a")):
        graph = Graph({"i": Node("Input", "input"), "n": Node("Reshape", "n", {"shape": value})}, {"e": Edge("i", "n")})
        with pytest.raises(ModelError, match="cannot be written as source"):
            graph.to_python()


SETTINGS = {
    "backend": "torch",
    "dataset": "digits",
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "epochs": 2,
    "batch_size": 32,
}


def test_training_program_is_valid():
    answer = script.train_code("models/digits.labdl", SETTINGS)
    tree = ast.parse(answer["code"])
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert {"digits.labdl", "torch", "digits.npz", 2, 32, 1e-3} <= texts
    assert answer["run"].startswith("models/runs/")


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_in_a_request_reaches_the_training_program_as_code(text):
    assert_harmless(lambda: script.train_code(f"{text}.labdl", SETTINGS)["code"])
    assert_harmless(lambda: script.train_code(f"{text}/net.labdl", SETTINGS)["code"])
    for key in SETTINGS:
        with pytest.raises(ConfigError, match=key):
            script.train_code("net.labdl", {**SETTINGS, key: text})
        with pytest.raises(ConfigError, match=key):
            script.train_code("net.labdl", {**SETTINGS, key: [text]})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("learning_rate", float("nan")),
        ("learning_rate", float("inf")),
        ("learning_rate", 0),
        ("epochs", True),
        ("epochs", 0),
        ("epochs", None),
        ("batch_size", -1),
        ("batch_size", 1.5),
    ],
)
def test_numbers_out_of_range_are_refused(key, value):
    with pytest.raises(ConfigError, match=key):
        script.train_code("net.labdl", {**SETTINGS, key: value})


def test_a_run_stays_in_its_folder():
    for path in ("../../etc/net.labdl", "a/../../net.labdl", "/net.labdl", "net/..labdl"):
        run = script.train_code(path, SETTINGS)["run"]
        assert ".." not in run.rpartition("runs/")[2]
