"""Control flow without a framework: on NumPy arrays, and as shape inference."""

import numpy as np
import pytest

from labdl import ops
from labdl.spec import Spec


def test_arrays_and_numbers_are_numpy():
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(ops.cond(np.sum(x) > 5, lambda: x, lambda: -x), x)
    np.testing.assert_array_equal(ops.vmap(np.sum)(x), x.sum(1))
    total, sums = ops.scan(lambda t, row: (t + row, t[0]), np.zeros(2), x, reverse=True)
    np.testing.assert_array_equal(total, [6, 9])
    np.testing.assert_array_equal(sums, [6, 4, 0])
    assert ops.while_loop(lambda n: n < 5, lambda n: n * 2, 1) == 8
    assert ops.scan(lambda n, _: (n + 1, n), 0, length=0)[1].shape == (0,)


def test_shapes_of_both_branches_are_compared():
    pred = Spec((), "bool")
    assert ops.cond(pred, lambda: Spec((None, 3)), lambda: Spec((2, 3))) == Spec((2, 3))
    assert ops.cond(pred, lambda x: {"a": x, "b": None}, lambda x: {"a": x, "b": None}, Spec((4,)))["a"] == Spec((4,))
    assert ops.cond(True, lambda: Spec((3,)), lambda: None) == Spec((3,))
    for first, second in (
        (Spec((3,)), Spec((2,))),
        (Spec((3,)), Spec((3, 1))),
        (Spec((3,)), Spec((3,), "int64")),
        (Spec((3,)), None),
        ({"a": Spec((3,))}, {"b": Spec((3,))}),
        ([Spec((3,))], Spec((3,))),
    ):
        with pytest.raises(TypeError, match=r"ops.cond: the result of true_fn and that of false_fn must have equal"):
            ops.cond(pred, lambda first=first: first, lambda second=second: second)


def test_shapes_of_loops():
    x = Spec((None, 3))
    found, count = ops.while_loop(lambda x, n: ops.any(x > 0), lambda x, n: (x * 2, n + 1), (x, 0))
    assert (found, count) == (x, Spec((), "int64"))
    carry, ys = ops.scan(lambda c, x: (c + x, {"x": x, "none": None}), Spec((3,)), x)
    assert (carry, ys) == (Spec((3,)), {"x": x, "none": None})
    assert ops.vmap(ops.sum)(x) == Spec((None,))
    assert ops.vmap(lambda column: column, in_axes=1, out_axes=1)(Spec((4, 3))) == Spec((4, 3))
    with pytest.raises(TypeError, match=r"the variables and the result of body must have equal"):
        ops.while_loop(lambda x: ops.any(x > 0), lambda x: x[:, :1], x)
    with pytest.raises(TypeError, match=r"init and the carry that f returns must have equal"):
        ops.scan(lambda c, x: (x, None), Spec((2,)), x)
