"""Values at which kernels differ: infinities beside NaN, zeros in products, ends of intervals, neighbors, singular matrices."""

import math

import numpy as np
import pytest
from cases import native

import labdl
from labdl import nn, ops
from labdl.infer.predict import Predictor
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2, every=4)

INF, NAN = math.inf, math.nan
MIXED = [[3, NAN, INF, -INF, 1, NAN, -INF, INF, 0], [INF, INF, NAN, -1, 5, NAN, 1, -INF, 2]]


@pytest.fixture
def tensor(backend):
    return lambda values, dtype="float32": native(np.array(values, dtype), backend.name)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_sorted_behind_infinity(descending, dtype, tensor):
    x = np.array(MIXED, dtype)
    order = np.argsort(np.where(np.isnan(x), INF, -x if descending else x), -1, kind="stable")
    order = np.stack([np.r_[o[~np.isnan(r[o])], o[np.isnan(r[o])]] for o, r in zip(order, x, strict=True)])
    expected = np.take_along_axis(x, order, -1)
    t = tensor(MIXED, dtype)
    np.testing.assert_array_equal(labdl.to_numpy(ops.sort(t, descending=descending)), expected)
    np.testing.assert_array_equal(labdl.to_numpy(ops.argsort(t, descending=descending)), order)
    np.testing.assert_array_equal(labdl.to_numpy(ops.topk(t, 9, largest=descending)[0]), expected)


def test_close_numbers_are_sorted_in_float64(tensor):
    x = np.array([1 + 1e-10, 1, 1 + 5e-11, 1e300, INF, 1.7e308, -1e-300, 0])
    for values in (x, -x):
        np.testing.assert_array_equal(labdl.to_numpy(ops.sort(tensor(values, "float64"))), np.sort(values))


def test_quantile_and_unique_values_beside_infinity(tensor):
    assert np.isnan(labdl.to_numpy(ops.quantile(tensor(MIXED[0]), 0.5)))
    values, counts = (labdl.to_numpy(v) for v in ops.unique_counts(tensor([INF, -INF, INF, 2, -INF])))
    np.testing.assert_array_equal(values, [-INF, 2, INF])
    np.testing.assert_array_equal(counts, [2, 1, 2])


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_infinity_beside_nan(side, tensor):
    edges, x = np.array([-INF, 0, 2, INF, INF, NAN], "float32"), np.array([NAN, INF, -INF, 0, 1], "float32")
    found = ops.searchsorted(tensor(edges), tensor(x), side=side)
    np.testing.assert_array_equal(labdl.to_numpy(found), np.searchsorted(edges, x, side))


