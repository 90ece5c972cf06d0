"""Limits for reading untrusted source: a time limit, and arithmetic of bounded size."""

from __future__ import annotations

import ast
import copy
import operator
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labdl.errors import ModelError

ARITHMETIC = "__arithmetic__"  # names that a source cannot use, because they begin with two underscores
SPREAD = "__spread__"
TICK = "__tick__"
_MOST_BITS = 4096  # of an integer
_MOST_ITEMS = 10_000  # of a list or a string
_SIGNS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
}


class _TimeLimitError(BaseException):
    """Not an Exception, so that no error handler on the way catches it."""


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[Callable[[], None]]:
    """Raise ModelError in the block after so many seconds; yields a function to call in loops.

    A trace function checks the time at each call and return. Its exception is lost where Python ignores errors, as in
    garbage collection; therefore the source also calls `TICK` in each of its functions and loops.
    """
    end = time.monotonic() + seconds

    def watch(_frame, _event, _argument) -> None:
        if time.monotonic() > end:
            raise _TimeLimitError

    def tick() -> None:
        if time.monotonic() > end:
            raise _TimeLimitError
        if sys.getprofile() is not watch:
            sys.setprofile(watch)

    former = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield tick
    except _TimeLimitError:
        raise ModelError(f"{what} takes longer than {seconds:g} seconds") from None
    finally:
        sys.setprofile(former)


class LimitTransformer(ast.NodeTransformer):
    """Replaces operators by `arithmetic`, wraps starred lists in `spread`, and inserts `TICK` in functions and loops."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._ticking(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._ticking(node)

    def _ticking(self, node: ast.FunctionDef | ast.For) -> ast.AST:
        self.generic_visit(node)
        first = node.body[0]
        node.body.insert(0, ast.copy_location(ast.Expr(_call(first, TICK)), first))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, ARITHMETIC, ast.Constant(type(node.op).__name__), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        value = copy.deepcopy(node.target)
        value.ctx = ast.Load()
        changed = _call(node, ARITHMETIC, ast.Constant(type(node.op).__name__), value, node.value)
        return ast.copy_location(ast.Assign([node.target], changed), node)

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        node.value = _call(node.value, SPREAD, node.value)
        return node


def _call(at: ast.expr | ast.stmt, name: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    return ast.fix_missing_locations(ast.copy_location(call, at))


_BY_NAME = {sign.__name__: function for sign, function in _SIGNS.items()}


def arithmetic(sign: str, left: Any, right: Any) -> Any:
    """Compute ``left sign right``. Raises ModelError for excessive numbers and lists."""
    if isinstance(left, int) and isinstance(right, int):
        bits = max(left.bit_length(), 1) * max(right, 0) if sign == "Pow" else left.bit_length() + right.bit_length()
        if bits > _MOST_BITS:
            raise ModelError("the numbers grow too large")
    for many, other in ((left, right), (right, left)):
        if isinstance(many, str | list | tuple):
            times = other if isinstance(other, int) else 1
            if len(many) * times + (len(other) if isinstance(other, str | list | tuple) else 0) > _MOST_ITEMS:
                raise ModelError(f"a list has more than {_MOST_ITEMS:,} items")
    return _BY_NAME[sign](left, right)


def spread(values: Any) -> Any:
    """The values of a starred list. Raises ModelError for too many."""
    if len(values) > _MOST_ITEMS:
        raise ModelError(f"a list has more than {_MOST_ITEMS:,} items")
    return values
