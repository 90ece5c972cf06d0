"""The array namespace of one backend: dtypes, attributes, conversions and the functions that are no operators.

Values of operators are tested with the operators. The public suite finds more: `tests/bench/conformance.py`.
"""

import inspect
import itertools
import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import labdl
from labdl.array_api import names
from labdl.array_api.dtypes import STANDARD
from labdl.spec import promote

FUNCTIONS = (
    "arange",
    "asarray",
    "astype",
    "broadcast_arrays",
    "can_cast",
    "empty",
    "empty_like",
    "eye",
    "finfo",
    "from_dlpack",
    "full",
    "full_like",
    "iinfo",
    "isdtype",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "reshape",
    "result_type",
    "zeros",
    "zeros_like",
    *names.ELEMENTWISE,
    *names.ARRANGING,
    *names.REDUCING,
    *names.SEARCHING,
    *names.PRODUCTS,
)
NUMERIC = [d for d in STANDARD if d != "bool"]


def numpy(array):
    return labdl.to_numpy(array)


def test_every_function_of_the_standard_is_there(xp):
    assert xp.__array_api_version__ == "2024.12"
    for name in FUNCTIONS:
        assert callable(getattr(xp, name)), name
        assert getattr(xp, name).__doc__, name
    for space, listed in ((xp.linalg, names.LINALG), (xp.fft, (*names.FFT, "fftfreq", "rfftfreq"))):
        assert [n for n in listed if not callable(getattr(space, n, None))] == []
    with pytest.raises(AttributeError, match="names none"):
        xp.einsum  # noqa: B018 - an operator, but none of the standard


def test_parameters_stand_as_in_the_standard(xp):
    for name in ("add", "sum", "concat", "sort", "astype"):
        parameters = inspect.signature(getattr(xp, name)).parameters
        first = next(iter(parameters.values()))
        assert first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
    assert list(inspect.signature(xp.std).parameters)[:2] == ["x", "axis"]


@pytest.mark.parametrize(("left", "right"), list(itertools.combinations_with_replacement(STANDARD, 2)))
def test_dtypes_meet_as_the_operators_say(xp, left, right):
    a, b = (xp.ones((2,), dtype=getattr(xp, d)) for d in (left, right))
    wanted = getattr(xp, promote(left, right))
    assert xp.result_type(a, b) == wanted
    for short in ("mul", "eq"):
        assert getattr(operator, short)(a, b).dtype == (xp.bool if short == "eq" else wanted)


def test_questions_about_dtypes(xp):
    assert xp.isdtype(xp.float32, "real floating")
    assert not xp.isdtype(xp.int8, ("bool", "unsigned integer"))
    assert xp.isdtype(xp.uint8, xp.uint8)
    assert (xp.finfo(xp.complex64).bits, xp.finfo(xp.float64).eps) == (32, 2.0**-52)
    assert (xp.iinfo(xp.uint8).min, xp.iinfo(xp.uint8).max) == (0, 255)
    assert xp.can_cast(xp.int8, xp.int32)
    assert not xp.can_cast(xp.float64, xp.float32)
    with pytest.raises(ValueError, match="finfo wants a floating-point dtype"):
        xp.finfo(xp.int32)
    with pytest.raises(TypeError, match="is not a dtype"):
        xp.zeros((2,), dtype="rubbish")


@pytest.mark.parametrize("dtype", STANDARD)
def test_an_array_has_what_the_standard_lists(xp, dtype, backend):
    x = xp.asarray(np.arange(6).reshape(2, 3).astype(dtype))
    assert isinstance(x, backend.tensor_types())
    assert x.dtype == getattr(xp, dtype)
    assert isinstance(x.shape, tuple)
    assert (x.shape, x.ndim, x.size) == ((2, 3), 2, 6)
    np.testing.assert_array_equal(numpy(x.T), numpy(x).T)
    np.testing.assert_array_equal(numpy(x.mT), numpy(x).T)
    assert x.__array_namespace__() is xp
    np.testing.assert_array_equal(numpy(x.to_device(x.device)), numpy(x))


