"""Source text of a program as one method."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from labdl.errors import ModelError
from labdl.graph.codegen.calls import Names, identifier
from labdl.graph.lowering.program import Call, Numbers, Program, Ramp, Ref, Size, Text, operands, refs

_WIDTH = 112
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_ALONE = {"neg": "-", "pos": "+", "invert": "~"}


class MethodSource:
    """Writes methods in the syntax of a framework (``SOURCE`` of its backend).

    ``parameters`` gives the expression for each parameter; ``keep`` returns the expression of a constant, ``hold`` that of a
    Python object that is called.
    """

    def __init__(
        self,
        backend,
        parameters: Mapping[str, str],
        keep: Callable[[np.ndarray], str],
        hold: Callable[[Any], str] | None = None,
    ):
        self.backend, self.words, self.parameters = backend, backend.SOURCE, parameters
        self.keep, self.hold = keep, hold

    def __call__(self, program: Program, inputs: list[str], received: Mapping[int, str] | None = None) -> list[str]:
        """The lines of a method of these inputs; ``received`` names further tensors that it receives."""
        received = received or {}
        local = Names("self", "training", *inputs, *received.values())
        names: dict[int, str] = {**dict(enumerate(inputs)), **received}
        names |= {ref.number: self.parameters[key] for key, ref in program.parameters.items()}
        used = {n for call in program.calls for n in operands(call)} | set(refs(program.outputs))
        sizes = {at: local.new("batch" if axis == 0 else f"size_{axis}") for at, (_, axis) in enumerate(program.sizes)}
        write = _Expressions(self.backend, names, sizes, self.hold)
        constants = {n: value for n, value in program.constants.items() if n in used and n not in received}
        for number, value in constants.items():
            names[number] = self._constant(value, write)
        lines = []
        asked = _sizes([*_arguments(program.calls), *constants.values()])
        for at, (n, axis) in enumerate(program.sizes):
            if at in asked:
                lines.append(f"{sizes[at]} = {self.words['size'].format(x=inputs[n], axis=axis)}")
        lines += _Statements(write, names, used, local)(program.calls)
        return [f"        {line}" for line in [*lines, *_fold(f"return {write(program.outputs)}")]]

    def _constant(self, value, write: _Expressions) -> str:
        if isinstance(value, np.ndarray):
            return self.keep(value)
        if isinstance(value, Ramp):
            return self.words["constant"].format(array=write(value))
        return self.words["numbers"].format(values=write(value.values), dtype=value.dtype)


class _Statements:
    """Writes calls, one a line; branches and loops as Python's own statements."""

    def __init__(self, write: _Expressions, names: dict[int, str], used: set[int], local: Names):
        self.write, self.names, self.used, self.local = write, names, used, local
        self.place = ""

    def __call__(self, calls: list[Call]) -> list[str]:
        lines = []
        for call in calls:
            if call.place != self.place:
                self.place = call.place
                lines.append(f"# {self.place}" if self.place.isprintable() and self.place else "# the model")
            if call.blocks:
                lines += self.branch(call) if call.target == "if" else self.loop(call)
                continue
            expression = self.write.call(call)
            assigned = _assignment(call, self.names, self.used, self.local)
            lines += _fold(f"{assigned} = {expression}" if assigned else expression)
        return lines

    def branch(self, call: Call) -> list[str]:
        results = self.new(call.results, "chosen")
        blocks = [[*self(b.calls), *self.assign(results, map(self.write, b.outputs))] or ["pass"] for b in call.blocks]
        return [f"if {self.write(call.args[0])}:", *_indent(blocks[0]), "else:", *_indent(blocks[1])]

    def loop(self, call: Call) -> list[str]:
        states = self.new(call.variables, "state")
        lines = self.assign(states, map(self.write, call.args))
        self.names.update(zip((ref.number for ref in call.results), states, strict=True))
        condition, body = call.blocks
        test = self(condition.calls)
        following = self(body.calls)
        following += [*self.assign(states, map(self.write, body.outputs)), *test]
        return [*lines, *test, f"while {self.write(condition.outputs[0])}:", *_indent(following)]

    def new(self, refs, word: str) -> list[str]:
        for ref in refs:
            self.names[ref.number] = self.local.new(word)
        return [self.names[ref.number] for ref in refs]

    @staticmethod
    def assign(names, values) -> list[str]:
        text = ", ".join(values)
        return _fold(f"{', '.join(names)} = {text}") if names else []


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _arguments(calls: list[Call]) -> Iterator:
    for call in calls:
        yield call.args, call.kwargs
        for block in call.blocks:
            yield from _arguments(block.calls)


def numbers(value) -> str:
    """Source of a number or nested lists of numbers."""
    if isinstance(value, list):
        return f"[{', '.join(map(numbers, value))}]"
    return f'float("{value}")' if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _sizes(value) -> set[int]:
    """The unknown sizes in an argument."""
    if isinstance(value, Size):
        return {at for _, product in value.terms for at in product} | _sizes(value.over)
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, Ramp | Numbers):
        value = tuple(vars(value).values())
    return set().union(*map(_sizes, value)) if isinstance(value, list | tuple) else set()


