"""ONNX files (https://onnx.ai): models out, for programs without LabDL, and models in, from whatever program wrote them."""

from labdl.saving.onnx.reading.module import import_onnx
from labdl.saving.onnx.writing.file import export_onnx

__all__ = ["export_onnx", "import_onnx"]
