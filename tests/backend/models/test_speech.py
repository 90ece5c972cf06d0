"""Recognizers of speech on one backend: a sample gives the same alone and in a padded batch, and what is refused."""

import numpy as np
import pytest

import labdl
from labdl.errors import ModelError
from labdl.models.sound.conformer import Conformer, ConformerCTC
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
