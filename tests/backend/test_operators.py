"""Every operator on one backend: values, gradients and shape rule against the NumPy body (R1.11)."""

import numpy as np
import pytest

import labdl
from labdl.ops.operator import OPERATORS, Sample
from labdl.spec import Spec

CASES = [pytest.param(entry, *case, id=f"{name}-{i}")
         for name, entry in OPERATORS.items() for i, case in enumerate(entry.samples)]  # fmt: skip
DIFFERENTIABLE = [c for c in CASES if c.values[0].differentiable]


def convert(value, function):
    """Replace every array in nested arguments."""
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)(convert(v, function) for v in value)
    if isinstance(value, dict):
        return {k: convert(v, function) for k, v in value.items()}
    return value


def draw(value, rng):
    if isinstance(value, Sample):
        return np.asarray(value.draw(rng))
    if isinstance(value, list | tuple):
        return type(value)(draw(v, rng) for v in value)
    return value


def materialise(args, kwargs, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(draw(a, rng) for a in args), {k: draw(v, rng) for k, v in kwargs.items()}


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def test_every_operator_has_samples():
    assert [name for name, entry in OPERATORS.items() if not entry.samples] == []


@pytest.mark.parametrize(("entry", "args", "kwargs"), CASES)
def test_value(entry, args, kwargs, backend):
    args, kwargs = materialise(args, kwargs)
    function = getattr(labdl.ops, entry.name)
    expected = flat(function(*convert(args, np.copy), **convert(kwargs, np.copy)))
    native = flat(function(*convert(args, lambda a: backend.tensor(a)), **convert(kwargs, lambda a: backend.tensor(a))))
    assert len(native) == len(expected)
    for ours, reference in zip(native, expected, strict=True):
        assert isinstance(ours, backend.tensor_types()), "the result must be the backend's own tensor"
        actual = labdl.to_numpy(ours)
        assert actual.shape == np.shape(reference)
        assert actual.dtype.kind == np.asarray(reference).dtype.kind
        np.testing.assert_allclose(actual, reference, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("entry", "args", "kwargs"), CASES)
def test_value_as_evaluated(entry, args, kwargs, backend):
    """The same through the backend's default evaluation function: compiled where that is the default."""
    args, kwargs = materialise(args, kwargs)
    function = getattr(labdl.ops, entry.name)
    expected = flat(function(*convert(args, np.copy), **convert(kwargs, np.copy)))
    arrays: list[np.ndarray] = []
    convert((args, kwargs), lambda a: arrays.append(a) or a)
    # the first array is the input, whose batch size stays open; the rest are the model's own
    own = [backend.variable(a, trainable=False) if a.dtype.kind == "f" else backend.tensor(a) for a in arrays[1:]]

    def run(x):
        given = iter([x, *own])
        return function(*convert(args, lambda a: next(given)), **convert(kwargs, lambda a: next(given)))

    native = flat(backend.evaluate_function(run)(backend.tensor(arrays[0])))
    for ours, reference in zip(native, expected, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), reference, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("entry", "args", "kwargs"), CASES)
def test_shape_rule(entry, args, kwargs):
    args, kwargs = materialise(args, kwargs)
    function = getattr(labdl.ops, entry.name)
    expected = flat(function(*convert(args, np.copy), **convert(kwargs, np.copy)))
    specs = flat(function(*convert(args, lambda a: Spec(a.shape, str(a.dtype))),
                          **convert(kwargs, lambda a: Spec(a.shape, str(a.dtype)))))  # fmt: skip
    assert [s.shape for s in specs] == [np.shape(e) for e in expected]
    assert [np.dtype(s.dtype).kind for s in specs] == [np.asarray(e).dtype.kind for e in expected]


@pytest.mark.parametrize(("entry", "args", "kwargs"), DIFFERENTIABLE)
def test_gradient(entry, args, kwargs, backend):
    """The backend's gradient against central differences of the NumPy body in float64."""
    args, kwargs = materialise(args, kwargs, seed=1)
    function = getattr(labdl.ops, entry.name)
    leaves: list[np.ndarray] = []
    convert((args, kwargs), lambda a: leaves.append(a) if a.dtype == np.float32 else a)
    if entry.name == "batch_norm":
        leaves = leaves[:3]  # the running statistics are state, not inputs
    wide = [leaf.astype("float64") for leaf in leaves]

    def call(values, wrap):
        given = iter(values)
        count = len(leaves)

        def place(a):
            nonlocal count
            if a.dtype == np.float32 and count:
                count -= 1
                return next(given)
            return wrap(a)

        return flat(function(*convert(args, place), **convert(kwargs, place)))

    rng = np.random.default_rng(2)
    weights = [rng.uniform(-1, 1, np.shape(r)) for r in call([w.copy() for w in wide], np.copy)]

    def scalar(values):
        return sum(float(np.sum(w * r)) for w, r in zip(weights, call(values, np.copy), strict=True))

    def native_scalar(*values):
        total = None
        for w, r in zip(weights, call(values, backend.tensor), strict=True):
            part = labdl.ops.sum(labdl.ops.multiply(r, backend.tensor(w.astype("float32"))))
            total = part if total is None else total + part
        return total

    _, actual = backend.gradients(native_scalar, [backend.tensor(leaf) for leaf in leaves])
    step = 1e-5
    for k, leaf in enumerate(wide):
        expected = np.zeros_like(leaf)
        for at in np.ndindex(leaf.shape):
            ends = []
            for sign in (1, -1):
                moved = [w.copy() for w in wide]
                moved[k][at] += sign * step
                ends.append(scalar(moved))
            expected[at] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(labdl.to_numpy(actual[k]), expected, rtol=2e-3, atol=2e-4)
