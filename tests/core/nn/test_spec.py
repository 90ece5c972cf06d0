"""Shape rules against NumPy on random shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import ops
from labdl.ops import rules
from labdl.spec import DTYPES, Spec, as_spec, broadcast, normal_axes, pad_pairs, per_axis, promote, show, window_sizes

NUMERIC = DTYPES[:-1]  # all but string, which mixes with nothing
few = settings(max_examples=120, deadline=None)
sizes = st.integers(0, 4)
shapes = st.lists(sizes, max_size=4).map(tuple)


def outcome(function, *args, **kwargs):
    """The result, or ValueError for anything that is refused."""
    try:
        return function(*args, **kwargs)
    except (ValueError, IndexError, TypeError):
        return ValueError


@few
@given(st.lists(shapes, min_size=1, max_size=3))
def test_broadcast_equals_numpy(many):
    assert outcome(broadcast, *many) == outcome(np.broadcast_shapes, *many)


@few
@given(st.lists(st.integers(1, 3), max_size=4), st.lists(st.integers(1, 3), max_size=4), st.data())
def test_an_unknown_size_agrees_with_every_real_one(a, b, data):
    """What broadcast says of an unknown size is what comes out, whatever the size turns out to be."""
    real = outcome(broadcast, a, b)
    hidden = [n if data.draw(st.booleans()) else None for n in a]
    guess = outcome(broadcast, hidden, b)
    if real is not ValueError:
        assert guess is not ValueError
        assert len(guess) == len(real)
        assert all(g in (None, r) for g, r in zip(guess, real, strict=True))


@few
@given(shapes, st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6, 8, 12]), max_size=4).map(tuple))
def test_reshape_equals_numpy(old, new):
    expected = outcome(lambda: np.zeros(old).reshape(new).shape)
    assert outcome(rules.infer_reshape, old, new) == expected


index_items = st.one_of(
    st.integers(-5, 4),
    st.none(),
    st.just(Ellipsis),
    st.builds(slice, *[st.one_of(st.none(), st.integers(-6, 6))] * 2, st.sampled_from([None, 1, 2, 3, -1, -2])),
)


@few
@given(shapes, st.lists(index_items, max_size=5).filter(lambda items: items.count(Ellipsis) < 2).map(tuple))
def test_getitem_equals_numpy(shape, index):
    spec = outcome(lambda: rules.getitem(Spec(shape), index).shape)
    assert spec == outcome(lambda: np.zeros(shape)[index].shape)


def brute_force_windows(n, k, s, before, after, d, ceil_mode):
    """Count windows by laying them down one at a time."""
    reach, end, count = d * (k - 1) + 1, n + before + after, 0
    if reach > end:
        return ValueError
    while True:
        start = count * s
        # with ceil_mode the last window may hang over, but each must start inside the input or its left padding
        more = start - s + reach < end and start < n + before if ceil_mode else start + reach <= end
        if not more:
            return count
        count += 1


@few
@given(
    st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), *[st.integers(0, 2)] * 2, st.integers(1, 3), st.booleans()
)
def test_window_sizes_count_windows(n, k, s, before, after, d, ceil_mode):
    if ceil_mode:  # for pooling, where padding is at most half a window
        before, after, d = min(before, k // 2), min(after, k // 2), 1
    actual = outcome(window_sizes, (n,), (k,), (s,), ((before, after),), (d,), ceil_mode)
    expected = brute_force_windows(n, k, s, before, after, d, ceil_mode)
    assert actual == (expected if expected is ValueError else (expected,))


@few
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_same_padding_gives_the_size_it_promises(n, k, s, d):
    (promised,) = window_sizes((n,), (k,), (s,), "same", (d,))
    pairs = pad_pairs("same", (n,), (k,), (s,), (d,))
    assert (promised,) == window_sizes((n,), (k,), (s,), pairs, (d,))
    assert promised == -(-n // s)
    assert pairs[0][1] - pairs[0][0] in (0, 1), "the extra element goes after"


@few
@given(
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 2),
    st.one_of(st.sampled_from(["same", "valid"]), st.integers(0, 2)),
)
def test_conv_rule_is_what_the_body_gives(height, width, k, s, d, padding):
    options = {"stride": s, "dilation": d, "padding": padding}
    x, kernel = np.zeros((2, 3, height, width), "float32"), np.zeros((4, 3, k, k), "float32")
    real = outcome(lambda: ops.conv2d(x, kernel, **options).shape)
    inferred = outcome(lambda: ops.conv2d(Spec(x.shape), Spec(kernel.shape), **options).shape)
    assert inferred == real


@few
@given(shapes.filter(len), st.data())
def test_reductions_equal_numpy(shape, data):
    axis = data.draw(
        st.one_of(
            st.none(),
            st.integers(-len(shape), len(shape) - 1),
            st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple),
        )
    )
    keepdims = data.draw(st.booleans())
    spec = ops.sum(Spec(shape), axis=axis, keepdims=keepdims)
    assert spec.shape == np.sum(np.zeros(shape), axis=axis, keepdims=keepdims).shape


@few
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.lists(st.integers(1, 3), min_size=2, max_size=4))
def test_matmul_equals_numpy(a, b):
    assert outcome(lambda: ops.matmul(Spec(tuple(a)), Spec(tuple(b))).shape) == outcome(
        lambda: np.matmul(np.zeros(a), np.zeros(b)).shape
    )


def test_arithmetic_on_specs_gives_specs():
    x = Spec((None, 4))
    assert (2 * x + 1 - x / 3).shape == (None, 4)
    assert (x @ Spec((4, 2))).shape == (None, 2)
    assert x[:, :2].shape == (None, 2)
    assert (x < 0).dtype == "bool"
    assert (-x).shape == (None, 4)


def test_a_spec_checks_itself():
    assert Spec((2, 3)).size == 6
    assert Spec((None, 3)).size is None
    with pytest.raises(ValueError, match="sizes of 0 or more"):
        Spec((-1,))
    with pytest.raises(ValueError, match="dtype must be one of"):
        Spec((1,), "float31")
    assert as_spec(np.zeros((2, 3), "int32")) == Spec((2, 3), "int32")
    assert as_spec([None, 3]) == Spec((None, 3))


def test_small_rules():
    assert show((None, 3)) == "(None, 3)"
    assert show((3,)) == "(3,)"
    assert normal_axes((-1, 0), 3) == (2, 0)
    with pytest.raises(ValueError, match="axis 3 is out of range for 3 axes"):
        normal_axes(3, 3)
    with pytest.raises(ValueError, match="kernel_size wants one integer or 2 of them"):
        per_axis((1, 2, 3), 2, "kernel_size")
    with pytest.raises(ValueError, match="differ on axis -1"):
        broadcast((2, 3), (2, 4))


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("low", NUMERIC)
@pytest.mark.parametrize("high", NUMERIC)
def test_promotion_is_symmetric_and_idempotent(low, high):
    assert promote(low, high) == promote(high, low)
    assert promote(low, low) == low
