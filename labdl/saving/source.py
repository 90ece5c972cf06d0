"""Models as source code that needs one framework and nothing of LabDL (D15, R7.5)."""

from __future__ import annotations

import math
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ModelError
from labdl.graph import GraphModule, as_graph
from labdl.graph.calls import Names, identifier
from labdl.graph.flat import Call, Numbers, Program, Ramp, Ref, Size, Text, programs_of, refs
from labdl.graph.source import class_name
from labdl.nn.module import Module
from labdl.saving.atomic import replacing
from labdl.saving.parameters import write_parameters

_WIDTH = 112
_SHOWN = 16  # a constant of so many numbers stands in the source, a longer one beside it
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
          "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^",
          "lshift": "<<", "rshift": ">>"}  # fmt: skip
_ALONE = {"neg": "-", "pos": "+", "invert": "~"}


def export_source(model: Module, path: str | Path, target: str | None = None) -> tuple[Path, Path]:
    """Write ``name.py``, the model in plain calls of a framework, and ``name.weights.npz``; returns both paths.

    The file holds one class, which loads the parameters and computes what the model does, for training and for use. It needs
    the framework ``target`` (by default the model's own) and NumPy. Raises ModelError where what the model does depends on
    data or on unknown sizes in a way that calls written down once cannot follow.
    """
    path = Path(path).with_suffix(".py")
    text, values = to_source(model, target)
    parameters = path.with_suffix(".weights.npz")  # net.npz is what labdl.save writes
    with replacing(parameters, path) as (file, source):
        write_parameters(file, values.items())
        source.write(text.encode())
    return path, parameters


def to_source(model: Module, target: str | None = None) -> tuple[str, dict[str, np.ndarray]]:
    """The source text of a built model, and the arrays that the text reads. The model itself is left alone."""
    backend = dispatch.get(target or model.backend)
    if not hasattr(backend, "SOURCE"):
        raise ModelError(f'there is no source code for {backend.name}: choose a framework, target="torch" for instance')
    twin = as_graph(model).to_module().build(*model.input_specs, backend=backend.name)
    values, names = model.state_dict(), list(twin.state_dict())
    if values.keys() != set(names):  # a layer alone has a name in a graph, which then leads the names of its parameters
        home = f"{names[0].partition('/')[0]}/"
        values = {f"{home}{name}": value for name, value in values.items()}
    values = {name: values[name] for name in names}
    writer = _Writer(twin, backend, values)
    return writer.text(*programs_of(twin)), values


class _Writer:
    def __init__(self, model: GraphModule, backend, values: dict[str, np.ndarray]):
        self.model, self.backend, self.values, self.words = model, backend, values, backend.SOURCE
        self.attributes = Names(*self.words["taken"])
        self.setup: list[str] = []
        self.parameters: dict[str, str] = {}
        self.kept: dict[bytes, str] = {}
        self.title = class_name(model.graph.name)
        for key in values:
            name = self.attributes.new(identifier(key.removesuffix(":0").replace("/", "_")))
            parameter = model.get_parameter(key)
            axes = "" if parameter.standard is None else f", {tuple(int(a) for a in np.argsort(parameter.standard))}"
            kind = self.words["parameter" if parameter.learnable else "buffer"]
            self.setup.append(kind.format(name=name, array=f"_array(values[{key!r}]{axes})"))
            self.parameters[key] = f"self.{name}"

    def text(self, use: Program, train: Program) -> str:
        names = self._inputs(use)
        bodies = [self._body(program, names) for program in (use, train)]
        method, given = self.words["method"], ", ".join(names)
        if bodies[0] == bodies[1]:
            steps = [f"    def {method}(self, {given}{self.words['mode']}):", *bodies[0]]
        else:
            steps = [f"    def {method}(self, {given}{self.words['mode']}):",
                     f"        return self._train({given}) if {self.words['training']} else self._use({given})", "",
                     f"    def _use(self, {given}):", *bodies[0], "",
                     f"    def _train(self, {given}):", *bodies[1]]  # fmt: skip
        return "\n".join([
            f'"""{self.title} in plain {self.words["title"]}, with its parameters beside it in a .weights.npz."""', "",
            "from pathlib import Path", "", *self.words["imports"], "", "", *_ARRAY, "", "",
            *(self.words["making"] and (*self.words["making"], "", "")),
            f"class {self.title}({self.words['base']}):",
            '    def __init__(self, parameters=Path(__file__).with_suffix(".weights.npz")):',
            "        super().__init__()",
            "        values = np.load(parameters)",
            *(f"        {line}" for line in self.setup), "", *steps, "",
        ])  # fmt: skip

    def _inputs(self, program: Program) -> list[str]:
        words = [self.model.graph.nodes[i].name for i in self.model.graph.inputs()]
        taken = Names("self", "training")
        return [taken.new(identifier(words[n])) for n in range(len(program.inputs))]

    def _body(self, program: Program, inputs: list[str]) -> list[str]:
        """The lines of one method."""
        local = Names("self", "training", *inputs)
        names: dict[int, str] = dict(enumerate(inputs))
        names |= {ref.number: self.parameters[key] for key, ref in program.parameters.items()}
        used = {n for call in program.calls for n in refs((call.args, call.kwargs))} | set(refs(program.outputs))
        sizes = {at: local.new("batch" if axis == 0 else f"size_{axis}") for at, (_, axis) in enumerate(program.sizes)}
        write = _Expressions(self.backend, names, sizes)
        for number, value in program.constants.items():
            if number in used:
                names[number] = self._known(value, write)
        lines = []
        asked = _sizes([(c.args, c.kwargs) for c in program.calls])
        asked |= _sizes([value for number, value in program.constants.items() if number in used])
        for at, (n, axis) in enumerate(program.sizes):
            if at in asked:
                lines.append(f"{sizes[at]} = {self.words['size'].format(x=inputs[n], axis=axis)}")
        place = ""
        for call in program.calls:
            if call.place != place:
                place = call.place
                lines.append(f"# {place}" if place else "# the model")
            expression = write.call(call)
            assigned = _assigned(call, names, used, local)
            lines += _folded(f"{assigned} = {expression}" if assigned else expression)
        return [f"        {line}" for line in [*lines, *_folded(f"return {write(program.outputs)}")]]

    def _constant(self, array: np.ndarray) -> str:
        """A known tensor: in the source, or read beside the parameters."""
        if array.size <= _SHOWN:
            numbers = _numbers(array.tolist())
            return self.words["constant"].format(array=f"np.array({numbers}, {array.dtype.name!r})")
        seen = array.tobytes() + str((array.dtype, array.shape)).encode()
        if seen not in self.kept:
            name = self.kept[seen] = self.attributes.new("constant")
            self.values[name] = array
            self.setup.append(self.words["kept"].format(name=name, array=f"_array(values[{name!r}])"))
        return f"self.{self.kept[seen]}"

    def _known(self, value, write: _Expressions) -> str:
        if isinstance(value, np.ndarray):
            return self._constant(value)
        if isinstance(value, Ramp):
            return self._ramp(value, write)
        return self.words["numbers"].format(values=write(value.values), dtype=value.dtype)

    def _ramp(self, ramp: Ramp, write: _Expressions) -> str:
        parts = [f"np.full({write(ramp.shape)}, {write(ramp.start)})"]
        for axis, (size, step) in enumerate(zip(ramp.shape, ramp.steps, strict=True)):
            if step:
                places = tuple(-1 if a == axis else 1 for a in range(len(ramp.shape)))
                line = f"np.arange({write(size)})" + (f".reshape({write(places)})" if len(places) > 1 else "")
                parts.append(line if step == 1 else f"{self._factor(step, write)} * {line}")
        text = f"({' + '.join(parts)}).astype({ramp.dtype!r})"
        return self.words["constant"].format(array=text)

    @staticmethod
    def _factor(step, write: _Expressions) -> str:
        return f"({write(step)})" if isinstance(step, Size) else write(step)


