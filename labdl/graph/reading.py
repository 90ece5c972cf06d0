"""Reading the source of Modules as a graph, without running anything but layers and operators.

The source is Python, as `Graph.to_python` or a person writes it, but only so much of it: classes of `nn.Module` with
``__init__`` and ``forward``, layers, operators, arithmetic, indexing, and loops over layers. All else is refused by its line
before any of it is run, and what remains runs where there are no modules and hardly a built-in function.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph.graph import Graph
from labdl.graph.trace import trace
from labdl.nn.schema import LAYERS
from labdl.ops import OPERATORS

_LONGEST = 1_000_000  # characters
_BUILT_IN = ("super", "float", "slice", "Ellipsis")  # as in float("inf"), and the index of an operator
_CONTAINERS = ("Module", "ModuleList", "ModuleDict", "Sequential", "Parameter", "Buffer")
_PLAIN = (
    ast.Module, ast.arguments, ast.arg, ast.Load, ast.Store, ast.Pass, ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.For,
    ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.keyword, ast.Starred, ast.Tuple, ast.List, ast.Dict, ast.Slice,
    ast.Subscript, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.Invert, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
)  # fmt: skip


def read_python(source: str, *shapes) -> Graph:
    """See `Graph.from_python`."""
    if len(source) > _LONGEST:
        raise ModelError(f"the source has {len(source):,} characters, which no model needs")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"this is no Python: line {getattr(error, 'lineno', None) or 1}: "
                         f"{getattr(error, 'msg', None) or error}") from error  # fmt: skip
    reader = _Reader(tree)
    reader.check()
    space: dict[str, Any] = {
        "__builtins__": {name: getattr(builtins, name) for name in ("__build_class__", *_BUILT_IN)},
        "__name__": "source",
        "nn": SimpleNamespace(**{name: getattr(nn, name) for name in reader.layers}),
        "ops": SimpleNamespace(**{name: getattr(ops, name) for name in OPERATORS}),
        **reader.imported,
    }
    try:
        exec(compile(ast.Module(reader.statements, []), "<model>", "exec"), space)
        model = space[reader.classes[-1]]()
        return trace(model, *shapes, name=reader.classes[-1])
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"the model cannot be made: {error}") from error


class _Reader:
    """Looks at every node of the source before it runs."""

    def __init__(self, tree: ast.Module):
        self.tree = tree
        self.layers = {*_CONTAINERS, *(name for name in LAYERS if "." not in name and hasattr(nn, name))}
        self.statements: list[ast.stmt] = []  # what is run
        self.classes: list[str] = []
        self.imported: dict[str, Any] = {}
        self.held = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
                     and isinstance(node.ctx, ast.Store) and _is_name(node.value, "self")}  # fmt: skip

    def check(self) -> None:
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom):
                self._import(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif not _is_text(statement):
                _refuse(statement, "only imports and classes stand here")
        if not self.classes:
            raise ModelError("there is no class of nn.Module in the source")

    def _import(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if node.module == "labdl" and alias.name in ("nn", "ops") and alias.asname is None:
                continue
            found = [cls for cls in LAYERS.values() if (cls.__module__, cls.__name__) == (node.module, alias.name)]
            if not found or node.level:
                _refuse(node, f"{alias.name} of {node.module} is no layer that is known here: import its module first")
            self.imported[alias.asname or alias.name] = found[0]

    def _class(self, node: ast.ClassDef) -> None:
        if not (len(node.bases) == 1 and isinstance(node.bases[0], ast.Attribute) and node.bases[0].attr == "Module"
                and _is_name(node.bases[0].value, "nn")) or node.keywords or node.decorator_list:  # fmt: skip
            _refuse(node, "a class of a model is one of nn.Module, and nothing else")
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "forward"):
                self._function(item)
            elif not _is_text(item) and not isinstance(item, ast.Pass):
                _refuse(item, "a class has __init__ and forward, nothing else can be read")
        self.classes.append(node.name)
        self.statements.append(node)

    def _function(self, node: ast.FunctionDef) -> None:
        if node.decorator_list or node.returns or node.type_comment:
            _refuse(node, "functions have no decorators and no annotations here")
        called = {n.target.id for n in ast.walk(node) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
        for part in _parts(node):
            self._part(part, called)

    def _part(self, node: ast.AST, called: set[str]) -> None:
        match node:
            case ast.Constant(value=value):
                if type(value) not in (bool, int, float, str, type(None), type(...)):
                    _refuse(node, f"{value!r} is no setting of a layer")
            case ast.Name(id=name) if name.startswith("__"):
                _refuse(node, f"the name {name}")
            case ast.Attribute(attr=name, value=value):
                if name.startswith("__" if name in self.held else "_") and not _is_super(node):
                    _refuse(node, f"the attribute {name}")
                if _is_name(value, "nn") and name not in self.layers:
                    _refuse(node, f"nn.{name} is no layer")
                if _is_name(value, "ops") and name not in OPERATORS:
                    _refuse(node, f"ops.{name} is no operator")
                if isinstance(node.ctx, ast.Store) and not _is_name(value, "self"):
                    _refuse(node, "only attributes of self are set")
                if isinstance(node.ctx, ast.Store) and hasattr(nn.Module, name):
                    _refuse(node, f"every model has something named {name!r}")
            case ast.Call(func=function):
                if not self._callable(function, called):
                    _refuse(
                        node,
                        f"{ast.unparse(function)} is no layer of this class, of nn or of the source, and no operator",
                    )
            case ast.BinOp(left=left, right=right):
                if any(
                    isinstance(side, ast.List | ast.Tuple | ast.Constant) and not _is_number(side)
                    for side in (left, right)
                ):
                    _refuse(node, "arithmetic with a list or a text")
            case ast.For(iter=over, orelse=rest):
                if rest or not (isinstance(over, ast.Attribute) and _is_name(over.value, "self")):
                    _refuse(node, "a loop runs over layers such as self.blocks")
            case _ if not isinstance(node, _PLAIN):
                _refuse(node, f"{type(node).__name__.lower()} is more than can be read here")

    def _callable(self, function: ast.expr, called: set[str]) -> bool:
        match function:
            case ast.Name(id=name):
                return name in self.classes or name in called or name in self.imported or name in _BUILT_IN
            case ast.Attribute(value=ast.Name(id="nn" | "ops")):
                return True  # whether there is such a one is asked of the attribute
            case ast.Attribute(value=ast.Name(id="self"), attr="tie"):
                return True
            case ast.Attribute(value=value, attr=name):
                return _is_super(function) or (name in self.held and _of_self(value))
            case ast.Subscript(value=value):
                return _of_self(value)
        return False


def _parts(function: ast.FunctionDef) -> Iterator[ast.AST]:
    yield from ast.walk(function.args)
    for statement in function.body:
        yield from ast.walk(statement)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_super(node: ast.AST) -> bool:
    """``super().__init__``"""
    return isinstance(node, ast.Attribute) and node.attr == "__init__" and isinstance(node.value, ast.Call) \
        and _is_name(node.value.func, "super") and not node.value.args  # fmt: skip


def _of_self(node: ast.AST) -> bool:
    """self, or something that it holds."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return _is_name(node, "self")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _refuse(node: ast.AST, why: str) -> None:
    raise ModelError(f"line {getattr(node, 'lineno', 1)} cannot be read as a model: {why}")
