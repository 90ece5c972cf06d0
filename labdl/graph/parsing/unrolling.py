"""Loops and comprehensions over ``range`` of a number, written out."""

from __future__ import annotations

import ast
import copy

MOST = 50_000  # parts of the syntax tree that all loops of a source become


class Unroller(ast.NodeTransformer):
    """Writes out ``for i in range(3)`` and ``[... for i in range(3)]``; other loops stay, and the grammar decides."""

    def __init__(self):
        self._left = MOST

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        numbers = self._numbers(node.iter)
        stays = node.orelse or not isinstance(node.target, ast.Name) or _leaves(node)
        if numbers is None or stays or not self._fits(node, len(numbers)):
            return self.generic_visit(node)
        written = [self.visit(_with(part, node.target.id, n)) for n in numbers for part in node.body]  # type: ignore[union-attr]
        return [statement for each in written for statement in (each if isinstance(each, list) else [each])]

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        loop = node.generators[0]
        numbers = self._numbers(loop.iter)
        stays = len(node.generators) > 1 or loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name)
        if numbers is None or stays or not self._fits(node, len(numbers)):
            return self.generic_visit(node)
        items = [self.visit(_with(node.elt, loop.target.id, n)) for n in numbers]  # type: ignore[union-attr]
        return ast.copy_location(ast.List(items, ast.Load()), node)

    def _fits(self, node: ast.AST, times: int) -> bool:
        parts = times * sum(1 for _ in ast.walk(node))
        if parts > self._left:
            return False
        self._left -= parts
        return True

    def _numbers(self, node: ast.expr) -> list[int] | None:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 1 <= len(arguments) <= 3:
                pass
            case _:
                return None
        try:
            values = [ast.literal_eval(argument) for argument in arguments]
            numbers = range(*values)
            return list(numbers) if len(numbers) <= MOST else None
        except (ValueError, TypeError, OverflowError, SyntaxError, RecursionError):
            return None


def _leaves(node: ast.For) -> bool:
    """Whether a loop may end early, or sets its own variable."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    target = node.target.id if isinstance(node.target, ast.Name) else ""
    return any(
        isinstance(part, ast.Break | ast.Continue)
        or (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id == target)
        for part in parts
    )


def _with(node, name: str, value: int):
    return _Substitution(name, value).visit(copy.deepcopy(node))


class _Substitution(ast.NodeTransformer):
    def __init__(self, name: str, value: int):
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(self._value), node) if node.id == self._name else node
