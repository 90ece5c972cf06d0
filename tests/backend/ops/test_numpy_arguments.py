"""NumPy's numbers and arrays among the arguments, as they come out of people's own code; and lists, which are no tensors."""

import numpy as np
import pytest
from cases import Call, each_sample, native

import labdl
from labdl import ops
from labdl.ops.operator import OPERATORS
from labdl.ops.operator.samples import Sample

pytestmark = pytest.mark.sample(backends=1)


def _with_numpy_numbers(value):
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float64(value)
    return type(value)(map(_with_numpy_numbers, value)) if isinstance(value, tuple) else value


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if entry.options and not entry.random])
def test_numbers_of_numpy_as_options(name, backend):
    entry = OPERATORS[name]
    for case in entry.samples[:3]:
        call = Call(entry, case)
        args, kwargs = call.arrays()
        expected = [labdl.to_numpy(t) for t in call(args, kwargs, lambda a: native(a, backend.name))]
        bound = entry.signature.bind(*args, **kwargs)
        for option in entry.options:
            if option in bound.arguments:
                bound.arguments[option] = _with_numpy_numbers(bound.arguments[option])
        found = call(bound.args, bound.kwargs, lambda a: native(a, backend.name))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(labdl.to_numpy(one), other, rtol=1e-5, atol=1e-6, err_msg=f"{call.case}")


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("name", [n for n, e in OPERATORS.items() if len(e.inputs) > 1 and not e.random])
def test_an_array_beside_a_tensor(name, backend):
    """Only the first tensor is the backend's own; the others are arrays."""
    entry = OPERATORS[name]
    call = Call(entry, entry.samples[0])
    args, kwargs = call.arrays()
    expected = [labdl.to_numpy(t) for t in call(args, kwargs, lambda a: native(a, backend.name))]
    first = True

    def wrap(array):
        nonlocal first
        if first:
            first = False
            return native(array, backend.name)
        return np.copy(array)

    found = call(args, kwargs, wrap)
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, backend.tensor_types())
        np.testing.assert_allclose(labdl.to_numpy(one), other, rtol=1e-5, atol=1e-6)


def _operands(entry) -> list[str]:
    bound = entry.signature.bind(*entry.samples[0][0], **entry.samples[0][1]).arguments
    return [
        name
        for name, many in entry.inputs.items()
        if not many and "free" in entry.roles[name] and isinstance(bound.get(name), Sample)
    ]


@pytest.mark.sample(every=6, backends=1)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if _operands(entry)])
def test_a_list_of_numbers_is_no_tensor(name, backend):
    """Frameworks would read it, each in a dtype of its own."""
    entry = OPERATORS[name]
    args, kwargs = each_sample(entry.samples[0], lambda s: native(np.zeros(s.shape, s.dtype), backend.name))
    bound = entry.signature.bind(*args, **kwargs)
    for operand in _operands(entry):
        own = entry.signature.bind(*bound.args, **bound.kwargs)
        own.arguments[operand] = [1.0, 2.0]
        with pytest.raises(TypeError, match=r"wants (a tensor for \w+|tensors), received the list \[1.0, 2.0\]"):
            entry.function(*own.args, **own.kwargs)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, at: ops.getitem(x, at),
        lambda x, at: ops.setitem(x, at, 0.0),
        lambda x, at: ops.masked_select(x, ops.concat([at, at])[:3]),
        lambda x, at: ops.take(x, at),
    ],
)
def test_fractions_are_no_positions(call, backend):
    x, at = (native(np.array(v, "float32"), backend.name) for v in ([10.0, 20.0, 30.0], [0.9, 1.9]))
    with pytest.raises(TypeError, match=r"received float32: convert with ops\.astype"):
        call(x, at)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: ops.random_uniform((2,), 1, 0, backend=b), "high not below low"),
        (lambda b: ops.random_uniform((2,), float("nan"), 1, backend=b), "finite low and high"),
        (lambda b: ops.random_uniform((2,), 0, 9, "int64", backend=b), "wants a floating-point dtype"),
        (lambda b: ops.random_normal((2,), 0, -1, backend=b), "std of 0 or more"),
        (lambda b: ops.random_normal((2,), 0, 1, "int32", backend=b), "wants a floating-point dtype"),
        (lambda b: ops.random_integers((2,), 0, 300, "uint8", backend=b), "numbers that uint8 holds"),
        (lambda b: ops.random_integers((2,), 0, 1000, "int8", backend=b), "numbers that int8 holds"),
        (lambda b: ops.random_integers((2,), 0.5, 3, backend=b), "wants integers"),
        (lambda b: ops.random_truncated_normal((2,), std=-1, backend=b), "std of 0 or more"),
        (lambda b: ops.random_binomial((2,), 2.5, 0.5, backend=b), "n of at least 0"),
        (lambda b: ops.random_gamma((2,), "x", backend=b), "numbers above 0"),
        (lambda b: ops.permutation(-1, backend=b), "an integer of 0 or more"),
        (lambda b: ops.random_uniform((2, -1), backend=b), "sizes of 0 or more"),
        (lambda b: ops.arange(0, 5, 0, backend=b), "a step that is not 0"),
    ],
)
def test_random_numbers_and_creation_check_their_arguments(call, message, backend):
    with pytest.raises((ValueError, TypeError), match=message):
        call(backend.name)


def test_no_dtype_is_the_default_one(backend):
    for create in (ops.zeros, ops.ones, ops.empty):
        assert labdl.to_numpy(create((2,), dtype=None, backend=backend.name)).dtype == "float32"


def test_messages_name_the_operator(backend):
    x = native(np.zeros((2, 3), "float32"), backend.name)
    for call in (lambda: ops.pad(x, 1), lambda: ops.sum(x, axis=5), lambda: ops.softmax(x, axis=None)):
        with pytest.raises((TypeError, ValueError), match=r"^(pad|sum|softmax)\b"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda wide, narrow: ops.linear(wide, narrow),
        lambda wide, narrow: ops.layer_norm(wide, narrow[0], narrow[1]),
        lambda wide, narrow: ops.conv1d(wide[None], narrow[:, :, None]),
        lambda wide, narrow: ops.batch_norm(wide, narrow[0], narrow[1], narrow[2], ops.square(narrow[1])),
        lambda wide, narrow: ops.matmul(wide, narrow),
    ],
)
def test_operands_of_two_precisions_are_promoted(call, backend):
    wide = native(np.linspace(-1, 1, 9).reshape(3, 3), backend.name)
    narrow = native(np.linspace(0.5, 2, 9, dtype="float32").reshape(3, 3), backend.name)
    result = labdl.to_numpy(call(wide, narrow))
    assert result.dtype == np.float64
    expected = labdl.to_numpy(call(wide, ops.astype(narrow, "float64")))
    np.testing.assert_allclose(result, expected, rtol=1e-6)
