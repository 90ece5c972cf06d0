"""The subset of Python that is read as a model: harmless classes of layers. Other code is an error with its line."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from labdl import framework_info, nn
from labdl.errors import ModelError, suggest_name
from labdl.graph.parsing.limits import MOST_BITS, MOST_ITEMS
from labdl.graph.parsing.lines import place_operators
from labdl.interop import names
from labdl.nn.foreign import describe
from labdl.nn.schema import LAYERS
from labdl.ops import OPERATORS

BUILT_IN = ("super", "float", "slice", "Ellipsis", "abs", "divmod")  # float("inf"); slice and Ellipsis for indices
_FOREIGN = tuple(framework_info.OWNERS)
_CONTAINERS = (
    "Module",
    "ModuleList",
    "ModuleDict",
    "ParameterList",
    "ParameterDict",
    "Sequential",
    "Parameter",
    "Buffer",
)
_OF_LAYERS = ("spectral_norm", "weight_norm")  # functions of labdl.nn
_SHOWN = 60  # characters of the source in a message
_PLAIN = (
    ast.Module,
    ast.arguments,
    ast.arg,
    ast.Load,
    ast.Store,
    ast.Pass,
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.Return,
    ast.For,
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Call,
    ast.keyword,
    ast.Starred,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Slice,
    ast.Subscript,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.MatMult,
    ast.Pow,
    ast.FloorDiv,
    ast.Mod,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
    ast.LShift,
    ast.RShift,
    ast.UnaryOp,
    ast.USub,
    ast.UAdd,
    ast.Invert,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
)
_ADVICE: dict[type, str] = {
    ast.And: "`and` takes single values: write ops.logical_and(x, y)",
    ast.Or: "`or` takes single values: write ops.logical_or(x, y)",
    ast.Not: "`not` takes a single value: write ops.logical_not(x)",
}


class ReadingError(ModelError):
    """Source that cannot be read, with its line if known."""

    def __init__(self, why: str, line: int | None = None):
        super().__init__(why)
        self.line = line


class Grammar:
    """Checks every node of a source before it runs."""

    def __init__(self, tree: ast.Module, constructors: Iterable[str] = ()):
        self.tree = tree
        # what stands for "nn.": the layers, or those of another framework that the source imports
        self.layers = {
            *_CONTAINERS,
            *(constructors or (*_OF_LAYERS, *(name for name in LAYERS if "." not in name and name in vars(nn)))),
        }
        self.foreign = bool(constructors)
        self.statements: list[ast.stmt] = []  # statements to run
        self.classes: list[str] = []
        # a layer of a notebook cell cannot be imported
        self.imported: dict[str, Any] = {
            cls.__name__: cls
            for cls in LAYERS.values()
            if cls.__module__ == "__main__" and not cls.__name__.startswith("_")
        }
        self.held = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_name(node.value, "self")
        }

    def check(self) -> None:
        place_operators(self.tree)
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom):
                self._import(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif isinstance(statement, ast.Import):
                refuse(
                    statement,
                    "layers are those of labdl, as in `from labdl import nn`; only imports and classes stand here",
                )
            elif not _is_text(statement):
                refuse(statement, "only imports and classes stand here")
        if not self.classes:
            raise ReadingError("the source contains no class of nn.Module")

    def _import(self, node: ast.ImportFrom) -> None:
        if str(node.module).partition(".")[0] in _FOREIGN:
            refuse(node, f"{node.module} is another library: layers are those of labdl, as in `from labdl import nn`")
        for alias in node.names:
            if node.module == "labdl" and alias.name in ("nn", "ops") and alias.asname is None:
                continue
            found = [cls for cls in LAYERS.values() if (cls.__module__, cls.__name__) == (node.module, alias.name)]
            if not found or node.level:
                refuse(node, f"{alias.name} of {node.module} is not a known layer: import its module first")
            self.imported[alias.asname or alias.name] = found[0]

    def _class(self, node: ast.ClassDef) -> None:
        if (
            not (
                len(node.bases) == 1
                and isinstance(node.bases[0], ast.Attribute)
                and node.bases[0].attr == "Module"
                and is_name(node.bases[0].value, "nn")
            )
            or node.keywords
            or node.decorator_list
        ):
            refuse(node, "a class of a model is one of nn.Module, and nothing else")
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "forward"):
                self._function(item)
            elif not _is_text(item) and not isinstance(item, ast.Pass):
                refuse(item, "a class has __init__ and forward, nothing else can be read")
        self.classes.append(node.name)
        self.statements.append(node)

    def _function(self, node: ast.FunctionDef) -> None:
        if node.decorator_list or node.returns or node.type_comment:
            refuse(node, "functions have no decorators and no annotations here")
        called = {n.target.id for n in ast.walk(node) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
        for part in _parts(node):
            self._part(part, called)

    def _part(self, node: ast.AST, called: set[str]) -> None:
        match node:
            case ast.Constant(value=value):
                if type(value) not in (bool, int, float, str, type(None), type(...)):
                    refuse(node, f"{value!r} is not a setting of a layer")
                if isinstance(value, int) and value.bit_length() > MOST_BITS:
                    refuse(node, f"a number has {value.bit_length():,} bits, the most are {MOST_BITS:,}")
            case ast.Tuple(elts=items) | ast.List(elts=items) if len(items) > MOST_ITEMS:
                refuse(node, f"a list has {len(items):,} items, the most are {MOST_ITEMS:,}")
            case ast.Name(id=name) if name.startswith("__"):
                refuse(node, f"the name {name}")
            case ast.Attribute(attr=name, value=value):
                if name.startswith("__" if name in self.held else "_") and not _is_super(node):
                    refuse(node, f"the attribute {name}")
                if isinstance(node.ctx, ast.Load) and name not in self.held and _is_inner(node):
                    refuse(node, f"the attribute {name}")
                if is_name(value, "nn") and name not in self.layers:
                    self._add_foreign(node, name)
                if is_name(value, "ops") and name not in OPERATORS:
                    refuse(node, f"ops.{name} is not an operator{suggest_name(name, OPERATORS)}")
                if isinstance(node.ctx, ast.Store) and not is_name(value, "self"):
                    refuse(node, "only attributes of self are set")
                if isinstance(node.ctx, ast.Store) and hasattr(nn.Module, name):
                    refuse(node, f"every model has something named {name!r}")
            case ast.Call(func=function):
                if not self._callable(function, called):
                    refuse(
                        node,
                        f"{_short(function)} is not a layer of this class, of nn or of the source, and not an operator",
                    )
            case ast.BinOp(left=left, right=right):
                if any(
                    isinstance(side, ast.List | ast.Tuple | ast.Constant) and not _is_number(side)
                    for side in (left, right)
                ):
                    refuse(node, "arithmetic with a list or a text")
            case ast.For(iter=over, orelse=rest):
                if rest or not (isinstance(over, ast.Attribute) and is_name(over.value, "self")):
                    refuse(node, "a loop runs over layers such as self.blocks")
            case ast.IfExp() | ast.Is():
                if isinstance(node, ast.IfExp) and not _is_for_optional(node):
                    refuse(
                        node,
                        "only an optional input decides, as in `None if mask is None else ops.expand_dims(mask, 1)`",
                    )
            case ast.BoolOp():
                pass  # its operator is a part as well
            case _ if not isinstance(node, _PLAIN):
                refuse(node, _ADVICE.get(type(node)) or f"{type(node).__name__.lower()} cannot be read here")

    def _add_foreign(self, node: ast.AST, name: str) -> None:
        """Allow a layer under its name in another framework, as `labdl.nn` does."""
        readings = () if self.foreign else names.readings(name)
        if not any(reading.entry.equal for reading in readings):
            hint = ". " + " ".join(map(describe, readings)) if readings else suggest_name(name, self.layers)
            refuse(node, f"nn.{name} is not a layer{hint}")
        self.layers.add(name)

    def _callable(self, function: ast.expr, called: set[str]) -> bool:
        match function:
            case ast.Name(id=name):
                return name in self.classes or name in called or name in self.imported or name in BUILT_IN
            case ast.Attribute(value=ast.Name(id="nn" | "ops")):
                return True  # its existence is checked at the attribute
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


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_super(node: ast.AST) -> bool:
    """``super().__init__``"""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "__init__"
        and isinstance(node.value, ast.Call)
        and is_name(node.value.func, "super")
        and not node.value.args
    )


def _is_inner(node: ast.Attribute) -> bool:
    """True for attributes of every model or traced tensor that compute no output."""
    if node.attr in ("training", "tie") or is_name(node.value, "nn") or is_name(node.value, "ops") or _is_super(node):
        return False
    return hasattr(nn.Module, node.attr) or node.attr in ("recorder", "node", "port", "why")


def _is_for_optional(node: ast.IfExp) -> bool:
    """``None if x is None else …``"""
    match node:
        case ast.IfExp(
            test=ast.Compare(left=ast.Name(), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
            body=ast.Constant(value=None),
        ):
            return True
    return False


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _of_self(node: ast.AST) -> bool:
    """True for self and its attributes."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return is_name(node, "self")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def refuse(node: ast.AST, why: str) -> NoReturn:
    line = getattr(node, "lineno", 1)
    raise ReadingError(f"line {line} cannot be read as a model: {why}", line)
