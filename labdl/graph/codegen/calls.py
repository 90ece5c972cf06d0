"""Source of one node: the constructor call of a layer, and the call of a layer or operator."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterable
from typing import Any

from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Node
from labdl.graph.names import UnusedNames
from labdl.graph.node import parse_index, ports_of, show_index
from labdl.nn.foreign import other_meaning
from labdl.nn.schema import LAYERS, fields
from labdl.ops import OPERATORS

OPEN = "..."  # placeholder of a missing connection
Write = Callable[[str, Any], str]  # the name and the value of a setting to source


class Names(UnusedNames):
    """Generator of unused identifiers."""

    def new(self, name: str) -> str:
        return super().new(identifier(name))


def identifier(name: str) -> str:
    word = name if name.isidentifier() else "".join(c if f"_{c}".isidentifier() else "_" for c in name)
    return word if word.isidentifier() and not keyword.iskeyword(word) else f"_{word}"


def literal(value: Any) -> str:
    """Source of a value: plain data only, so that no code can enter the program."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    raise ModelError(f"a setting holds a {type(value).__name__}, which cannot be written as source")


def settings(node: Node, names: Iterable[str], write: Write) -> str:
    """Arguments as written by hand: the first by position, others by name; those in ``names`` even if they are default.

    The first has its name too where PyTorch's class of the same name would take it for another setting.
    """
    known = fields(LAYERS[node.type])
    unknown = [k for k in node.params if k not in known]
    if unknown:
        raise ConfigError(f"{node.type} has no setting {unknown[0]!r}: it has {', '.join(known) or 'none'}")
    first = next(iter(known), None)
    if first is not None and first in node.params and other_meaning(node.type, [first], (node.params[first],)):
        first = None
    wanted = [name for name in known if name in node.params or name in names]
    return ", ".join(
        f"{'' if name == first else f'{name}='}{write(name, node.params.get(name, known[name].default))}"
        for name in wanted
    )


def constructor_call(node: Node, names: Iterable[str], imports: set[str], write: Write) -> str:
    """Constructor call of the layer of a node."""
    if node.type == "Weight":  # a parameter of the module itself
        given = dict(node.params)
        kind = "Parameter" if given.pop("learned", True) else "Buffer"
        shape = literal(given.pop("shape", ()))
        rest = ", ".join(f"{k}={literal(given[k])}" for k in ("init", "dtype", "standard") if k in given)
        return f"nn.{kind}({', '.join(filter(None, (shape, rest)))})"
    return f"{_class(node.type, imports)}({settings(node, names, write)})"


def _class(kind: str, imports: set[str]) -> str:
    """Name of a layer class in the source: nn.*, an imported name, or the plain name for a class of a notebook."""
    module, word = LAYERS[kind].__module__, LAYERS[kind].__name__
    if module.startswith("labdl.nn."):
        return f"nn.{word}"
    if module == "__main__":
        return word
    line = f"from {module} import {word}"
    if any(other.endswith(f" import {word}") for other in imports - {line}):  # another package has a class of this name
        word = kind.replace(".", "_")
        line += f" as {word}"
    imports.add(line)
    return word


def layer_arguments(node: Node, feeds: dict[str, list[str]]) -> str:
    parts, gap = [], False
    for port in ports_of(node):
        names = feeds[port.name]
        if port.variadic:
            parts += names
        elif names or not port.optional:
            name = (names or [OPEN])[0]
            parts.append(f"{port.name}={name}" if gap else name)
        else:
            gap = True
    return ", ".join(parts)


def _index_literal(index: str) -> str:
    """An index as an argument, where ``:`` is not valid."""
    items = parse_index(index)
    return repr(items)  # repr of slices and ... is valid source


_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "matmul": "@",
    "pow": "**",
    "greater": ">",
    "less": "<",
    "greater_equal": ">=",
    "less_equal": "<=",
}


def _has_sign(value: Any) -> bool:
    """Whether the source of a value starts with a minus, as that of -0.0 does too."""
    return isinstance(value, int | float) and literal(value).startswith("-")


def operator_call(node: Node, feeds: dict[str, list[str]], write: Write) -> str:
    signature = OPERATORS[node.type.removeprefix("ops.")].signature.parameters
    unknown = [k for k in node.params if k not in signature]
    if unknown:
        raise ConfigError(f"operator {node.type} has no argument {unknown[0]!r}: it has {', '.join(signature)}")
    if node.type == "ops.getitem" and feeds.get("x"):
        index = node.params.get("index")
        text = (
            feeds["index"][0]
            if feeds.get("index")
            else show_index(parse_index(index) if isinstance(index, str) else index)
        )
        return f"{feeds['x'][0]}[{text}]"
    sign = _SIGNS.get(node.type.removeprefix("ops."))
    sides = [
        (feeds.get(name) or [OPEN])[0] if name not in node.params else write(name, node.params[name])
        for name in list(signature)[:2]
    ]
    if sign == "**" and _has_sign(node.params.get(next(iter(signature)))):  # -2.0 ** x is -(2.0 ** x) in Python
        sides[0] = f"({sides[0]})"
    # with a number on the left, Python swaps the comparison
    if sign and OPEN not in sides and len(node.params) < (1 if sign[0] in "<>" and "x" in node.params else 2):
        return f" {sign} ".join(sides)
    variadic = {p.name for p in ports_of(node) if p.variadic}
    parts, gap = [], False
    for name, p in signature.items():
        if p.kind is p.VAR_POSITIONAL:
            parts += feeds.get(name, ())
            continue
        if feeds.get(name):
            text = f"[{', '.join(feeds[name])}]" if name in variadic else feeds[name][0]
        elif name in node.params:
            value = node.params[name]
            text = _index_literal(value) if name == "index" and isinstance(value, str) else write(name, value)
        elif p.default is p.empty:
            text = OPEN
        else:
            gap = True
            continue
        parts.append(f"{name}={text}" if gap or p.kind is p.KEYWORD_ONLY else text)
    return f"{node.type}({', '.join(parts)})"
