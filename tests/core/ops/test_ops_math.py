"""The NumPy bodies of element-wise operators against PyTorch's functions and SciPy's."""

import math

import numpy as np
import pytest

from labdl import ops
from labdl.ops.operator import OPERATORS, Sample
from labdl.spec import FLOATS, INTEGERS, dtype_name

torch = pytest.importorskip("torch")
special = pytest.importorskip("scipy.special")

FAMILY = ("math", "comparison", "trigonometry", "special", "complex_numbers")
OURS = [entry for entry in OPERATORS.values() if entry.category in FAMILY]
REFERENCES = {
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less": torch.lt,
    "less_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "bitwise_invert": torch.bitwise_not,
    "conj": torch.conj_physical,
    "clip": lambda x, *ends, **options: torch.clamp(x, *ends, **options) if ends or options else x,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "lgamma": special.gammaln,
    "digamma": special.digamma,
    "xlogy": special.xlogy,
    "rsqrt": lambda x: torch.pow(x, -0.5),
}


def drawn(value, wrap, dtype=None):
    """Samples as arrays."""
    rng = np.random.default_rng(0)

    def draw(value):
        if isinstance(value, Sample):
            return wrap(np.asarray(value.draw(rng, dtype)))
        if isinstance(value, list | tuple):
            return type(value)(map(draw, value))
        return {k: draw(v) for k, v in value.items()} if isinstance(value, dict) else value

    return draw(value)


def both(entry, case, dtype=None):
    """Our result and the reference's."""
    args, kwargs = drawn(case, np.copy, dtype)
    ours = getattr(ops, entry.name)(*args, **kwargs)
    function = REFERENCES.get(entry.name) or getattr(torch, entry.name)
    wrap = np.asarray if isinstance(function, np.ufunc) else torch.tensor
    bound = entry.signature.bind(*drawn(case, wrap, dtype)[0], **drawn(case, wrap, dtype)[1])
    for name, value in bound.arguments.items():  # torch wants tensors where ours take numbers
        if "free" in entry.roles.get(name, ()) and isinstance(value, int | float):
            bound.arguments[name] = wrap(value)
    return ours, np.asarray(function(*bound.args, **bound.kwargs))


@pytest.mark.parametrize(
    ("entry", "case"), [pytest.param(e, c, id=f"{e.name}-{i}") for e in OURS for i, c in enumerate(e.samples)]
)
def test_value(entry, case):
    ours, theirs = both(entry, case)
    assert ours.shape == theirs.shape
    assert ours.dtype.kind == theirs.dtype.kind or (theirs.dtype.kind, ours.dtype.kind) == ("f", "f")
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("entry", OURS, ids=lambda e: e.name)
def test_dtypes(entry):
    """Every dtype that the operator takes: the value is that of the widest dtype of the kind, rounded once."""
    widest = {"i": "int64", "u": "int64", "f": "float64", "c": "complex128"}
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "complex64": 1e-5}
    for dtype in entry.takes:
        if dtype in ("bool", "string", "bfloat16") or entry.name in ("bitwise_invert", "nextafter"):
            continue
        args, kwargs = drawn(entry.samples[0], np.copy, dtype)
        wide = widest[np.dtype(dtype).kind]
        result = getattr(ops, entry.name)(*args, **kwargs)
        change = lambda a, wide=wide, dtype=dtype: a.astype(wide) if a.dtype == dtype else a  # noqa: E731
        exact = getattr(ops, entry.name)(*[change(a) if isinstance(a, np.ndarray) else a for a in args], **kwargs)
        rtol = max(tolerance.get(d, 1e-12) for d in (dtype, dtype_name(result.dtype)))
        if result.dtype.kind in "fc":
            np.testing.assert_allclose(result, exact, rtol=rtol, atol=rtol / 10, err_msg=dtype)
        else:
            np.testing.assert_array_equal(result, exact.astype(result.dtype), err_msg=dtype)


