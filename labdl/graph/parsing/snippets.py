"""Snippets as a class of Module: a row of layers, or lines that call layers."""

from __future__ import annotations

import ast

from labdl.graph.codegen.calls import Names
from labdl.graph.parsing.grammar import BUILT_IN, is_name, refuse

PIECE = "Piece"  # name of the generated class
_ROWS = ("Sequential", "ModuleList")
_KNOWN = ("self", "nn", "ops", *BUILT_IN)


def as_class(tree: ast.Module) -> ast.Module:
    """The tree with its statements as ``__init__`` and ``forward`` of one class; it must still pass the grammar."""
    piece = _Piece()
    rest: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom | ast.Import):
            rest.append(statement)
        else:
            piece.add(statement)
    return ast.Module([*rest, piece.to_class()], [])


class _Piece:
    """Sorts statements into those that create layers and those that call them."""

    def __init__(self):
        self.names = Names("self", "nn", "ops")
        self.made_as: dict[str, str] = {}  # attribute of a layer by its name in the snippet
        self.init: list[ast.stmt] = []
        self.row: list[str] = []
        self.flow: list[ast.stmt] = []

    def add(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Expr(value=value) if self._items(value) is not None:
                for item in self._items(value) or ():
                    self._row(item)
            case ast.Assign(
                targets=[ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
            ) if self._makes(value):
                items = self._items(value) or []
                if len(items) == 1:
                    self.made_as[name] = self._layer(items[0], name)
                    self.row.append(self.made_as[name])
                else:
                    for item in items:
                        self._row(item)
            case ast.Expr(value=value):
                self._line(
                    ast.copy_location(ast.Assign([ast.Name(self.names.new("y"), ast.Store())], value), statement)
                )
            case _:
                self._line(statement)

    def to_class(self) -> ast.ClassDef:
        if not self.flow:
            x = "x"
            for name in self.row:
                call = ast.Call(_own(name), [ast.Name(x, ast.Load())], [])
                self.flow.append(ast.Assign([ast.Name(x, ast.Store())], call))
        inputs, ends = _ends(self.flow)
        if not any(isinstance(statement, ast.Return) for statement in self.flow):
            names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in ends]
            self.flow.append(ast.Return(names[0] if len(names) == 1 else ast.Tuple(names, ast.Load())))
        begin = ast.parse("super().__init__()").body
        body: list[ast.stmt] = [
            _function("__init__", [], [*begin, *self.init]),
            _function("forward", inputs, self.flow),
        ]
        module = ast.Attribute(ast.Name("nn", ast.Load()), "Module", ast.Load())
        made = ast.ClassDef(PIECE, [module], [], body, [])
        return ast.fix_missing_locations(made)

    # -- layers

    def _makes(self, value: ast.expr) -> bool:
        """True when an expression creates one or more layers."""
        if (
            not isinstance(value, ast.Call)
            or not isinstance(value.func, ast.Attribute)
            or not is_name(value.func.value, "nn")
        ):
            return False
        return value.func.attr[:1].isupper()

    def _items(self, value: ast.expr) -> list[ast.expr] | None:
        """The layers that an expression creates, in order; None for other expressions."""
        if isinstance(value, ast.Tuple | ast.List):
            parts = [self._items(item) for item in value.elts]
            return None if None in parts else [item for part in parts for item in part or ()]
        if not self._makes(value):
            return None
        if value.func.attr in _ROWS and not value.keywords:  # type: ignore[attr-defined]
            return self._items(ast.List(value.args, ast.Load()))  # type: ignore[attr-defined]
        return [value]

    def _row(self, item: ast.expr) -> None:
        self.row.append(self._layer(item, item.func.attr.lower()))  # type: ignore[attr-defined]

    def _layer(self, item: ast.expr, name: str) -> str:
        word = self.names.new(name)
        self.init.append(ast.copy_location(ast.Assign([_own(word, ast.Store())], item), item))
        return word

    # -- lines

    def _line(self, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.Return):
            refuse(
                statement,
                "a piece is a class, layers one after the other, or lines that call layers, as x = nn.ReLU()(x)",
            )
        self.flow.append(_Calls(self).visit(statement))


class _Calls(ast.NodeTransformer):
    """Replaces calls of layers, also of those created in the call, by calls of attributes."""

    def __init__(self, piece: _Piece):
        self.piece = piece

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self.piece._makes(node.func):
            items = self.piece._items(node.func) or []
            if len(items) == 1:
                node.func = _own(self.piece._layer(items[0], items[0].func.attr.lower()))  # type: ignore[attr-defined]
            else:
                node.func = _own(self.piece._layer(node.func, "sequential"))
        elif isinstance(node.func, ast.Name) and node.func.id in self.piece.made_as:
            node.func = _own(self.piece.made_as[node.func.id])
        self.generic_visit(node)
        return node


def _own(name: str, context: ast.expr_context | None = None) -> ast.Attribute:
    return ast.Attribute(ast.Name("self", ast.Load()), name, context or ast.Load())


def _function(name: str, inputs: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments([], [ast.arg(word) for word in ("self", *inputs)], None, [], [], None, [])
    return ast.FunctionDef(name, arguments, body, [])


def _ends(flow: list[ast.stmt]) -> tuple[list[str], list[str]]:
    """Names that the lines use but do not define, and those that they define but do not use."""
    taken: dict[str, None] = {}
    stored: dict[str, None] = {}
    open_ends: dict[str, None] = {}
    for statement in flow:
        parts = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id not in _KNOWN]
        read = [n.id for n in parts if isinstance(n.ctx, ast.Load)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.append(statement.target.id)
        for name in read:
            if name not in stored:
                taken[name] = None
            open_ends.pop(name, None)
        for part in parts:
            if isinstance(part.ctx, ast.Store):
                stored[part.id] = open_ends[part.id] = None
    return list(taken), list(open_ends)
