"""Gradients of element-wise operators at values where a formula overflows, at ties, at infinities and at NaN.

At finite values, large ones too, the slope of the NumPy body is the reference. At ties (equal operands, the limits of a
range, a kink at 0) it is PyTorch's, at infinities too where PyTorch has a limit there; a curve has slope NaN at NaN. Infinite
slopes, and those beyond the dtype's range, are left out of the first two families. Complex functions are tried in all four
quadrants, reductions where all elements are equal, infinite or zero.
"""

import math

import numpy as np
import pytest
from cases import native, samples_of

import labdl
from labdl import ops
from labdl.ops.operator import OPERATORS

pytestmark = pytest.mark.sample(backends=2, every=4)

INF, NAN = math.inf, math.nan
DTYPES = ["float32", "float64"]


def takes_one_float(entry) -> bool:
    elementwise = entry.rule is not None and entry.rule.__module__.endswith("elementwise")
    alike = elementwise or (entry.category == "activation" and "axis" not in entry.signature.parameters)
    usable = entry.differentiable and not entry.random and entry.category not in ("process_group", "audio")
    return alike and usable and "float64" in entry.takes and len(samples_of(entry.samples[0])) == 1


UNARY = [name for name, entry in OPERATORS.items() if takes_one_float(entry)]
PERIODIC = ("sin", "cos", "tan")
KINKS_AT_ZERO = ("relu", "leaky_relu", "relu6", "elu", "selu", "celu", "softsign")  # see `TIES`
NEAR = [0.0, 0.25, 1.7, 5.3, 20.3, 50.3, 88.3, 90.3, 104.3, 600.3, 746.3]
FAR = [1.3e4, 1.3e10, 1.3e19, 1.3e30]
FARTHEST = [1.3e100, 1.3e200, 1.3e300]


def slopes(function, x):
    """Of a function of float64 numbers by five-point differences, and how far rounding may move them."""
    step = 1e-3 * np.maximum(np.where(np.abs(x) > 1e3, np.abs(x), 1), 1)
    with np.errstate(all="ignore"):
        before, after = function(x - step), function(x + step)
        wide = function(x + 2 * step) - function(x - 2 * step)
        found = (8 * (after - before) - wide) / (12 * step)
        size = np.maximum(np.abs(before), np.abs(after))
    return found, 1e-14 * size / step


def gradient(backend, function, *arrays):
    values = [native(a, backend.name) for a in arrays]
    _, found = backend.gradients(lambda *given: ops.sum(function(*given)), values)
    return [labdl.to_numpy(g) for g in found]


def options_of(name):
    args, kwargs = OPERATORS[name].samples[0]
    return lambda x: getattr(ops, name)(x, *args[1:], **kwargs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_slope_at_finite_values(name, dtype, backend):
    points = NEAR if name in PERIODIC else NEAR + FAR + FARTHEST * (dtype == "float64")
    points = points[1:] if name in KINKS_AT_ZERO else points
    x = np.array(sorted({*points, *np.negative(points)}), dtype)
    function = options_of(name)
    expected, rounding = slopes(function, x.astype("float64"))
    with np.errstate(all="ignore"):
        there = np.isfinite(expected) & np.isfinite(function(x)) & (np.abs(expected) < np.finfo(dtype).max / 8)
    (found,) = gradient(backend, function, x[there])
    relative, absolute = (2e-4, 2e-6) if dtype == "float32" else (1e-7, 1e-9)
    bound = relative * np.abs(expected) + rounding + absolute
    wrong = ~(np.abs(found - expected[there]) <= bound[there])
    assert not wrong.any(), list(zip(x[there][wrong], found[wrong], expected[there][wrong], strict=True))


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "atan2",
    "hypot",
    "logaddexp",
    "maximum",
    "minimum",
    "copysign",
    "pow",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_slopes_of_two_operands_at_finite_values(name, dtype, backend):
    ends = [0.25, 1.7, 90.3, 746.3, 1.3e4, 1.3e10, 1.3e15]
    ends = [0.25, 1.7, 3.0] if name == "pow" else ends + [1.3e100] * (dtype == "float64")
    signed = np.array(ends if name == "pow" else [*ends, *np.negative(ends)], dtype)
    x, y = (a.reshape(-1).astype(dtype) for a in np.meshgrid(signed, signed * dtype_factor(dtype)))
    function = getattr(ops, name)
    wide = x.astype("float64"), y.astype("float64")
    found = gradient(backend, function, x, y)
    sides = (lambda v: function(v, wide[1])), (lambda v: function(wide[0], v))
    for ours, side, at in zip(found, sides, wide, strict=True):
        expected, rounding = slopes(side, at)
        with np.errstate(all="ignore"):
            bound = (2e-4 if dtype == "float32" else 1e-6) * np.abs(expected) + rounding * 100 + 1e-9
            there = np.abs(expected) < np.finfo(dtype).max / 8
            wrong = there & ~(np.abs(ours - expected) <= bound)
        assert not wrong.any(), list(zip(x[wrong], y[wrong], ours[wrong], expected[wrong], strict=True))


def dtype_factor(dtype):
    """Keeps operands apart: equal ones are ties."""
    return np.array(1.1, dtype)


# (operator, arguments, x, slope in PyTorch)
TIES = [
    ("relu", (), [0.0, -0.0], [0, 0]),
    ("relu6", (), [0.0, -0.0, 6.0], [0, 0, 0]),
    ("leaky_relu", (), [0.0, -0.0], [0.01, 0.01]),
    ("leaky_relu", (0.2,), [0.0, -0.0], [0.2, 0.2]),
    ("elu", (), [0.0, -0.0], [1, 1]),
    ("elu", (0.5,), [0.0, -0.0], [0.5, 0.5]),
    ("celu", (), [0.0, -0.0], [1, 1]),
    ("selu", (), [0.0, -0.0], [1.7580993, 1.7580993]),
    ("abs", (), [0.0, -0.0], [0, 0]),
    ("softsign", (), [0.0, -0.0], [1, 1]),
    ("clip", (-1.0, 1.0), [-1.0, 1.0], [1, 1]),
    ("clip", (None, 1.0), [1.0], [1]),
    ("clip", (1.0, None), [1.0], [1]),
    ("hardtanh", (), [-1.0, 1.0], [0, 0]),
    ("hardtanh", (-0.5, 1.5), [-0.5, 1.5], [0, 0]),
    ("hardsigmoid", (), [-3.0, 3.0], [0, 0]),
    ("hardswish", (), [-3.0, 3.0], [0, 1]),
    ("softshrink", (), [-0.5, 0.5], [0, 0]),
    ("softshrink", (1.0,), [-1.0, 1.0], [0, 0]),
    ("hardshrink", (), [-0.5, 0.5], [0, 0]),
    ("threshold", (0.5, 0.0), [0.5], [0]),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "args", "x", "expected"), TIES, ids=["-".join(map(str, (t[0], *t[1]))) for t in TIES])
