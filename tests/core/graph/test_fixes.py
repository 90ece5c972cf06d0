"""Fixes of problems remove the problems."""

import pytest

from labdl.graph import Edge, Graph, Node
from labdl.graph.analysis.check import check
from labdl.graph.analysis.fixes import Fix, fix_of
from labdl.graph.node import outputs_of, ports_of
from labdl.lab.editor import service


def mended(graph: Graph, fix: Fix) -> Graph:
    """The graph after the change, as the editor makes it."""
    nodes, edges = dict(graph.nodes), dict(graph.edges)
    match fix:
        case Fix(kind="add"):
            nodes["new"] = Node(fix.type, "added", dict(fix.params))
            edges["new"] = Edge("new", fix.node, outputs_of(nodes["new"])[0], fix.port)
        case Fix(kind="insert"):
            old = edges[fix.edge]
            nodes["new"] = Node(fix.type, "added", dict(fix.params))
            edges[fix.edge] = Edge("new", old.target, outputs_of(nodes["new"])[0], old.target_port)
            edges["new"] = Edge(old.source, "new", old.source_port, ports_of(nodes["new"])[0].name)
        case Fix(kind="connect"):
            edges["new"] = Edge(fix.source, fix.node, fix.source_port, fix.port)
        case Fix(kind="disconnect"):
            del edges[fix.edge]
        case Fix(kind="rename"):
            nodes[fix.node] = Node(nodes[fix.node].type, fix.name, nodes[fix.node].params)
        case Fix(kind="set"):
            node = nodes[fix.node]
            params = {k: v for k, v in node.params.items() if k != fix.name}
            params |= {} if fix.value is None else {fix.name: fix.value}
            nodes[fix.node] = Node(node.type, node.name, params)
    return Graph(nodes, edges)


def graph(*nodes: Node, edges: str) -> Graph:
    """Nodes by their names; edges as "input>conv conv>sum.x"."""
    ends = [pair.split(">") for pair in edges.split()]
    pairs = [(source, *target.partition(".")[::2]) for source, target in ends]
    made = {f"e{n}": Edge(s, t, target_port=port or "x") for n, (s, t, port) in enumerate(pairs)}
    return Graph({node.name: node for node in nodes}, made)


def images(*shape: int) -> Node:
    return Node("Input", "images", {"shape": (None, *shape)})


CASES = {
    "a flat input for a convolution": (
        graph(images(64), Node("Conv2d", "conv", {"out_channels": 4}), edges="images>conv"),
        Fix("insert", edge="e0", type="Reshape", params={"shape": (1, 8, 8)}),
    ),
    "pictures and features added": (
        graph(
            images(3, 8, 8),
            Node("Conv2d", "conv", {"out_channels": 16, "kernel_size": 3, "padding": "same"}),
            Node("Add", "sum"),
            edges="images>conv conv>sum.xs images>sum.xs",
        ),
        Fix("insert", edge="e1", type="Conv2d", params={"out_channels": 3, "kernel_size": 1}),
    ),
    "a window larger than the picture": (
        graph(images(3, 4, 4), Node("Conv2d", "conv", {"out_channels": 4, "kernel_size": 7}), edges="images>conv"),
        Fix("set", node="conv", name="padding", value="same"),
    ),
    "numbers of words that are no whole numbers": (
        graph(images(12), Node("Embedding", "words", {"size": 50, "features": 8}), edges="images>words"),
        Fix("set", node="images", name="dtype", value="int64"),
    ),
    "an input that nothing leads to": (
        graph(images(12), Node("Linear", "linear", {"out_features": 2}), edges=""),
        Fix("connect", node="linear", port="x", source="images", source_port="output"),
    ),
    "two lines into one input": (
        graph(images(12), Node("ReLU", "relu"), edges="images>relu images>relu"),
        Fix("disconnect", edge="e1"),
    ),
    "an input that there is none of": (
        graph(images(12), Node("ReLU", "relu"), edges="images>relu images>relu.mask"),
        Fix("disconnect", edge="e1"),
    ),
    "a loop": (
        graph(
            images(12),
            Node("Add", "sum"),
            Node("ReLU", "relu"),
            edges="images>sum.xs sum>relu relu>sum.xs images>sum.xs",
        ),
        Fix("disconnect", edge="e2"),
    ),
    "a setting that there is none of": (
        graph(images(12), Node("Linear", "linear", {"out_features": 2, "wide": True}), edges="images>linear"),
        Fix("set", node="linear", name="wide"),
    ),
    "a setting out of range": (
        graph(images(12), Node("Dropout", "dropout", {"rate": 7.0}), edges="images>dropout"),
        Fix("set", node="dropout", name="rate"),
    ),
    "a name that every model has": (
        graph(images(12), Node("ReLU", "forward"), edges="images>forward"),
        Fix("rename", node="forward", name="forward_layer"),
    ),
    "no input at all": (
        graph(Node("Flatten", "flatten"), edges=""),
        Fix("add", node="flatten", port="x", type="Input", params={"shape": (None, 1, 8, 8)}),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_fix_removes_the_problem(case):
    broken, expected = CASES[case]
    result = check(broken)
    assert result.problems
    fixes = [fix_of(problem, broken, result) for problem in result.problems]
    assert expected in fixes
    after = check(mended(broken, expected))
    assert [p.message for p in after.problems if p.node in broken.nodes] == []


@pytest.mark.parametrize(
    "broken",
    [
        graph(images(3, 8, 8), Node("Tiger", "tiger"), edges="images>tiger"),
        graph(images(3, 8, 8), Node("Matmul", "product"), edges=""),
        graph(images(3, 8, 8), Node("Linear", "linear", {"out_features": 0}), edges="images>linear"),
    ],
)
def test_problems_without_a_fix(broken):
    result = check(broken)
    assert result.problems
    assert [fix_of(problem, broken, result) for problem in result.problems] == [None] * len(result.problems)


def test_the_editor_gets_changes_and_costs():
    broken, fix = CASES["a window larger than the picture"]
    answer = service.check(broken.to_dict())
    assert answer["problems"][0]["fix"] == {"kind": "set", "node": "conv", "name": "padding", "value": "same"}
    answer = service.check(mended(broken, fix).to_dict())
    conv = answer["nodes"]["conv"]
    kernel = 4 * 3 * 7 * 7
    assert conv["parameters"] == kernel + 4
    assert conv["operations"] == 2 * kernel * 16
    assert conv["memory"] == 4 * (kernel + 4 + 4 * 16)
    assert answer["operations"] == conv["operations"]
    assert answer["memory"] > conv["memory"]
