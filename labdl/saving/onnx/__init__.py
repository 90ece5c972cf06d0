"""ONNX files (https://onnx.ai): export of models, and import of models from any program."""

from labdl.saving.onnx.exporter.file import export_onnx
from labdl.saving.onnx.importer.module import import_onnx

__all__ = ["export_onnx", "import_onnx"]
