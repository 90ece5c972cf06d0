"""Import of an ONNX file: layers where the file has their weights, operators between them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.bounded.files import read_file
from labdl.errors import ConfigError, FileFormatError, LabDLError
from labdl.graph import Graph, GraphModule, trace
from labdl.graph.codegen.calls import identifier
from labdl.graph.inputs import GENERAL, argument_name, needed_for_output, optional_inputs
from labdl.nn import build
from labdl.nn.module import is_reserved
from labdl.saving.onnx.importer.file import File, parse
from labdl.saving.onnx.importer.program import Program
from labdl.saving.onnx.standard import LARGEST
from labdl.spec import show


def import_onnx(
    path: str | Path, backend: str | None = None, constants: Mapping[str, Any] | None = None
) -> GraphModule:
    """Import an ONNX file with its weights as a built model in evaluation mode, on any backend.

    Convolutions, linear and recurrent layers, embeddings, normalizations and activations become layers, the rest operators;
    names are those of the file's weights and nodes. ``constants`` are values of inputs, by name, that shapes or axes follow
    from, such as ``{"axes": [1]}``: the model has the other inputs. Raises FileNotFoundError, or FileFormatError for a file
    that is broken, that uses unsupported operators, or whose weights are in another file.
    """
    path = Path(path)
    return decode(read_file(path, LARGEST, "ONNX file"), path.name, backend, constants)


def decode(
    data: bytes, name: str = "the file", backend: str | None = None, constants: Mapping[str, Any] | None = None
) -> GraphModule:
    """Decode the bytes of an ONNX file to a model."""
    file = with_constants(parse(data, name), constants or {})
    program = Program(file)
    try:
        program._shapes_of(*file.inputs.values())  # creates the layers, which must exist before the trace
        if program.clashes:
            program = Program(file, program.called)
            program._shapes_of(*file.inputs.values())
        graph = trace(program, *file.inputs.values(), name=re.sub(r"\W", "_", Path(name).stem) or "model")
        model = _with_names(graph, file).to_module()
        build.build(model, tuple(model._inputs), backend, 0, {}, lambda made: _standard(made, program.values, name))
    except FileFormatError:
        raise
    except LabDLError as error:
        raise FileFormatError(f"{name} does not fit together: {error}") from error
    return model.eval()  # type: ignore[return-value]


def with_constants(file: File, constants: Mapping[str, Any]) -> File:
    """The file with values in place of inputs. Raises ConfigError for others than its inputs take."""
    arrays = {}
    for name, value in constants.items():
        spec = file.inputs.get(name)
        if spec is None:
            names = ", ".join(file.inputs) or "none"
            raise ConfigError(f"{file.name} has no input {name!r} for the constant: its inputs are {names}")
        try:
            arrays[name] = np.asarray(value, dispatch.load("numpy").dtype(spec.dtype))
        except (ValueError, TypeError, OverflowError) as error:
            raise ConfigError(f"the constant {name!r} is no array of dtype {spec.dtype}: {error}") from error
        shape = arrays[name].shape
        if len(shape) != spec.ndim or any(n not in (None, m) for n, m in zip(spec.shape, shape, strict=True)):
            raise ConfigError(f"the constant {name!r} has shape {show(shape)}, and the input takes {show(spec.shape)}")
    inputs = {name: spec for name, spec in file.inputs.items() if name not in arrays}
    return dataclasses.replace(file, inputs=inputs, constants=arrays)


def _standard(model, values, name: str):
    """The weights in the axis order of parameter files. Raises FileFormatError where shapes do not match."""
    found = {}
    for key, parameter in model.named_parameters():
        if values[key].shape != parameter.shape:
            raise FileFormatError(
                f"{name} does not fit together: {key} has shape {show(values[key].shape)}, and its "
                f"operator expects {show(parameter.shape)}"
            )
        found[key] = parameter.to_standard(values[key])
    return found


def _with_names(graph: Graph, file: File) -> Graph:
    """The graph with its inputs as in the file: their names, and what an export of LabDL says about calls."""
    nodes = dict(graph.nodes)
    names = {n.name: i for i, n in nodes.items()}
    for node_id, name in zip(graph.inputs(), file.inputs, strict=True):
        word = re.sub(r"\W", "_", name, flags=re.ASCII)
        word = f"{word}_input" if is_reserved(word) else word  # such as training
        argument, node = identifier(word), GENERAL if word == "x" else word
        made = nodes[node_id]
        if node and names.get(node, node_id) == node_id:
            del names[made.name]
            names[node] = node_id
            made = dataclasses.replace(made, name=node)
        params = {k: v for k, v in made.params.items() if k != "argument"} | file.calls.get(name, {})
        if argument_name(dataclasses.replace(made, params=params)) != argument:
            params["argument"] = argument
        nodes[node_id] = dataclasses.replace(made, params=params)
    named = dataclasses.replace(graph, nodes=nodes)
    needed = needed_for_output(named)
    for node_id in optional_inputs(named):
        if node_id in needed:  # ONNX spells out what a layer does with an omitted input
            params = {k: v for k, v in nodes[node_id].params.items() if k != "optional"}
            nodes[node_id] = dataclasses.replace(nodes[node_id], params=params)
    return dataclasses.replace(graph, nodes=nodes)
