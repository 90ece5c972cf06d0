"""Lines of the operators in a syntax tree."""

from __future__ import annotations

import ast


def place_operators(tree: ast.AST) -> None:
    """Give each operator the line of its right side: Python's parser gives them none, and shares one node of each kind."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op, right=right) | ast.AugAssign(op=op, value=right) | ast.UnaryOp(op=op, operand=right):
                node.op = _at(op, right)
            case ast.BoolOp(op=op, values=[_, right, *_]):
                node.op = _at(op, right)
            case ast.Compare(ops=signs, comparators=others):
                node.ops = [_at(op, right) for op, right in zip(signs, others, strict=True)]


def _at(operator, operand: ast.expr):
    placed = type(operator)()
    placed.lineno = operand.lineno
    return placed
