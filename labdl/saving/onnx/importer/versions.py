"""Versions of the operator sets: files older than LabDL reads are converted, newer ones are read operator by operator."""

from __future__ import annotations

import functools

from labdl.errors import FileFormatError
from labdl.saving.onnx.standard import NEWEST, OLDEST, package

_MAIN = ("", "ai.onnx")


def convert_old(onnx, model, name: str):
    """The file with operators that LabDL reads, where those of its own version are older. Raises FileFormatError."""
    versions = {o.domain: o.version for o in model.opset_import}
    version = next((versions[d] for d in _MAIN if d in versions), None)
    if version is None:
        if any(n.domain in _MAIN for n in model.graph.node):
            raise FileFormatError(f"{name} is not an ONNX file, or it is truncated: it names no operator set")
        return model
    if version >= OLDEST:
        return model
    import onnx.version_converter

    if any(n.op_type == "Scan" for n in model.graph.node) and version < 9:  # the converter leaves it as it is
        raise FileFormatError(
            f"{name} has the operator Scan of version {version} of the operator set, with an axis of the batch and lengths, "
            "which LabDL does not support: export it with version 9 or newer"
        )
    try:
        onnx.checker.check_model(model)
        return onnx.version_converter.convert_version(model, OLDEST)
    except (onnx.checker.ValidationError, onnx.version_converter.ConvertError, RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines() or [""]
        raise FileFormatError(
            f"{name} uses version {version} of the operator set, and LabDL supports {OLDEST} and newer, into which "
            f"onnx.version_converter cannot convert it ({reason[0]:.200}): export it again with a newer version"
        ) from error


@functools.cache
def unknown_version(domain: str, operator: str, version: int) -> str:
    """Why LabDL does not know this operator in this version of the operator set; empty if it does.

    An operator that a later version of the set does not define anew, or only for more dtypes, is the one that LabDL knows.
    """
    if domain or version <= NEWEST:
        return ""
    defs = package().defs
    if version > defs.onnx_opset_version():
        return f"is of version {version} of the operator set, which the package onnx does not know: upgrade onnx"
    try:
        defined = defs.get_schema(operator, version)
    except defs.SchemaError:
        return ""  # reported as an unknown operator
    if defined.since_version <= NEWEST:
        return ""
    try:
        schema = defs.get_schema(operator, NEWEST)
    except defs.SchemaError:
        schema = None
    if schema is not None and _form(schema) == _form(defined):
        return ""
    return (
        f"is defined anew in version {defined.since_version} of the operator set, and this LabDL knows it up to version "
        f"{NEWEST}: upgrade labdl, or export the model with an older version"
    )


def _form(schema):
    """Attributes, inputs and outputs of an operator: its definition besides its dtypes."""
    attributes = {k: (v.required, v.type, str(v.default_value)) for k, v in schema.attributes.items()}
    return [attributes, [v.name for v in schema.inputs], [v.name for v in schema.outputs]]
