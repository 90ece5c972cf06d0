"""Shape, order, indexing and segments against PyTorch, or against their documentation where PyTorch has no such function."""

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.spec import DTYPES, Spec

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.uniform(-2, 2, shape).astype("float32")


def ints(*shape, low=0, high=5):
    return RNG.integers(low, high, shape)


def masks(*shape):
    return RNG.random(shape) < 0.5


def each(value, function):
    """Replace every array in nested arguments."""
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)(each(v, function) for v in value)
    return value


def assert_same(actual, expected):
    actual, expected = ([r] if not isinstance(r, list | tuple) else list(r) for r in (actual, expected))
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        e = np.asarray(e)
        assert a.shape == e.shape
        assert a.dtype == e.dtype
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)


def positive(indices, n):
    """torch's functions do not count from the end."""
    return torch.where(indices < 0, indices + n, indices)


def pad(x, padding, mode="constant", value=0.0):
    """torch pads the last axes only, and by other modes than "constant" those of batches."""
    for axis, (before, after) in enumerate(padding):
        moved = x.movedim(axis, -1)
        flat = torch.nn.functional.pad(
            moved.reshape(1, -1, moved.shape[-1]),
            (before, after),
            mode,
            **({"value": value} if mode == "constant" else {}),
        )
        x = flat.reshape(*moved.shape[:-1], -1).movedim(-1, axis)
    return x


def changed(x, index, value):
    x = x.clone()
    x[index] = value
    return x


def scatter(x, indices, updates, axis, reduce):
    shape = [indices.shape[axis] if a == axis % x.ndim else n for a, n in enumerate(x.shape)]
    indices, updates = positive(indices, x.shape[axis]).expand(shape), updates.expand(shape)
    if reduce is None:
        return x.scatter(axis, indices, updates)
    names = {"add": "sum", "multiply": "prod", "max": "amax", "min": "amin"}
    return x.scatter_reduce(axis, indices, updates, names[reduce])


