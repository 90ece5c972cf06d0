"""Infix operators of Python in source that is read as a graph, and the line of what cannot be read."""

import pytest

from labdl.graph import Graph
from labdl.graph.parsing.grammar import ReadingError
from labdl.ops import infix
from labdl.spec import Spec

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "neg": "-",
    "pos": "+",
    "invert": "~",
}


def source(*lines):
    return "\n".join(
        [
            "from labdl import nn, ops",
            "",
            "class Net(nn.Module):",
            "    def forward(self, x, y):",
            *(f"        {line}" for line in lines),
        ]
    )


def types(graph):
    return [node.type for node in graph.nodes.values() if node.type != "Input"]


@pytest.mark.parametrize("short", infix.BINARY | infix.COMPARISONS)
def test_every_infix_operator_is_read(short):
    name = (infix.BINARY | infix.COMPARISONS)[short]
    specs = (Spec((2, 2), "int64"),) * 2
    wanted = [f"ops.{name}"]
    assert types(Graph.from_python(source(f"return x {_SIGNS[short]} y"), *specs)) == wanted
    if short != "matmul":
        assert types(Graph.from_python(source(f"return x {_SIGNS[short]} 3"), *specs[:1], specs[1])) == wanted
    if short in infix.BINARY:
        assert types(Graph.from_python(source(f"x {_SIGNS[short]}= y", "return x"), *specs)) == wanted


@pytest.mark.parametrize("short", infix.UNARY)
def test_every_sign_is_read(short):
    text = "abs(x)" if short == "abs" else f"{_SIGNS[short]}x"
    graph = Graph.from_python(source(f"return {text}"), *(Spec((2, 2), "int64"),) * 2)
    assert types(graph) == [f"ops.{infix.UNARY[short]}"]


@pytest.mark.parametrize(
    ("lines", "line", "sentence"),
    [
        (["z = x + 1", "return x and y"], 6, "ops.logical_and"),
        (["z = x + 1", "return x or y"], 6, "ops.logical_or"),
        (["z = x + 1", "return not x"], 6, "ops.logical_not"),
        (["z = x + 1", "return x in y"], 6, "in cannot be read here"),
        (["z = (", "    x", "    + 1", "    and y", ")", "return z"], 8, "ops.logical_and"),
        (["z = x and 1", "return x and y"], 5, "ops.logical_and"),
        (["z = x + 1", "return 0 < x < 1"], 6, "branches on the values of a tensor"),
        (["z = x + 1", "return z == [1, 2]"], 6, "labdl.tensor"),
        (["z = x + 1", "return [v for v in z]"], 6, "listcomp cannot be read here"),
        (["z = x + 1", "return lambda: z"], 6, "lambda cannot be read here"),
    ],
)
def test_the_line_of_what_cannot_be_read(lines, line, sentence):
    with pytest.raises(ReadingError, match=sentence) as refused:
        Graph.from_python(source(*lines), (None, 3), (None, 3))
    assert refused.value.line == line
    assert f"line {line}" in str(refused.value)


@pytest.mark.parametrize("text", ["1 << 4000", "'%99999999d' % 3", "(2 ** 60) << 60"])
def test_numbers_and_texts_stay_small(text):
    held = f"""
from labdl import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.form = '%99999999d'
        self.head = nn.Linear({text if "%" not in text else "self.form % 3"})

    def forward(self, x):
        return self.head(x)
"""
    with pytest.raises(ReadingError, match=r"too large|a text"):
        Graph.from_python(held, (None, 3))
