"""Writing an ONNX file: inputs and outputs, checks, encoding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.errors import ModelError
from labdl.graph import Graph, as_graph
from labdl.graph.inputs import graph_arguments
from labdl.nn.module import Module, observer
from labdl.nn.signature import input_names
from labdl.saving.onnx.exporter.value import Value
from labdl.saving.onnx.exporter.writer import Writer
from labdl.saving.onnx.standard import CALLS, DTYPES, LARGEST, OPSET, package
from labdl.spec import Shape, Spec, as_spec

_ROOM = 2**24  # bytes reserved for everything but the weights


def export_onnx(model: Module | Graph, path: str | Path, *, shapes: Sequence | None = None) -> Path:
    """Export a built model in evaluation mode to an ONNX file; returns the path.

    The inputs are those that the model was built with, or those of ``shapes``; an unknown first size becomes the dimension
    "batch", other unknown ones have names of their own. A `Graph` gets new weights. Raises ModelError for what ONNX
    cannot express, and for models above 2 GB, the limit of a file that contains its weights.
    """
    path = Path(path)
    data = encode(model.to_module().build(backend="numpy") if isinstance(model, Graph) else model, shapes)
    with replace_files(path) as (file,):
        file.write(data)
    return path


def encode(model: Module, shapes: Sequence | None = None) -> bytes:
    """Encode a model as the bytes of an ONNX file, and check them."""
    onnx = package()
    model._need_build()
    specs = model.input_specs if shapes is None else tuple(s if s is None else as_spec(s) for s in shapes)
    options = model._input_options if shapes is None else {}
    size = sum(p.size * (8 if p.dtype in ("float64", "int64") else 4) for p in model.parameters())
    if size > LARGEST - _ROOM:
        raise ModelError(
            f"{type(model).__name__} has {size / 1e9:.1f} GB of parameters, and an ONNX file holds at most 2 GB: "
            "export its parts one by one"
        )
    writer = Writer(model)
    names = input_names(model, len(specs))
    inputs = [s if s is None else Value(writer, s, writer.names.new(n)) for s, n in zip(specs, names, strict=True)]
    named = {k: Value(writer, v, writer.names.new(k)) if isinstance(v, Spec) else v for k, v in options.items()}
    results = _run(writer, model, inputs, named)
    outputs = _outputs(writer, model, results)
    graph = onnx.helper.make_graph(
        writer.nodes,
        type(model).__name__,
        [_value_info(onnx, v) for v in (*inputs, *named.values()) if isinstance(v, Value)],
        [_value_info(onnx, v) for v in outputs],
        list(writer.weights.values()),
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], producer_name="labdl")
    made.ir_version = onnx.helper.find_min_ir_version_for(made.opset_import)
    _name_sizes(made, model, specs, options, outputs)
    calls = _calls(model)
    if calls:
        onnx.helper.set_model_props(made, {CALLS: json.dumps(calls)})
    try:
        data = made.SerializeToString(deterministic=True)
        onnx.checker.check_model(data, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        # ONNX's operators do not take every dtype
        raise ModelError(f"{type(model).__name__} cannot be written as ONNX: {error}") from error
    return data


def _calls(model: Module) -> dict[str, dict[str, Any]]:
    """Settings of inputs that ONNX does not have, by name: which may be omitted, their defaults and places."""
    try:
        graph = as_graph(model)
    except ModelError:  # an ONNX file can hold models that a graph cannot
        return {}
    found = {}
    for argument in graph_arguments(graph):
        params = graph.nodes[argument.node].params if argument.node else {}
        if kept := {word: params[word] for word in ("optional", "default", "skips") if word in params}:
            found[argument.name] = kept
    return found


def _run(writer: Writer, model: Module, inputs, named) -> list[Value]:
    modes = [(m, m.training) for m in model.modules()]
    token = observer.set(writer)
    try:
        returned = model.eval()._shapes_of(*inputs, **named)
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, ModelError) else ModelError(f"{type(model).__name__}: {error}") from error
    finally:
        observer.reset(token)
        writer.restore()
        for module, mode in modes:
            module.__dict__["training"] = mode
    results = [writer.lift(v) for v in (returned if isinstance(returned, list | tuple) else [returned])]
    for value in results:
        if not isinstance(value, Value):
            raise ModelError(
                f"forward returns a {type(value).__name__}, which ONNX cannot represent: return a tensor computed "
                "from the inputs, or a tuple of them"
            )
    return results


def _outputs(writer: Writer, model: Module, results: list[Value]) -> list[Value]:
    """The results under the names of the model's outputs."""
    known: tuple[str, ...] = getattr(type(model), "layer_outputs", ())
    outputs = []
    for at, value in enumerate(results):
        wanted = known[at] if len(known) == len(results) else f"output_{at}" if at else "output"
        name = writer.names.new(wanted)
        writer.nodes.append(writer.onnx.helper.make_node("Identity", [writer.name_of(value)], [name], name=name))
        outputs.append(Value(writer, value.plain(), name))
    return outputs


def _value_info(onnx, value: Value):
    """ONNX description of a value: name, dtype and shape."""
    sizes: list[Any] = list(value.shape)
    return onnx.helper.make_tensor_value_info(value.name, DTYPES[value.dtype], sizes)


def _name_sizes(made, model: Module, specs, options, outputs: list[Value]) -> None:
    """Name unknown sizes: "batch" for the first axis of the inputs and for axes of the outputs that follow it."""
    for info in made.graph.input:
        for axis, size in enumerate(info.type.tensor_type.shape.dim):
            if not size.HasField("dim_value"):
                size.dim_param = "batch" if axis == 0 else f"{info.name}_{axis}"
    try:
        found = [_shapes_for(model, specs, options, batch) for batch in (2, 3)]
    except (ValueError, TypeError):  # another input allows only one batch size
        found = [[s.shape for s in outputs]] * 2
    for info, two, three in zip(made.graph.output, *found, strict=True):
        for axis, size in enumerate(info.type.tensor_type.shape.dim):
            if not size.HasField("dim_value"):
                size.dim_param = "batch" if (two[axis], three[axis]) == (2, 3) else f"{info.name}_{axis}"


def _shapes_for(model: Module, specs, options, batch: int) -> list[Shape]:
    """Output shapes for this batch size."""

    def with_batch(spec):
        return (
            Spec((batch, *spec.shape[1:]), spec.dtype) if isinstance(spec, Spec) and spec.shape[:1] == (None,) else spec
        )

    results = model._shapes_of(*map(with_batch, specs), **{name: with_batch(value) for name, value in options.items()})
    return [s.shape for s in (results if isinstance(results, list | tuple) else [results])]