X, CUBE = floats(2, 3), floats(2, 3, 4)
CASES = [
    ("reshape", (CUBE, (4, -1)), lambda x, s: x.reshape(s)),
    ("reshape", (CUBE, 24), lambda x, s: x.reshape(s)),
    ("flatten", (CUBE,), lambda x: x.flatten()),
    ("flatten", (floats(2, 3, 4, 5), 1, -2), lambda x, a, b: x.flatten(a, b)),
    ("flatten", (floats(2, 0, 4), 0, 1), lambda x, a, b: x.flatten(a, b)),
    ("flatten", (floats(),), lambda x: x.flatten()),
    ("permute_dims", (CUBE, (-1, 0, 1)), lambda x, a: x.permute(a)),
    ("moveaxis", (CUBE, 0, -1), torch.moveaxis),
    ("moveaxis", (floats(2, 3, 4, 5), (0, 1), (-1, 1)), torch.moveaxis),
    ("swapaxes", (CUBE, 0, -1), torch.swapaxes),
    ("matrix_transpose", (CUBE,), lambda x: x.mT),
    ("expand_dims", (X, -1), lambda x, a: x.unsqueeze(a)),
    ("squeeze", (floats(1, 3, 1), (0, -1)), lambda x, a: x.squeeze(a)),
    ("concat", ([X, floats(2, 1)], -1), torch.cat),
    ("concat", ([X, floats(4)], None), lambda xs, a: torch.cat([x.flatten() for x in xs])),
    ("stack", ([X, X], -1), torch.stack),
    ("split", (floats(2, 6), (1, 2, 3), -1), torch.split),
    ("split", (floats(4, 6), 2), lambda x, n: torch.chunk(x, n)),
    ("unstack", (CUBE,), torch.unbind),
    ("tile", (X, (2, 1)), torch.tile),
    ("tile", (X, (3,)), torch.tile),
    ("tile", (X, (2, 1, 2)), torch.tile),
    ("tile", (X, 2), lambda x, n: x.tile(n)),
    ("repeat", (X, 2), torch.repeat_interleave),
    ("broadcast_to", (floats(3, 1), (2, 3, 4)), torch.broadcast_to),
    ("broadcast_arrays", (floats(3, 1), floats(4), floats(2, 1, 1)), torch.broadcast_tensors),
    ("flip", (X,), lambda x: x.flip((0, 1))),
    ("roll", (X, -1), torch.roll),
    ("roll", (floats(4, 3), (1, -5), (0, 1)), torch.roll),
    ("roll", (floats(4, 3), 2, (0, 1)), lambda x, n, axes: torch.roll(x, (n, n), axes)),
    *[("rot90", (floats(2, 3), k), torch.rot90) for k in range(-2, 5)],
    ("pad", (X, ((1, 0), (0, 2)), "constant", 1.5), pad),
    ("pad", (X, ((1, 1), (2, 0)), "reflect"), pad),
    ("pad", (X, ((3, 1), (0, 5)), "replicate"), pad),
    ("pad", (X, ((2, 1), (0, 3)), "circular"), pad),
    *[(name, (floats(2, 4, 3),), getattr(torch, name)) for name in ("tril", "triu")],
    ("take", (floats(5, 3), ints(2, 4, low=-5)), lambda x, i: x[i]),
    ("take", (floats(2, 5, 3), ints(4, low=-5), 1), lambda x, i, a: x[:, i]),
    ("take_along_axis", (floats(2, 5), ints(2, 3)), lambda x, i: torch.take_along_dim(x, i, -1)),
    (
        "take_along_axis",
        (floats(2, 3, 5), ints(2, 1, 5, low=-3, high=3), 1),
        lambda x, i, a: torch.take_along_dim(x, positive(i, 3), a),
    ),
    ("getitem", (floats(3, 4), masks(3, 4)), lambda x, i: x[i]),
    ("getitem", (floats(3, 4), masks(3)), lambda x, i: x[i]),
    ("getitem", (floats(3, 4), (slice(None), masks(4))), lambda x, i: x[i]),
    ("getitem", (floats(4, 3), ints(2, 3, low=-4, high=4)), lambda x, i: x[i]),
    ("getitem", (floats(3, 4), (ints(5, high=3), ints(2, 1, high=4))), lambda x, i: x[i]),
    ("getitem", (floats(2, 5, 3), (..., ints(4), slice(1, None))), lambda x, i: x[i]),
    ("getitem", (floats(2, 5, 3), (1, ints(4), None)), lambda x, i: x[i]),
    ("setitem", (floats(3, 4), (slice(None), 1), floats(3)), changed),
    ("setitem", (floats(3, 4), masks(3), floats(4)), changed),
    ("setitem", (floats(3, 4), (ints(1, high=3), ints(1, high=4)), 0.5), changed),
    ("setitem", (ints(3, 4), slice(1, 3), floats(4)), changed),
    ("scatter", (floats(2, 5), ints(2, 1, low=-5), floats(2, 1), 1), lambda *args: scatter(*args, None)),
    ("put_along_axis", (floats(3, 4), ints(1, 4, high=3), floats(1), 0), lambda *args: scatter(*args, None)),
    ("gather_nd", (floats(3, 4), ints(5, 1, high=3)), lambda x, i: x[i[:, 0]]),
    ("gather_nd", (floats(3, 4, 2), ints(2, 5, 2, high=3)), lambda x, i: x[i[..., 0], i[..., 1]]),
    (
        "scatter_nd",
        (ints(6, 2, high=3), floats(6, 2), (3, 4, 2)),
        lambda i, u, s: torch.zeros(s).index_put(tuple(i.T), u, accumulate=True),
    ),
    ("index_add", (floats(2, 5), ints(4), floats(2, 4), 1), lambda x, i, u, a: x.index_add(a, i, u)),
    ("masked_fill", (X, masks(2, 3), -1.5), torch.masked_fill),
    ("masked_fill", (X, masks(3), floats()), torch.masked_fill),
    ("masked_select", (floats(2, 3), masks(3)), torch.masked_select),
    ("sliding_window", (floats(2, 7), 3), lambda x, n: x.unfold(-1, n, 1)),
    ("sliding_window", (floats(2, 7, 3), 3, 2, 1), lambda x, n, s, a: x.unfold(a, n, s)),
]


@pytest.mark.parametrize(
    ("name", "args", "reference"), [pytest.param(*c, id=f"{c[0]}-{i}") for i, c in enumerate(CASES)]
)
def test_as_in_torch(name, args, reference):
    expected = reference(*each(args, lambda a: torch.from_numpy(np.array(a))))
    assert_same(getattr(ops, name)(*args), expected)


