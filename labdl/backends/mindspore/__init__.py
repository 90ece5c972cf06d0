"""MindSpore as a LabDL backend."""

from labdl.backends.mindspore import runtime  # isort: skip  # first: it prepares the environment MindSpore reads

import mindspore

from labdl.backends.mindspore import operators
from labdl.backends.mindspore.runtime import (
    assign,
    evaluate_function,
    finite,
    gradients,
    optimizer,
    seed,
    spec_of,
    tensor,
    to_numpy,
    train_function,
    variable,
)  # fmt: skip

name = "mindspore"
namespaces = (mindspore.ops,)
tensor_types = runtime.tensor_types


__all__ = [
    "assign", "evaluate_function", "finite", "gradients", "name", "namespaces", "operators", "optimizer", "seed",
    "spec_of", "tensor", "tensor_types", "to_numpy", "train_function", "variable",
]  # fmt: skip
