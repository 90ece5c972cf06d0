"""Names shared by import and export: the package, the version of the operator set, and dtypes."""

from __future__ import annotations

from types import ModuleType

from labdl.errors import BackendError

OPSET = 20  # has GELU, 3-d GridSample and circular padding; supported by ONNX Runtime since 1.17
OLDEST = (
    13  # for import: before it, sizes and axes of many operators were attributes, and softmax was defined differently
)
NEWEST = 28  # whose definitions the readers follow; those of later sets are compared with them
CALLS = "labdl.inputs"  # key of the metadata that tells which inputs are optional, with their defaults and places
LARGEST = 2**31 - 1  # bytes of a protobuf message, and so of an ONNX file that holds its weights

# LabDL's name of a dtype: its number in ONNX (onnx.TensorProto.DataType)
DTYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "string": 8,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "complex64": 14,
    "complex128": 15,
    "bfloat16": 16,
}
NAMES = {number: name for name, number in DTYPES.items()}


def package() -> ModuleType:
    """The onnx package, imported when it is first needed. Raises BackendError that says how to install it."""
    try:
        import onnx
        import onnx.checker
        import onnx.defs
        import onnx.helper
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError as error:
        raise BackendError(f'ONNX files need the package onnx: pip install "labdl[onnx]" ({error})') from error
    return onnx


def type_name(number: int) -> str:
    """ONNX's name of a dtype, such as uint16, for messages."""
    data_types = package().TensorProto.DataType
    return data_types.Name(number).lower() if number in data_types.values() else f"number {number}"
