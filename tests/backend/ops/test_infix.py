"""`a + b` in a forward equals the operator: same values and promotion on every framework's tensors."""

import operator
from itertools import product

import numpy as np
import pytest
from cases import TOLERANCE, native

import labdl
from labdl import nn, ops
from labdl.ops import infix

pytestmark = pytest.mark.sample(backends=2)

DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64")
METHODS = infix.BINARY | infix.COMPARISONS


class Infix(nn.Module):
    """A forward with one infix operator."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *operands):
        return self.function(*operands)


def array(dtype, shape, seed, short=""):
    """Small numbers; no False, which is zero, where integers are divided: what comes of that is open."""
    values = np.random.default_rng(seed).integers(1, 4, shape)
    divides = short in ("floordiv", "mod")
    return np.asarray(values > 2 - 2 * divides if dtype == "bool" else values).astype(dtype)


def compare(expression, name, operands, backend):
    """What the operator gives on NumPy is what the expression gives in a forward, or both are refused."""
    model = Infix(expression)
    model.__dict__["_ready"] = True  # there are no parameters to build
    tensors = [native(v, backend.name) if isinstance(v, np.ndarray) else v for v in operands]
    # a framework takes NumPy's scalars for numbers; for NumPy they are tensors of no axes
    operands = [v.item() if isinstance(v, np.generic) else v for v in operands]
    try:
        expected = getattr(ops, name)(*operands)
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            model(*tensors)
        return
    actual = model(*tensors)
    assert backend.spec_of(actual).dtype == str(expected.dtype)
    assert tuple(actual.shape) == expected.shape
    rtol, atol = TOLERANCE.get(str(expected.dtype), (0, 0))
    np.testing.assert_allclose(labdl.to_numpy(actual), expected, rtol=rtol, atol=atol)


def python(short):
    return getattr(operator, {"and": "and_", "or": "or_"}.get(short, short))


def each_method(methods, *choices):
    """A test for each method, whose cases are all combinations of the choices."""
    cases = {
        short: [("-".join([short, *map(name_of, choice)]), choice) for choice in product(*choices)] for short in methods
    }
    return pytest.mark.parametrize(("short", "cases"), cases.items(), ids=cases)


def name_of(choice):
    return choice if isinstance(choice, str) else repr(choice)


@pytest.mark.sample(cases=12)
@each_method(METHODS, DTYPES, DTYPES)
def test_two_tensors(short, cases, backend, run_cases):
    shapes = ((2, 3), (3, 2)) if short == "matmul" else ((2, 3), ())  # the number of axes must not decide the dtype

    def check(dtypes):
        operands = [
            array(dtype, shape, seed, short) for seed, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))
        ]
        compare(python(short), METHODS[short], operands, backend)

    run_cases(cases, check)


@pytest.mark.sample(cases=12)
@each_method([s for s in METHODS if s != "matmul"], DTYPES, [True, 2, 1.5, 1 + 2j])
def test_a_number_on_either_side(short, cases, backend, run_cases):
    def check(case):
        dtype, number = case
        values = array(dtype, (2, 3), 0, short)
        compare(python(short), METHODS[short], (values, number), backend)
        if short in infix.BINARY:
            compare(python(short), METHODS[short], (number, values), backend)

    run_cases(cases, check)


@pytest.mark.parametrize("number", [np.float64(1.5), np.float32(1.5), np.int64(2)], ids=repr)
@pytest.mark.parametrize("dtype", ["int32", "float16", "float32"])
@pytest.mark.parametrize("short", ["add", "mul", "pow", "lt"])
def test_a_number_of_numpy_is_a_python_number(short, dtype, number, backend):
    compare(python(short), METHODS[short], (array(dtype, (2, 3), 0), number), backend)


def test_outside_a_forward_native_code_keeps_its_meaning(backend):
    x = native(np.ones(3, "float32"), backend.name)
    assert isinstance(x + x, backend.tensor_types())
    assert not infix.scope.on


@pytest.mark.parametrize("short", infix.UNARY)
def test_one_tensor(short, backend):
    values = array("int32", (2, 3), 0)
    compare(getattr(operator, short), infix.UNARY[short], (values,), backend)


def test_strings(backend):
    words = labdl.tensor([["b", "a"], ["c", "b"]], backend=backend.name)
    assert words.shape == (2, 2)
    assert labdl.to_numpy(words[:, 0]).tolist() == ["b", "c"]
    assert labdl.to_numpy(ops.permute_dims(words, (1, 0))).tolist() == [["b", "c"], ["a", "b"]]
    assert labdl.to_numpy(ops.reshape(words, (4,))).tolist() == ["b", "a", "c", "b"]
    same = words == "b"
    assert isinstance(same, backend.tensor_types())
    assert labdl.to_numpy(same).tolist() == [[True, False], [False, True]]
    for wrong in (lambda: words * 2, lambda: words - words, lambda: -words, lambda: ops.sin(words), lambda: words + 1):
        with pytest.raises(TypeError):
            wrong()
