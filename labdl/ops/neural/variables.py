"""Operators that change variables of a backend."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import NUMBERS_AND_BOOL, case, floats, operator


@operator(
    rules.assign,
    case(floats(2, 3), floats(2, 3)),
    case(floats(), floats()),
    takes=NUMBERS_AND_BOOL,
    differentiable=False,
    cost=0,
    without_onnx="variables that change",
)
def assign(variable, value, /):
    """Store a value of the same shape in a variable, in place, and return it.

    No gradient flows through it. A tensor that is not a variable, as a compiled function may receive, is not changed where
    tensors are constants (TensorFlow, MindSpore). Use the result in what follows, or a compiled function leaves it out.
    """
    if np.shape(variable) != np.shape(value):
        raise ValueError(f"assign wants a value of shape {np.shape(variable)}, received {np.shape(value)}")
    value = np.asarray(value, np.asarray(variable).dtype)
    if isinstance(variable, np.ndarray):
        variable[...] = value
    return value
