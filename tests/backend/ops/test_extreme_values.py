"""Operators at the ends of a dtype's range, and positions and lengths beyond a tensor: a right result or an error."""

import contextlib
import sys

import numpy as np
import pytest

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2, every=4)

LEAST = [("int32", -(2**31)), ("int64", -(2**63))]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_division_of_integers_is_exact(backend, dtype):
    limits, rng = np.iinfo(dtype), np.random.default_rng(0)
    ends = [sign * (2**power + step) for sign in (1, -1) for power in range(limits.bits - 1) for step in (-1, 0, 1)]
    x = np.array([*ends, limits.max, limits.max - 1, limits.min, limits.min + 1]).clip(limits.min, limits.max)
    x = np.concatenate([x, rng.integers(limits.min, limits.max, 200)]).astype(dtype)
    y = x[x != 0]
    for name in ("floor_divide", "remainder", "fmod"):
        function = getattr(ops, name)
        with np.errstate(over="ignore"):
            expected = function(x[:, None], y)
        actual = labdl.to_numpy(function(backend.tensor(x[:, None]), backend.tensor(y)))
        np.testing.assert_array_equal(actual, expected, err_msg=name)


@pytest.mark.parametrize(("dtype", "least"), LEAST)
def test_the_least_integer_divided_by_minus_one(backend, dtype, least):
    x = np.array([least, least + 1, 7, -7], dtype)
    for divisor in (np.array(-1, dtype), np.full(4, -1, dtype), np.array([-1, 2, -1, 2], dtype)):
        for name in ("floor_divide", "remainder", "fmod"):
            function = getattr(ops, name)
            with np.errstate(over="ignore"):
                expected = function(x, divisor)
            actual = labdl.to_numpy(function(backend.tensor(x), backend.tensor(divisor)))
            np.testing.assert_array_equal(actual, expected, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_by_zero(backend, dtype):
    x = np.array([1, -1, np.inf, -np.inf, 0, np.nan], dtype)[:, None]
    y = np.array([0.0, -0.0], dtype)
    with np.errstate(all="ignore"):
        expected = ops.divide(x, y)
    np.testing.assert_array_equal(labdl.to_numpy(ops.divide(backend.tensor(x), backend.tensor(y))), expected)


@pytest.mark.parametrize("name", ["expm1", "log1p"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_digits_near_zero(backend, name, dtype):
    ends = [0.0, 1e-300, 1e-30, 1e-10, 1e-8, 1e-5, 1e-3, 0.3, 0.4999, 0.5001, 0.999, 1.001, 3.0, 80.0, np.inf]
    x = np.array([*ends, *np.negative(ends), np.nan], dtype)
    function = getattr(ops, name)
    with np.errstate(all="ignore"):
        expected, slopes = function(x), np.exp(x) if name == "expm1" else 1 / (1 + x)
    actual = labdl.to_numpy(function(backend.tensor(x)))
    tolerance = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(actual, expected, rtol=tolerance)
    np.testing.assert_array_equal(np.signbit(actual[x == 0]), np.signbit(expected[x == 0]))
    inside = np.isfinite(expected) & (np.abs(x) < 80)
    _, (gradient,) = backend.gradients(lambda v: ops.sum(function(v)), [backend.tensor(x[inside])])
    np.testing.assert_allclose(labdl.to_numpy(gradient), slopes[inside], rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [0, 1])
def test_log_softmax_of_a_row_without_a_largest_number(backend, value, axis):
    """Of NaN or an infinity the whole row is NaN; minus infinity among numbers has a share of 0."""
    x = np.arange(12, dtype="float32").reshape(3, 4)
    x[0, 1], x[2] = value, -np.inf
    x = x if axis else np.ascontiguousarray(x.T)
    with np.errstate(invalid="ignore"):
        expected = ops.log_softmax(x, axis=axis)
    np.testing.assert_allclose(labdl.to_numpy(ops.log_softmax(backend.tensor(x), axis=axis)), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3, 8), (64, 1000)])
def test_gradient_of_softmax_with_equal_slopes(backend, shape):
    x = backend.tensor(np.random.default_rng(0).normal(size=shape).astype("float32") * 5)
    _, (gradient,) = backend.gradients(lambda v: ops.sum(ops.softmax(v)) * 100.0, [x])
    np.testing.assert_allclose(labdl.to_numpy(gradient), 0, atol=1e-4)


@pytest.mark.backends("mindspore", "paddle", "torch")  # TensorFlow updates variables only
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("rank", [2, 4])
def test_batch_norm_in_half_precision(backend, dtype, rank):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 3, 2, 2)[:rank])
    arrays = [x, *(np.ones(3), np.zeros(3), np.zeros(3), np.ones(3))]
    given = [labdl.tensor(a.astype("float32"), dtype=dtype, backend=backend.name) for a in arrays]
    mean, variance = (arrays[i].astype("float32") for i in (3, 4))
    expected = ops.batch_norm(*(a.astype("float32") for a in arrays[:3]), mean, variance, training=True)
    actual = ops.batch_norm(*given, training=True)
    for ours, reference in ((actual, expected), (given[3], mean), (given[4], variance)):
        assert labdl.dispatch.spec_of(ours).dtype == dtype
        np.testing.assert_allclose(labdl.to_numpy(ops.astype(ours, "float32")), reference, rtol=2e-2, atol=2e-2)