_ARRAY = ("def _array(values, axes=None):",
          '    """An array in the order of axes in which it is computed with."""',
          "    return np.ascontiguousarray(values if axes is None else values.transpose(axes))")  # fmt: skip


def _numbers(value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f'float("{value}")' if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _sizes(value) -> set[int]:
    """Which unknown sizes stand in an argument."""
    if isinstance(value, Size):
        return {at for _, product in value.terms for at in product} | _sizes(value.over)
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, Ramp | Numbers):
        value = tuple(vars(value).values())
    return set().union(*map(_sizes, value)) if isinstance(value, list | tuple) else set()


def _folded(line: str) -> list[str]:
    """A call that is too long for one line on several."""
    if len(line) <= _WIDTH or not line.endswith(")"):
        return [line]
    at = line.index("(", line.find(" = ") + 1)
    head, rest = line[:at], line[at + 1 :]
    texts = re.findall(r"'[^']*'|\"[^\"]*\"", rest)
    inside = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: found[0].replace(" ", "\0"), rest[:-1]) if texts else rest[:-1]
    lines = textwrap.wrap(inside, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{head}(", *(f"    {part}" for part in "\n".join(lines).replace("\0", " ").split("\n")), ")"]


def _assigned(call: Call, names: dict[int, str], used: set[int], local: Names) -> str:
    """The left side of a call's line; nothing where it only changes what is there already."""
    if not any(n in used and n not in names for n in refs(call.results)):
        return ""
    word = re.sub(r"\W", "", call.target.partition("(")[0].split()[-1].split(".")[-1]).strip("_") or "value"
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

    def __init__(self, backend, names: dict[int, str], sizes: dict[int, str]):
        self.backend, self.names, self.sizes = backend, names, sizes

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
            return f"np.array({_numbers(value.tolist())}, {value.dtype.name!r})"
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return _numbers(value)
        text = self.backend.literal(value)
        if text is None:
            raise ModelError(
                f"{type(value).__name__} {value!r} cannot be written down as source of {self.backend.name}"
            )
        return text

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
        """What stands between brackets."""
        if isinstance(value, slice):
            ends = ["" if v is None else self(v) for v in (value.start, value.stop)]
            return ":".join(ends if value.step is None else [*ends, self(value.step)])
        if isinstance(value, tuple) and value:
            return ", ".join(map(self.index, value)) + ("," if len(value) == 1 else "")
        return self(value)

    def call(self, call: Call) -> str:
        target, args = call.target, call.args
        if target.startswith("attribute "):
            return f"{self(args[0])}.{target.removeprefix('attribute ')}"
        if not target.startswith("."):
            return f"{target}({self._given(args, call.kwargs)})"
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
        return f"{first}.{method}({self._given(args[1:], call.kwargs)})"

    def _given(self, args, kwargs) -> str:
        return ", ".join([*map(self, args), *(f"{k}={self(v)}" for k, v in kwargs.items())])
