"""Decoders on one backend against models that Hugging Face's library saved: outputs, names in both directions, causality."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import labdl
from labdl import models
from labdl.models.text.gpt import GPT
from labdl.models.text.gpt_neox import GPTNeoX
from labdl.models.text.llama import Llama
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

HUB = Path(__file__).parents[2] / "oracles" / "hub"
MODELS = {
    "gptj": lambda: GPTNeoX(
        320, features=32, layers=2, heads=2, rotary_size=8, interleaved=True, activation="gelu_tanh"
    ),
    "llama": lambda: Llama(420, features=32, layers=2, heads=4, key_heads=2, head_size=8, feed_forward=56),
    "qwen2": lambda: Llama(
        325,
        features=32,
        layers=2,
        heads=4,
        key_heads=2,
        feed_forward=56,
        rotary_base=1e6,
        epsilon=1e-6,
        query_bias=True,
        tied=True,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_saved_models_compute_the_same_and_keep_their_names(name, backend):
    weights = load_file(HUB / name / "model.safetensors")
    with np.load(HUB / name / "expected.npz") as file:
        tokens, mask, expected = file["x:input_ids"], file["x:attention_mask"], file["y:logits"]
    model = MODELS[name]().build(Spec((None, tokens.shape[1]), "int64"), backend=backend.name).eval()
    models.load_public(model, weights)
    logits = labdl.to_numpy(model(backend.tensor(tokens), backend.tensor(mask)))
    counts = mask.astype(bool)  # the rest is padding
    np.testing.assert_allclose(logits[counts], expected[counts], rtol=0, atol=2e-5 * np.abs(expected).max())
    public = models.public_state_dict(model)
    assert public.keys() == weights.keys()
    assert all(np.array_equal(public[key], weights[key]) for key in public)


@pytest.mark.parametrize("length", [None, 6])
def test_a_token_changes_nothing_before_it(length, backend):
    """With a known number of steps, and with any."""
    model = GPT(20, features=8, layers=1, heads=2, positions=8, rate=0.0)
    model.build(Spec((None, length), "int64"), backend=backend.name).eval()
    tokens = np.array([[1, 2, 3, 4, 5, 6]])
    changed = tokens.copy()
    changed[0, 3] = 9
    logits, others = (labdl.to_numpy(model(backend.tensor(a))) for a in (tokens, changed))
    np.testing.assert_allclose(logits[:, :3], others[:, :3], atol=1e-6)
    assert np.abs(logits[:, 3:] - others[:, 3:]).max(-1).min() > 1e-6
