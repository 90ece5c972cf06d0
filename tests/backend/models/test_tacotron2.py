"""Tacotron 2 on one backend: speaking frame by frame, frames in a loop, lengths, and what is refused."""

import numpy as np
import pytest

import labdl
from labdl.errors import ModelError
from labdl.models.zoo import ZOO
from labdl.spec import Spec

TOKENS = np.array([[3, 4, 5, 6, 7, 8]])


def small(backend, frames):
    model = ZOO["tacotron2"].small()[0]
    inputs = Spec((None, 6), "int64"), Spec((None, 5, frames)), Spec((None,), "int64"), Spec((None,), "int64")
    return model.build(*inputs, backend=backend.name, seed=0).eval()


def run(model, backend, *inputs):
    return [labdl.to_numpy(y) for y in model(*map(backend.tensor, inputs))]


@pytest.mark.sample(False)
def test_speaking_is_the_pass_over_its_own_frames(backend):
    model, frames, lengths = small(backend, 4), np.zeros((1, 5, 4), "float32"), np.array([6])
    for at in range(4):
        first, refined, _, weights = run(model, backend, TOKENS, frames, lengths)
        frames[..., at] = first[..., at]
    spoken, counts, attention = model.speak(backend.tensor(TOKENS), backend.tensor(lengths), most=4, threshold=1.0)
    assert counts.tolist() == [4]
    np.testing.assert_allclose(labdl.to_numpy(spoken), refined, rtol=0, atol=1e-5)
    np.testing.assert_allclose(labdl.to_numpy(attention), weights, rtol=0, atol=1e-5)
    shortest = model.speak(backend.tensor(TOKENS), most=4, threshold=0.0)
    assert shortest[0].shape == (1, 5, 1)
    assert shortest[1].tolist() == [1]


@pytest.mark.sample(False)
def test_many_frames_run_in_a_loop_and_padding_changes_nothing(backend):
    frames = np.random.default_rng(0).normal(size=(1, 5, 40)).astype("float32")
    model, lengths = small(backend, 40), np.array([6])
    looped, _, stops, attention = run(model, backend, TOKENS, frames, lengths, np.array([4]))
    first, _, logits, weights = run(model, backend, TOKENS, frames[..., :4], lengths, np.array([4]))
    np.testing.assert_allclose(looped[..., :4], first, rtol=0, atol=1e-5)
    np.testing.assert_allclose(attention[:, :4], weights, rtol=0, atol=1e-5)
    np.testing.assert_allclose(stops[:, :4], logits, rtol=0, atol=1e-5)
    assert (looped[..., 4:] == 0).all()
    assert (stops[:, 4:] == 1e3).all()
    fewer, *_ = run(model, backend, TOKENS, frames[..., :4], np.array([3]), np.array([4]))
    changed = np.where(np.arange(6) < 3, TOKENS, 1)
    assert np.abs(fewer - first).max() > 1e-6
    weights = run(model, backend, changed, frames[..., :4], np.array([3]), np.array([4]))[3]
    assert weights[..., 3:].max() < 1e-12  # a kernel of one framework gives no exact 0


@pytest.mark.sample(backends=1)
def test_a_spectrogram_of_other_bins_is_refused(backend):
    model = ZOO["tacotron2"].small()[0]
    with pytest.raises(ModelError, match=r"a spectrogram \(N, 5, frames\), received \(None, 6\) and \(None, 4, 5\)"):
        model.build(Spec((None, 6), "int64"), Spec((None, 4, 5)), backend=backend.name)
