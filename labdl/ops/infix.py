"""Infix operators: in a forward, ``a + b`` on any framework's tensors means `add`, with the same promotion everywhere.

Frameworks differ in the promotion of two dtypes: one raises, one takes the first dtype, one decides by the number of axes.
Tensors are the frameworks' own, so their classes are patched: inside a neutral scope (a module's forward, a composite
operator) infix operators are LabDL's; outside of it, native code keeps its native meaning.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

import numpy as np

from labdl import dispatch
from labdl.spec import Size, Spec
from labdl.symbolic import SymbolicTensor

# Python's special method: the operator's name
BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
BUILT_IN = {"round": "round"}  # functions of Python with a special method


_SEQUENCES = (list, tuple)
_PRIORITY_OF_NO_ARRAY = -1e6  # NumPy's
_EQUALITY = ("__eq__", "__ne__")
_COMPARED = (Spec, bool, int, float, complex, np.ndarray, np.generic)  # with which tensors are compared


class _Scope(threading.local):
    """Thread-local switches: ``on`` while infix operators are LabDL's, ``infers`` while a forward runs on Specs."""

    on = False
    infers = False
    everywhere = False  # of the process: they are LabDL's also outside of forwards


scope = _Scope()
_methods: dict[str, Callable] = {}
_tensor_types: list[type] = [Spec]  # our own tensors: their infix operators are always LabDL's


def neutral(function: Callable) -> Callable:
    """Wrap a function to run with LabDL's infix operators."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        if scope.on:
            return function(*args, **kwargs)
        scope.on = True
        try:
            return function(*args, **kwargs)
        finally:
            scope.on = False

    return run


def enable_everywhere() -> None:
    """Make infix operators LabDL's in this whole process, as `array_namespace` promises."""
    _Scope.on = _Scope.everywhere = True
    scope.on = True


def register_type(kind: type) -> None:
    """Give infix operators to one of LabDL's own tensor types, before `define` is called."""
    _tensor_types.append(kind)


def define(operators: dict[str, Callable]) -> None:
    """Set the functions behind the special methods, for Specs and the tensors of every backend."""
    for short, name in (BINARY | COMPARISONS).items():
        if name not in operators:
            continue
        _methods[f"__{short}__"] = operators[name]
    for short, name in BINARY.items():
        if name not in operators:
            continue
        _methods[f"__r{short}__"] = _reflect(operators[name])
    for short, name in (UNARY | BUILT_IN).items():
        if name not in operators:
            continue
        _methods[f"__{short}__"] = operators[name]
    _methods["__getitem__"] = operators["getitem"]
    quotient, rest = operators["floor_divide"], operators["remainder"]
    _methods["__divmod__"] = lambda x, y: (quotient(x, y), rest(x, y))
    _methods["__rdivmod__"] = _reflect(_methods["__divmod__"])
    for kind in _tensor_types:
        for name, function in _methods.items():
            is_equality = kind is Spec and name in _EQUALITY
            setattr(kind, name, _equality(function, name) if is_equality else _method(function))
    SymbolicTensor.operators = operators
    Spec.__bool__ = _truth  # type: ignore[method-assign]
    Spec.size = property(_size)  # type: ignore[assignment]
    dispatch.on_load(install)


def _method(function: Callable) -> Callable:
    """Wrap an operator as a method: a plain function, so that Python passes ``self``."""
    return lambda self, *others: function(self, *others)


def _equality(function: Callable, name: str) -> Callable:
    """``==`` or ``!=`` of Specs: the operator where they stand for tensors, in a forward; elsewhere they are values."""
    by_value: Callable = getattr(Spec, name)

    def compare(self, other):
        if other is None or (isinstance(other, str) and self.dtype != "string"):
            return NotImplemented
        if _is_value(self) and (type(other) is Spec or not isinstance(other, _COMPARED)):
            return by_value(self, other)
        return function(self, other)

    return compare


def _is_value(spec: Spec) -> bool:
    """Whether a Spec is a shape and a dtype, as outside of a forward, and does not stand for a tensor."""
    return type(spec) is Spec and not scope.infers and (scope.everywhere or not scope.on)


def _truth(spec: Spec) -> bool:
    return _is_value(spec) or SymbolicTensor.__bool__(spec)


def _size(spec: Spec) -> Size:
    return spec.element_count if _is_value(spec) else SymbolicTensor.__getattr__(spec, "size")


def _reflect(function: Callable) -> Callable:
    return lambda self, other: function(other, self)


def install(backend) -> None:
    """Patch a framework's tensor classes to check the scope."""
    if hasattr(backend, "implementation"):
        return  # NumPy arrays cannot be patched, and follow the standard
    for kind in backend.tensor_types():
        for name, function in _methods.items():
            native = getattr(kind, name, None)
            if not hasattr(native, "labdl_native"):
                setattr(kind, name, _in_scope(native, function, name))
        if not hasattr(kind, "__array_priority__"):  # or `array * tensor` is an array of NumPy, without a gradient
            kind.__array_priority__ = property(lambda self: 1000.0 if scope.on else _PRIORITY_OF_NO_ARRAY)
        for short in BINARY:
            native = getattr(kind, f"__i{short}__", None)  # `x += 1` would change the tensor of the caller
            if native is not None and not hasattr(native, "labdl_native"):
                setattr(kind, f"__i{short}__", _in_scope(native, _methods[f"__{short}__"], f"__i{short}__"))


def redefine(kind: type, short: str, function: Callable) -> None:
    """Set the function behind an infix operator of one tensor class, for the values that a standard lists."""
    for name, call in ((f"__{short}__", function), (f"__r{short}__", _reflect(function))):
        setattr(kind, name, _in_scope(getattr(kind, name).labdl_native, call, name))


def _in_scope(native: Callable | None, function: Callable, name: str) -> Callable:
    unordered, indexes = name in _EQUALITY, name == "__getitem__"

    def method(self, *others):
        if not scope.on or (unordered and (others[0] is None or isinstance(others[0], str))):
            return NotImplemented if native is None else native(self, *others)
        if not indexes and others and others[0].__class__ in _SEQUENCES:  # TensorFlow's gradients divide shapes
            return NotImplemented if native is None else native(self, *others)
        scope.on = False  # the operator itself computes natively
        try:
            return function(self, *others)
        finally:
            scope.on = True

    method.__name__ = name
    method.labdl_native = native  # type: ignore[attr-defined]
    return method