RANGES = [("int64", 2**62), ("int64", 2**40), ("int64", 2**25), ("int64", 9), ("int32", 2**31), ("int32", 2**14)]


@pytest.mark.parametrize(("dtype", "limit"), RANGES)
@pytest.mark.parametrize("shapes", [((5, 7), (7, 3)), ((7,), (7,)), ((2, 1, 5, 7), (3, 7, 2)), ((3, 300), (300, 2))])
@pytest.mark.backends("paddle", "torch")
def test_products_of_integers_are_exact(backend, dtype, limit, shapes):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-limit, limit, shape).astype(dtype) for shape in shapes)
    actual = labdl.to_numpy(ops.matmul(backend.tensor(x), backend.tensor(y)))
    np.testing.assert_array_equal(actual, x @ y)


LOGITS = np.array([[0, 100, 3], [5, -200, 1], [1, 2, 3], [-np.inf, 0, 1], [0, 64, 60]], "float32")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("ignore_index", [-100, 2])
@pytest.mark.parametrize("target", [[0, 1, 2, 1, 2], [2, 1, 2, 0, 0]])
def test_cross_entropy_of_large_differences(backend, reduction, ignore_index, target):
    expected = ops.cross_entropy(LOGITS, np.array(target), ignore_index=ignore_index, reduction=reduction)
    actual = ops.cross_entropy(
        backend.tensor(LOGITS), backend.tensor(np.array(target)), ignore_index=ignore_index, reduction=reduction
    )
    np.testing.assert_allclose(labdl.to_numpy(actual), expected, rtol=1e-5)


@pytest.mark.backends("paddle")
def test_programs_of_paddle_read_no_values(backend, monkeypatch):
    """The same results where Python may not read values: on a GPU, and in programs."""
    from labdl.backends.paddle import linear_algebra, losses, pooling

    for module in (linear_algebra, losses, pooling):
        monkeypatch.setattr(module, "reads_values", lambda x: False)
    test_cross_entropy_of_large_differences(backend, "mean", -100, [0, 1, 2, 1, 2])
    test_products_of_integers_are_exact(backend, "int64", 2**62, ((5, 7), (7, 3)))
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 6)).astype("float32")
    x[0, 0], x[0, 1, :3] = -np.inf, np.nan
    for options in ({}, {"padding": 1}, {"padding": ((0, 1), (1, 0)), "ceil_mode": True}):
        actual = labdl.to_numpy(ops.max_pool2d(backend.tensor(x), 3, **options))
        np.testing.assert_allclose(actual, ops.max_pool2d(x, 3, **options))


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_gradient_of_max_pooling_where_no_element_is_finite(backend, value, rank, data_format):
    """Paddle's own writes before the tensor."""
    pool = getattr(ops, f"max_pool{rank}d")
    x = np.full((2,) + (4,) * (rank + 1), value, "float32")
    for _ in range(20):
        result, (gradient,) = backend.gradients(
            lambda v: ops.sum(pool(v, 2, data_format=data_format)), [backend.tensor(x)]
        )
        assert np.isfinite(labdl.to_numpy(gradient)).all()
        assert not np.isfinite(labdl.to_numpy(result))