def test_slope_at_a_tie(name, args, x, expected, dtype, backend):
    (found,) = gradient(backend, lambda v: getattr(ops, name)(v, *args), np.array(x, dtype))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_equal_operands_share_the_gradient(name, dtype, backend):
    x = np.array([0.0, 1.0, -3.0], dtype)
    for found in gradient(backend, getattr(ops, name), x, x):
        np.testing.assert_array_equal(found, 0.5)


# slopes at -inf and inf; None where a function is undefined or PyTorch's slope is NaN
ENDS = {
    "abs": (-1, 1),
    "acosh": (None, 0),
    "asinh": (0, 0),
    "atan": (0, 0),
    "celu": (0, 1),
    "cosh": (-INF, INF),
    "digamma": (None, 0),
    "elu": (0, 1),
    "erf": (0, 0),
    "erfc": (0, 0),
    "exp": (0, INF),
    "exp2": (0, INF),
    "expm1": (0, INF),
    "hardshrink": (1, 1),
    "hardsigmoid": (0, 0),
    "hardswish": (0, 1),
    "hardtanh": (0, 0),
    "leaky_relu": (0.01, 1),
    "lgamma": (None, INF),
    "log": (None, 0),
    "log10": (None, 0),
    "log1p": (None, 0),
    "log2": (None, 0),
    "logsigmoid": (1, 0),
    "nan_to_num": (0, 0),
    "negative": (-1, -1),
    "reciprocal": (0, 0),
    "relu": (0, 1),
    "relu6": (0, 0),
    "rsqrt": (None, 0),
    "selu": (0, 1.0507009),
    "sigmoid": (0, 0),
    "sinh": (INF, INF),
    "softplus": (0, 1),
    "softshrink": (1, 1),
    "sqrt": (None, 0),
    "square": (-INF, INF),
    "tanh": (0, 0),
    "tanhshrink": (1, 1),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(ENDS))
def test_slope_at_infinities(name, dtype, backend):
    x = [v for v, slope in zip((-INF, INF), ENDS[name], strict=True) if slope is not None]
    (found,) = gradient(backend, getattr(ops, name), np.array(x, dtype))
    np.testing.assert_allclose(found, [slope for slope in ENDS[name] if slope is not None], rtol=1e-6)


# the others are constant or linear in pieces: comparisons choose their slope
CURVED = [
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "square"),
    *("reciprocal", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "erf", "erfc", "erfinv"),
    *("lgamma", "digamma", "i0", "sigmoid", "silu", "gelu", "softplus", "logsigmoid", "mish", "softsign", "tanhshrink"),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CURVED)