def test_named_options_as_in_torch():
    x, cube, counts = torch.from_numpy(X), torch.from_numpy(CUBE), ints(3, high=4)
    assert_same(ops.unstack(CUBE, axis=-1), x.new_tensor(CUBE).unbind(-1))
    assert_same(ops.repeat(X, 3, axis=0), x.repeat_interleave(3, 0))
    assert_same(ops.repeat(X, counts, axis=-1), x.repeat_interleave(torch.from_numpy(counts), -1))
    assert_same(ops.flip(X, axis=-1), x.flip(-1))
    assert_same(ops.rot90(CUBE, 3, axes=(2, 1)), cube.rot90(3, (2, 1)))
    vectors = [np.arange(n, dtype="float32") for n in (3, 4, 2)]
    for indexing in ("xy", "ij"):
        tensors = [torch.from_numpy(v) for v in vectors]
        assert_same(ops.meshgrid(*vectors, indexing=indexing), torch.meshgrid(*tensors, indexing=indexing))
    for k in (-2, 1):
        assert_same(ops.tril(CUBE, k=k), cube.tril(k))
        assert_same(ops.triu(CUBE, k=k), cube.triu(k))
        assert_same(ops.diagonal(CUBE, offset=k, axes=(0, 2)), cube.diagonal(k, 0, 2))
        assert_same(ops.diag(X, offset=k), torch.diag_embed(x, k))


def test_one_hot():
    x = ints(2, 3)
    assert_same(ops.one_hot(x, 5), torch.nn.functional.one_hot(torch.from_numpy(x), 5).float())
    assert_same(ops.one_hot(x, 5, axis=0, dtype="bool"), np.moveaxis(np.eye(5, dtype=bool)[x], -1, 0))
    outside = np.array([-1, 1, 2], "int8")
    assert_same(ops.one_hot(outside, 2), np.array([[0, 0], [0, 1], [0, 0]], "float32"))


def test_filled_like_another():
    x = X.astype("int32")
    assert_same(ops.zeros_like(x), torch.zeros(2, 3, dtype=torch.int32))
    assert_same(ops.ones_like(x, dtype="float64"), torch.ones(2, 3, dtype=torch.float64))
    assert_same(ops.full_like(x, 7), torch.full((2, 3), 7, dtype=torch.int32))
    assert_same(ops.full_like(x, -np.inf, dtype="float32"), torch.full((2, 3), -torch.inf))
    assert_same(ops.empty_like(x), ops.zeros_like(x))


@pytest.mark.parametrize("reduce", ["add", "multiply", "max", "min"])
@pytest.mark.parametrize(
    ("shape", "indices", "updates", "axis"),
    [((2, 5), (2, 7), (2, 7), 1), ((3, 4), (6, 1), (6, 4), 0), ((2, 3, 4), (1, 5, 1), (1, 1, 4), -2)],
)
def test_scatter_reductions_equal_torch(reduce, shape, indices, updates, axis):
    x, i, u = floats(*shape), ints(*indices, low=-3, high=3), floats(*updates)
    expected = scatter(*map(torch.from_numpy, (x, i, u)), axis, reduce)
    assert_same(ops.scatter(x, i, u, axis, reduce=reduce), expected)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_segments(dtype):
    x, ids, count = (floats(7, 2) * 5).astype(dtype), np.array([3, 0, 3, 1, 1, 3, 0]), 5
    rows = [x[ids == k] for k in range(count)]
    least, most = (-np.inf, np.inf) if dtype == "float32" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    assert_same(ops.segment_sum(x, ids, count), np.stack([r.sum(0) for r in rows]).astype(dtype))
    assert_same(ops.segment_prod(x, ids, count), np.stack([r.prod(0) for r in rows]).astype(dtype))
    means = [r.mean(0) if len(r) else np.zeros(2) for r in rows]
    assert_same(ops.segment_mean(x, ids, count), np.stack(means).astype("float32"))
    assert_same(ops.segment_max(x, ids, count), np.stack([r.max(0, initial=least) for r in rows]).astype(dtype))
    assert_same(ops.segment_min(x, ids, count), np.stack([r.min(0, initial=most) for r in rows]).astype(dtype))


def test_segments_without_rows():
    x, ids = np.zeros((0, 2), "float32"), np.zeros(0, "int64")
    assert_same(ops.segment_mean(x, ids, 3), np.zeros((3, 2), "float32"))
    assert_same(ops.segment_max(x, ids, 1), np.full((1, 2), -np.inf, "float32"))


def test_array_operators_of_strings():
    x = np.array([["b", "a"], ["ccc", ""]])
    assert ops.flip(x, axis=1).tolist() == [["a", "b"], ["", "ccc"]]
    assert ops.concat([x, np.array([["long one", "d"]])]).tolist()[2] == ["long one", "d"]
    assert ops.getitem(x, np.array([True, False])).tolist() == [["b", "a"]]
    assert ops.setitem(x, (0, 0), "longer").tolist() == [["longer", "a"], ["ccc", ""]]
    with pytest.raises(TypeError, match="pad wants x of dtype"):
        ops.pad(x, ((0, 0), (1, 1)))