@pytest.mark.parametrize("shape", [(2, 4), (64, 1000), (2, 3, 5, 7)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_masked_row_leaves_the_others_alone(shape, dtype, tensor):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x[..., 1, :] = -INF
    rest = np.delete(x, 1, -2)
    for function in (ops.softmax, ops.log_softmax, ops.softmin):
        for axis in (-1, x.ndim - 1):
            whole, alone = (labdl.to_numpy(function(tensor(v, dtype), axis=axis)) for v in (x, rest))
            np.testing.assert_allclose(np.delete(whole, 1, -2), alone, rtol=1e-5, atol=1e-7)
        if function is not ops.softmin:
            assert np.isnan(whole[..., 1, :]).all()


@pytest.mark.parametrize("values", [[-INF, -INF, 1, 2], [INF, INF, -INF, 1], [1, NAN, -INF, INF], [-INF, INF, NAN, 1]])
def test_logcumsumexp_beside_infinities(values, tensor):
    found = labdl.to_numpy(ops.logcumsumexp(tensor(values), axis=0))
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, np.logaddexp.accumulate(values), rtol=1e-6)


def test_softplus_and_logsigmoid_of_nan(tensor):
    assert np.isnan(labdl.to_numpy(ops.softplus(tensor([NAN, 1.0])))).tolist() == [True, False]
    assert np.isnan(labdl.to_numpy(ops.logsigmoid(tensor([1.0, NAN])))).tolist() == [False, True]


@pytest.mark.parametrize("function", [ops.prod, ops.cumulative_prod])
@pytest.mark.parametrize("values", [[2, 0, 3, 4], [2, 0, 0, 4], [0, 0, 0], [0], [3, 2, 0], [[2, 0, 1], [0, 3, 5]]])
def test_gradient_of_a_product_at_zero(function, values, tensor, backend):
    x = np.array(values, "float64")
    expected = np.zeros_like(x)
    for at in np.ndindex(x.shape):  # linear in each element
        ends = []
        for value in (0.0, 1.0):
            moved = x.copy()
            moved[at] = value
            ends.append(function(moved, axis=-1).sum())
        expected[at] = ends[1] - ends[0]
    _, (found,) = backend.gradients(lambda t: ops.sum(function(t, axis=-1)), [tensor(values)])
    np.testing.assert_allclose(labdl.to_numpy(found), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nextafter_takes_one_step(dtype, tensor):
    x = np.array([1, 0, -1, INF, NAN, -0.0, 2, -INF, 1, 1, 1.1754944e-38, np.finfo(dtype).max], dtype)
    y = np.array([2, 1, 0, 0, 1, 1, 2, 0, NAN, -INF, 0, INF], dtype)
    found = labdl.to_numpy(ops.nextafter(tensor(x, dtype), tensor(y, dtype)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.nextafter(x, y))


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float64", 1e-9)])
def test_erfinv_up_to_its_ends(dtype, rtol, tensor):
    y = np.concatenate([np.arange(-30, 31) / 10, [-3.6, 3.7]] + [[5.0]] * (dtype == "float64"))
    x = np.array([math.erf(v) for v in y], dtype)
    slope = 2 / math.sqrt(math.pi) * np.exp(-(y**2))
    rounded = np.finfo(dtype).eps * np.abs(x) / slope
    found = labdl.to_numpy(ops.erfinv(tensor(x, dtype)))
    assert (np.abs(found - y) <= rtol * np.abs(y) + rounded).all()
    np.testing.assert_array_equal(labdl.to_numpy(ops.erfinv(tensor([-1, 1, 2, NAN], dtype))), [-INF, INF, NAN, NAN])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["solve", "triangular_solve", "inv", "det", "cholesky", "matmul"])
def test_gradients_keep_the_dtype(name, dtype, tensor, backend):
    function = getattr(ops, name)
    values = [tensor([[2, 0], [0, 3]], dtype)]
    if name in ("solve", "triangular_solve", "matmul"):
        values.append(tensor([[1], [2]], dtype))
    _, found = backend.gradients(lambda *given: ops.sum(function(*given)), values)
    assert [labdl.dispatch.spec_of(g).dtype for g in found] == [dtype] * len(values)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("matrix", [[[1, 2], [2, 4]], [[0]], [[[1, 0], [0, 1]], [[1, 2], [2, 4]]]])
def test_a_singular_matrix_has_no_inverse(matrix, dtype, tensor):
    x = tensor(matrix, dtype)
    for function in (ops.inv, lambda t: ops.solve(t, t), lambda t: ops.matrix_power(t, -1)):
        with pytest.raises(ValueError, match=r"(?i)singular|invertible"):
            labdl.to_numpy(function(x))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pool_of_minus_infinity_and_nan(rank, tensor):
    pool, largest = getattr(ops, f"max_pool{rank}d"), float(np.finfo("float32").max)
    for value in (-INF, -largest):
        x = np.full((1, 2, *(5,) * rank), value, "float32")
        for padding in (0, 1):
            assert (labdl.to_numpy(pool(tensor(x), 2, padding=padding, ceil_mode=True)) == value).all()
    for at in range(2**rank):
        x = np.zeros((1, 1, *(2,) * rank), "float32")
        x.reshape(-1)[at] = NAN
        assert np.isnan(labdl.to_numpy(pool(tensor(x), 2))).all()


APART = ["(j, slice(None), 1)", "(1, slice(None), j)", "(j, None, 1)", "(j, ..., 1)", "(j, slice(None), j)"]


@pytest.mark.parametrize("index", [*APART, "[0, 1]", "True", "(m, j)"])
def test_indices_that_frameworks_read_differently_are_refused(index, tensor):
    x, j, m = tensor(np.zeros((2, 3, 4))), tensor([1, 0, 1], "int64"), tensor([True, False], "bool")
    at = eval(index, {"j": j, "m": m})
    with pytest.raises((TypeError, ValueError, IndexError), match="index"):
        ops.getitem(x, at)
    with pytest.raises((TypeError, ValueError, IndexError), match="index"):
        ops.setitem(x, at, 1.0)


def test_a_mask_beside_an_integer(tensor):
    x = np.arange(24.0).reshape(2, 3, 4)
    mask = x[..., 0] > 5
    found = ops.getitem(tensor(x), (tensor(mask, "bool"), 1))
    np.testing.assert_array_equal(labdl.to_numpy(found), x[mask, 1])


@pytest.mark.parametrize("exponent", ["tensor", "number"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_have_no_negative_powers(dtype, exponent, tensor):
    with pytest.raises(ValueError, match="negative"):
        labdl.to_numpy(ops.pow(tensor([2, 3], dtype), tensor([2, -1], dtype) if exponent == "tensor" else -1))


@pytest.mark.parametrize("divisor", ["tensor", "number"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("function", [ops.floor_divide, ops.remainder, ops.fmod])
def test_integers_are_not_divided_by_zero(function, dtype, divisor, tensor):
    with pytest.raises(Exception, match=r"(?i)zero|integer div"):  # in the words of each framework
        labdl.to_numpy(function(tensor([2, 3], dtype), tensor([2, 0], dtype) if divisor == "tensor" else 0))


class Quotient(nn.Module):
    def forward(self, x, y):
        return ops.floor_divide(x, y)


@pytest.mark.backends("tensorflow", "mindspore")  # which compile by default
@pytest.mark.parametrize("dtype", ["int64"])
def test_a_program_does_not_divide_integers_by_zero(dtype, backend):
    model = Quotient().build(*[Spec((None, 2), dtype)] * 2, backend=backend.name)
    compute = Predictor(model, backend=backend.name, compiled=True).arrays
    with pytest.raises(Exception, match=r"(?i)zero|integer div"):
        compute((np.array([[4, 5]], dtype), np.array([[2, 0]], dtype)))


def test_complex_zero_to_the_power_of_zero_is_one_beside_other_powers(tensor):
    base, power = [0, 0, 2j, 1], [0, 2, 0, 1j]
    found = labdl.to_numpy(ops.pow(tensor(base, "complex64"), tensor(power, "complex64")))
    np.testing.assert_allclose(found, [1, 0, 1, 1], atol=1e-6)


@pytest.mark.parametrize("rate", [1e12, 1e16, 1e19, 1e30])
def test_poisson_of_a_large_rate_is_near_it(rate, tensor):
    found = labdl.to_numpy(ops.poisson(tensor([rate] * 20, "float64")))
    np.testing.assert_allclose(found, rate, rtol=8 / math.sqrt(rate) + 1e-15)


@pytest.mark.parametrize("divisor", [3, -3, INF, -INF])
def test_a_remainder_of_zero_has_the_sign_of_the_divisor(divisor, tensor):
    x = np.array([0.0, -0.0] if math.isinf(divisor) else [0.0, -0.0, 3, -3], "float32")
    found = labdl.to_numpy(ops.remainder(tensor(x), tensor(np.full(len(x), divisor))))
    np.testing.assert_array_equal(np.signbit(found), divisor < 0)


def test_products_of_complex_updates_have_gradients(backend):
    rng = np.random.default_rng(0)
    x, updates = (rng.normal(size=3) + 1j * rng.normal(size=3) for _ in range(2))
    positions = backend.tensor(np.array([0, 0, 2]))

    def product(x, updates):
        return ops.sum(ops.real(ops.scatter(x, positions, updates, reduce="multiply")))

    value, gradients = backend.gradients(product, [backend.tensor(x), backend.tensor(updates)])
    expected = x * [updates[0] * updates[1], 1, updates[2]]
    np.testing.assert_allclose(labdl.to_numpy(value), expected.real.sum(), rtol=1e-6)
    wanted = [updates[0] * updates[1], 1, updates[2]], [x[0] * updates[1], x[0] * updates[0], x[2]]
    for gradient, slopes in zip(gradients, wanted, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(gradient), np.conj(slopes), rtol=1e-6)