def test_slope_at_nan_is_nan(name, dtype, backend):
    (found,) = gradient(backend, getattr(ops, name), np.array([NAN, 0.3 if name != "acosh" else 1.3], dtype))
    assert np.isnan(found).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["silu", "elu", "celu", "selu", "softplus", "logsigmoid", "mish", "gelu", "sigmoid"])
def test_slope_in_half_precision(name, dtype, backend):
    x = np.array([-1e4, -746.0, -100.0, -89.0, 89.0, 100.0, 1e4], "float32")
    high = getattr(ops, name)(np.array([1e4, 1e4 + 1])) * 1.0
    expected = np.where(x > 0, high[1] - high[0], 1.0 if name == "logsigmoid" else 0.0)
    value = labdl.tensor(x, dtype=dtype, backend=backend.name)
    _, (found,) = backend.gradients(lambda v: ops.sum(getattr(ops, name)(v)), [value])
    np.testing.assert_allclose(labdl.to_numpy(ops.astype(found, "float32")), expected, rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", [[-89.0, -100.0], [-746.0, -1e30]])
def test_slope_of_a_gated_unit(values, dtype, backend):
    x = np.array([*values, 2.0, 3.0], dtype)
    (found,) = gradient(backend, ops.swiglu, x)
    np.testing.assert_allclose(found, 0, atol=1e-30)


# holomorphic functions and their derivatives
COMPLEX = {
    "acosh": lambda z: 1 / (np.sqrt(z - 1) * np.sqrt(z + 1)),
    "acos": lambda z: -1 / np.sqrt(1 - z * z),
    "asin": lambda z: 1 / np.sqrt(1 - z * z),
    "asinh": lambda z: 1 / np.sqrt(1 + z * z),
    "atan": lambda z: 1 / (1 + z * z),
    "atanh": lambda z: 1 / (1 - z * z),
    "cos": lambda z: -np.sin(z),
    "cosh": np.sinh,
    "exp": np.exp,
    "log": lambda z: 1 / z,
    "reciprocal": lambda z: -1 / (z * z),
    "sin": np.cos,
    "sinh": np.cosh,
    "sqrt": lambda z: 0.5 / np.sqrt(z),
    "square": lambda z: 2 * z,
    "tan": lambda z: 1 / np.cos(z) ** 2,
    "tanh": lambda z: 1 / np.cosh(z) ** 2,
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [n for n in COMPLEX if "complex128" in OPERATORS[n].takes])
def test_complex_slope_in_each_quadrant(name, dtype, backend):
    z = np.array([a + 1j * b for a in (-2.5, -0.3, 0.4, 2.5) for b in (-1.7, -0.2, 0.2, 1.7)], dtype)
    _, (found,) = backend.gradients(lambda v: ops.sum(ops.real(getattr(ops, name)(v))), [native(z, backend.name)])
    expected = np.conj(COMPLEX[name](z.astype("complex128")))  # PyTorch's convention
    np.testing.assert_allclose(labdl.to_numpy(found), expected, rtol=1e-4 if dtype == "complex64" else 1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, -1])
@pytest.mark.parametrize("correction", [0, 1])
def test_slope_of_the_deviation_of_equal_elements_is_zero(correction, axis, dtype, backend):
    x = np.array([[2.0, 2.0, 2.0], [2.0, 2.0, 2.0] if axis is None else [1.0, 2.0, 4.0]], dtype)
    (found,) = gradient(backend, lambda v: ops.std(v, axis=axis, correction=correction), x)
    np.testing.assert_array_equal(found[0], 0)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_slope_of_the_product_of_a_segment_with_zeros(dtype, backend):
    x = np.array([2.0, 0.0, 3.0, 0.0, 0.0, 5.0, 4.0, -2.0], dtype)
    ids = native(np.array([0, 0, 1, 2, 2, 2, 3, 3]), backend.name)
    (found,) = gradient(backend, lambda v: ops.segment_prod(v, ids, 5), x)
    np.testing.assert_allclose(found, [0, 2, 1, 0, 0, 0, -2, 4], rtol=1e-6)
    assert labdl.to_numpy(ops.segment_prod(native(x, backend.name), ids, 5)).tolist() == [0, 3, 0, -8, 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_slopes_of_scattered_products_with_zeros(dtype, backend):
    x, updates = np.array([[0.0, 3.0, 2.0]], dtype), np.array([[4.0, 0.0, 5.0]], dtype)
    at = native(np.array([[0, 1, 1]]), backend.name)
    found = gradient(backend, lambda a, b: ops.scatter(a, at, b, 1, reduce="multiply"), x, updates)
    np.testing.assert_allclose(found[0], [[4, 0, 1]])
    np.testing.assert_allclose(found[1], [[0, 15, 0]])
