"""The NumPy bodies of reductions against PyTorch's functions, and the Array API standard for edge cases."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.ops.operator import OPERATORS, Sample
from labdl.spec import Spec

torch = pytest.importorskip("torch")


def over(function, several=False):
    """A function of torch with our options; along several axes one after the other unless it takes them."""

    def call(x, axis=None, keepdims=False, dtype=None, **options):
        x = x if dtype is None else x.to(getattr(torch, dtype))
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
        if several:
            x = function(x, dim=axes, keepdim=keepdims, **options)
            return x if dtype is None else x.to(getattr(torch, dtype))
        for a in axes:
            x = function(x, dim=a, keepdim=True, **options)
        x = x if dtype is None else x.to(getattr(torch, dtype))
        return (
            x if keepdims else x.reshape([n for a, n in enumerate(x.shape) if a - x.ndim not in axes and a not in axes])
        )

    return call


def located(function):
    """argmax and argmin keep all axes only when asked for one."""

    def call(x, axis=None, keepdims=False):
        result = function(x, dim=axis, keepdim=keepdims)
        return result.reshape((1,) * x.ndim) if keepdims and axis is None else result

    return call


def running(function, initial=None):
    def call(x, axis=0, dtype=None, include_initial=False):
        x = x if dtype is None else x.to(getattr(torch, dtype))
        result = function(x, axis)
        result = result if dtype is None else result.to(getattr(torch, dtype))
        first = torch.full_like(result.narrow(axis, 0, 1), initial) if include_initial else None
        return result if first is None else torch.cat([first, result], axis)

    return call


def quantile(x, q, axis=None, keepdims=False, method="linear"):
    q = torch.tensor(q, dtype=x.dtype) if isinstance(q, list | tuple) else q
    return torch.quantile(x, q, dim=axis, keepdim=keepdims, interpolation=method)


def median(x, axis=None, keepdims=False):
    return quantile(x, 0.5, axis, keepdims)


def diff(x, axis=-1, n=1, prepend=None, append=None):
    return torch.diff(x, n=n, dim=axis, prepend=prepend, append=append)


REFERENCES = {
    "sum": over(torch.sum, True),
    "prod": over(torch.prod),
    "mean": over(torch.mean, True),
    "max": over(torch.amax, True),
    "min": over(torch.amin, True),
    "any": over(torch.any, True),
    "all": over(torch.all, True),
    "var": lambda x, correction=0, **options: over(torch.var, True)(x, correction=correction, **options),
    "std": lambda x, correction=0, **options: over(torch.std, True)(x, correction=correction, **options),
    "argmax": located(torch.argmax),
    "argmin": located(torch.argmin),
    "logsumexp": over(torch.logsumexp, True),
    "count_nonzero": lambda x, axis=None, keepdims=False: over(torch.sum, True)((x != 0).long(), axis, keepdims),
    "allclose": lambda *args, **options: torch.tensor(torch.allclose(*args, **options)),
    "quantile": quantile,
    "median": median,
    "nansum": over(torch.nansum, True),
    "nanmean": over(torch.nanmean, True),
    "cumulative_sum": running(torch.cumsum, 0),
    "cumulative_prod": running(torch.cumprod, 1),
    "cumulative_max": running(lambda x, axis: torch.cummax(x, axis).values),
    "cumulative_min": running(lambda x, axis: torch.cummin(x, axis).values),
    "logcumsumexp": running(torch.logcumsumexp),
    "diff": diff,
}
OURS = [entry for entry in OPERATORS.values() if entry.category == "reduction"]


def drawn(value, wrap, rng):
    if isinstance(value, Sample):
        return wrap(np.asarray(value.draw(rng)))
    if isinstance(value, list | tuple):
        return type(value)(drawn(v, wrap, rng) for v in value)
    return {k: drawn(v, wrap, rng) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("entry", "case"), [pytest.param(e, c, id=f"{e.name}-{i}") for e in OURS for i, c in enumerate(e.samples)]
)
def test_value(entry, case):
    args, kwargs = drawn(case, np.copy, np.random.default_rng(0))
    ours = getattr(ops, entry.name)(*args, **kwargs)
    args, kwargs = drawn(case, torch.tensor, np.random.default_rng(0))
    theirs = REFERENCES[entry.name](*args, **kwargs).numpy()
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "dtype", "result"),
    [
        ("sum", "bool", "int64"),
        ("sum", "uint8", "int64"),
        ("sum", "int32", "int64"),
        ("sum", "float16", "float16"),
        ("prod", "int8", "int64"),
        ("cumulative_sum", "int16", "int64"),
        ("cumulative_prod", "bool", "int64"),
        ("mean", "int64", "float32"),
        ("mean", "bool", "float32"),
        ("var", "uint8", "float32"),
        ("std", "float64", "float64"),
        ("max", "uint8", "uint8"),
        ("min", "bool", "bool"),
        ("cumulative_max", "int8", "int8"),
        ("quantile", "int32", "float32"),
        ("median", "float16", "float16"),
        ("nanmean", "int64", "float32"),
        ("nansum", "uint8", "int64"),
        ("any", "complex64", "bool"),
        ("count_nonzero", "float32", "int64"),
        ("mean", "complex64", "complex64"),
    ],
)
def test_dtype_of_the_result(name, dtype, result):
    x = np.array([1, 0, 1]).astype(dtype)
    options = {"q": 0.5} if name == "quantile" else {}
    assert getattr(ops, name)(x, **options).dtype == result
    assert getattr(ops, name)(Spec((3,), dtype), **options).dtype == result


def test_small_integers_do_not_wrap():
    x = np.full(5, 200, "uint8")
    assert ops.sum(x) == 1000
    assert ops.prod(x) == 200**5
    assert ops.cumulative_sum(x)[-1] == 1000
    assert ops.var(x) == 0
    assert ops.mean(np.array([100, 101], "int8")) == 100.5


def test_a_sum_in_another_dtype_converts_the_elements_first():
    x = np.array([1.7, 1.7])
    assert ops.sum(x, dtype="int64") == 2
    assert ops.sum(np.full(1000, 0.1, "float32"), dtype="float64") == pytest.approx(100, abs=1e-5)
    assert ops.cumulative_sum(x, dtype="int32").tolist() == [1, 2]
    assert ops.sum(x, dtype="bfloat16").dtype.name == "bfloat16"


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        ("max", [1, NAN, 3], NAN),
        ("min", [1, NAN, 3], NAN),
        ("argmax", [1, NAN, NAN], 1),
        ("argmin", [2, 1, 1], 1),
        ("sum", [], 0),
        ("prod", [], 1),
        ("any", [], False),
        ("all", [], True),
        ("mean", [INF, 1], INF),
        ("logsumexp", [-INF, -INF], -INF),
        ("logsumexp", [INF, 1], INF),
        ("logsumexp", [1000, 1000], 1000 + np.log(2)),
        ("logsumexp", [NAN, 1], NAN),
        ("nansum", [NAN, 1, 2], 3),
        ("nanmean", [NAN, 1, 2], 1.5),
        ("nanmean", [NAN], NAN),
        ("median", [3, 1, 2], 2),
        ("median", [4, 1, 3, 2], 2.5),
        ("median", [1, NAN], NAN),
        ("median", [1, INF, 2], 2),
        ("median", [INF, INF, 1, INF], INF),
        ("cumulative_max", [1, NAN, 3], [1, NAN, NAN]),
        ("cumulative_max", [2, 1, 3], [2, 2, 3]),
        ("cumulative_min", [2, 1, 3], [2, 1, 1]),
        ("logcumsumexp", [-INF, 0, 1000], [-INF, 0, 1000]),
        ("count_nonzero", [0, 1, NAN], 2),
        ("cumulative_sum", [], []),
        ("cumulative_max", [], []),
        ("diff", [1], []),
    ],
)
def test_edge_values(name, x, value):
    np.testing.assert_allclose(getattr(ops, name)(np.array(x, "float64")), value)


def test_cumulative_operators_of_an_empty_axis():
    x = np.zeros((0, 2))
    assert ops.cumulative_sum(x, axis=0, include_initial=True).tolist() == [[0, 0]]
    assert ops.cumulative_prod(x, axis=0, include_initial=True).tolist() == [[1, 1]]


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_quantile(method, size):
    x = np.random.default_rng(size).normal(size=(3, size))
    shares = [0.0, 0.1, 0.25, 0.375, 0.5, 0.625, 0.9, 1.0]
    ours = ops.quantile(x, shares, axis=1, method=method)
    np.testing.assert_allclose(ours, np.quantile(x, shares, axis=1, method=method), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: ops.max(x[:0]), "no elements"),
        (lambda x: ops.argmin(x[:, :0], axis=1), "no elements"),
        (lambda x: ops.sum(x, axis=2), "out of range"),
        (lambda x: ops.sum(x, axis=(0, 0)), "once"),
        (lambda x: ops.argmax(x, axis=(0, 1)), "one axis"),
        (lambda x: ops.cumulative_sum(x), "may be left out"),
        (lambda x: ops.quantile(x, 1.5), "from 0 to 1"),
        (lambda x: ops.quantile(x, 0.5, method="best"), "method"),
        (lambda x: ops.diff(x, n=-1), "0 or more"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "spec"])
def test_error_messages(call, words, kind):
    x = np.zeros((2, 3), "float32")
    if kind == "spec":
        x = labdl.dispatch.spec_of(x)
    with pytest.raises(ValueError, match=words):
        call(x)
