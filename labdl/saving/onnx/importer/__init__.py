"""Import of ONNX files: the readers of their operators, and the program around them."""

from labdl.saving.onnx.importer import (  # register readers
    arrays,
    constants,
    control_flow,
    elementwise,
    image,
    linear_models,
    neural,
    pooling,
    quantization,
    recurrence,
    reductions,
    selection,
    spectra,
)
