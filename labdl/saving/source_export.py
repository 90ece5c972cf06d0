"""Export of models as source code that needs one framework and not LabDL."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labdl import dispatch
from labdl.bounded.atomic_write import replace_files
from labdl.errors import ModelError
from labdl.graph import GraphModule, as_graph, parameter_prefix
from labdl.graph.codegen.calls import Names, identifier
from labdl.graph.codegen.source import class_name
from labdl.graph.inputs import graph_arguments
from labdl.graph.lowering.method_source import MethodSource, numbers
from labdl.graph.lowering.program import Program
from labdl.graph.lowering.record import record_programs
from labdl.nn.module import Module
from labdl.saving.parameters import write_parameters

_SHOWN = 16  # largest constant written into the source; larger ones go to the .npz


def export_source(model: Module, path: str | Path, target: str | None = None) -> tuple[Path, Path]:
    """Write ``name.py``, the model in plain calls of a framework, and ``name.weights.npz``; returns both paths.

    The file contains one class, which loads the parameters and computes the model, in training and evaluation mode. It needs
    the framework ``target`` (by default the model's own) and NumPy. Raises ModelError where the model depends on data or on
    unknown sizes in a way that a fixed sequence of calls cannot express.
    """
    path = Path(path).with_suffix(".py")
    text, values = to_source(model, target)
    parameters = path.with_suffix(".weights.npz")  # net.npz is what labdl.save writes
    with replace_files(parameters, path) as (file, source):
        write_parameters(file, values.items())
        source.write(text.encode())
    return path, parameters


def to_source(model: Module, target: str | None = None) -> tuple[str, dict[str, np.ndarray]]:
    """The source text of a built model, and the arrays that the text reads. The model itself is not changed."""
    backend = dispatch.get(target or model.backend)
    if not hasattr(backend, "SOURCE"):
        raise ModelError(f'there is no source code for {backend.name}: choose a framework, target="torch" for instance')
    graph = as_graph(model)
    twin = graph.to_module().build(backend=backend.name)
    values = {parameter_prefix(model, graph) + name: value for name, value in model.state_dict().items()}
    values = {name: values[name] for name in twin.state_dict()}
    writer = _Writer(twin, backend, values)
    return writer.text(*record_programs(twin)), values


class _Writer:
    def __init__(self, model: GraphModule, backend, values: dict[str, np.ndarray]):
        self.model, self.backend, self.values, self.words = model, backend, values, backend.SOURCE
        self.attributes = Names(*self.words["reserved"])
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
        write = MethodSource(self.backend, self.parameters, self._constant)
        bodies = [write(program, names) for program in (use, train)]
        method, given = self.words["method"], ", ".join(names)
        if bodies[0] == bodies[1]:
            steps = [f"    def {method}(self, {given}{self.words['mode']}):", *bodies[0]]
        else:
            steps = [
                f"    def {method}(self, {given}{self.words['mode']}):",
                f"        return self._train({given}) if {self.words['training']} else self._use({given})",
                "",
                f"    def _use(self, {given}):",
                *bodies[0],
                "",
                f"    def _train(self, {given}):",
                *bodies[1],
            ]
        called = "\n".join([*self.setup, *steps])
        making = [
            line for name, lines in self.words["functions"].items() if f"{name}(" in called for line in (*lines, "", "")
        ]
        return "\n".join(
            [
                f'"""{self.title} in plain {self.words["title"]}, with its parameters beside it in a .weights.npz."""',
                "",
                "from pathlib import Path",
                "",
                *self.words["imports"],
                "",
                "",
                *_ARRAY,
                "",
                "",
                *making,
                f"class {self.title}({self.words['base']}):",
                '    def __init__(self, parameters=Path(__file__).with_suffix(".weights.npz")):',
                "        super().__init__()",
                "        values = np.load(parameters)",
                *(f"        {line}" for line in self.setup),
                "",
                *steps,
                "",
            ]
        )

    def _inputs(self, program: Program) -> list[str]:
        words = [a.name for a in graph_arguments(self.model.graph) if a.node]
        taken = Names("self", "training")
        return [taken.new(identifier(words[n])) for n in range(len(program.inputs))]

    def _constant(self, array: np.ndarray) -> str:
        """A constant: in the source, or stored beside the parameters."""
        if array.size <= _SHOWN:
            values = numbers(array.tolist())
            return self.words["constant"].format(array=f"np.array({values}, {array.dtype.name!r})")
        seen = array.tobytes() + str((array.dtype, array.shape)).encode()
        if seen not in self.kept:
            name = self.kept[seen] = self.attributes.new("constant")
            self.values[name] = array
            self.setup.append(self.words["unsaved"].format(name=name, array=f"_array(values[{name!r}])"))
        return f"self.{self.kept[seen]}"


_ARRAY = (
    "def _array(values, axes=None):",
    '    """An array in the axis order of the computation."""',
    "    return np.ascontiguousarray(values if axes is None else values.transpose(axes))",
)
