"""Products, decompositions, norms and distances against PyTorch."""

import math

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.ops.operator import OPERATORS
from labdl.spec import Spec

RNG = np.random.default_rng(0)


def floats(*shape, dtype="float64"):
    values = RNG.uniform(-2, 2, shape)
    return (values + 1j * RNG.uniform(-2, 2, shape) if "complex" in dtype else values).astype(dtype)


def definite(*shape, dtype="float64"):
    x = floats(*shape, dtype=dtype)
    return (x @ np.conj(np.swapaxes(x, -2, -1)) + np.eye(shape[-1])).astype(dtype)


def tensors(values):
    return [torch.from_numpy(np.array(v)) if isinstance(v, np.ndarray) else v for v in values]


def assert_close(actual, expected, rtol=1e-9):
    actual, expected = ([r] if not isinstance(r, list | tuple) else list(r) for r in (actual, expected))
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        e = np.asarray(e)
        assert a.shape == e.shape
        assert a.dtype == e.dtype
        np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol)


def complex_and_real(*cases):
    for name, make, reference in cases:
        for dtype in ("float64", "complex128"):
            yield pytest.param(name, make(dtype), reference, id=f"{name}-{dtype}")


SAME = [
    ("matmul", lambda d: (floats(5, 1, 2, 3, dtype=d), floats(4, 3, 2, dtype=d)), torch.matmul),
    ("vecdot", lambda d: (floats(2, 1, 3, dtype=d), floats(4, 3, dtype=d)), torch.linalg.vecdot),
    ("outer", lambda d: (floats(3, dtype=d), floats(4, dtype=d)), torch.outer),
    ("cross", lambda d: (floats(2, 1, 3, dtype=d), floats(1, 4, 3, dtype=d)), torch.linalg.cross),
    ("kron", lambda d: (floats(2, 3, dtype=d), floats(3, 1, 2, dtype=d)), torch.kron),
    ("tensordot", lambda d: (floats(2, 3, 4, dtype=d), floats(3, 4, 2, dtype=d)), torch.tensordot),
    ("trace", lambda d: (floats(3, 4, dtype=d),), lambda x: x.diagonal().sum()),
    ("cov", lambda d: (floats(3, 6, dtype=d),), torch.cov),
    ("cov", lambda d: (floats(6, dtype=d),), torch.cov),
    ("cholesky", lambda d: (definite(2, 3, 3, dtype=d),), torch.linalg.cholesky),
    ("det", lambda d: (floats(2, 3, 3, dtype=d),), torch.linalg.det),
    ("slogdet", lambda d: (floats(2, 3, 3, dtype=d),), torch.linalg.slogdet),
    ("inv", lambda d: (floats(2, 3, 3, dtype=d),), torch.linalg.inv),
    ("solve", lambda d: (floats(2, 3, 3, dtype=d), floats(3, 4, dtype=d)), torch.linalg.solve),
    ("solve", lambda d: (floats(3, 3, dtype=d), floats(3, dtype=d)), torch.linalg.solve),
    ("solve", lambda d: (floats(2, 3, 3, dtype=d), floats(3, dtype=d)), torch.linalg.solve),
    ("solve", lambda d: (floats(3, 3, dtype=d), floats(2, 3, 1, dtype=d)), torch.linalg.solve),
    (
        "triangular_solve",
        lambda d: (floats(2, 3, 3, dtype=d), floats(3, 4, dtype=d)),
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=False),
    ),
    ("pinv", lambda d: (floats(4, 3, dtype=d),), torch.linalg.pinv),
    ("pinv", lambda d: (floats(2, 3, 4, dtype=d),), torch.linalg.pinv),
    ("pinv", lambda d: (floats(3, 2, dtype=d) @ floats(2, 3, dtype=d),), torch.linalg.pinv),
    ("matrix_rank", lambda d: (floats(2, 4, 3, dtype=d),), torch.linalg.matrix_rank),
    ("matrix_rank", lambda d: (floats(3, 2, dtype=d) @ floats(2, 3, dtype=d),), torch.linalg.matrix_rank),
    (
        "lstsq",
        lambda d: (floats(2, 5, 3, dtype=d), floats(2, 5, 2, dtype=d)),
        lambda a, b: torch.linalg.lstsq(a, b).solution,
    ),
    ("lstsq", lambda d: (floats(3, 5, dtype=d), floats(3, 2, dtype=d)), lambda a, b: torch.linalg.lstsq(a, b).solution),
    (
        "lstsq",
        lambda d: (floats(5, 3, dtype=d), floats(5, dtype=d)),
        lambda a, b: torch.linalg.lstsq(a, b[:, None]).solution[:, 0],
    ),
    ("svdvals", lambda d: (floats(2, 4, 3, dtype=d),), torch.linalg.svdvals),
    ("eigvalsh", lambda d: (definite(2, 3, 3, dtype=d),), torch.linalg.eigvalsh),
    *[
        ("matrix_power", lambda d, n=n: (floats(2, 3, 3, dtype=d), n), torch.linalg.matrix_power)
        for n in (-3, -1, 0, 1, 2, 5, 6)
    ],
    ("vector_norm", lambda d: (floats(2, 3, dtype=d),), torch.linalg.vector_norm),
    ("matrix_norm", lambda d: (floats(2, 3, 4, dtype=d),), torch.linalg.matrix_norm),
]


