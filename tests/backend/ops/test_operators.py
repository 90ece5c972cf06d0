"""Every operator on one backend against its NumPy body: values, gradients, dtypes, edge cases, errors."""

import contextlib
from itertools import groupby

import numpy as np
import pytest
from cases import assert_alike, dtype_calls, each_sample, edge_calls, native, parts_of, samples_of, value_calls
from portable_numbers import restart_portable_numbers

import labdl
from labdl.ops.operator import OPERATORS


def each_operator(calls):
    """A test for each operator, with all of its cases."""
    groups = [pytest.param([*group], id=name) for name, group in groupby(calls, lambda case: case[1].entry.name)]
    return pytest.mark.parametrize("cases", groups)


def first_calls():
    """The first case of each operator: a graph takes longer to make than a value to compute."""
    return [next(group) for _, group in groupby(value_calls(), lambda case: case[1].entry.name)]


DIFFERENTIABLE = [
    (name, call)
    for name, call in value_calls()
    if call.entry.differentiable and any(s.free and s.dtype == "float32" for s in samples_of(call.case))
]


@pytest.fixture(autouse=True)
def portable(request):
    """Random operators draw NumPy's numbers, so that they can be compared."""
    cases = request.node.callspec.params.get("cases") if hasattr(request.node, "callspec") else None
    if cases and cases[0][1].entry.random:
        restart_portable_numbers()


def expected_of(call, args, kwargs):
    if call.entry.random:
        restart_portable_numbers()
    result = call(args, kwargs)
    if call.entry.random:
        restart_portable_numbers()
    return result


def refuses_values(entry, args, kwargs):
    """Whether the frameworks' operator refuses the values of some arguments, which the definition takes as they are."""
    if entry.check_values is None:
        return False
    try:
        entry.check_values(**entry.signature.bind(*args, **kwargs).arguments)
    except ValueError as error:
        return str(error).startswith(entry.name)
    except (IndexError, TypeError):  # shapes that do not fit at all
        return False
    return False


def test_every_operator_has_samples_and_a_sentence():
    assert [
        name for name, entry in OPERATORS.items() if not entry.samples or not (entry.body.__doc__ or "").strip()
    ] == []


@pytest.mark.sample(cases=1)
@each_operator(value_calls())
def test_value(cases, backend, run_cases):
    def check(call):
        args, kwargs = call.arrays()
        expected = expected_of(call, args, kwargs)
        actual = call(args, kwargs, lambda a: native(a, backend.name))
        assert_alike(call, actual, expected, args, backend)

    run_cases(cases, check)


@pytest.mark.sample(every=20)
@each_operator(first_calls())
def test_value_as_evaluated(cases, backend, run_cases):
    """The same through the backend's default evaluation function: compiled where that is the default."""

    def check(call):
        args, kwargs = call.arrays()
        expected = expected_of(call, args, kwargs)
        arrays: list[np.ndarray] = []
        each_sample((args, kwargs), lambda a: arrays.append(a) or a)
        # the first array is the input, whose batch size stays open; the rest are the model's own
        own = [
            backend.variable(a, trainable=False) if a.dtype.kind == "f" else native(a, backend.name) for a in arrays[1:]
        ]

        def run(x):
            given = iter([x, *own])
            return call(args, kwargs, lambda a: next(given))

        if not arrays:
            return
        actual = backend.evaluate_function(run)(native(arrays[0], backend.name))
        assert_alike(call, list(actual), expected, args, backend)

    run_cases(cases, check)


@pytest.mark.sample(every=20)
@each_operator(dtype_calls(taken=True))
def test_dtype(cases, backend, run_cases):
    def check(call):
        args, kwargs = call.arrays()
        expected = expected_of(call, args, kwargs)
        actual = call(args, kwargs, lambda a: native(a, backend.name))
        assert_alike(call, actual, expected, args, backend)

    run_cases(cases, check)


@pytest.mark.sample(every=20)
@each_operator(dtype_calls(taken=False))
def test_invalid_dtype_raises_type_error(cases, backend, run_cases):
    def check(call):
        args, kwargs = call.arrays()
        assert call.refused(args, kwargs) is TypeError
        with pytest.raises(TypeError) as caught:
            call(args, kwargs, lambda a: native(a, backend.name))
        assert call.entry.name in str(caught.value) or "do not mix" in str(caught.value)

    run_cases(cases, check)


