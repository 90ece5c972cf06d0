"""Integers that float64 does not hold, and floats that float32 does not hold: no backend computes them by another dtype."""

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2, every=4)

SUMMANDS = np.array([[2**53 + 1, 2**53 + 3, -(2**62) - 1, 2**62 + 1], [7, -(2**53) - 1, 2**60 + 1, 3]])
FACTORS = np.array([[2**31 - 1, 2**30 + 1, 3, -1], [2**53 + 1, 5, -7, 11]])
ROWS = np.array([1, 0])
EXACT = {
    "sum": lambda x, at: ops.sum(x),
    "sum_axis_0": lambda x, at: ops.sum(x, axis=0),
    "sum_axis_1": lambda x, at: ops.sum(x, axis=1, keepdims=True),
    "sum_no_axis": lambda x, at: ops.sum(x, axis=()),
    "cumulative_sum": lambda x, at: ops.cumulative_sum(x, axis=1),
    "prod": lambda x, at: ops.prod(x[:, :2], axis=1),
    "prod_axis_0": lambda x, at: ops.prod(ops.remainder(x, 1001) + 2**30, axis=0),
    "cumulative_prod": lambda x, at: ops.cumulative_prod(x, axis=1),
    "max": lambda x, at: ops.max(x, axis=1),
    "min": lambda x, at: ops.min(x),
    "argmax": lambda x, at: ops.argmax(x, axis=1),
    "argmin": lambda x, at: ops.argmin(x, axis=0),
    "cumulative_max": lambda x, at: ops.cumulative_max(x, axis=1),
    "cumulative_min": lambda x, at: ops.cumulative_min(x, axis=1),
    "count_nonzero": lambda x, at: ops.count_nonzero(x),
    "sort": lambda x, at: ops.sort(x, axis=1),
    "argsort": lambda x, at: ops.argsort(x, axis=1),
    "topk": lambda x, at: ops.topk(x, 2)[0],
    "clip": lambda x, at: ops.clip(x, -(2**53) - 1, 2**60 + 1),
    "abs": lambda x, at: ops.abs(x),
    "sign": lambda x, at: ops.sign(x),
    "square": lambda x, at: ops.square(x),
    "diff": lambda x, at: ops.diff(x, axis=1),
    "trace": lambda x, at: ops.trace(x),
    "matmul": lambda x, at: ops.matmul(x, ops.permute_dims(x, (1, 0))),
    "maximum": lambda x, at: ops.maximum(x, ops.flip(x, axis=1)),
    "minimum": lambda x, at: ops.minimum(x, ops.flip(x, axis=1)),
    "floor_divide": lambda x, at: ops.floor_divide(x, 7),
    "remainder": lambda x, at: ops.remainder(x, 7),
    "equal": lambda x, at: ops.equal(x, x + 1),
    "less": lambda x, at: ops.less(x, x + 1),
    "where": lambda x, at: ops.where(x > 0, x, -x),
    "concat": lambda x, at: ops.concat([x, x]),
    "pad": lambda x, at: ops.pad(x, ((1, 0), (0, 1)), value=2**53 + 1),
    "repeat": lambda x, at: ops.repeat(x, 2, axis=0),
    "take": lambda x, at: ops.take(x, at),
    "getitem": lambda x, at: ops.getitem(x, at),
    "scatter_nd": lambda x, at: ops.scatter_nd(ops.expand_dims(at, 1), x, (2, 4)),
    "index_add": lambda x, at: ops.index_add(x, at, x),
    **{
        f"scatter_{how}": lambda x, at, how=how: ops.scatter(x, ops.expand_dims(at, 1), x[:, :1], 0, reduce=how)
        for how in (None, "add", "multiply", "max", "min")
    },
    **{
        f"segment_{kind}": lambda x, at, kind=kind: getattr(ops, f"segment_{kind}")(x, at, 2)
        for kind in ("sum", "prod", "max", "min")
    },
}


@pytest.mark.parametrize("values", [SUMMANDS, FACTORS], ids=["summands", "factors"])
@pytest.mark.parametrize("name", EXACT)
def test_integers_of_64_bits_are_exact(name, values, backend):
    with np.errstate(over="ignore"):
        expected = EXACT[name](values, ROWS)
    actual = EXACT[name](native(values, backend.name), native(ROWS, backend.name))
    np.testing.assert_array_equal(labdl.to_numpy(actual), expected)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (1, 2)])
def test_long_sums_of_integers_are_exact(axis, backend):
    x = np.random.default_rng(0).integers(-(2**52), 2**52, (30, 7, 50))
    np.testing.assert_array_equal(labdl.to_numpy(ops.sum(native(x, backend.name), axis=axis)), ops.sum(x, axis=axis))


POOLS = {
    **{f"max_pool{rank}d": (rank, {"kernel_size": 2, "stride": 2}) for rank in (1, 2, 3)},
    "max_pool2d_padded": (2, {"kernel_size": 3, "stride": 1, "padding": 1, "ceil_mode": True}),
    "max_pool2d_dilated": (2, {"kernel_size": 2, "stride": 1, "dilation": 2}),
    "adaptive_max_pool1d": (1, {"output_size": 2}),
    "adaptive_max_pool2d": (2, {"output_size": 2}),
    **{f"avg_pool{rank}d": (rank, {"kernel_size": 2, "stride": 2}) for rank in (1, 2, 3)},
    "adaptive_avg_pool2d": (2, {"output_size": 2}),
}


@pytest.mark.parametrize("size", [1e300, -1e300, 1e-300])
@pytest.mark.parametrize("name", POOLS)
def test_pooling_of_float64(name, size, backend):
    rank, options = POOLS[name]
    pool = getattr(ops, name.replace("_padded", "").replace("_dilated", ""))
    x = np.random.default_rng(0).uniform(0.5, 1, (1, 2, *(4,) * rank)) * size
    np.testing.assert_allclose(labdl.to_numpy(pool(native(x, backend.name), **options)), pool(x, **options), rtol=1e-12)


@pytest.mark.backends("mindspore", "paddle", "torch")  # TensorFlow: see test_max_pool_of_minus_infinity_and_nan
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name in POOLS if "max" in name])
def test_pooling_of_minus_infinity(name, dtype, backend):
    rank, options = POOLS[name]
    pool = getattr(ops, name.replace("_padded", "").replace("_dilated", ""))
    x = np.random.default_rng(0).uniform(-1, 1, (2, 2, *(4,) * rank)).astype(dtype)
    x[0] = -np.inf
    np.testing.assert_array_equal(labdl.to_numpy(pool(native(x, backend.name), **options)), pool(x, **options))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("kind", "value"), [("max", -np.inf), ("min", np.inf), ("max", np.inf), ("min", -np.inf)])
def test_segments_of_infinities(kind, value, dtype, backend):
    x = np.array([[value, 1], [value, value], [2, 3], [value, 4]], dtype)
    ids = np.array([0, 0, 2, 3])
    function = getattr(ops, f"segment_{kind}")
    actual = function(native(x, backend.name), native(ids, backend.name), 5)
    np.testing.assert_array_equal(labdl.to_numpy(actual), function(x, ids, 5))
