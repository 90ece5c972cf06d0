"""Operators that are functions of others: of the standard, which defines them so, and of the file itself."""

from __future__ import annotations

import itertools
from typing import Any

from labdl.errors import FileFormatError
from labdl.saving.onnx.importer.file import Node, read_node
from labdl.saving.onnx.standard import DTYPES, package

_DEEPEST = 32  # functions in functions


def definition(node: Node, functions: dict, inputs: list[Any], number: int) -> list[Node] | None:
    """The nodes by which a node's operator is defined, None if it is not; ``number`` makes the names inside unique.

    Raises ValueError or TypeError for a node that does not have the form of its operator.
    """
    try:
        function = _body(node, functions, inputs)
        return None if function is None else expand(node, function, number)
    except (RuntimeError, UnicodeError) as error:  # of the package
        raise ValueError(str(error)) from error


def _body(node: Node, functions: dict, inputs: list[Any]):
    """The definition of a node's operator by other operators, None if it has none."""
    onnx = package()
    domain, word = node.operator
    own = functions.get((domain, word))
    if own is not None:
        return own
    try:
        schema = onnx.defs.get_schema(word, node.opset, domain)
    except onnx.defs.SchemaError:
        return None
    for attribute in node.proto.attribute:
        declaration = schema.attributes.get(attribute.name)
        if declaration is not None and int(declaration.type.value) != attribute.type:
            raise ValueError(f"attribute {attribute.name!r} is of another type than the operator's")
    function_proto = onnx.FunctionProto()
    if schema.has_function:
        version = _latest(schema.function_opset_versions, node.opset)
        function_proto.ParseFromString(schema.get_function_with_opset_version(version))
    elif schema.has_context_dependent_function:
        version = _latest(schema.context_dependent_function_opset_versions, node.opset)
        types = [_type(onnx, value).SerializeToString() for value in inputs]
        text = schema.get_context_dependent_function_with_opset_version(version, node.proto.SerializeToString(), types)
        function_proto.ParseFromString(text)
    return function_proto if function_proto.node else None


def _latest(versions: list[int], most: int) -> int:
    return max((v for v in versions if v <= most), default=min(versions))


def _type(onnx, value):
    """The type of a value for a definition that depends on it; empty for an omitted one."""
    if value is None or value.dtype not in DTYPES:
        return onnx.TypeProto()
    return onnx.helper.make_tensor_type_proto(DTYPES[value.dtype], list(value.shape))


def expand(node: Node, function, number: int) -> list[Node]:
    """The nodes of a function in place of a node; names inside are its own, by ``number``."""
    onnx = package()
    prefix = f"{node.name or node.kind}/{number}/"
    names = {"": ""}
    names.update(itertools.zip_longest(function.input, node.inputs[: len(function.input)], fillvalue=""))
    outputs = [*node.outputs, *[""] * len(function.output)]
    names.update({inner: outer for inner, outer in zip(function.output, outputs, strict=False) if outer})
    attributes = _defaults(onnx, node) | {a.name: a for a in (*function.attribute_proto, *node.proto.attribute)}
    versions = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in function.opset_import}
    return [
        read_node(onnx, _rename(onnx, inner, names, prefix, attributes), versions, _Any()) for inner in function.node
    ]


def _defaults(onnx, node: Node) -> dict[str, Any]:
    """The attributes that the standard gives an operator where the node does not say them."""
    domain, word = node.operator
    try:
        schema = onnx.defs.get_schema(word, node.opset, domain)
    except onnx.defs.SchemaError:  # a function of the file
        return {}
    return {k: v.default_value for k, v in schema.attributes.items() if v.default_value.type}


class _Any:
    """Functions of a file may call each other; those that it lacks are refused where they are computed."""

    def __contains__(self, name) -> bool:
        return True


def _rename(onnx, inner, names: dict[str, str], prefix: str, given: dict[str, Any]):
    """A node of a function with the names and attributes of where it is used."""
    renamed_node = onnx.NodeProto()
    renamed_node.CopyFrom(inner)
    renamed_node.ClearField("attribute")
    renamed_node.name = f"{prefix}{inner.name}" if inner.name else ""
    for field in (renamed_node.input, renamed_node.output):
        for at, name in enumerate(field):
            field[at] = names.setdefault(name, f"{prefix}{name}")
    for attribute in inner.attribute:
        if not attribute.ref_attr_name:
            renamed_node.attribute.append(_with_subgraph(onnx, attribute, names, prefix, given))
        elif attribute.ref_attr_name in given:
            copy = renamed_node.attribute.add()
            copy.CopyFrom(given[attribute.ref_attr_name])
            copy.name = attribute.name
    return renamed_node


def _with_subgraph(onnx, attribute, names: dict[str, str], prefix: str, given: dict[str, Any]):
    """An attribute; in a subgraph the names from outside are those of where the function is used."""
    if attribute.type != onnx.AttributeProto.GRAPH:
        return attribute
    made = onnx.AttributeProto()
    made.CopyFrom(attribute)
    inside = {**names, **{v.name: v.name for v in (*attribute.g.input, *attribute.g.initializer)}}
    nodes = [_rename(onnx, inner, inside, prefix, given) for inner in attribute.g.node]
    made.g.ClearField("node")
    made.g.node.extend(nodes)
    for output in made.g.output:
        output.name = inside.get(output.name, output.name)
    return made


def check_depth(depth: int, node: Node) -> None:
    """Raise FileFormatError for functions that call themselves, or are nested too deeply."""
    if depth > _DEEPEST:
        raise FileFormatError(f"{node} is a function in functions of more than {_DEEPEST} levels, or calls itself")