@pytest.mark.parametrize("network", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("reverse", [False, True])
def test_lengths_beyond_the_steps_on_a_device(backend, network, reverse, monkeypatch):
    """Where values are not read, a longer sequence has all steps, one of a negative length has none."""
    monkeypatch.setattr(sys.modules["labdl.ops.operator.value_checks"], "values_are_at_hand", lambda backend: False)
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[network]
    rng = np.random.default_rng(0)
    shapes = [(3, 4, 2), (2, gates * 5), (5, gates * 5), (gates * 5,), (gates * 5,)][: 5 if network == "gru" else 4]
    arrays = [rng.normal(size=shape).astype("float32") for shape in shapes]
    lengths = np.array([9, -3, 2**31 - 1])
    expected = getattr(ops, network)(*arrays, lengths=lengths, reverse=reverse)
    actual = getattr(ops, network)(*map(backend.tensor, arrays), lengths=backend.tensor(lengths), reverse=reverse)
    for ours, reference in zip(actual, expected, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), reference, rtol=1e-5, atol=1e-6)


POSITIONS = [3, 5, 2**31, 2**62, -4, -(2**31), -(2**62)]
WITH_POSITIONS = {
    "take": lambda x, at: ops.take(x, at),
    "getitem": lambda x, at: ops.getitem(x, at),
    "setitem": lambda x, at: ops.setitem(x, at, x),
    "gather_nd": lambda x, at: ops.gather_nd(x, ops.expand_dims(at, 1)),
    "scatter_nd": lambda x, at: ops.scatter_nd(ops.expand_dims(at, 1), x, (3, 2)),
    "index_add": lambda x, at: ops.index_add(x, at, x),
    "embedding": lambda x, at: ops.embedding(at, x),
    "take_along_axis": lambda x, at: ops.take_along_axis(x, ops.expand_dims(at, 1), 0),
    **{
        f"scatter_{reduce}": lambda x, at, reduce=reduce: ops.scatter(x, ops.expand_dims(at, 1), x, 0, reduce=reduce)
        for reduce in (None, "add", "multiply", "max", "min")
    },
    **{
        f"segment_{kind}": lambda x, at, kind=kind: getattr(ops, f"segment_{kind}")(x, at, 3)
        for kind in ("sum", "mean", "max", "min", "prod")
    },
}


@pytest.mark.backends("paddle")  # TensorFlow and MindSpore return numbers for some
@pytest.mark.parametrize("name", WITH_POSITIONS)
def test_positions_beyond_a_tensor_are_refused(backend, name):
    x = np.arange(6, dtype="float32").reshape(3, 2)
    for position in POSITIONS:
        at = np.array([0, 1, position])
        for dtype in ("float32", "int64", "float16", "complex64"):
            if "float" not in dtype and name.endswith(("max", "min", "embedding")):
                continue
            with pytest.raises((IndexError, ValueError)):
                labdl.to_numpy(WITH_POSITIONS[name](backend.tensor(x.astype(dtype)), backend.tensor(at)))


@pytest.mark.parametrize("name", WITH_POSITIONS)
def test_positions_beyond_a_tensor_do_not_end_the_process(backend, name):
    x = np.arange(6, dtype="float32").reshape(3, 2)
    for position in POSITIONS:
        with contextlib.suppress(IndexError, ValueError, RuntimeError, TypeError):
            WITH_POSITIONS[name](backend.tensor(x), backend.tensor(np.array([0, 1, position])))


