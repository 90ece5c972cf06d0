"""Shape rules of elementwise operators, with broadcasting and promotion."""

from __future__ import annotations

from labdl.ops.rules.traits import layout, promoting
from labdl.spec import COMPLEX, FLOATS, Spec, as_spec, broadcast, promote

NUMBER = bool | int | float | complex


def operand(value) -> Spec:
    """A tensor, number or nested list as a Spec."""
    if isinstance(value, Spec):
        return value
    return Spec((), promote(value)) if isinstance(value, NUMBER) else as_spec(value)


def common_dtype(*values) -> str:
    """The promoted dtype of tensors and Python numbers."""
    return promote(*(v if isinstance(v, NUMBER) else operand(v).dtype for v in values))


def float_of(dtype: str) -> str:
    """The floating-point dtype of a result: float32 for integers and bool."""
    return dtype if dtype in FLOATS or dtype in COMPLEX else "float32"


def real_of(dtype: str) -> str:
    """The dtype of the parts of a complex number; a real dtype itself."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


@layout("elementwise")
def elementwise(x, *args, **kwargs) -> Spec:
    """Same shape, same dtype."""
    return operand(x)


@layout("elementwise")
def floating(x, *args, **kwargs) -> Spec:
    """Same shape, a floating-point dtype."""
    return Spec(x.shape, float_of(x.dtype))


@layout("elementwise")
def real(x, *args, **kwargs) -> Spec:
    """Same shape, the real dtype of complex numbers."""
    return Spec(x.shape, real_of(x.dtype))


@layout("elementwise")
def boolean(x, *args, **kwargs) -> Spec:
    return Spec(x.shape, "bool")


@promoting
@layout("elementwise")
def binary(x, y, *args, **kwargs) -> Spec:
    return Spec(broadcast(operand(x).shape, operand(y).shape), common_dtype(x, y))


@promoting
@layout("elementwise")
def division(x, y, *args, **kwargs) -> Spec:
    return floating(binary(x, y))


@promoting
@layout("elementwise")
def comparison(x, y, *args, **kwargs) -> Spec:
    return Spec(binary(x, y).shape, "bool")


@promoting
@layout("elementwise")
def selection(condition, x, y) -> Spec:
    both = binary(x, y)
    return Spec(broadcast(operand(condition).shape, both.shape), both.dtype)


@promoting
@layout("elementwise")
def clip(x, min=None, max=None) -> Spec:
    given = [v for v in (x, min, max) if v is not None]
    return Spec(broadcast(*(operand(v).shape for v in given)), common_dtype(*given))


@promoting
@layout("elementwise")
def complex_of(real, imag) -> Spec:
    """The dtype of complex numbers with these parts."""
    both = division(real, imag)
    return Spec(both.shape, {"float32": "complex64", "float64": "complex128"}[both.dtype])


def mu_law_encoding(x, channels=256) -> Spec:
    return Spec(x.shape, "int64")


def mu_law_decoding(x, channels=256) -> Spec:
    return floating(x)
