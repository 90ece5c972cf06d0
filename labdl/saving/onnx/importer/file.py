"""Parsing and validation of untrusted ONNX files."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labdl.errors import FileFormatError, LabDLError
from labdl.nn import Input
from labdl.saving.onnx.importer.size_limits import check_sizes
from labdl.saving.onnx.importer.versions import convert_old
from labdl.saving.onnx.standard import CALLS, NAMES, NEWEST, package, type_name
from labdl.spec import Spec

MOST_AXES = 32  # per tensor
MOST_NODES = 100_000  # that an output depends on
_LONGEST = 100_000  # characters of the metadata about inputs
_DOMAINS = ("", "ai.onnx")  # the operators of the standard
# empty ones, as PyTorch wrote, are the defaults
_PER_AXIS = ("strides", "pads", "dilations", "output_padding")
_FURTHER = ("ai.onnx.ml", "ai.onnx.preview")  # of classical machine learning, and those that are not final


@dataclass(frozen=True)
class Node:
    """One node of the file; omitted inputs have empty names.

    ``kind`` is the operator, after its domain if that is not the standard's main one; ``opset`` is the version of the
    domain's operators, and ``proto`` the message of the node.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = NEWEST
    proto: Any = field(default=None, repr=False, compare=False)

    @property
    def subgraphs(self) -> tuple[Subgraph, ...]:
        return tuple(v for v in self.attributes.values() if isinstance(v, Subgraph))

    @property
    def outer_names(self) -> set[str]:
        """Names that the subgraphs use, those from outside among them."""
        return {
            name
            for graph in self.subgraphs
            for names in (graph.outputs, *({*n.inputs, *n.outer_names} for n in graph.nodes))
            for name in names
        }

    @property
    def operator(self) -> tuple[str, str]:
        """The domain, and the operator in it."""
        domain, _, word = self.kind.rpartition(".")
        return domain, word

    def __str__(self) -> str:
        return f"node {self.name!r} ({self.kind})" if self.name else f"a node {self.kind}"


