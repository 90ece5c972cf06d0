"""Nodes as callables: registered layers, and operators with fixed arguments."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from labdl import ops
from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Node
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, Port, fields, input_ports, operator_ports, unknown_type_message
from labdl.ops import OPERATORS

RESERVED = (
    "graph",
    "run",
    "_inputs",
    "_taken",
    "_complete",
    "_plan",
    "_slots",
    "_results",
)  # attributes of a graph's model besides its layers


def ports_of(node: Node) -> list[Port]:
    """Input ports of a node. Raises ModelError when its type is unknown."""
    if node.type in LAYERS:
        return input_ports(LAYERS[node.type])
    return operator_ports(_operator(node))


def outputs_of(node: Node) -> tuple[str, ...]:
    """Output ports; an operator with several results has output, output_1, …"""
    if node.type in LAYERS:
        return LAYERS[node.type].layer_outputs  # type: ignore[attr-defined]
    _operator(node)
    return ("output",)


def output_port(index: int) -> str:
    return f"output_{index}" if index else "output"


def _operator(node: Node):
    name = node.type.removeprefix("ops.")
    if not node.type.startswith("ops.") or name not in OPERATORS:
        raise ModelError(unknown_type_message(node.type))
    return OPERATORS[name]


def make(node: Node) -> Module | Callable:
    """The layer, or a function that calls the operator; takes the values of the connected ports."""
    if node.type in LAYERS:
        cls = LAYERS[node.type]
        known = fields(cls)
        unknown = [k for k in node.params if k not in known]
        if unknown:
            raise ConfigError(f"{node.type} has no setting {unknown[0]!r}: it has {', '.join(known) or 'none'}")
        missing = [k for k, f in known.items() if k not in node.params and f.default is dataclasses.MISSING]
        if missing:
            raise ConfigError(f"{node.type} wants a value for {missing[0]}")
        return cls(**node.params)
    return _operator_call(_operator(node).name, dict(node.params))


def _operator_call(name: str, params: dict[str, Any]) -> Callable:
    function = getattr(ops, name)
    signature = OPERATORS[name].signature
    unknown = [k for k in params if k not in signature.parameters]
    if unknown:
        raise ConfigError(f"operator {name} has no argument {unknown[0]!r}: it has {', '.join(signature.parameters)}")
    if "index" in params and isinstance(params["index"], str):
        params["index"] = parse_index(params["index"])

    def call(ports: Mapping[str, Any]):
        args, options = [], {}
        for p in signature.parameters.values():
            if p.name in ports:
                value = ports[p.name]
            elif p.name in params:
                value = params[p.name]
            else:
                continue
            if p.kind is p.VAR_POSITIONAL:
                args.extend(value)
            elif p.kind is p.KEYWORD_ONLY or len(args) < list(signature.parameters).index(p.name):
                options[p.name] = value
            else:
                args.append(value)
        return function(*args, **options)

    return call


def show_index(index) -> str:
    """An index as text that `parse_index` reads: ``:, 0, 1:3``."""
    if isinstance(index, str):
        return index
    parts = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, slice):
            ends = ["" if v is None else str(v) for v in (item.start, item.stop)]
            parts.append(":".join(ends) + ("" if item.step is None else f":{item.step}"))
        elif item is Ellipsis:
            parts.append("...")
        elif item is None or type(item) is int:
            parts.append(str(item))
        else:
            raise ModelError(f"a graph can hold integers, slices, None and ... as an index, received {item!r}")
    return ", ".join(parts)


_LONGEST = 10_000  # characters of an index


def parse_index(text: str):
    """An index from text, read as literals only: nothing is executed."""
    try:
        if len(text) > _LONGEST:
            raise ValueError("too long")
        tree = ast.parse(f"_[{text}]", mode="eval").body
        items = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]  # type: ignore[attr-defined]
        values = []
        for item in items:
            if isinstance(item, ast.Slice):
                ends = (item.lower, item.upper, item.step)
                values.append(slice(*(None if e is None else int(ast.literal_eval(e)) for e in ends)))
            else:
                value = ast.literal_eval(item)
                if not (value is None or value is Ellipsis or type(value) is int):
                    raise ValueError(value)
                values.append(value)
    except (SyntaxError, ValueError, AttributeError, TypeError, MemoryError, RecursionError) as error:
        raise ConfigError(f"an index has Python's syntax, such as ':, 0, 1:3', received {text!r:.200}") from error
    return tuple(values) if len(values) > 1 else values[0]
