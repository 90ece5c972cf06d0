"""Compatibility of a model, a data set and a loss, checked before training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labdl.data import SOURCES
from labdl.graph.analysis.check import check
from labdl.graph.graph import Edge, Graph, Node
from labdl.lab.training.options import kind_of, size_of
from labdl.lab.training.script import loss_of
from labdl.spec import Spec, show
from labdl.train.losses import losses


def describe_source(name: str) -> dict[str, Any]:
    """Describe a data set of LabDL as `labdl.lab.training.data_files.describe_file` describes a file."""
    source = SOURCES[name]
    return {
        "name": name,
        "kind": kind_of(source.classes),
        "classes": source.classes,
        "input_shape": list(source.input_shape),
        "target_shape": [None, 1] if source.classes is None else [None],
    }


def mismatches(graph: Graph, data: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Input and output shapes of the model, and messages about what does not fit; unknown shapes are not checked."""
    model_ends = ends(graph)
    if model_ends.problems:
        return model_ends.shapes() | {"problems": model_ends.problems}
    inputs, outputs = model_ends.inputs, model_ends.outputs
    problems = [
        f"The model has {len(specs)} {what}: the data sets here have one of both. Train it with code."
        for what, specs in (("inputs", inputs), ("outputs", outputs))
        if len(specs) > 1
    ]
    if len(inputs) == 1 and len(outputs) == 1:
        problems = [p for p in (_input(inputs[0], data), _output(outputs[0], data, settings)) if p]
    return model_ends.shapes() | {"problems": problems}


@dataclass(frozen=True)
class Ends:
    """Specs of the inputs and outputs of a model, and what is wrong with the model itself, in sentences."""

    inputs: list[Spec]
    outputs: list[Spec]
    problems: list[str]

    def shapes(self) -> dict[str, Any]:
        """The shapes as lists."""
        return {name: [list(spec.shape) for spec in getattr(self, name)] for name in ("inputs", "outputs")}


def ends(graph: Graph) -> Ends:
    """The inputs and outputs of a model."""
    if not graph.nodes:
        problem = "The model has no layers yet."
        return Ends([], [], [problem])
    result = check(graph)
    inputs, outputs = (_specs(ids, result.specs) for ids in (graph.inputs(), graph.outputs()))
    if not result.problems:
        return Ends(inputs, outputs, [])
    first, more = result.problems[0], len(result.problems) - 1
    where = f"{graph.nodes[first.node].name}: " if first.node is not None and first.node in graph.nodes else ""
    others = f" (and {more} more)" if more else ""
    problem = f"The model has problems{others}: {where}{first.message}."
    return Ends(inputs, outputs, [problem])


def _specs(ids: list[str], specs: Mapping[str, Mapping[str, Spec]]) -> list[Spec]:
    return [spec for node in ids for spec in specs.get(node, {}).values()]


def _input(spec: Spec, data: Mapping[str, Any]) -> str | None:
    shape = data["input_shape"]
    if shape is None:
        return None
    wanted, given = spec.shape[1:], shape[1:]
    if spec.ndim == len(shape) and all(a is None or a == b for a, b in zip(wanted, given, strict=True)):
        return None
    return (
        f"{data['name']} has samples of {size_of(shape)}, the model's input wants {size_of(spec.shape)}: give the "
        f"Input the shape {show(tuple(shape))}, or choose another data set."
    )


def _output(spec: Spec, data: Mapping[str, Any], settings: Mapping[str, Any]) -> str | None:
    """A mismatch of the model's output with the loss and the data set's targets, or too few outputs."""
    classes, name = data["classes"], loss_of(settings)
    if data["target_shape"] is None:
        return None
    ends = {
        "output": Node("Input", "output", {"shape": spec.shape, "dtype": spec.dtype}),
        "target": Node(
            "Input",
            "target",
            {
                "shape": tuple(data["target_shape"]),
                "dtype": data.get("target_dtype") or ("float32" if classes is None else "int64"),
            },
        ),
    }
    kind = losses()[name].layer_type  # type: ignore[attr-defined]
    loss = Graph(
        {**ends, "loss": Node(kind, name, dict(settings.get("loss_settings") or {}))},
        {end: Edge(end, "loss", target_port=end) for end in ends},
    )
    if problems := check(loss).problems:
        return (
            f"{name} does not fit the output {show(spec.shape)} of the model and the targets "
            f"{show(tuple(data['target_shape']))} of {data['name']}: {problems[0].message}."
        )
    if data["kind"] == "numbers" and spec.ndim == len(data["target_shape"]):
        # a loss would broadcast one number
        wanted, given = data["target_shape"], spec.shape
        if any(a is not None and a != b for a, b in zip(given[1:], wanted[1:], strict=True)):
            return (
                f"{data['name']} has targets of {size_of(wanted)}, the model's output is {size_of(given)}: give the last "
                f"layer {wanted[-1]} {'feature' if wanted[-1] == 1 else 'features'}."
            )
    axis = (settings.get("loss_settings") or {}).get("axis", -1)
    last = spec.shape[axis] if spec.ndim else None
    if classes is not None and spec.ndim == len(data["target_shape"]) + 1 and last is not None and last < classes:
        return (
            f"{data['name']} has {classes} classes, the model's output {last} "
            f"{'number' if last == 1 else 'numbers'}: give the last layer {classes} features."
        )
    return None