@pytest.mark.parametrize("name", ["sin", "exp", "log1p", "sqrt", "atan", "tanh", "erf", "lgamma", "reciprocal", "log2"])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_functions_of_integers_have_full_float32_precision(name, dtype):
    x = np.array([1, 0, 1, 1], dtype) if dtype == "bool" else np.array([1, 2, 3, 50], dtype)
    result = getattr(ops, name)(x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, getattr(ops, name)(x.astype("float64")), rtol=1e-7)


INF, NAN = math.inf, math.nan
POINTS = {  # what the standards say at the edges
    "sign": [(NAN, NAN), (-0.0, 0.0), (INF, 1.0), (3 + 4j, 0.6 + 0.8j), (0j, 0j)],
    "round": [(0.5, 0.0), (1.5, 2.0), (-2.5, -2.0), (INF, INF), (2.5 + 3.5j, 2 + 4j)],
    "trunc": [(-1.7, -1.0), (1.7, 1.0), (-INF, -INF), (NAN, NAN)],
    "frac": [(-1.75, -0.75), (2.0, 0.0)],
    "sinc": [(0.0, 1.0), (1.0, 0.0), (0.5, 2 / math.pi)],
    "erfinv": [(1.0, INF), (-1.0, -INF), (1.5, NAN), (0.0, 0.0), (NAN, NAN)],
    "lgamma": [(0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF), (1e308, INF), (NAN, NAN)],
    "digamma": [(0.0, -INF), (-2.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), (1.0, -0.5772156649015329)],
    "logit": [(0.0, -INF), (1.0, INF), (2.0, NAN)],
    "signbit": [(-0.0, True), (0.0, False), (-INF, True)],
    "isinf": [(INF, True), (-INF, True), (NAN, False), (3, False), (complex(1, INF), True)],
    "isnan": [(NAN, True), (INF, False), (3, False), (complex(NAN, 1), True)],
    "isfinite": [(NAN, False), (INF, False), (3, True), (complex(1, INF), False)],
    "nan_to_num": [(NAN, 0.0), (INF, np.finfo("float64").max), (-INF, np.finfo("float64").min), (1.5, 1.5)],
    "angle": [(-1 + 0j, math.pi), (1j, math.pi / 2), (0j, 0.0)],
    "rad2deg": [(math.pi, 180.0)],
    "deg2rad": [(90.0, math.pi / 2)],
    "acosh": [(0.5, NAN), (1.0, 0.0)],
    "atanh": [(1.0, INF), (1.5, NAN)],
}
PAIRS = {
    "floor_divide": [(7, -2, -4), (-7, 2, -4), (7.0, -2.0, -4.0), (-7.5, 2.0, -4.0)],
    "remainder": [(7, -2, -1), (-7, 2, 1), (7.0, -2.0, -1.0), (-1.0, 3.0, 2.0)],
    "fmod": [(7, -2, 1), (-7, 2, -1), (-1.0, 3.0, -1.0)],
    "maximum": [(NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "minimum": [(NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "copysign": [(2.0, -0.0, -2.0), (-3.0, 0.0, 3.0)],
    "heaviside": [(0.0, 0.5, 0.5), (NAN, 0.5, NAN), (-1.0, 9.0, 0.0), (2.0, 9.0, 1.0)],
    "hypot": [(3e200, 4e200, 5e200), (INF, NAN, INF)],
    "atan2": [(0.0, -1.0, math.pi), (-1.0, 0.0, -math.pi / 2)],
    "logaddexp": [(1000.0, 1000.0, 1000 + math.log(2)), (-INF, -INF, -INF), (-INF, 3.0, 3.0), (INF, -INF, INF)],
    "xlogy": [(0.0, 0.0, 0.0), (0.0, NAN, NAN), (0.0, INF, 0.0), (0.0, -1.0, 0.0), (2.0, 0.0, -INF)],
    "gcd": [(12, 18, 6), (0, 5, 5), (0, 0, 0), (-4, 6, 2)],
    "lcm": [(4, 6, 12), (0, 5, 0), (0, 0, 0), (-4, 6, 12)],
    "isclose": [
        (INF, INF, True),
        (INF, -INF, False),
        (1.0, INF, False),
        (NAN, NAN, False),
        (1.0, 1.000001, True),
        (1, 2, False),
    ],
    "bitwise_right_shift": [(-5, 1, -3), (8, 2, 2)],
    "complex": [(INF, 1.0, complex(INF, 1)), (1.0, NAN, complex(1, NAN))],
    "polar": [(2.0, math.pi / 2, 2j)],
    "nextafter": [(1.0, 2.0, 1 + 2**-52), (0.0, -1.0, -5e-324)],
    "pow": [(2, 10, 1024), (0.0, 0.0, 1.0), (-8.0, 3.0, -512.0)],
    "logical_xor": [(True, True, False), (True, False, True)],
}


@pytest.mark.parametrize(("name", "at", "value"), [(n, at, v) for n, points in POINTS.items() for at, v in points])
def test_at_a_point(name, at, value):
    np.testing.assert_allclose(getattr(ops, name)(np.array([at])), [value], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "x", "y", "value"), [(n, *p) for n, points in PAIRS.items() for p in points])
def test_at_a_pair(name, x, y, value):
    np.testing.assert_allclose(getattr(ops, name)(np.array([x]), np.array([y])), [value], rtol=1e-12, atol=1e-15)


def test_signs_of_zeros():
    assert np.signbit(ops.copysign(np.array(0.0), np.array(-1.0)))
    assert ops.digamma(np.array(-0.0)) == INF
    assert np.signbit(ops.negative(np.array(0.0)))


@pytest.mark.parametrize(
    ("name", "function", "points"),
    [
        ("erf", special.erf, np.linspace(-6, 6, 301)),
        ("erfc", special.erfc, np.linspace(-6, 26, 301)),
        (
            "erfinv",
            special.erfinv,
            np.concatenate([np.linspace(-1, 1, 401), 1 - 10.0 ** -np.arange(1, 16), [1e-300, 1e-12, 1e-5]]),
        ),
        ("lgamma", special.gammaln, np.concatenate([np.linspace(-9.9, 30, 321), [1e3, 1e10]])),
        ("digamma", special.digamma, np.concatenate([np.linspace(-9.95, 30, 321), [1e-8, 1e3, 1e10]])),
        ("sinc", np.sinc, np.linspace(-3, 3, 101)),
        ("logit", special.logit, np.linspace(0.001, 0.999, 101)),
    ],
)
def test_special_functions_in_double_precision(name, function, points):
    np.testing.assert_allclose(getattr(ops, name)(points), function(points), rtol=2e-12, atol=2e-14)


def test_integers_stay_exact():
    big = np.array([2**62 + 1, -(2**62) - 1])
    for name in ("floor", "ceil", "trunc", "round", "positive", "real", "conj"):
        np.testing.assert_array_equal(getattr(ops, name)(big), big, err_msg=name)


def test_limits_may_be_numbers_or_tensors():
    x = np.array([[-3, 0, 3]], "int32")
    assert ops.clip(x, min=-1, max=1).dtype == np.int32
    assert ops.clip(x, min=-0.5).dtype == np.float32
    np.testing.assert_array_equal(ops.clip(x, np.array([[0], [1]], "int32"), 2), [[0, 0, 2], [1, 1, 2]])
    np.testing.assert_array_equal(ops.clip(x, 2, 1), [[1, 1, 1]])
    assert np.isnan(ops.clip(np.array([NAN]), 0, 1))


def test_comparisons_of_strings():
    words = np.array(["a", "b"])
    np.testing.assert_array_equal(ops.equal(words, np.array(["a", "c"])), [True, False])
    np.testing.assert_array_equal(ops.where(np.array([True, False]), words, np.array(["x", "yy"])), ["a", "yy"])
    with pytest.raises(TypeError):
        ops.less(words, words)


@pytest.mark.parametrize("dtype", FLOATS)
def test_closeness_of_unsigned_and_half(dtype):
    assert not ops.isclose(np.array([1], "uint8"), np.array([2], "uint8")).any()
    if dtype != "bfloat16":
        assert ops.isclose(np.array([1.0], dtype), np.array([1.0], dtype)).all()
