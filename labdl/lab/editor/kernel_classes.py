"""The classes of models that a notebook has defined, with source that the editor can read."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from labdl.lab.editor.python_code import LONGEST
from labdl.nn import Module
from labdl.nn.schema import LAYERS

MIME = "application/vnd.labdl.classes+json"
MOST = 200  # classes that anybody would look through
_PLAIN = (bool, int, float, str, type(None))  # values that a source may hold in the place of a name


def classes_of(namespace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The classes of ``nn.Module`` in a namespace, the last defined first: name, summary, and layer or source.

    ``layer`` is the type of a registered layer, else None. ``source`` holds the class after the others of the namespace
    that it needs, with numbers and texts of the namespace in the place of their names; where there is none, ``problem``
    says why. Nothing is made or called.
    """
    found: dict[type, dict[str, Any]] = {}
    for value in reversed(list(namespace.values())):
        if not _is_own(value) or value in found or len(found) == MOST:
            continue
        summary = (value.__doc__ or "").strip().partition("\n")[0][:200]
        kind = getattr(value, "layer_type", None)
        layer = kind if LAYERS.get(kind or "") is value else None
        entry = {"name": value.__name__, "summary": summary, "layer": layer, "source": None, "problem": None}
        if layer is None:
            try:
                entry["source"] = _source(value, namespace)
            except _NoSourceError as error:
                entry["problem"] = str(error)
        else:
            entry["summary"] = "" if summary.startswith(f"{value.__name__}(") else summary  # a dataclass's own
        found[value] = entry
    return list(found.values())


def show_classes() -> None:
    """Display the classes of this kernel's notebook as JSON, for the editor that asked."""
    from IPython.display import display

    display({MIME: {"classes": classes_of(sys.modules["__main__"].__dict__)}}, raw=True)


class _NoSourceError(Exception):
    pass


def _is_own(value: Any) -> bool:
    """Whether a value is a class of a model that is not LabDL's."""
    return isinstance(value, type) and issubclass(value, Module) and value.__module__.partition(".")[0] != "labdl"


def _source(cls: type, namespace: Mapping[str, Any]) -> str:
    """The source of a class and, before it, of those that it needs."""
    parts: dict[type, str] = {}
    open_: set[type] = set()

    def add(one: type) -> None:
        if one in parts or one in open_:
            return
        open_.add(one)
        tree = _definition(one)
        own = _Values(namespace)
        tree = own.visit(tree)
        for name in sorted(own.names):
            other = namespace.get(name)
            if isinstance(other, type) and _is_own(other) and LAYERS.get(getattr(other, "layer_type", "")) is not other:
                add(other)
        parts[one] = ast.unparse(tree)

    add(cls)
    text = "\n\n\n".join(parts.values())
    if len(text) > LONGEST:
        raise _NoSourceError(f"its source has {len(text):,} characters, which are more than {LONGEST:,}")
    return text


def _definition(cls: type) -> ast.ClassDef:
    """The statement that defined a class; for a cell's class `inspect` finds none, but its functions know their cell."""
    functions = [
        f for f in vars(cls).values() if isinstance(f, FunctionType) and f.__qualname__.startswith(cls.__qualname__)
    ]
    for function in functions:
        code = function.__code__
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError):  # a cell with a magic in it, or one that is not there
            continue
        for item in ast.walk(tree):
            if (
                isinstance(item, ast.ClassDef)
                and item.name == cls.__name__
                and item.lineno <= code.co_firstlineno <= (item.end_lineno or 0)
            ):
                return item
    raise _NoSourceError("its source is not there: run the cell that defines it, without magics in that cell")


class _Values(ast.NodeTransformer):
    """Puts numbers and texts of a namespace in the place of their names, and notes the other names."""

    def __init__(self, namespace: Mapping[str, Any]):
        self.namespace = namespace
        self.names: set[str] = set()
        self._bound: list[set[str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef):
        arguments = node.args
        bound = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        bound |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._bound.append(bound)
        found = self.generic_visit(node)
        self._bound.pop()
        return found

    def visit_Name(self, node: ast.Name):
        if not isinstance(node.ctx, ast.Load) or any(node.id in bound for bound in self._bound):
            return node
        value = self.namespace.get(node.id)
        if node.id in self.namespace and _is_plain(value):
            return ast.copy_location(ast.parse(repr(value), mode="eval").body, node)
        self.names.add(node.id)
        return node


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return len(value) <= 100 and all(map(_is_plain, value))
    return type(value) in _PLAIN and len(repr(value)) <= 1000 and repr(value) not in ("inf", "-inf", "nan")
