"""Export of models as source code that needs one framework and not LabDL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from labdl import dispatch
from labdl.bounded.atomic_write import replace_files
from labdl.errors import ModelError
from labdl.graph import GraphModule, as_graph, parameter_prefix
from labdl.graph.codegen.calls import Names, identifier
from labdl.graph.codegen.source import class_name
from labdl.graph.inputs import graph_arguments
from labdl.graph.lowering.layer_calls import layer_call, without_calls
from labdl.graph.lowering.method_source import MethodSource, numbers
from labdl.graph.lowering.program import Program
from labdl.graph.lowering.record import record_programs
from labdl.nn.module import Module
from labdl.saving.parameters import write_parameters
from labdl.saving.source_modules import LayerSource, layer_sources

_SHOWN = 16  # largest constant written into the source; larger ones go to the .npz


Style = Literal["modules", "flat"]


def export_source(
    model: Module, path: str | Path, target: str | None = None, *, style: Style = "modules"
) -> tuple[Path, Path]:
    """Write ``name.py``, the model in plain calls of a framework, and ``name.weights.npz``; returns both paths.

    The file contains one class, which loads the parameters and computes the model, in training and evaluation mode. It needs
    the framework ``target`` (by default the model's own) and NumPy. In the style "modules", layers that the framework has
    too are its own (``torch.nn.Conv2d``), and functions what is left; in "flat" all are calls of functions. TensorFlow's
    source is always flat. Raises ModelError where the model depends on data or on unknown sizes in a way that a fixed
    sequence of calls cannot express.
    """
    path = Path(path).with_suffix(".py")
    text, values = to_source(model, target, style=style)
    parameters = path.with_suffix(".weights.npz")  # net.npz is what labdl.save writes
    with replace_files(parameters, path) as (file, source):
        write_parameters(file, values.items())
        source.write(text.encode())
    return path, parameters


def to_source(
    model: Module, target: str | None = None, *, style: Style = "modules"
) -> tuple[str, dict[str, np.ndarray]]:
    """The source text of a built model, and the arrays that the text reads. The model itself is not changed."""
    backend = dispatch.get(target or model.backend)
    if not hasattr(backend, "SOURCE"):
        raise ModelError(f'there is no source code for {backend.name}: choose a framework, target="torch" for instance')
    graph = as_graph(model)
    twin = graph.to_module().build(backend=backend.name)
    prefix = parameter_prefix(model, graph)
    for name, parameter in model.named_parameters():
        if parameter.learnable and not parameter.trainable and prefix + name in twin.state_dict():
            twin.get_parameter(
                prefix + name
            ).trainable = False  # frozen normalizations keep their statistics in training
    values = {prefix + name: value for name, value in model.state_dict().items()}
    values = {name: values[name] for name in twin.state_dict()}
    programs = record_programs(twin)
    layers: dict[str, LayerSource] = {}
    if style == "modules" and "fill" in backend.SOURCE:
        layers = layer_sources(twin, backend)
    return _Writer(twin, backend, values).text(*programs, layers), values


class _Writer:
    def __init__(self, model: GraphModule, backend, values: dict[str, np.ndarray]):
        self.model, self.backend, self.values, self.words = model, backend, values, backend.SOURCE
        self.attributes = Names(*self.words["reserved"])
        self.setup: list[str] = []
        self.parameters: dict[str, str] = {}
        self.kept: dict[bytes, str] = {}
        self.title = class_name(model.graph.name)

    def _write_parameters(self, keys) -> None:
        for key in keys:
            name = self.attributes.new(identifier(key.removesuffix(":0").replace("/", "_")))
            parameter = self.model.get_parameter(key)
            axes = "" if parameter.standard is None else f", {tuple(int(a) for a in np.argsort(parameter.standard))}"
            kind = self.words["parameter" if parameter.learnable else "buffer"]
            self.setup.append(kind.format(name=name, array=f"_array(values[{key!r}]{axes})"))
            self.parameters[key] = f"self.{name}"

    def _replace_layers(self, use: Program, train: Program, layers: Mapping[str, LayerSource]) -> list[Program]:
        """Both programs with calls of the framework's layers, and in place of both the second where only layers differ.

        A layer without an effect in evaluation, such as dropout, is called in both modes.
        """
        idle = []
        for path, layer in layers.items():
            name = self.attributes.new(identifier(path.replace("/", "_")))
            replacements = [
                layer_call(program, path, f"self.{name}", is_tuple=layer.call.is_tuple, once=not layer.zeros)
                for program in (use, train)
            ]
            if replacements[1] is None or (replacements[0] is None and any(call.place == path for call in use.calls)):
                continue
            if replacements[0] is None:
                idle.append(f"self.{name}")
            use, train = replacements[0] or use, replacements[1]
            self.setup += _layer_lines(name, layer)
        if idle and self._equal(use, without_calls(train, idle)):
            use = train
        return [use, train]

    def _equal(self, one: Program, other: Program) -> bool:
        """Whether two programs are the same text."""
        texts = []
        for program in (one, other):
            write = MethodSource(
                self.backend, dict.fromkeys(program.parameters, "p"), lambda array: str(array.tobytes())
            )
            texts.append(write(program, self._inputs(program)))
        return texts[0] == texts[1]

    def text(self, use: Program, train: Program, layers: Mapping[str, LayerSource]) -> str:
        names = self._inputs(use)
        programs = self._replace_layers(use, train, layers)
        used_keys = {key for program in programs for key in program.parameters}
        self._write_parameters(key for key in [*self.values] if key in used_keys)
        write = MethodSource(self.backend, self.parameters, self._constant)
        bodies = [write(program, names) for program in programs]
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


def _layer_lines(name: str, layer: LayerSource) -> list[str]:
    """The statement that makes an attribute of a layer."""
    if not layer.arrays:
        return [f"self.{name} = {layer.call.source}"]
    arrays = [f"{word}=_array(values[{key!r}]{f', {axes}' if axes else ''})" for word, key, axes in layer.arrays]
    arrays += [f"{word}=np.zeros_like(values[{key!r}])" for word, key in layer.zeros]
    return [f"self.{name} = _fill(", *(f"    {part}," for part in (layer.call.source, *arrays)), ")"]


_ARRAY = (
    "def _array(values, axes=None):",
    '    """An array in the axis order of the computation."""',
    "    return np.ascontiguousarray(values if axes is None else values.transpose(axes))",
)
