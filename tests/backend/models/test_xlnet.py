"""XLNet on one backend: the memory of a segment, the two streams, and inputs that are refused."""

from dataclasses import replace

import numpy as np
import pytest

import labdl
from labdl.errors import ModelError
from labdl.models.text.xlnet import SMALL, XLNet, XLNetForSequenceClassification
from labdl.spec import Spec

TOKENS = np.array([[3, 4, 5, 6, 7, 8]])
ORDER = np.tril(np.ones((1, 6, 6), "int64"))  # each step sees those before it


def run(model, backend, *inputs):
    result = model(*(x if x is None else backend.tensor(x) for x in inputs))
    return [labdl.to_numpy(y) for y in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.sample(False)
def test_a_text_in_two_segments_with_memory_is_the_whole_text(backend):
    model = XLNet(replace(SMALL, memory_steps=4, two_streams=False))
    model.build(Spec((None, None), "int64"), Spec((None, None, None), "int64"), backend=backend.name, seed=0).eval()
    whole, _ = run(model, backend, TOKENS, ORDER)
    first, memory = run(model, backend, TOKENS[:, :4], ORDER[:, :4, :4])
    assert memory.shape == (2, 1, 4, 8)
    last, memory = run(model, backend, TOKENS[:, 4:], ORDER[:, 4:, 4:], None, None, None, memory)
    assert memory.shape == (2, 1, 4, 8)
    np.testing.assert_allclose(np.concatenate([first, last], 1), whole, rtol=0, atol=1e-5)


@pytest.mark.sample(False)
def test_the_second_stream_does_not_see_what_it_predicts(backend):
    model = XLNet(SMALL)
    targets = np.eye(6, dtype="float32")[None, [2, 5]]
    inputs = Spec((None, 6), "int64"), Spec((None, 6, 6), "int64"), Spec((None, 2, 6))
    model.build(*inputs, backend=backend.name, seed=0).eval()
    order = np.tril(np.ones((1, 6, 6), "int64"), -1)
    changed = TOKENS.copy()
    changed[0, 2] = 9
    (before,), (after,) = (run(model, backend, tokens, order, targets) for tokens in (TOKENS, changed))
    np.testing.assert_allclose(after[0, 0], before[0, 0], rtol=0, atol=1e-6)
    assert np.abs(after[0, 1] - before[0, 1]).max() > 1e-6


@pytest.mark.sample(False)
def test_padding_before_a_text_changes_nothing(backend):
    model = XLNetForSequenceClassification(SMALL, classes=3)
    model.build(Spec((None, None), "int64"), Spec((None, None), "int64"), backend=backend.name, seed=0).eval()
    (alone,) = run(model, backend, TOKENS, np.ones_like(TOKENS))
    (padded,) = run(model, backend, np.pad(TOKENS, ((0, 0), (2, 0))), np.pad(np.ones_like(TOKENS), ((0, 0), (2, 0))))
    np.testing.assert_allclose(padded, alone, rtol=0, atol=1e-5)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize(
    ("two_streams", "inputs", "message"),
    [
        (True, [Spec((None, 5, 3), "int64")], r"wants tokens \(N, steps\), received \(None, 5, 3\)"),
        (True, [Spec((None, 5), "int64"), Spec((5, 5), "bool")], "wants allowed of 3 axes"),
        (False, [Spec((None, 5), "int64"), None, Spec((None, 1, 5))], "give two_streams=True"),
        (True, [Spec((None, 5), "int64"), None, None, None, None, Spec((3, None, 2, 8))], "a memory of 2 layers"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(two_streams, inputs, message, backend):
    with pytest.raises(ModelError, match=message):
        XLNet(replace(SMALL, two_streams=two_streams)).build(*inputs, backend=backend.name)
