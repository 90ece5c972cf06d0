"""Zeros with a sign, infinities and NaN as the Array API standard (2024.12) lists them, beside finite numbers."""

import itertools
import math
import operator

import numpy as np
import pytest

import labdl

_VALUES = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 4.0, -4.0, math.inf, -math.inf, math.nan)
_PAIRS = np.array(list(itertools.product(_VALUES, _VALUES))).T
_PARTS = np.array(list(itertools.product(_VALUES, _VALUES)))


def _alike(found, wanted) -> None:
    """Equal, NaN beside NaN, and zeros of the same sign."""
    np.testing.assert_array_equal(found, wanted)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


def _quotient_rounded_down(x, y):
    """NumPy gives NaN and -1 beside infinities, as Python does; the standard prefers the quotient, rounded down."""
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(x) & np.isfinite(y), np.floor_divide(x, y), np.floor(np.divide(x, y)))


_FUNCTIONS = {"divide": np.divide, "floor_divide": _quotient_rounded_down, "remainder": np.remainder}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_quotients_of_zeros_and_infinities(xp, name, dtype):
    x, y = _PAIRS.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = _FUNCTIONS[name](x, y)
    _alike(labdl.to_numpy(getattr(xp, name)(xp.asarray(x), xp.asarray(y))), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["expm1", "log1p"])
def test_small_results_keep_the_sign_of_zero(xp, name, dtype):
    x = np.array([0.0, -0.0, math.inf, math.nan], dtype)
    _alike(labdl.to_numpy(getattr(xp, name)(xp.asarray(x))), getattr(np, name)(x))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_exponential_of_infinities(xp, dtype):
    x = np.empty(len(_PARTS), dtype)
    x.real, x.imag = _PARTS.T
    x = x[~np.isfinite(x.real) | ~np.isfinite(x.imag)]
    with np.errstate(all="ignore"):
        wanted = np.exp(x)
    found = labdl.to_numpy(xp.exp(xp.asarray(x)))
    np.testing.assert_allclose(np.abs(found.real), np.abs(wanted.real), rtol=1e-5)
    np.testing.assert_allclose(np.abs(found.imag), np.abs(wanted.imag), rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_mask_without_axes_adds_one(xp, shape):
    x = np.arange(math.prod(shape), dtype="float32").reshape(shape)
    for value in (True, False):
        np.testing.assert_array_equal(labdl.to_numpy(xp.asarray(x)[xp.asarray(value)]), x[np.array(value)])


def test_an_empty_mask_chooses_nothing(xp):
    x = np.arange(6.0).reshape(2, 3)
    for shape in ((0,), (2, 0), (0, 3)):
        mask = xp.zeros(shape, dtype=xp.bool)
        np.testing.assert_array_equal(labdl.to_numpy(xp.asarray(x)[mask]), x[np.zeros(shape, bool)])
        np.testing.assert_array_equal(labdl.to_numpy(labdl.ops.setitem(xp.asarray(x), mask, 7.0)), x)


def test_a_mask_without_axes_writes_all_or_nothing(xp):
    x = np.arange(6.0).reshape(2, 3)
    for value, wanted in ((False, x), (True, np.full_like(x, 7.0))):
        found = labdl.ops.setitem(xp.asarray(x), xp.asarray(value), 7.0)
        np.testing.assert_array_equal(labdl.to_numpy(found), wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_arrays_of_one_integer_bound_a_slice(xp, dtype):
    x, kind = xp.arange(10), getattr(xp, dtype)
    start, stop = (xp.asarray(n, dtype=kind) for n in (2, 7))
    np.testing.assert_array_equal(labdl.to_numpy(x[start:stop]), np.arange(2, 7))
    np.testing.assert_array_equal(labdl.to_numpy(xp.reshape(x, (2, 5))[..., 1:start]), [[1], [6]])
    counts = xp.asarray([1, 0, 2], dtype=kind)
    np.testing.assert_array_equal(labdl.to_numpy(xp.repeat(xp.asarray([5, 6, 7]), counts)), [5, 7, 7])


def test_a_device_is_one_of_the_namespace(xp):
    x = xp.asarray([1.0])
    assert x.device in xp.__array_namespace_info__().devices()
    assert x.device == xp.__array_namespace_info__().default_device()
    kind, number = x.__dlpack_device__()
    assert (int(kind), number) == (1, 0) or x.device != "cpu"


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_places_in_a_sorted_array_of_integers(xp, dtype):
    x, y = np.array([1, 3, 3, 7], dtype), np.array([3, 0, 9], dtype)
    for side in ("left", "right"):
        found = xp.searchsorted(xp.asarray(x), xp.asarray(y), side=side)
        np.testing.assert_array_equal(labdl.to_numpy(found), np.searchsorted(x, y, side=side))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_no_matrices_have_no_inverses(xp, dtype):
    found = xp.linalg.pinv(xp.zeros((0, 3, 2), dtype=getattr(xp, dtype)))
    assert (found.shape, found.dtype) == ((0, 2, 3), getattr(xp, dtype))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_matrices_of_dependent_columns_are_factorized(xp, dtype):
    for x in (np.zeros((2, 2)), np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])):
        q, r = map(labdl.to_numpy, xp.linalg.qr(xp.asarray(x.astype(dtype))))
        np.testing.assert_allclose(q @ r, x, atol=1e-5)
        np.testing.assert_allclose(q.conj().T @ q, np.eye(2), atol=1e-5)