@dataclass(frozen=True, eq=False)
class Subgraph:
    """The nodes of a branch or of the body of a loop, which may use values from outside."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    weights: dict[str, np.ndarray]


@dataclass(frozen=True)
class File:
    """The nodes of a file in order, without those that no output depends on."""

    name: str
    size: int
    foreign: bool  # written by another program
    inputs: dict[str, Spec]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    weights: dict[str, np.ndarray]
    calls: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # settings of inputs that ONNX does not have, by name
    functions: dict[tuple[str, str], Any] = field(default_factory=dict)  # of the file itself, by domain and name
    constants: dict[str, np.ndarray] = field(default_factory=dict)  # values of inputs that were given at import


def parse(data: bytes, name: str) -> File:
    """Parse an ONNX file. Raises FileFormatError for broken files, other domains and external data."""
    onnx = package()
    from google.protobuf.message import DecodeError

    check_sizes(data, onnx.ModelProto, name)
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise FileFormatError(f"{name} is not an ONNX file, or it is truncated: {error}") from error
    graph = model.graph
    if not model.ir_version or not graph.node or not graph.output or not all(o.name for o in graph.output):
        raise FileFormatError(f"{name} is not an ONNX file, or it is truncated: it contains no graph with outputs")
    model, versions = convert_old(onnx, model, name), _versions(model)
    graph = model.graph
    functions = {(f.domain, f.name): f for f in model.functions}
    try:
        nodes = _live([read_node(onnx, n, versions, functions) for n in graph.node], [o.name for o in graph.output])
        if len(nodes) > MOST_NODES:
            raise FileFormatError(f"it has {len(nodes):,} nodes, and LabDL reads up to {MOST_NODES:,}")
        weights = {t.name: array(onnx, t) for t in graph.initializer}
        if graph.sparse_initializer:
            raise FileFormatError("it contains sparse weights, which LabDL does not support")
        inputs = {v.name: _spec(v) for v in graph.input if v.name not in weights}
    except FileFormatError as error:
        raise FileFormatError(f"{name}: {error}") from error.__cause__
    except MemoryError as error:
        raise FileFormatError(f"{name} needs more memory than there is") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{name} is broken: {error}") from error
    return File(
        name,
        len(data),
        model.producer_name != "labdl",
        inputs,
        tuple(o.name for o in graph.output),
        nodes,
        weights,
        _calls(model, inputs),
        functions,
    )


def _calls(model, inputs: dict[str, Spec]) -> dict[str, dict[str, Any]]:
    """Settings of inputs in an export of LabDL. Anything else is ignored: the file is complete without it."""
    text = next((p.value for p in model.metadata_props if p.key == CALLS), "")
    try:
        data = json.loads(text) if 0 < len(text) <= _LONGEST else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    found = {}
    for name, settings in data.items():
        if name in inputs and isinstance(settings, dict) and settings.keys() <= {"optional", "default", "skips"}:
            try:
                made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
                Input(inputs[name].shape, **made)  # checks them
            except LabDLError:
                continue
            found[name] = made
    return found


def _versions(model) -> dict[str, int]:
    """The versions of the operator sets of a file or of a function, by domain."""
    return {"" if o.domain in _DOMAINS else o.domain: o.version for o in model.opset_import}


def read_node(onnx, node, versions: dict[str, int], functions) -> Node:
    """A node from its message. Raises FileFormatError for operators of unknown programs."""
    domain = "" if node.domain in _DOMAINS else node.domain
    if not all(isinstance(word, str) for word in (domain, node.op_type, node.name, *node.input, *node.output)):
        raise FileFormatError(f"its node {node.name!r} ({node.op_type!r}) has a name that is not text in UTF-8")
    if domain and domain not in _FURTHER and (domain, node.op_type) not in functions:
        raise FileFormatError(
            f"its node {node.name!r} is the operator {node.domain}.{node.op_type}, which is not of the ONNX standard"
        )
    return Node(
        f"{domain}.{node.op_type}" if domain else node.op_type,
        node.name,
        tuple(node.input),
        tuple(node.output),
        {
            a.name: _attribute(onnx, a, node, versions, functions)
            for a in node.attribute
            if not a.ref_attr_name and (a.ints or a.name not in _PER_AXIS)
        },
        versions.get(domain, NEWEST),
        node,
    )


def _attribute(onnx, attribute, node, versions, functions):
    kinds = onnx.AttributeProto
    if attribute.type in (kinds.FLOAT, kinds.INT, kinds.FLOATS, kinds.INTS):
        value = onnx.helper.get_attribute_value(attribute)
        if attribute.type == kinds.FLOAT:
            return float(str(np.float32(value)))  # 0.1 instead of the nearest float32
        return value if attribute.type == kinds.INT else list(value)
    if attribute.type == kinds.STRING:
        return attribute.s.decode()
    if attribute.type == kinds.STRINGS:
        return [s.decode() for s in attribute.strings]
    if attribute.type == kinds.TENSOR:
        return array(onnx, attribute.t)
    if attribute.type == kinds.GRAPH:
        graph = attribute.g
        if graph.sparse_initializer:
            raise FileFormatError(f"its node {node.name!r} ({node.op_type}) contains sparse weights")
        return Subgraph(
            tuple(v.name for v in graph.input),
            tuple(v.name for v in graph.output),
            tuple(read_node(onnx, n, versions, functions) for n in graph.node),
            {t.name: array(onnx, t) for t in graph.initializer},
        )
    kind = kinds.AttributeType.Name(attribute.type).lower()
    raise FileFormatError(
        f"its node {node.name!r} ({node.op_type}) has the attribute {attribute.name!r} of type {kind}, which LabDL does "
        "not support"
    )


def array(onnx, tensor) -> np.ndarray:
    """Array of a tensor stored in the file."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise FileFormatError(
            f"the weights {tensor.name!r} are in another file, which LabDL does not open: save the model as one file"
        )
    dtype = NAMES.get(tensor.data_type)
    if dtype is None or dtype == "string" or dtype.startswith("complex"):
        raise FileFormatError(
            f"the weights {tensor.name!r} have a type that LabDL does not support ({type_name(tensor.data_type)})"
        )
    # a size of 0 would allow any other sizes
    if any(n < 0 for n in tensor.dims) or math.prod(max(n, 1) for n in tensor.dims) > 8 * tensor.ByteSize():
        raise FileFormatError(f"the weights {tensor.name!r} claim {tuple(tensor.dims)}, more than the file holds")
    try:
        return onnx.numpy_helper.to_array(tensor)  # rejects sizes that the data in the file does not fill
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise FileFormatError(f"the weights {tensor.name!r} are broken: {error}") from error


def _spec(value) -> Spec:
    """Shape and dtype of an input; named or missing sizes are unknown, and so is a batch of 0, as old programs write it."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise FileFormatError(f"its input {value.name!r} is not a tensor of known shape")
    dtype = NAMES.get(kind.elem_type)
    if dtype is None:
        raise FileFormatError(
            f"its input {value.name!r} has a type that LabDL does not support ({type_name(kind.elem_type)})"
        )
    if len(kind.shape.dim) > MOST_AXES:
        raise FileFormatError(f"its input {value.name!r} has {len(kind.shape.dim)} axes")
    sizes = [
        d.dim_value if d.HasField("dim_value") and d.dim_value >= (axis == 0) else None
        for axis, d in enumerate(kind.shape.dim)
    ]
    return Spec(tuple(sizes), dtype)


def _live(nodes: list[Node], outputs: list[str]) -> tuple[Node, ...]:
    """The nodes that an output depends on. Raises FileFormatError where a name is computed twice or used too early."""
    known: set[str] = set()
    for node in nodes:
        for name in filter(None, node.outputs):
            if name in known:
                raise FileFormatError(f"it computes {name!r} twice")
            known.add(name)
    wanted, live = set(outputs), []
    for node in reversed(nodes):
        if wanted & {*node.outputs}:
            live.append(node)
            wanted.update(filter(None, (*node.inputs, *node.outer_names)))
    return tuple(reversed(live))