def test_an_operator_never_changes_its_operands():
    x = np.zeros((2, 3), "float32")
    ops.setitem(x, 0, 1.0)
    ops.scatter(x, np.zeros((2, 1), "int64"), np.ones((2, 1), "float32"))
    assert not x.any()


REFUSED = [
    ("reshape", ((2, 3), (4, 2)), "6 elements cannot be reshaped"),
    ("reshape", ((2, 3), (-2, 3)), "sizes of 0 or more"),
    ("flatten", ((2, 3), 1, 0), "start_axis before end_axis"),
    ("squeeze", ((2, 3), 0), "size of 1 on axis 0"),
    ("broadcast_to", ((3, 4), (3, 1)), "cannot be broadcast"),
    ("tile", ((2,), -1), "repetitions: an integer of 0 or more"),
    ("moveaxis", ((2, 3), (0, 1), (0, 0)), "as many different places"),
    ("roll", ((2, 3), (1, 2), 0), "one axis for each shift"),
    ("pad", ((2, 3), ((0, 0), (3, 0)), "reflect"), "adds at most 2"),
    ("pad", ((2, 3), ((0, 0),)), "a pair .before, after. for each of the 2 axes"),
    ("pad", ((2, 3), ((0, 0), (0, 0)), "edge"), "wants mode: one of constant, reflect"),
    ("unstack", ((None, 3),), "wants a known size"),
    ("getitem", ((2, 3), (0, 0, 0)), "an index of 3 axes is too long"),
    ("getitem", ((2, 3), 2), "out of range"),
    ("getitem", ((2, 3, 4), (0, slice(None), Spec((2,), "int64"))), "must be adjacent"),
    ("getitem", ((2, 3), Spec((3,), "bool")), "a mask of .3,. does not fit"),
    ("setitem", ((2, 3), 0, Spec((2,))), "setitem wants values that fit .3,."),
    ("scatter", ((2, 3), Spec((3, 3), "int64"), Spec((3, 3)), 1), "differ on axis 0"),
    ("scatter", ((2, 3), Spec((2, 1), "int64"), Spec((2, 2)), 1), "values that fit .2, 1."),
    ("gather_nd", ((2, 3), Spec((4, 3), "int64")), "1 to 2 numbers"),
    ("segment_sum", ((4, 3), Spec((3,), "int64"), 2), "4 rows want 4 numbers"),
    ("sliding_window", ((2, 3), 4), "does not fit into axis 1 of size 3"),
]


@pytest.mark.parametrize(("name", "args", "message"), REFUSED)
def test_error_messages_of_invalid_arguments(name, args, message):
    shape, *rest = args
    with pytest.raises(ValueError, match=message):
        getattr(ops, name)(Spec(shape), *rest)


def test_an_index_is_checked():
    for index, kind in ((1.5, "float"), ([0, 1], "list"), (True, "bool")):
        with pytest.raises(TypeError, match=f"an index is an integer, .*received {kind}"):
            ops.getitem(Spec((2, 3)), index)
    with pytest.raises(TypeError, match="getitem wants index of dtype bool, int8"):
        ops.getitem(Spec((2, 3)), Spec((2,)))


def test_sizes_that_depend_on_values():
    x = Spec((None, 4))
    assert ops.getitem(x, Spec((None, 4), "bool")).shape == (None,)
    assert ops.getitem(x, Spec((), "bool")).shape == (None, None, 4)
    assert ops.getitem(Spec((3, 4)), Spec((0,), "bool")).shape == (None, 4)
    assert ops.masked_select(x, Spec((4,), "bool")).shape == (None,)
    assert ops.repeat(x, Spec((4,), "int64"), axis=1).shape == (None, None)
    assert ops.flatten(Spec((None, 2, 3)), 1).shape == (None, 6)
    assert ops.meshgrid(Spec((None,)), Spec((3,)))[1].shape == (3, None)
    assert ops.sliding_window(x, 2).shape == (None, 3, 2)
    assert ops.segment_sum(x, Spec((None,), "int64"), 5).shape == (5, 4)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("string", "bfloat16")])
def test_astype_to_every_dtype(dtype):
    x = np.array([0.0, 1.5, -2.7], "float32")
    if dtype == "uint8":
        x = np.abs(x)
    assert_same(ops.astype(x, dtype), torch.from_numpy(x).to(getattr(torch, dtype)))


def test_astype_refuses():
    with pytest.raises(TypeError, match="real first"):
        ops.astype(np.ones(2, "complex64"), "float32")
    with pytest.raises(TypeError, match="astype cannot convert float64 to string"):
        ops.astype(np.ones(2), "string")
