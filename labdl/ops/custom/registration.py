"""Registering custom operators under their names in `labdl.ops`."""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Sequence
from typing import Any

from labdl import dispatch
from labdl.errors import ConfigError
from labdl.ops import rules
from labdl.ops.custom.definition import CustomOperator
from labdl.ops.operator import OPERATORS


def operator(rule: Callable | None = None, *samples) -> Callable[[Callable], CustomOperator]:
    """Decorator: register the function as the operator ``labdl.ops.<its name>``.

    With a shape rule the body is NumPy: parameters without a default are tensors, the others options. Without one the
    body is written with labdl's operators, and has its shape and its gradient from them. A custom operator of the same
    name is replaced. Raises ConfigError for the name of a built-in operator.
    """

    def register(function: Callable) -> CustomOperator:
        doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
        composed = function if rule is None else None
        entry = CustomOperator(function.__name__, rule or rules.elementwise, samples, signature, doc, composed)
        _add(entry)
        if composed is None:
            entry.implementation("numpy")(function)
        return entry

    return register


def register_primitive(
    name: str,
    rule: Callable = rules.elementwise,
    *,
    inputs: Sequence[str] = ("x",),
    options: dict[str, Any] | None = None,
    samples: Sequence = (),
    doc: str = "",
) -> CustomOperator:
    """Step 1: register a new operator ``labdl.ops.<name>`` of these inputs and options (with their defaults).

    ``rule`` gives the Spec of the result, or a tuple of several, from the Specs of the inputs and the options that it
    names (`labdl.ops.rules` has many). ``samples`` are example calls, needed if inputs of shape (2, 3) do not fit the
    rule. A custom operator of the same name is replaced. Raises ConfigError for the name of a built-in operator.
    """
    kinds = inspect.Parameter
    try:
        signature = inspect.Signature(
            [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in inputs]
            + [kinds(n, kinds.KEYWORD_ONLY, default=v) for n, v in (options or {}).items()]
        )
    except (ValueError, TypeError) as error:
        raise ConfigError(f"operator {name!r}: inputs and options are different Python names: {error}") from error
    entry = CustomOperator(name, rule, tuple(samples), signature, doc)
    _add(entry)
    return entry


def unregister(name: str) -> None:
    """Remove a custom operator. Raises ConfigError for an unknown or a built-in one."""
    if not isinstance(OPERATORS.get(name), CustomOperator):
        known = ", ".join(n for n, entry in OPERATORS.items() if isinstance(entry, CustomOperator))
        raise ConfigError(f"there is no custom operator {name!r}: there is {known or 'none'}")
    del OPERATORS[name]
    delattr(sys.modules["labdl.ops"], name)


def _add(entry: CustomOperator) -> None:
    package, name = sys.modules["labdl.ops"], entry.name
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ConfigError(f"an operator's name is a Python name, received {name!r}")
    if hasattr(package, name) and not isinstance(OPERATORS.get(name), CustomOperator):
        raise ConfigError(f"labdl.ops.{name} exists already and is built in: choose another name")
    OPERATORS[name] = entry
    setattr(package, name, entry.function)


def _prepare_all(backend) -> None:
    for entry in OPERATORS.values():
        if isinstance(entry, CustomOperator):
            entry.prepare(backend)


dispatch.on_load(_prepare_all)
