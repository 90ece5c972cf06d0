"""Saving and restoring the state of the random numbers, on one backend."""

import numpy as np
import pytest
from interrupted import equal, own_seeds

import labdl
from labdl import dispatch, ops
from labdl.ops.random.state import random_state, set_random_state


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def draws():
    x = ops.ones((3, 5))
    drawn = [
        ops.random_uniform((3,)),
        ops.random_normal((4,), dtype="float64"),
        ops.random_integers((3,), 0, 99),
        ops.random_integers((2,), -(2**40), 2**50),
        ops.permutation(6),
        ops.random_uniform_like(x),
        ops.random_normal_like(x),
        ops.random_uniform((2,), portable=True),
        ops.dropout(x, 0.5, training=True),
        ops.dropout_channels(ops.ones((3, 5, 4)), 0.5, training=True),
    ]
    return [np.array(labdl.to_numpy(t)) for t in drawn]


@pytest.mark.parametrize("portable", [False, True])
def test_random_state_is_restored(backend, portable):
    labdl.seed(3, portable=portable)
    draws()
    state = random_state(backend.name)
    first, second = draws(), draws()
    assert not equal(first, second)
    assert set_random_state(state, backend.name)
    assert equal(draws(), first)
    assert equal(draws(), second)
    labdl.seed(9, portable=not portable)
    draws()
    set_random_state(state, backend.name)
    assert equal(draws(), first)
    assert (dispatch.current_seed(), dispatch.portable()) == (3, portable)


@pytest.mark.parametrize("compiled", [None, False])
def test_random_state_of_compiled_dropout_is_restored(backend, compiled):
    """The state reaches what a compiled step holds, not only what is drawn outside of it."""
    labdl.seed(3)
    run = backend.evaluate_function(lambda x: ops.dropout(x, 0.5, training=True), compiled=compiled)
    x = backend.tensor(np.ones((4, 50), "float32"))
    first_call = np.array(labdl.to_numpy(run(x)))
    state = random_state(backend.name)
    first, second = (np.array(labdl.to_numpy(run(x))) for _ in range(2))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, first_call)
    set_random_state(state, backend.name)
    assert np.array_equal(labdl.to_numpy(run(x)), first)
    assert np.array_equal(labdl.to_numpy(run(x)), second)


def test_invalid_random_state_raises(backend):
    state = random_state(backend.name)
    before = draws()
    own = state["own"]
    wrong = [{}, {**state, "own": {}}, {**state, "own": 3}, {**state, "portable": {}}, {**state, "seed": "x"}]
    wrong += [
        {**state, "own": {**own, key: value}} for key in own for value in ("x", np.zeros(3), [[]], {"engine": "x"})
    ]
    for values in wrong:
        with pytest.raises(ValueError, match=f"not a random state of {backend.name}"):
            set_random_state(values, backend.name)
    set_random_state(state, backend.name)
    assert equal(draws(), before)
