"""Parsing of the source of Modules to a graph, executing only layers and operators.

The source is Python, restricted to the constructs that `labdl.graph.parsing.grammar` accepts. It runs with a time limit and
without modules and most built-in functions.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph.graph import Graph
from labdl.graph.parsing import foreign, limits
from labdl.graph.parsing.attributes import AttributeTransformer
from labdl.graph.parsing.grammar import BUILT_IN, Grammar, ReadingError
from labdl.graph.parsing.snippets import PIECE, as_class
from labdl.graph.parsing.unrolling import Unroller
from labdl.graph.tracing.optional import mark_optional
from labdl.graph.tracing.partial import Draft
from labdl.graph.tracing.recorder import Symbol
from labdl.graph.tracing.trace import record, trace
from labdl.nn.module import Module, observer
from labdl.ops import OPERATORS
from labdl.spec import Spec

_LONGEST = 1_000_000  # characters
_SECONDS = 60.0
_DEEP = "it is nested too deeply, or a part of it contains or calls itself"
_FILE = "<model>"  # the source, in tracebacks


def read_python(source: str, *shapes) -> Graph:
    """See `Graph.from_python`."""
    return _read(source, lambda model, name, *_: trace(model, *shapes, name=name), _SECONDS)


def read_draft(source: str, specs: Sequence[Spec | None], *, seconds: float = _SECONDS) -> Graph:
    """As `read_python` for an unfinished model: where shapes do not fit, the graph has a problem, as on the canvas.

    ``...`` is a missing connection, None in place of a Spec an input that is omitted. Raises ReadingError.
    """

    def record_model(model: Module, name: str, wanted: list[str], required: int) -> Graph:
        if not required <= len(specs) <= len(wanted):
            listed = ", ".join(["self", *wanted])
            raise ReadingError(
                f"forward({listed}) does not match the {len(specs)} input(s) of the graph: add or delete an "
                "Input on the canvas first, because its shape is set there"
            )
        return mark_optional(
            model, specs, {}, lambda specs, named: record(model, specs, Draft(model, "layers"), name, named)
        )

    return _read(source, record_model, seconds)


def read_piece(source: str, *, seconds: float = _SECONDS) -> Graph:
    """Read a snippet of a program, without inputs and shapes: classes of Modules, a row of layers
    (``nn.Linear(10), nn.ReLU()``), or lines that call layers (``x = nn.Linear(10)(x)``). Raises ReadingError.
    """

    def record_model(model: Module, name: str, wanted: list[str], required: int) -> Graph:
        recorder = Draft(model, "layers")
        recorder.unknown = "a piece of a model has no inputs"
        graph = record(model, [Spec(())] * required, recorder, name)
        inputs = set(graph.inputs())
        nodes = {i: n for i, n in graph.nodes.items() if i not in inputs}
        edges = {i: e for i, e in graph.edges.items() if e.source not in inputs}
        return Graph(nodes, edges, graph.name, groups=graph.groups, ties=graph.ties)

    return _read(source, record_model, seconds, as_class)


def _read(
    source: str,
    record_model: Callable[[Module, str, list[str], int], Graph],
    seconds: float,
    form: Callable[[ast.Module], ast.Module] | None = None,
) -> Graph:
    if len(source) > _LONGEST:
        raise ReadingError(f"the source has {len(source):,} characters, the maximum is {_LONGEST:,}")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ReadingError(
            f"the source is not valid Python: line {line}: {getattr(error, 'msg', None) or str(error) or _DEEP}", line
        ) from error
    try:
        with limits.time_limit(seconds, "reading this"):
            return _run(tree, record_model, form)
    except ReadingError:
        raise
    except ModelError as error:
        raise _with_line(error, str(error)) from error
    except RecursionError as error:
        raise _with_line(error, _DEEP) from error
    except Exception as error:
        raise _with_line(error, f"the model cannot be created: {error}") from error


def _run(tree: ast.Module, record_model: Callable[[Module, str, list[str], int], Graph], form) -> Graph:
    tree, constructors = foreign.to_labdl(Unroller().visit(AttributeTransformer().visit(tree)))
    form = form or (as_class if constructors else None)
    if form is not None and not any(isinstance(statement, ast.ClassDef) for statement in tree.body):
        tree = form(tree)
    grammar = Grammar(tree, constructors)
    grammar.check()
    space: dict[str, Any] = {
        "__builtins__": {name: getattr(builtins, name) for name in ("__build_class__", *BUILT_IN)},
        "__name__": "source",
        "nn": SimpleNamespace(**{name: constructors.get(name) or getattr(nn, name) for name in grammar.layers}),
        "ops": SimpleNamespace(**{name: _operator(name) for name in OPERATORS}),
        limits.ARITHMETIC: limits.arithmetic,
        limits.SPREAD: limits.spread,
        **grammar.imported,
    }
    bounded = limits.LimitTransformer().visit(ast.Module(grammar.statements, []))
    exec(compile(bounded, _FILE, "exec"), space)
    name = grammar.classes[-1]
    return record_model(space[name](), name, *_inputs(grammar.statements[-1]))


def _operator(name: str) -> Callable:
    """An operator that a source may call on tensors of the model, not on other values."""
    function = getattr(ops, name)

    def call(*args, **kwargs):
        given = [*args, *kwargs.values()]
        given += [v for value in given if isinstance(value, list | tuple) for v in value]
        if any(isinstance(v, Symbol) for v in given):
            return function(*args, **kwargs)
        recorder = observer.get()
        if isinstance(recorder, Draft) and any(v is ... for v in given):  # its only tensor is missing
            return recorder.operator(OPERATORS[name], args, kwargs)
        raise ModelError(f"ops.{name} is given no tensor that is computed from the model's inputs")

    return call


def _inputs(statement: ast.stmt) -> tuple[list[str], int]:
    """The parameters of the forward of a class, and the number of required ones."""
    for item in statement.body if isinstance(statement, ast.ClassDef) else ():
        if isinstance(item, ast.FunctionDef) and item.name == "forward":
            names = [a.arg for a in (*item.args.posonlyargs, *item.args.args)][1:]
            return names, len(names) - len(item.args.defaults)
    return [], 0


def _with_line(error: BaseException, message: str) -> ReadingError:
    """The error with the line of the source that led to it."""
    line = None
    cause: BaseException | None = error
    while cause is not None:
        place = cause.__traceback__
        while place is not None:
            if place.tb_frame.f_code.co_filename == _FILE:
                line = place.tb_lineno
            place = place.tb_next
        cause = cause.__cause__ if cause.__cause__ is not cause else None  # a re-raised error is its own cause
    message = message.removeprefix(f"{PIECE}: ")
    return ReadingError(f"line {line}: {message}" if line else message, line)
