"""The NumPy bodies of sorting, searching, sets and counts against Python's own sorting, PyTorch and NumPy."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.spec import COMPLEX, REALS, Spec

torch = pytest.importorskip("torch")
NAN = np.nan
DTYPES = ["bool", "uint8", "int8", "int64", "float16", "float32", "float64"]


def some(dtype, shape=(4, 7), seed=0):
    """Numbers among which many are equal."""
    return np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, "string"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sorting_equals_python(dtype, descending, axis):
    x = np.array(["b", "a", "", "c"])[some("int64") % 4] if dtype == "string" else some(dtype)
    rows = np.moveaxis(x, axis, -1).tolist()
    order = [sorted(range(len(r)), key=r.__getitem__, reverse=descending) for r in rows]  # stable in both directions
    np.testing.assert_array_equal(ops.argsort(x, axis=axis, descending=descending), np.moveaxis(order, -1, axis))
    np.testing.assert_array_equal(
        ops.sort(x, axis=axis, descending=descending), np.take_along_axis(x, np.moveaxis(order, -1, axis), axis)
    )


def test_nan_comes_last_in_both_directions():
    x = np.array([NAN, 2.0, NAN, -np.inf, np.inf, 2.0])
    np.testing.assert_array_equal(ops.sort(x), [-np.inf, 2, 2, np.inf, NAN, NAN])
    np.testing.assert_array_equal(ops.sort(x, descending=True), [np.inf, 2, 2, -np.inf, NAN, NAN])
    assert ops.argsort(x).tolist() == [3, 1, 5, 4, 0, 2]
    assert ops.argsort(x, descending=True).tolist() == [4, 1, 5, 3, 0, 2]
    np.testing.assert_array_equal(ops.topk(x, 5)[0], [np.inf, 2, 2, -np.inf, NAN])


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, -1])
def test_topk(largest, axis):
    x = np.random.default_rng(0).permutation(60).reshape(5, 3, 4).astype("float32")
    for k in (0, 1, 3):
        found, positions = ops.topk(x, k, axis, largest=largest)
        theirs = torch.topk(torch.tensor(x), k, axis, largest=largest)
        np.testing.assert_array_equal(found, theirs.values)
        np.testing.assert_array_equal(positions, theirs.indices)
    for k in (1, 3):
        found, positions = ops.kthvalue(x, k, axis, keepdims=largest)
        theirs = torch.kthvalue(torch.tensor(x), k, axis, keepdim=largest)
        np.testing.assert_array_equal(found, theirs.values)
        np.testing.assert_array_equal(positions, theirs.indices)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((30,), None), ((4, 5), None), ((), None), ((9, 1), 0), ((2, 9), -1)])
def test_unique_consecutive_as_in_torch(dtype, shape, axis):
    x = some(dtype, shape) % 2 if dtype != "bool" else some(dtype, shape)
    ours = ops.unique_consecutive(x, return_inverse=True, return_counts=True, axis=axis)
    theirs = torch.unique_consecutive(torch.tensor(x), return_inverse=True, return_counts=True, dim=axis)
    for found, reference in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(found, reference.numpy())
        assert found.dtype == reference.numpy().dtype
    np.testing.assert_array_equal(ops.unique_consecutive(x, axis=axis), ours[0])


def test_unique_consecutive_of_nan_strings_and_nothing():
    values, counts = ops.unique_consecutive(np.array([NAN, NAN, 1.0, 1.0]), return_counts=True)
    np.testing.assert_array_equal(values, [NAN, NAN, 1.0])
    assert counts.tolist() == [1, 1, 2]
    assert ops.unique_consecutive(np.array(["a", "a", "", "a"])).tolist() == ["a", "", "a"]
    for part in ops.unique_consecutive(np.zeros(0), return_inverse=True, return_counts=True):
        assert part.shape == (0,)
    found = ops.unique_consecutive(Spec((2, None)), return_inverse=True, return_counts=True, axis=1)
    assert [s.shape for s in found] == [(2, None), (None,), (None,)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30,), (5, 6), (), (0,)])
def test_sets(dtype, shape):
    x = some(dtype, shape)
    theirs = torch.unique(torch.tensor(x), return_inverse=True, return_counts=True)
    found, first, inverse, counts = ops.unique_all(x)
    for ours, reference in zip((found, inverse, counts), theirs, strict=True):
        np.testing.assert_array_equal(ours, reference)
        assert ours.dtype == np.asarray(reference).dtype
    assert first.tolist() == [x.reshape(-1).tolist().index(v) for v in found.tolist()]
    np.testing.assert_array_equal(ops.unique_values(x), found)
    for ours, expected in zip(
        (*ops.unique_counts(x), *ops.unique_inverse(x)), (found, counts, found, inverse), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


def test_sets_of_strings_and_of_nan():
    found, counts = ops.unique_counts(np.array(["to", "be", "or", "not", "to", "be"]))
    assert found.tolist() == ["be", "not", "or", "to"]
    assert counts.tolist() == [2, 1, 1, 2]
    np.testing.assert_array_equal(ops.unique_values(np.array([NAN, 1.0, NAN])), [1, NAN, NAN])


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sets_of_complex_numbers(dtype):
    x = np.array([[1 + 2j, 1 - 2j, 0, 1 + 2j], [-1j, 0, 1, 1 - 2j]], dtype)
    found, first, inverse, counts = np.unique(x, True, True, True)
    for ours, reference in zip(ops.unique_all(x), (found, first, inverse.reshape(x.shape), counts), strict=True):
        np.testing.assert_array_equal(ours, reference)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side):
    if dtype == "bfloat16":
        return
    line, x = np.array([1, 3, 3, 5, 9]).astype(dtype), np.arange(12).reshape(3, 4).astype(dtype)
    theirs = torch.searchsorted(torch.tensor(line), torch.tensor(x), side=side)
    np.testing.assert_array_equal(ops.searchsorted(line, x, side=side), theirs)
    np.testing.assert_array_equal(ops.searchsorted(line[::-1].copy(), x, side=side, sorter=np.arange(5)[::-1]), theirs)
    assert ops.searchsorted(line, 4) == 3


def test_positions():
    x = np.array([[0.0, 2.0, NAN], [-0.0, 0.0, -1.0]])
    np.testing.assert_array_equal(ops.argwhere(x), torch.argwhere(torch.tensor(x)))
    assert [a.tolist() for a in ops.nonzero(x)] == [[0, 0, 1], [1, 2, 2]]
    assert [a.tolist() for a in ops.nonzero(np.array([False, True, True]))] == [[1, 2]]
    assert ops.argwhere(np.zeros((2, 3))).shape == (0, 2)


@pytest.mark.parametrize("dtype", [*DTYPES, "string"])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(dtype, invert):
    x, members = some("int64").astype("U2" if dtype == "string" else dtype), np.array([[1], [0]])
    members = members.astype(x.dtype)
    expected = [[(v in members.reshape(-1).tolist()) != invert for v in row] for row in x.tolist()]
    np.testing.assert_array_equal(ops.isin(x, members, invert=invert), expected)
    assert ops.isin(x, members[:0], invert=invert).all() == invert


def test_isin_promotes_and_never_contains_nan():
    assert ops.isin(np.array([1, 2]), np.array([1.5, 2.0])).tolist() == [False, True]
    assert ops.isin(np.array([NAN]), np.array([NAN])).tolist() == [False]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_bincount(dtype):
    x, weights = some(dtype, 20), np.random.default_rng(1).normal(size=20).astype("float32")
    for options in ({}, {"minlength": 3}, {"minlength": 9}, {"weights": weights}, {"weights": weights, "minlength": 8}):
        ours = ops.bincount(x, **options)
        theirs = torch.bincount(
            torch.tensor(x), **{k: torch.tensor(v) if k == "weights" else v for k, v in options.items()}
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
        assert ours.dtype == ("float32" if "weights" in options else "int64")
    assert ops.bincount(x[:0], minlength=2).tolist() == [0, 0]
    assert ops.bincount(x[:0]).shape == (0,)


@pytest.mark.parametrize("options", [{}, {"bins": 3}, {"bins": 4, "range": (-0.5, 1.0)}, {"bins": 5, "density": True}])
def test_histogram(options):
    x = np.random.default_rng(0).normal(size=(10, 10))
    counts, edges = ops.histogram(x, **options)
    theirs = torch.histogram(torch.tensor(x), **{"bins": 10} | options)
    np.testing.assert_allclose(counts, theirs.hist)
    np.testing.assert_allclose(edges, theirs.bin_edges)
    assert counts.dtype == ("float64" if "density" in options else "int64")


def test_an_edge_belongs_to_the_interval_above():
    counts, edges = ops.histogram(np.array([0, 1, 1, 2, 3, 4], "int8"), 2)
    assert edges.tolist() == [0, 2, 4]
    assert edges.dtype == np.float32
    assert counts.tolist() == [3, 3]
    assert ops.histogram(np.array([2.0, 2.0]), 2)[1].tolist() == [1.5, 2, 2.5]


@pytest.mark.parametrize(
    ("name", "spec", "options", "shapes"),
    [
        ("unique_values", Spec((2, 3), "int8"), {}, [(None,)]),
        ("unique_all", Spec((None, 3)), {}, [(None,), (None,), (None, 3), (None,)]),
        ("nonzero", Spec((2, None)), {}, [(None,), (None,)]),
        ("argwhere", Spec((2, 3)), {}, [(None, 2)]),
        ("topk", Spec((None, 9)), {"k": 2}, [(None, 2), (None, 2)]),
        ("bincount", Spec((None,), "int64"), {}, [(None,)]),
        ("histogram", Spec((None, 3)), {"bins": 7}, [(7,), (8,)]),
        ("topk", Spec((None,)), {"k": 2}, [(2,), (2,)]),
    ],
)
def test_sizes_that_depend_on_the_elements_are_unknown(name, spec, options, shapes):
    result = getattr(ops, name)(spec, **options)
    assert [s.shape for s in (result if isinstance(result, tuple) else [result])] == shapes


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: ops.sort(x, axis=2), "out of range"),
        (lambda x: ops.topk(x, 4), "there are 3"),
        (lambda x: ops.kthvalue(x, 0), "from 1"),
        (lambda x: ops.searchsorted(x, x), "one axis"),
        (lambda x: ops.histogram(x, 0), "1 or more"),
        (lambda x: ops.histogram(x[:0]), "wants a range"),
        (lambda x: ops.histogram(x, range=(1, 1)), "lower end first"),
        (lambda x: ops.nonzero(x[0, 0]), "at least one axis"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "spec"])
def test_error_messages(call, words, kind):
    x = np.zeros((2, 3), "float32")
    with pytest.raises(ValueError, match=words):
        call(labdl.dispatch.spec_of(x) if kind == "spec" else x)
