"""Models to ONNX: what each operator is spelled as, and the file around it."""