@pytest.mark.parametrize(("name", "args", "reference"), [*complex_and_real(*SAME)])
def test_as_in_torch(name, args, reference):
    assert_close(getattr(ops, name)(*args), reference(*tensors(args)))


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik",
        "ij,jk",
        "ji,jk",
        "...ij,...jk->...ik",
        "i...,...->...i",
        "...,...",
        "ii",
        "ii->i",
        "ij->",
        "bij,bjk,k->bi",
        "ba",
    ],
)
def test_einsum_as_in_torch(equation):
    shapes = {
        "...ij,...jk->...ik": [(5, 1, 2, 3), (4, 3, 2)],
        "i...,...->...i": [(3, 2, 1), (4,)],
        "...,...": [(2, 1), (3,)],
        "ii": [(3, 3)],
        "ii->i": [(3, 3)],
        "ij->": [(2, 3)],
        "bij,bjk,k->bi": [(2, 3, 4), (2, 4, 2), (2,)],
        "ba": [(2, 3)],
        "ji,jk": [(3, 2), (3, 4)],
    }.get(equation, [(2, 3), (3, 4)])
    args = [floats(*s) for s in shapes]
    assert_close(ops.einsum(equation, *args), torch.einsum(equation, *tensors(args)))
    assert ops.einsum(equation, *map(Spec, shapes)).shape == ops.einsum(equation, *args).shape


def test_options_as_in_torch():
    x, y, square = floats(2, 3, 4), floats(4, 2, 3), definite(3, 3)
    (a, b), m = tensors([x, y]), torch.from_numpy(square)
    axes = ((0, -1), (1, 0))
    assert_close(ops.tensordot(x, y, axes=axes), torch.tensordot(a, b, axes))
    assert_close(ops.tensordot(x, y, axes=0), torch.tensordot(a, b, 0))
    z = floats(3, 1)
    assert_close(ops.vecdot(x, z, axis=-2), torch.linalg.vecdot(a, torch.from_numpy(z), dim=-2))
    c, d = floats(3, 2), floats(4, 3, 1)
    assert_close(ops.cross(c, d, axis=-2), torch.linalg.cross(*torch.broadcast_tensors(*tensors([c, d])), dim=-2))
    assert_close(ops.trace(x, offset=1), a.diagonal(1, -2, -1).sum(-1))
    assert ops.trace(x, dtype="complex64").dtype == "complex64"
    assert_close(ops.cov(x[0], correction=0), torch.cov(a[0], correction=0))
    assert_close(ops.corrcoef(x[0]), torch.corrcoef(a[0]))
    assert_close(ops.corrcoef(x[0, 0]), np.ones(()))
    assert_close(ops.cholesky(square, upper=True), torch.linalg.cholesky(m, upper=True))
    right = floats(3)
    for upper, unit in ((True, False), (False, True), (True, True)):
        solved = torch.linalg.solve_triangular(m, torch.from_numpy(right)[:, None], upper=upper, unitriangular=unit)[
            :, 0
        ]
        assert_close(ops.triangular_solve(square, right, upper=upper, unit_diagonal=unit), solved)
    assert_close(ops.pinv(x, rtol=0.5), torch.linalg.pinv(a, rtol=0.5))
    assert_close(ops.matrix_rank(x, rtol=0.5), torch.linalg.matrix_rank(a, rtol=0.5))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("ord", [2, 1, 0, 3, 0.5, -1, math.inf, -math.inf])
def test_vector_norm_as_in_torch(ord, dtype):
    x = floats(2, 3, 4, dtype=dtype)
    for axis, keepdims in ((None, False), (None, True), (-1, True), ((0, 2), False)):
        expected = torch.linalg.vector_norm(torch.from_numpy(x), ord, axis, keepdims)
        assert_close(ops.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), expected)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_matrix_norm_as_in_torch(ord, dtype):
    x = floats(2, 3, 4, dtype=dtype)
    for keepdims in (False, True):
        expected = torch.linalg.matrix_norm(torch.from_numpy(x), ord, keepdim=keepdims)
        assert_close(ops.matrix_norm(x, keepdims=keepdims, ord=ord), expected)