@pytest.mark.parametrize("count", [2**31, 2**40, 2**62, -1])
@pytest.mark.backends("paddle")  # whose kernels ended the process
def test_counts_beyond_memory_are_refused(backend, count):
    counts = backend.tensor(np.array([1, 0, count]))
    x = backend.tensor(np.arange(3, dtype="float32"))
    with pytest.raises((MemoryError, ValueError)):
        ops.repeat(x, counts)
    with pytest.raises((MemoryError, ValueError)):
        ops.bincount(counts)


@pytest.mark.parametrize("reduce", [None, "add", "multiply", "max", "min"])
def test_scatter_into_an_empty_axis_is_refused(backend, reduce):
    x, updates = (backend.tensor(np.ones(shape, "float32")) for shape in ((2, 0), (2, 3)))
    with pytest.raises((IndexError, ValueError, RuntimeError)):
        labdl.to_numpy(ops.scatter(x, backend.tensor(np.zeros((2, 3), "int64")), updates, -1, reduce=reduce))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("position", [3, -1, 2**31, 2**32, 2**40, 2**62])
@pytest.mark.backends("paddle", "torch")
def test_a_class_that_does_not_exist_is_refused(backend, reduction, position):
    """Paddle's kernel of the loss looks at 32 bits, and that of its gradient at 64."""
    logits, target = backend.tensor(np.zeros((2, 3), "float32")), backend.tensor(np.array([1, position]))
    with pytest.raises((IndexError, ValueError)):
        ops.cross_entropy(logits, target, reduction=reduction)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_concat_in_half_precision(backend, dtype):
    x = labdl.tensor(np.ones((2, 3), "float32"), dtype=dtype, backend=backend.name)
    _, (gradient,) = backend.gradients(lambda v: ops.sum(ops.concat([v, ops.zeros_like(x), v], axis=1)), [x])
    assert labdl.dispatch.spec_of(gradient).dtype == dtype
    np.testing.assert_array_equal(labdl.to_numpy(ops.astype(gradient, "float32")), np.full((2, 3), 2.0))


def test_poisson_of_large_rates(backend):
    rates = np.array([5.0, 1e8, 3e9, 1e12, 1e15], "float32")
    drawn = labdl.to_numpy(ops.poisson(backend.tensor(np.tile(rates, (500, 1)))))
    deviations = (drawn - rates).mean(0) / np.sqrt(rates)
    assert (np.abs(deviations[:3]) < 0.2).all()
    np.testing.assert_allclose(drawn[:, 3:], np.broadcast_to(rates[3:], (500, 2)), rtol=1e-5)


def _real_result(name, values, wrap):
    """The sum of the real part of an operator's result."""
    more = (wrap(np.array([0, 1, 0])), 2) if name == "segment_prod" else ()
    found = getattr(ops, name)(*values, *more)
    return ops.sum(ops.real(found[1] if isinstance(found, tuple) else found))


@pytest.mark.parametrize("name", ["divide", "pow", "slogdet", "segment_prod"])
@pytest.mark.backends("paddle")
def test_gradients_of_complex_numbers(backend, name):
    """The real and the imaginary part of the gradient are the slopes of the real result along the two axes."""
    rng = np.random.default_rng(0)
    shape = (3, 3) if name == "slogdet" else (3,)
    count = 2 if name in ("divide", "pow") else 1
    values = [rng.uniform(0.5, 2, shape) + 1j * rng.uniform(0.5, 2, shape) for _ in range(count)]

    _, gradients = backend.gradients(
        lambda *values: _real_result(name, values, backend.tensor), [backend.tensor(v) for v in values]
    )
    for at, (value, gradient) in enumerate(zip(values, gradients, strict=True)):
        direction = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        moved = ([*values[:at], value + step * direction, *values[at + 1 :]] for step in (1e-6, -1e-6))
        ends = [_real_result(name, arrays, np.asarray) for arrays in moved]
        ours = labdl.to_numpy(gradient)
        slope = np.sum(ours.real * direction.real + ours.imag * direction.imag)
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.backends("paddle")
def test_complex_zero_to_the_power_of_zero_is_one(backend):
    zero = backend.tensor(np.zeros(2, "complex64"))
    np.testing.assert_array_equal(labdl.to_numpy(ops.pow(zero, zero)), np.ones(2))
