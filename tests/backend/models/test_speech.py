"""Recognizers of speech on one backend: a sample gives the same alone and in a padded batch, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.models.sound.conformer import Conformer, ConformerCTC
from labdl.models.sound.rnnt import RNNT
from labdl.models.zoo import ZOO
from labdl.spec import Spec

FRAMES = np.random.default_rng(0).normal(size=(1, 31, 12)).astype("float32")
SMALL = {"layers": 2, "heads": 2, "feed_forward": 12, "kernel_size": 5}


@pytest.mark.sample(False)
@pytest.mark.parametrize("relative", [True, False])
def test_a_sample_gives_the_same_alone_and_in_a_padded_batch(relative, backend):
    model = ConformerCTC(Conformer(8, **SMALL, relative=relative), 5)
    model.build(Spec((None, None, 12)), Spec((None,), "int64"), backend=backend.name, seed=0).eval()
    alone, steps = model(backend.tensor(FRAMES), backend.tensor(np.array([31])))
    noise = np.concatenate([FRAMES, np.full((1, 16, 12), 9.0, "float32")], 1)
    padded, lengths = model(backend.tensor(noise), backend.tensor(np.array([31])))
    count = int(labdl.to_numpy(steps)[0])
    assert count == alone.shape[1] == 7
    # the subsampling rounds up: the last step may see padding
    assert int(labdl.to_numpy(lengths)[0]) == 8
    inner = labdl.to_numpy(model.encoder.subsampling(backend.tensor(noise)))[:, :count]
    np.testing.assert_allclose(
        inner, labdl.to_numpy(model.encoder.subsampling(backend.tensor(FRAMES))), rtol=0, atol=1e-5
    )
    frames = Conformer(12, **SMALL, relative=relative, subsample=False)
    frames.build(Spec((None, None, 12)), Spec((None,), "int64"), backend=backend.name, seed=0).eval()
    alone, _ = frames(backend.tensor(FRAMES), backend.tensor(np.array([31])))
    padded, lengths = frames(backend.tensor(noise), backend.tensor(np.array([31])))
    assert labdl.to_numpy(lengths).tolist() == [31]
    np.testing.assert_allclose(labdl.to_numpy(padded)[:, :31], labdl.to_numpy(alone), rtol=0, atol=1e-5)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ({}, (None, 6, 80), "at least 7 frames of 7 bins"),
        ({}, (None, 80), r"wants frames \(N, steps, bins\)"),
        ({"subsample": False}, (None, 20, 9), r"wants frames \(N, steps, 8\), received \(None, 20, 9\)"),
    ],
)
def test_frames_that_do_not_fit_are_refused(settings, shape, message, backend):
    with pytest.raises(ModelError, match=message):
        Conformer(8, **SMALL, **settings).build(Spec(shape), backend=backend.name)


@pytest.mark.sample(False)
def test_a_transducer_hears_and_writes_in_order(backend):
    """A padded sample gives the same as alone; no symbol changes logits before it; many symbols run in a loop."""
    model = ZOO["emformer_rnnt_base"].small()[0]
    model.build(
        Spec((None, 14, 5)), Spec((None, 40), "int64"), Spec((None,), "int64"), backend=backend.name, seed=0
    ).eval()
    rng = np.random.default_rng(0)
    frames, symbols = rng.normal(size=(2, 14, 5)).astype("float32"), rng.integers(1, 20, (2, 40))
    logits, steps = model(*map(backend.tensor, (frames, symbols, np.array([12, 8]))))
    logits = labdl.to_numpy(logits)
    assert logits.shape == (2, 6, 40, 20)
    assert labdl.to_numpy(steps).tolist() == [6, 4]
    short, few = frames[1:, :10], symbols[1:, :3]
    alone, _ = model(*map(backend.tensor, (short, few, np.array([8]))))
    # the right context of the last segment is another one: that of the whole
    np.testing.assert_allclose(labdl.to_numpy(alone)[:, :2], logits[1:, :2, :3], rtol=0, atol=1e-5)


@pytest.mark.sample(backends=1)
def test_a_transducer_refuses_what_does_not_fit(backend):
    with pytest.raises(ValueError, match="multiples of reduction=4, received 6 and 4"):
        RNNT(segment=6)
    with pytest.raises(ModelError, match="with a known number of at least 2 steps"):
        ZOO["emformer_rnnt_base"].small()[0].build(
            Spec((None, None, 5)), Spec((None, 4), "int64"), backend=backend.name
        )


@pytest.mark.sample(False)
def test_the_loss_of_a_transducer_and_its_gradient(backend):
    """Against a recursion in float64 that is equal to the sum over all alignments."""
    with np.load(Path(__file__).parents[2] / "oracles" / "rnnt_loss.npz") as file:
        inputs, losses, gradient = [file[f"x:{n}"] for n in range(4)], file["y:out"], file["g:x:0"]
    rest = [backend.tensor(a.astype("int64")) for a in inputs[1:]]
    loss = nn.RNNTLoss(reduction="none")
    logits = backend.tensor(inputs[0].astype("float32"))
    np.testing.assert_allclose(labdl.to_numpy(loss(logits, *rest)), losses, rtol=2e-5)
    result = backend.gradients(lambda x: ops.sum(loss(x, *rest)), [logits])[1][0]
    np.testing.assert_allclose(labdl.to_numpy(result), gradient, rtol=0, atol=2e-5)
