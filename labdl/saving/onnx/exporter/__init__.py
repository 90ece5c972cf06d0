"""Export of models to ONNX: the writers of operators, and the file around them."""

from labdl.saving.onnx.exporter import arrays, elementwise, indexing, neural, recurrence, reductions  # register writers
