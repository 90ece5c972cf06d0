"""Platform-neutral operators: one name, one meaning, on every backend. Each decides by the type of its tensors."""

from labdl.ops.activation import *
from labdl.ops.array import *
from labdl.ops.creation import (
    arange,
    full,
    ones,
    permutation,
    random_integers,
    random_normal,
    random_uniform,
    tensor,
    to_numpy,
    zeros,
)
from labdl.ops.linalg import *
from labdl.ops.loss import *
from labdl.ops.math import *
from labdl.ops.neural import *
from labdl.ops.operator import OPERATORS, Operator, operator
from labdl.ops.reduction import *
from labdl.spec import Spec

# Arithmetic on Specs, so that `a + b` and `x[:, 0]` in a forward also give shapes.
_INFIX = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
          "mod": "remainder", "pow": "power", "matmul": "matmul"}  # fmt: skip
_COMPARE = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def _forward(function):
    return lambda self, other: function(self, other)


def _reflected(function):
    return lambda self, other: function(other, self)


for _short, _name in _INFIX.items():
    setattr(Spec, f"__{_short}__", _forward(globals()[_name]))
    setattr(Spec, f"__r{_short}__", _reflected(globals()[_name]))
for _short, _name in _COMPARE.items():
    setattr(Spec, f"__{_short}__", _forward(globals()[_name]))
Spec.__neg__ = lambda self: globals()["negative"](self)  # type: ignore[attr-defined]
Spec.__getitem__ = lambda self, index: globals()["getitem"](self, index)  # type: ignore[attr-defined]

__all__ = [
    *OPERATORS, "OPERATORS", "Operator", "arange", "full", "ones", "operator", "permutation", "random_integers",
    "random_normal", "random_uniform", "tensor", "to_numpy", "zeros",
]  # fmt: skip
