"""ONNX to models: what each operator of a file means in LabDL, and the checks before that."""
