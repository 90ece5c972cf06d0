"""Encoder-decoders on one backend: fixed positions, saved models, and decoding from a context that was computed before."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import labdl
from labdl import models
from labdl.models.sound.whisper import Whisper
from labdl.models.text.marian import Marian
from labdl.models.zoo import ZOO
from labdl.spec import Spec

ORACLES = Path(__file__).parents[2] / "oracles" / "zoo"
sys.path.insert(0, str(ORACLES))
import public_model  # noqa: E402


@pytest.mark.sample(backends=1)
def test_fixed_positions_are_those_of_the_public_implementation(backend):
    """Sines in the first half of the features and cosines in the second; the tables of the file are not read."""
    path = ORACLES / "transformer_marian.npz"
    arrays = public_model.inputs(path)
    model = Marian(101, features=32, layers=2, heads=4, feed_forward=64, activation="relu")
    model.build(Spec((None, 12), "int64"), Spec((None, 6), "int64"), backend=backend.name).eval()
    models.load_public(model, public_model.load(path))
    logits = model(*(backend.tensor(arrays[key]) for key in ("input_ids", "decoder_input_ids")))
    with np.load(path) as file:
        expected = file["y:logits@sinusoidal"]
    np.testing.assert_allclose(labdl.to_numpy(logits), expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.sample(False)
def test_a_saved_whisper_computes_the_same_and_keeps_its_names(backend):
    folder = ORACLES.parent / "hub" / "whisper"
    weights = load_file(folder / "model.safetensors")
    with np.load(folder / "expected.npz") as file:
        frames, tokens, expected = file["x:input_features"], file["x:decoder_input_ids"], file["y:logits"]
    model = Whisper(330, features=32, layers=2, heads=4, feed_forward=48, bins=16, positions=40)
    model.build(Spec((None, *frames.shape[1:])), Spec((None, tokens.shape[1]), "int64"), backend=backend.name).eval()
    models.load_public(model, weights)
    logits = labdl.to_numpy(model(backend.tensor(frames), backend.tensor(tokens)))
    np.testing.assert_allclose(logits, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    public = models.public_state_dict(model)
    assert weights.keys() - public.keys() == {"model.encoder.embed_positions.weight"}  # the sines and cosines
    assert all(np.array_equal(public[key], weights[key]) for key in public)


@pytest.mark.sample(False)
def test_sound_and_images_are_read_once_for_all_steps(backend):
    """`decode` of what `encode` gives is the whole pass."""
    for name in ("whisper_tiny", "trocr_small"):
        model, specs = ZOO[name].small()
        model.build(*specs, backend=backend.name, seed=0).eval()
        rng = np.random.default_rng(0)
        source = backend.tensor(rng.normal(size=(2, *specs[0].shape[1:])).astype("float32"))
        target = backend.tensor(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]))
        expected, split = model(source, target), model.decode(target, model.encode(source))
        np.testing.assert_allclose(labdl.to_numpy(split), labdl.to_numpy(expected), rtol=0, atol=1e-6)


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", ["t5_small", "t5_v1_1_small", "opus_mt_en_de", "bytenet"])
def test_decoding_from_a_context_and_padding(name, backend):
    """`decode` of what `encode` gives is the whole pass, and padding at the end of a source changes nothing."""
    model: Any = ZOO[name].small()[0]
    model.build(Spec((None, None), "int64"), Spec((None, None), "int64"), backend=backend.name, seed=0).eval()
    source, target = backend.tensor(np.array([[3, 4, 5]])), backend.tensor(np.array([[0, 7]]))
    expected = labdl.to_numpy(model(source, target))
    split = model.decode(target, model.encode(source))
    np.testing.assert_allclose(labdl.to_numpy(split), expected, rtol=0, atol=1e-6)
    padded, mask = backend.tensor(np.array([[3, 4, 5, 0, 0]])), backend.tensor(np.array([[1, 1, 1, 0, 0]]))
    np.testing.assert_allclose(labdl.to_numpy(model(padded, target, mask)), expected, rtol=0, atol=1e-5)


@pytest.mark.sample(False)
def test_a_bytenet_translates_beyond_its_source(backend):
    """Beyond the source the decoder reads zeros, as with padding that is masked; no step sees a later one."""
    model: Any = ZOO["bytenet"].small()[0]
    model.build(Spec((None, None), "int64"), Spec((None, None), "int64"), backend=backend.name, seed=0).eval()
    source, mask = np.array([[3, 4, 5, 1, 2, 2]]), np.array([[1, 1, 1, 0, 0, 0]])
    target = np.array([[1, 7, 8, 9, 6]])
    changed = np.where(np.arange(5) == 3, 2, target)
    short, long, other = (
        labdl.to_numpy(model(*map(backend.tensor, arrays)))
        for arrays in ((source[:, :3], target), (source, target, mask), (source[:, :3], changed))
    )
    np.testing.assert_allclose(short, long, rtol=0, atol=1e-5)
    np.testing.assert_allclose(short[:, :3], other[:, :3], rtol=0, atol=1e-6)
    assert np.abs(short[:, 3:] - other[:, 3:]).max() > 1e-6