def test_one_element_becomes_a_number(xp):
    assert bool(xp.asarray(1e-30, dtype=xp.float64)) is True
    assert int(xp.asarray(3)) == 3
    assert float(xp.asarray(2.5)) == 2.5
    assert complex(xp.asarray(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][xp.asarray(1)] == 20


@pytest.mark.parametrize("short", ["iadd", "isub", "imul", "itruediv", "ipow"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_in_place_forms_keep_the_dtype(xp, short, dtype):
    x = xp.asarray([1.0, 2.0, 4.0], dtype=getattr(xp, dtype))
    expected = getattr(operator, short[1:])(numpy(x), 2)
    y = getattr(operator, short)(x, 2)
    assert y.dtype == getattr(xp, dtype)
    np.testing.assert_allclose(numpy(y), expected)


def test_elements_are_written_or_refused(xp, backend):
    x = xp.zeros((2, 3))
    if backend.name == "tensorflow":  # whose tensors never change
        with pytest.raises(TypeError, match=r"item assignment.*setitem\(x, index, value\) creates a new one"):
            x[0, 1] = 5.0
        return
    x[0, 1] = 5.0
    x[1, ...] = xp.asarray([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(numpy(x), [[0, 5, 0], [1, 2, 3]])
    x[x > 2] = -1.0
    np.testing.assert_array_equal(numpy(x), [[0, -1, 0], [1, 2, -1]])
    point = xp.asarray(1.0)
    point[()] = 7.0
    assert float(point) == 7.0


def test_creation(xp):
    np.testing.assert_array_equal(numpy(xp.arange(2, 11, 3)), [2, 5, 8])
    np.testing.assert_allclose(numpy(xp.linspace(0, 1, 5)), np.linspace(0, 1, 5))
    np.testing.assert_allclose(numpy(xp.linspace(0, 1, 5, endpoint=False)), np.linspace(0, 1, 5, endpoint=False))
    np.testing.assert_array_equal(numpy(xp.eye(2, 3, k=1)), np.eye(2, 3, 1))
    np.testing.assert_array_equal(numpy(xp.full((2,), 7)), [7, 7])
    assert xp.full((2,), 7).dtype == xp.int64
    assert xp.full((2,), True).dtype == xp.bool
    assert xp.zeros_like(xp.ones((2,), dtype=xp.int16)).dtype == xp.int16
    a, b = xp.meshgrid(xp.arange(2), xp.arange(3), indexing="ij")
    np.testing.assert_array_equal([numpy(a), numpy(b)], np.meshgrid(range(2), range(3), indexing="ij"))
    np.testing.assert_allclose(numpy(xp.fft.rfftfreq(6, d=0.5)), np.fft.rfftfreq(6, 0.5))


def test_asarray_copies_when_told(xp):
    x = xp.asarray([[1, 2], [3, 4]])
    assert x.dtype == xp.int64
    assert xp.asarray([1.5]).dtype == xp.float32
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True) is not x
    with pytest.raises(ValueError, match="without a copy"):
        xp.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="needs a copy"):
        xp.asarray(x, dtype=xp.float32, copy=False)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_memory_is_exchanged(xp, dtype):
    x = xp.asarray([1, 2, 3], dtype=getattr(xp, dtype))
    np.testing.assert_array_equal(np.from_dlpack(x), [1, 2, 3])
    back = xp.from_dlpack(np.array([4, 5], dtype))
    assert back.dtype == getattr(xp, dtype)
    np.testing.assert_array_equal(numpy(back), [4, 5])
    assert len(x.__dlpack_device__()) == 2


def test_memory_is_shared_or_refused(xp):
    x = np.array([1.0, 2.0], "float32")
    plain = xp.from_dlpack(x)
    x[0] = 5
    if numpy(plain)[0] == 5:
        assert numpy(xp.from_dlpack(x, copy=False))[0] == 5
    else:
        with pytest.raises(ValueError, match="copy=False is not possible"):
            xp.from_dlpack(x, copy=False)


@pytest.mark.parametrize("dtype", STANDARD)
def test_memory_of_each_dtype_is_exchanged_as_asked(xp, dtype):
    x = xp.asarray([0, 1, 1], dtype=getattr(xp, dtype))
    assert x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=True) is not None
    copy = xp.from_dlpack(x, copy=True)
    assert (copy.dtype, copy.device) == (x.dtype, x.device)
    np.testing.assert_array_equal(numpy(copy), numpy(x))
    for device in xp.__array_namespace_info__().devices():
        assert xp.from_dlpack(x, device=device).device == device


def test_results_have_names(xp):
    x = xp.asarray([3, 1, 3, 2])
    found = xp.unique_all(x)
    assert [numpy(v).tolist() for v in (found.values, found.counts)] == [[1, 2, 3], [1, 1, 2]]
    assert [numpy(v).tolist() for v in (found.indices, found.inverse_indices)] == [[1, 3, 0], [2, 0, 2, 1]]
    square = xp.asarray([[2.0, 0.0], [0.0, 3.0]])
    np.testing.assert_allclose(numpy(xp.linalg.slogdet(square).logabsdet), np.log(6), rtol=1e-6)
    np.testing.assert_allclose(numpy(xp.linalg.eigh(square).eigenvalues), [2, 3], rtol=1e-6)
    np.testing.assert_allclose(np.abs(numpy(xp.linalg.qr(square).R)), [[2, 0], [0, 3]], atol=1e-6)


def test_what_the_framework_can_do(xp):
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["integral"] == xp.int64
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8"}
    assert set(info.dtypes()) == set(STANDARD)
    assert [xp.zeros((1,), device=d).device for d in info.devices()] == info.devices()
    for name in ("uint16", "uint32", "uint64"):
        assert not hasattr(xp, name)
        with pytest.raises(AttributeError, match=f"has no {name}.*its dtypes are bool, int8"):
            getattr(xp, name)
    assert info.capabilities()["boolean indexing"] is True


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_drawn_arrays_compute_as_in_numpy(xp, data):
    """Arrays as hypothesis draws them for any namespace of the standard: creation, indexing and comparison agree with it."""
    strategies = make_strategies_namespace(xp, api_version="2024.12")
    kind = getattr(xp, data.draw(st.sampled_from(NUMERIC)))
    x = data.draw(strategies.arrays(kind, strategies.array_shapes(min_dims=1, max_dims=3, max_side=4)))
    index = data.draw(strategies.indices(x.shape, allow_newaxis=True))
    np.testing.assert_array_equal(numpy(x[index]), numpy(x)[index])
    np.testing.assert_array_equal(numpy(xp.flip(x)), np.flip(numpy(x)))
    assert bool(xp.all((x == x) | xp.isnan(x)))