def test_norms_of_other_dtypes():
    assert_close(ops.vector_norm(np.array([3, -4], "int8")), np.float32(5))
    big = np.full(4, 300, "float16")
    assert_close(ops.vector_norm(big), np.float16(600))
    assert_close(ops.vector_norm(np.zeros(3)), 0.0)
    assert_close(ops.vector_norm(np.zeros((0, 3)), axis=0), np.zeros(3))
    assert np.isnan(ops.vector_norm(np.array([1.0, np.nan])))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_cdist_as_in_torch(p):
    x, y = floats(2, 5, 3), floats(4, 3)
    assert_close(ops.cdist(x, y, p), torch.cdist(torch.from_numpy(x), torch.from_numpy(y).expand(2, 4, 3), p))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (3, 3)])
def test_decompositions_as_in_torch_up_to_signs(shape, dtype):
    x = floats(*shape, dtype=dtype)
    t = torch.from_numpy(x)
    for name, kwargs, reference in (
        ("qr", {}, torch.linalg.qr(t)),
        ("qr", {"mode": "complete"}, torch.linalg.qr(t, mode="complete")),
        ("svd", {}, torch.linalg.svd(t)),
        ("svd", {"full_matrices": False}, torch.linalg.svd(t, full_matrices=False)),
    ):
        compare, ours = OPERATORS[name].compare, getattr(ops, name)(x, **kwargs)
        assert [r.shape for r in ours] == [tuple(r.shape) for r in reference]
        assert_close(compare(ours, x), compare([r.numpy() for r in reference], x))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_eigenvalues_as_in_torch(dtype):
    x = definite(2, 4, 4, dtype=dtype)
    ours, reference = ops.eigh(x), torch.linalg.eigh(torch.from_numpy(x))
    assert_close(OPERATORS["eigh"].compare(ours, x), OPERATORS["eigh"].compare([r.numpy() for r in reference], x))
    x = floats(2, 4, 4, dtype=dtype)
    ours, reference = ops.eig(x), torch.linalg.eig(torch.from_numpy(x))
    assert_close(OPERATORS["eig"].compare(ours, x), OPERATORS["eig"].compare([r.numpy() for r in reference], x))
    values = [ops.eigvals(x)], [torch.linalg.eigvals(torch.from_numpy(x)).numpy()]
    assert_close(*(OPERATORS["eigvals"].compare(v, x) for v in values))


def test_comparison_ignores_signs_but_detects_wrong_vectors():
    x = floats(3, 2)
    u, s, vh = ops.svd(x)
    compare = OPERATORS["svd"].compare
    signs = np.array([-1, 1])
    assert_close(
        compare((np.concatenate([u[:, :2] * signs, u[:, 2:]], 1), s, vh * signs[:, None]), x), compare((u, s, vh), x)
    )
    assert not np.allclose(compare((u, s, vh * signs[:, None]), x)[1], compare((u, s, vh), x)[1])


REFUSED = [
    ("matmul", ((2, 3), Spec((4, 5))), "inner sizes 3 and 4 differ"),
    ("tensordot", ((2, 3), Spec((3, 3))), "sizes 2 and 3 differ"),
    ("vecdot", ((2, 3), Spec((2, 4))), "sizes 3 and 4"),
    ("cross", ((2, 4), Spec((2, 3))), "a size of 3 on axis -1"),
    ("outer", ((), Spec((3,))), "at least one axis"),
    ("det", ((2, 3),), "det wants a square matrix"),
    ("logdet", ((2, 3),), "logdet wants a square matrix"),
    ("cholesky", ((3,),), "cholesky wants a matrix"),
    ("solve", ((3, 3), Spec((2, 3))), "3 rows and 2 rows"),
    ("matrix_norm", ((3,),), "wants a matrix"),
    ("pinv", ((None, 3),), "known number of rows"),
    ("cdist", ((3, 2), Spec((3, 3))), "points of 2 and 3 numbers"),
    ("cov", ((2, 3, 4),), "variables, observations"),
]


@pytest.mark.parametrize(("name", "args", "message"), REFUSED)
def test_error_messages_of_invalid_arguments(name, args, message):
    shape, *rest = args
    with pytest.raises(ValueError, match=message):
        getattr(ops, name)(Spec(shape), *rest)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(2, 3)], "is for 2 tensors, received 1"),
        ("ij,jk->ik", [(2, 3), (3,)], "'jk' names 2 axes, received 1"),
        ("ij,jk->ik", [(2, 3), (4, 2)], "axis 'j' is both 3 and 4"),
        ("ij->iij", [(2, 3)], "names each of its axes once"),
        ("ij->ik", [(2, 3)], "those of the operands only"),
    ],
)
def test_einsum_refuses(equation, shapes, message):
    with pytest.raises(ValueError, match=message):
        ops.einsum(equation, *map(Spec, shapes))


def test_half_precision_is_refused():
    with pytest.raises(TypeError, match="inv wants x of dtype float32, float64"):
        ops.inv(np.eye(3, dtype="float16"))
