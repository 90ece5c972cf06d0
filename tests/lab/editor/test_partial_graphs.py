"""One wrong node leaves the others their shapes, and the model can be saved."""

import pytest

from labdl.errors import ModelError
from labdl.lab.editor import partial_graph, service
from labdl.saving import structure


def chain(**middle):
    nodes = {
        "i": {"type": "Input", "name": "input", "params": {"shape": [None, 4]}},
        "a": {"type": "Linear", "name": "first", "params": {"out_features": 3}},
        "b": {"type": "Linear", "name": "second", "params": {"out_features": 2}} | middle,
    }
    ends = [("i", "a"), ("a", "b")]
    edges = {a + b: {"source": a, "source_port": "output", "target": b, "target_port": "x"} for a, b in ends}
    return {"version": 2, "name": "net", "nodes": nodes, "edges": edges, "positions": {}}


@pytest.mark.parametrize(
    ("name", "valid"),
    [("my layer", "my_layer"), ("", "layer"), ("first", "first_1"), ("😀", "_"), ("e\u0301", "é"), (None, "layer")],
)
def test_a_name_is_a_problem_of_its_node(name, valid):
    graph = chain(name=name)
    answer = service.check(graph)
    assert answer["nodes"]["b"]["outputs"]["output"]["shape"] == [None, 2]
    [problem] = answer["problems"]
    assert (problem["node"], problem["fix"]) == ("b", {"kind": "rename", "node": "b", "name": valid})
    assert answer["nodes"]["b"]["problem"] == problem["message"]
    saved = structure.decode(service.encode(graph))
    assert [node.name for node in saved.nodes.values()] == ["input", "first", valid]


@pytest.mark.parametrize("value", [10**400, {"float": [[]] * 2, "a": [[[[[[[]]]]]]]}])
def test_a_setting_is_a_problem_of_its_node(value):
    if isinstance(value, dict):
        for _ in range(40):
            value = [value]
    graph = chain(params={"out_features": 2, "bias": value})
    answer = service.check(graph)
    assert answer["nodes"]["a"]["outputs"]["output"]["shape"] == [None, 3]
    [problem] = answer["problems"]
    assert (problem["node"], problem["fix"]["kind"], problem["fix"]["name"]) == ("b", "set", "bias")
    assert structure.decode(service.encode(graph)).nodes["b"].params == {"out_features": 2}


def test_a_node_that_is_none_and_an_edge_to_it_are_left_out():
    graph = chain(params=3)
    graph["edges"]["lost"] = {"source": "gone", "source_port": "output", "target": "a", "target_port": "x"}
    answer = service.check(graph)
    assert answer["nodes"]["a"]["outputs"]["output"]["shape"] == [None, 3]
    assert [problem["node"] for problem in answer["problems"]] == ["b"]


@pytest.mark.parametrize("data", [{}, {"nodes": []}, {"nodes": {}}, []])
def test_what_is_no_graph_is_refused(data):
    with pytest.raises(ModelError):
        partial_graph.read(data)