@pytest.mark.sample(every=40)
@each_operator(edge_calls())
def test_edge(cases, backend, run_cases):
    """Empty, size 1, no axes, broadcasting either way, NaN, infinities, overflow: a result or a clear error, as NumPy's."""

    def check(call):
        args, kwargs = call.arrays()
        if refuses_values(call.entry, args, kwargs):
            with pytest.raises(ValueError, match="wants"):
                call(args, kwargs, lambda a: native(a, backend.name))
            return
        try:
            expected = expected_of(call, args, kwargs)
        except IndexError:
            return  # a position outside of the tensor: what happens then is the framework's
        except (TypeError, ValueError):  # a framework may be more generous, but it may not fail in its own words
            with contextlib.suppress(TypeError, ValueError):
                call(args, kwargs, lambda a: native(a, backend.name))
            return
        try:
            actual = call(args, kwargs, lambda a: native(a, backend.name))
        except ValueError:
            # decompositions may refuse what is not finite, where others carry it on
            assert call.spoil
            assert not all(np.isfinite(np.asarray(e, complex)).all() for e in expected)
            return
        assert_alike(call, actual, expected, args, backend)

    run_cases(cases, check)


DIRECTIONS, STEP = 4, 1e-5


@pytest.mark.sample(cases=1)
@each_operator(DIFFERENTIABLE)
def test_gradient(cases, backend, run_cases, full_breadth):
    """The backend's gradient against central differences of the NumPy body in float64, along a few directions of each input.

    A direction moves every element by an amount of its own, so that no error of one or of several stays hidden in the sum.
    """

    def check(call):
        args, kwargs = call.arrays(seed=1)
        leaves: list[np.ndarray] = []
        each_sample((args, kwargs), lambda a: leaves.append(a) if a.dtype == np.float32 else a)
        if call.entry.name in ("batch_norm", "sync_batch_norm"):
            leaves = leaves[:3]  # the running statistics are state, not inputs
        wide = [leaf.astype("float64") for leaf in leaves]

        def results(values, wrap):
            given, count = iter(values), len(leaves)

            def place(a):
                nonlocal count
                if a.dtype == np.float32 and count:
                    count -= 1
                    return next(given)
                return wrap(a)

            if call.entry.random:
                restart_portable_numbers()
            return [part for r in call(args, kwargs, place) for part in parts_of(r)]

        rng = np.random.default_rng(2)
        weights = [rng.uniform(-1, 1, np.shape(r)) for r in results([w.copy() for w in wide], np.copy)]

        def scalar(values):
            return sum(float(np.sum(w * r)) for w, r in zip(weights, results(values, np.copy), strict=True))

        def native_scalar(*values):
            total = None
            for w, r in zip(weights, results(values, lambda a: native(a, backend.name)), strict=True):
                part = labdl.ops.sum(labdl.ops.multiply(r, native(w.astype("float32"), backend.name)))
                total = part if total is None else labdl.ops.add(total, part)
            return total

        _, found = backend.gradients(native_scalar, [native(leaf, backend.name) for leaf in leaves])
        for k, (leaf, gradient) in enumerate(zip(wide, found, strict=True)):
            ours = labdl.to_numpy(gradient).astype("float64")
            assert ours.shape == leaf.shape
            for direction in directions(leaf, rng, DIRECTIONS if full_breadth else 1):
                ends = [scalar([*wide[:k], leaf + step * direction, *wide[k + 1 :]]) for step in (STEP, -STEP)]
                expected = (ends[0] - ends[1]) / (2 * STEP)
                size = np.sqrt(np.sum((ours * direction) ** 2))
                np.testing.assert_allclose(np.sum(ours * direction), expected, rtol=1e-4, atol=1e-4 + 1e-4 * size)

    run_cases(cases, check)


def directions(leaf, rng, count):
    """One for each element of a small array, else a few dense ones whose parts differ in size and sign."""
    if leaf.size <= count:
        return np.eye(leaf.size).reshape(leaf.size, *leaf.shape)
    shape = (count, *leaf.shape)
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape)