def _fold(line: str) -> list[str]:
    """Break a long call into several lines."""
    if len(line) <= _WIDTH or not line.endswith(")"):
        return [line]
    at = line.index("(", line.find(" = ") + 1)
    head, rest = line[:at], line[at + 1 :]
    texts = re.findall(r"'[^']*'|\"[^\"]*\"", rest)
    inside = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: found[0].replace(" ", "\0"), rest[:-1]) if texts else rest[:-1]
    lines = textwrap.wrap(inside, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{head}(", *(f"    {part}" for part in "\n".join(lines).replace("\0", " ").split("\n")), ")"]


def _assignment(call: Call, names: dict[int, str], used: set[int], local: Names) -> str:
    """The left side of a call's line; empty if it only modifies a tensor."""
    if not any(n in used and n not in names for n in refs(call.results)):
        return ""
    named = (
        call.target if isinstance(call.target, str) else getattr(call.target, "__name__", type(call.target).__name__)
    )
    word = re.sub(r"\W", "", named.partition("(")[0].split()[-1].split(".")[-1]).strip("_") or "value"
    word = identifier(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower())

    def pattern(result) -> str:
        if isinstance(result, tuple):
            return "(" + ", ".join(map(pattern, result)) + ("," if len(result) == 1 else "") + ")"
        if not isinstance(result, Ref) or result.number not in used or result.number in names:
            return "_"
        names[result.number] = local.new(word)
        return names[result.number]

    text = pattern(call.results)
    return text[1:-1] if text.startswith("(") else text


class _Expressions:
    """Source text of arguments and calls."""

    def __init__(self, backend, names: dict[int, str], sizes: dict[int, str], hold: Callable[[Any], str] | None):
        self.backend, self.names, self.sizes, self.hold = backend, names, sizes, hold

    def __call__(self, value: Any) -> str:
        if isinstance(value, Ref):
            return self.names[value.number]
        if isinstance(value, Size):
            return self._size(value)
        if isinstance(value, Text):
            return value.text
        if isinstance(value, list | tuple):
            inside = ", ".join(map(self, value))
            return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {self(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self(value.start)}, {self(value.stop)}, {self(value.step)})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, np.ndarray):
            return f"np.array({numbers(value.tolist())}, {value.dtype.name!r})"
        if isinstance(value, Numbers):
            return f"np.array({self(value.values)}, {value.dtype!r})"
        if isinstance(value, Ramp):
            return self._ramp(value)
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return numbers(value)
        text = self.backend.literal(value)
        if text is None:
            raise ModelError(f"{type(value).__name__} {value!r} cannot be written as source of {self.backend.name}")
        return text

    def _ramp(self, ramp: Ramp) -> str:
        parts = [f"np.full({self(ramp.shape)}, {self(ramp.start)})"]
        for axis, (size, step) in enumerate(zip(ramp.shape, ramp.steps, strict=True)):
            if step:
                places = tuple(-1 if a == axis else 1 for a in range(len(ramp.shape)))
                line = f"np.arange({self(size)})" + (f".reshape({self(places)})" if len(places) > 1 else "")
                factor = f"({self(step)})" if isinstance(step, Size) else self(step)
                parts.append(line if step == 1 else f"{factor} * {line}")
        return f"({' + '.join(parts)}).astype({ramp.dtype!r})"

    def _size(self, value: Size) -> str:
        parts = []
        for factor, product in value.terms:
            words = [self.sizes[at] for at in product]
            parts.append(" * ".join(words if factor == 1 else [str(factor), *words]))
        text = " + ".join([*parts, *([str(value.constant)] if value.constant or not parts else [])]).replace(
            "+ -", "- "
        )
        return text if value.over is None else f"({text}) / ({self._size(value.over)})"

    def index(self, value) -> str:
        """The text between brackets."""
        if isinstance(value, slice):
            ends = ["" if v is None else self(v) for v in (value.start, value.stop)]
            return ":".join(ends if value.step is None else [*ends, self(value.step)])
        if isinstance(value, tuple) and value:
            return ", ".join(map(self.index, value)) + ("," if len(value) == 1 else "")
        return self(value)

    def call(self, call: Call) -> str:
        target, args = call.target, call.args
        if not isinstance(target, str):
            assert self.hold is not None  # only recordings for this process contain objects
            return f"{self.hold(target)}({self._arguments(args, call.kwargs)})"
        if target.startswith("attribute "):
            return f"{self(args[0])}.{target.removeprefix('attribute ')}"
        if not target.startswith("."):
            return f"{target}({self._arguments(args, call.kwargs)})"
        method, first = target.removeprefix("."), self(args[0])
        word = method.strip("_") if method.startswith("__") else ""
        if word == "getitem":
            return f"{first}[{self.index(args[1])}]"
        if word == "setitem":
            return f"{first}[{self.index(args[1])}] = {self(args[2])}"
        if word in _ALONE:
            return f"{_ALONE[word]}{first}"
        if word in _SIGNS and len(args) == 2:
            return f"{first} {_SIGNS[word]} {self(args[1])}"
        if word[1:] in _SIGNS and word[:1] == "r" and len(args) == 2:
            return f"{self(args[1])} {_SIGNS[word[1:]]} {first}"
        return f"{first}.{method}({self._arguments(args[1:], call.kwargs)})"

    def _arguments(self, args, kwargs) -> str:
        return ", ".join([*map(self, args), *(f"{k}={self(v)}" for k, v in kwargs.items())])
