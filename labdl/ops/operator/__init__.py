"""The definition of operators: a documented NumPy body, a shape rule, samples, traits, and a table of kernels."""

from labdl.ops.operator.call import make_function
from labdl.ops.operator.decorator import operator
from labdl.ops.operator.definition import (
    ANY,
    FLOATS_AND_COMPLEX,
    INTEGERS_AND_BOOL,
    NUMBERS_AND_BOOL,
    OPERATORS,
    REALS_AND_BOOL,
    Operator,
)
from labdl.ops.operator.kernels import override_kernels, resolve_all
from labdl.ops.operator.options import Axis, Choice, Number, Numbers, Sizes
from labdl.ops.operator.samples import Sample, bools, case, floats, ints, values
from labdl.spec import FLOATS, INTEGERS, NUMBERS, REALS

__all__ = [
    "ANY",
    "FLOATS",
    "FLOATS_AND_COMPLEX",
    "INTEGERS",
    "INTEGERS_AND_BOOL",
    "NUMBERS",
    "NUMBERS_AND_BOOL",
    "OPERATORS",
    "REALS",
    "REALS_AND_BOOL",
    "Axis",
    "Choice",
    "Number",
    "Numbers",
    "Operator",
    "Sample",
    "Sizes",
    "bools",
    "case",
    "floats",
    "ints",
    "make_function",
    "operator",
    "override_kernels",
    "resolve_all",
    "values",
]
