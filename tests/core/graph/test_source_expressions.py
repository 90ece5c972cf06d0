"""Expressions in the source of graphs: infix operators on each other and on numbers of every kind."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import nn, ops
from labdl.graph import Graph, diff, trace
from labdl.spec import Spec

INFIX = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "@": operator.matmul,
}
NUMBERS = [-2.0, 2.0, -1, 3, 0, -0.0, 0.5, -1e-7, float("inf"), -float("inf"), float("nan")]
numbers = st.sampled_from(NUMBERS)
tensors = st.recursive(
    st.sampled_from(["x", "y"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([s for s in INFIX if s != "@"]), inner, numbers),
        st.tuples(st.sampled_from([s for s in INFIX if s != "@"]), numbers, inner),
        st.tuples(st.sampled_from([*INFIX]), inner, inner),
        st.tuples(st.sampled_from(["negative", "exp"]), inner),
    ),
    max_leaves=8,
)


def evaluate(tree, values):
    if isinstance(tree, str):
        return values[tree]
    if not isinstance(tree, tuple):
        return tree
    head, *rest = tree
    parts = [evaluate(part, values) for part in rest]
    return INFIX[head](*parts) if head in INFIX else getattr(ops, head)(*parts)


class Expression(nn.Module):
    def __init__(self, tree):
        super().__init__()
        self.tree = tree

    def forward(self, x, y):
        return ops.add(evaluate(self.tree, {"x": x, "y": y}), 1.0)


@settings(max_examples=300)
@given(tensors)
def test_source_of_expressions_is_the_model(tree):
    specs = [Spec((3, 3)), Spec((3, 3))]
    graph = trace(Expression(tree), *specs)
    source = graph.to_python()
    again = Graph.from_python(source, (3, 3), (3, 3))
    assert not diff(graph, again), source
    assert again.to_python() == source
    x = np.array([[2, -1, 0.5], [0, 4, 1], [-3, 1, 2]], "float32")
    with np.errstate(all="ignore"):
        expected = Expression(tree).build(*specs, backend="numpy")(x, x.T)
        result = again.to_module().build(backend="numpy")(x, x.T)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("left", [True, False], ids=["number ** x", "x ** number"])
def test_powers_of_numbers(number, left):
    """-2.0 ** x would be -(2.0 ** x)."""
    sides = (number, "x") if left else ("x", number)
    specs = [Spec((3, 3)), Spec((3, 3))]
    graph = trace(Expression(("**", *sides)), *specs)
    again = Graph.from_python(graph.to_python(), (3, 3), (3, 3)).to_module().build(backend="numpy")
    x = np.array([[2, -1, 0], [0, 4, 1], [-3, 1, 2]], "float32")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            again(x, x), functools.reduce(np.power, [np.float32(s) if s is number else x for s in sides]) + 1
        )
