"""ONNX files (https://onnx.ai): models out, for programs without LabDL, and models in, from whatever program wrote them."""

from labdl.saving.onnx.exporter.file import export_onnx
from labdl.saving.onnx.importer.module import import_onnx

__all__ = ["export_onnx", "import_onnx"]