@pytest.mark.parametrize("short", ["floordiv", "mod"])
def test_infix_and_in_place_forms_have_the_values_of_the_functions(xp, short):
    function = {"floordiv": xp.floor_divide, "mod": xp.remainder}[short]
    x, y = (xp.asarray(v) for v in _PAIRS)
    wanted = labdl.to_numpy(function(x, y))
    _alike(labdl.to_numpy(getattr(operator, short)(x, y)), wanted)
    _alike(labdl.to_numpy(getattr(operator, f"i{short}")(xp.asarray(x, copy=True), y)), wanted)
    _alike(labdl.to_numpy(getattr(operator, short)(-0.0, y)), labdl.to_numpy(function(xp.zeros_like(y) * -1.0, y)))


_INF, _NAN = math.inf, math.nan
_COMPLEX = {  # from the special cases of the standard
    "exp": [
        (complex(-0.0, 0.0), complex(1, 0)),
        (complex(_INF, 0), complex(_INF, 0)),
        (complex(-_INF, 2), complex(-0.0, 0)),
        (complex(3, _NAN), complex(_NAN, _NAN)),
        (complex(_NAN, 5), complex(_NAN, _NAN)),
    ],
    "expm1": [
        (complex(-0.0, 0.0), 0j),
        (complex(_INF, 2), complex(-_INF, _INF)),
        (complex(2, _INF), complex(_NAN, _NAN)),
        (complex(-_INF, _NAN), complex(-1, 0)),
        (complex(_INF, _INF), complex(_INF, _NAN)),
        (complex(_NAN, 0), complex(_NAN, 0)),
        (complex(_NAN, 1), complex(_NAN, _NAN)),
    ],
    "log1p": [
        (complex(-1, 0), complex(-_INF, 0)),
        (complex(-2, _INF), complex(_INF, math.pi / 2)),
        (complex(-_INF, 3), complex(_INF, math.pi)),
        (complex(_INF, 3), complex(_INF, 0)),
        (complex(-_INF, _INF), complex(_INF, 3 * math.pi / 4)),
        (complex(-_INF, _NAN), complex(_INF, _NAN)),
        (complex(_NAN, 2), complex(_NAN, _NAN)),
    ],
    "tanh": [
        (complex(_INF, 2), complex(1, 0)),
        (complex(_INF, 4), complex(1, 0)),
        (complex(_INF, -4), complex(1, -0.0)),
        (complex(-_INF, 2), complex(-1, 0)),
        (complex(1, _INF), complex(_NAN, _NAN)),
    ],
    "acos": [
        (complex(-0.0, 0.0), complex(math.pi / 2, -0.0)),
        (complex(0, _NAN), complex(math.pi / 2, _NAN)),
        (complex(-_INF, 1), complex(math.pi, -_INF)),
        (complex(_INF, 1), complex(0, -_INF)),
        (complex(-_INF, _INF), complex(3 * math.pi / 4, -_INF)),
        (complex(_NAN, _INF), complex(_NAN, -_INF)),
    ],
}


@pytest.mark.parametrize(("name", "x", "wanted"), [(name, *case) for name, cases in _COMPLEX.items() for case in cases])
def test_complex_numbers_with_infinite_parts(xp, name, x, wanted):
    result = complex(getattr(xp, name)(xp.asarray(x, dtype=xp.complex128)))
    for part, correct in ((result.real, wanted.real), (result.imag, wanted.imag)):
        np.testing.assert_allclose(part, correct, rtol=1e-12)
        assert correct != 0 or math.copysign(1, part) == math.copysign(1, correct)


@pytest.mark.parametrize("name", ["expm1", "log1p", "exp", "acos", "tanh"])
def test_complex_numbers_keep_their_digits(xp, name):
    sizes = np.array([1e-9, 1e-3, 0.4, 2.0, 30.0])
    x = (sizes[:, None] * np.exp(1j * np.linspace(-3, 3, 7))).ravel()
    np.testing.assert_allclose(
        labdl.to_numpy(getattr(xp, name)(xp.asarray(x))), getattr(np, {"acos": "arccos"}.get(name, name))(x), rtol=1e-6
    )


def test_arrays_of_many_axes_are_indexed(xp):
    rank = xp.__array_namespace_info__().capabilities()["max dimensions"]
    x = np.arange(6.0).reshape(2, *[1] * (rank - 2), 3)
    for index in (1, slice(0, 1), (Ellipsis, slice(1, 3)), (0, Ellipsis, 2)):
        np.testing.assert_array_equal(labdl.to_numpy(xp.asarray(x)[index]), x[index])
