"""Functions and methods of other frameworks that a forward calls, by what LabDL has for them.

``LAYERS`` are functions of one tensor and settings: each is a class of the framework whose arguments come in the same order.
``OPERATORS`` are operators of LabDL, with their arguments after the tensors.
"""

from __future__ import annotations

from typing import NamedTuple


class Operator(NamedTuple):
    """An operator, with the names of its arguments in the order of the function and the framework's own names for them."""

    name: str
    arguments: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = (("dim", "axis"), ("keepdim", "keepdims"))


# of torch.nn.functional, of torch, and methods of a tensor
LAYERS = {
    "adaptive_avg_pool1d": "AdaptiveAvgPool1d",
    "adaptive_avg_pool2d": "AdaptiveAvgPool2d",
    "adaptive_max_pool2d": "AdaptiveMaxPool2d",
    "alpha_dropout": "AlphaDropout",
    "avg_pool1d": "AvgPool1d",
    "avg_pool2d": "AvgPool2d",
    "celu": "CELU",
    "dropout": "Dropout",
    "dropout2d": "Dropout2d",
    "elu": "ELU",
    "flatten": "Flatten",
    "gelu": "GELU",
    "glu": "GLU",
    "hardsigmoid": "Hardsigmoid",
    "hardswish": "Hardswish",
    "hardtanh": "Hardtanh",
    "interpolate": "Upsample",
    "leaky_relu": "LeakyReLU",
    "log_softmax": "LogSoftmax",
    "logsigmoid": "LogSigmoid",
    "max_pool1d": "MaxPool1d",
    "max_pool2d": "MaxPool2d",
    "mish": "Mish",
    "pixel_shuffle": "PixelShuffle",
    "softmax": "Softmax",
    "softplus": "Softplus",
    "upsample": "Upsample",
}
SWITCHES = {"training", "inplace"}  # arguments that say nothing of the layer
MOST_SETTINGS = {"dropout": 1, "dropout2d": 1, "alpha_dropout": 1}  # what follows by position is a switch
METHODS = {"flatten": "Flatten", "softmax": "Softmax", "log_softmax": "LogSoftmax"}

OPERATORS = {
    "cat": Operator("concat", ("axis",)),
    "concat": Operator("concat", ("axis",)),
    "stack": Operator("stack", ("axis",)),
    "mean": Operator("mean", ("axis", "keepdims")),
    "sum": Operator("sum", ("axis", "keepdims")),
    "unsqueeze": Operator("expand_dims", ("axis",)),
    "squeeze": Operator("squeeze", ("axis",)),
    "matmul": Operator("matmul"),
    "add": Operator("add"),
    "sub": Operator("subtract"),
    "mul": Operator("multiply"),
}
METHOD_OPERATORS = ("mean", "sum", "unsqueeze", "squeeze", "matmul")

# functions of keras.layers that take a list of tensors
KERAS_LISTS = {"concatenate": "concat", "add": "add", "multiply": "multiply", "subtract": "subtract"}
