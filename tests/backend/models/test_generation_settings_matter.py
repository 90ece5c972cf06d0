"""Two values of an argument or setting of `labdl.generate` give other texts, scores or calls, or it has its reason."""

import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models
from labdl.generation import GenerationSettings
from labdl.models.text.gpt import GPT
from labdl.spec import Spec

pytestmark = pytest.mark.sample(every=10, backends=1)

HUB = Path(__file__).parents[2] / "oracles" / "hub"
PROMPT = [1, 2, 3]
SAMPLED = {"do_sample": True, "seed": 1, "temperature": 2.0}
BEAMS = {"num_beams": 3, "num_return_sequences": 3}


@pytest.fixture(scope="module")
def model(backend):
    small = GPT(30, features=8, layers=1, heads=2, positions=40, rate=0.0)
    small.build(Spec((None, None), "int64"), backend=backend.name, seed=2)
    rng = np.random.default_rng(0)
    small.load_state_dict({n: 0.5 * rng.normal(size=v.shape).astype(v.dtype) for n, v in small.state_dict().items()})
    return small.eval()


@pytest.fixture(scope="module")
def end(model):
    """The third token that the model writes, which may end its text."""
    return int(labdl.generate(model, PROMPT, max_new_tokens=3).tokens[-1])


def first(model):
    return int(labdl.generate(model, PROMPT, max_new_tokens=1).tokens[0])


# of each setting: its value, or the value of the model and of its end, and what makes it matter
SETTINGS = {
    "max_new_tokens": (5, {}),
    "max_length": (5, {}),
    "min_new_tokens": (8, {"eos_token_id": "end"}),
    "min_length": (11, {"eos_token_id": "end"}),
    "do_sample": (True, {"seed": 1, "temperature": 2.0}),
    "temperature": (0.1, {"do_sample": True, "seed": 1}),
    "top_k": (1, SAMPLED),
    "top_p": (0.01, SAMPLED),
    "num_beams": (3, {}),
    "num_return_sequences": (2, {"num_beams": 3}),
    "length_penalty": (-5.0, {**BEAMS, "eos_token_id": "end"}),
    "early_stopping": (True, {**BEAMS, "eos_token_id": "end", "length_penalty": 5.0}),
    "repetition_penalty": (1e6, {}),
    "no_repeat_ngram_size": (1, {}),
    "bad_words_ids": ("[[first]]", {}),
    "suppress_tokens": ("[first]", {}),
    "begin_suppress_tokens": ("[first]", {}),
    "eos_token_id": ("end", {}),
    "forced_eos_token_id": (7, {}),
}
REASONS = {
    "pad_token_id": "what stands behind the mask of a prompt, which is not read",
    "compiled": "the same texts, sooner",
    "use_cache": "the same texts, sooner; test_a_step_with_a_cache_equals_the_whole_pass has it",
    "decoder_input_ids": "of models that read pictures or sounds; test_generation_from_signals has it",
    "language": "of models that read sounds; test_generation_from_signals has it",
    "task": "of models that read sounds; test_generation_from_signals has it",
}


def results_of(model, *prompt, **options):
    found = labdl.generate(model, *prompt, **options)
    return [(each.tokens.tolist(), each.text, each.score) for each in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting(name, model, end):
    value, beside = SETTINGS[name]
    words = {"end": end, "[first]": [first(model)], "[[first]]": [[first(model)]]}
    base = {key: end if v == "end" else v for key, v in beside.items()}
    value = words[value] if isinstance(value, str) else value
    assert results_of(model, PROMPT, **base, **{name: value}) != results_of(model, PROMPT, **base), name


@pytest.mark.parametrize("name", ["decoder_start_token_id", "forced_bos_token_id"])
def test_settings_of_a_decoder_behind_an_encoder(name, backend):
    model = models.from_pretrained(HUB / "mbart", backend=backend.name)
    assert results_of(model, [5, 7, 9], **{name: 9}) != results_of(model, [5, 7, 9])


def test_every_argument(backend, capsys):
    model = models.from_pretrained(HUB / "gpt_neo", backend=backend.name)
    text = "The river turned"
    before = results_of(model, text)
    pair = np.array([[1, 2, 3], [4, 5, 6]])
    assert results_of(model, "Every letter") != before
    assert results_of(model, pair, mask=[[0, 1, 1], [1, 1, 1]]) != results_of(model, pair)
    assert results_of(model, text, stop=before[0][1][3:6]) != before
    assert not capsys.readouterr().out
    results_of(model, text, stream=True)
    assert capsys.readouterr().out
    other = models.from_pretrained(HUB / "llama", backend=backend.name).pretrained.tokenizer
    assert results_of(model, [5, 7, 9], tokenizer=other) != results_of(model, [5, 7, 9])
    sampled = [results_of(model, text, do_sample=True, seed=seed) for seed in (1, 2)]
    assert sampled[0] != sampled[1]


def test_every_argument_has_its_case():
    settings = {field.name for field in dataclasses.fields(GenerationSettings)}
    assert settings == SETTINGS.keys() | {"decoder_start_token_id", "forced_bos_token_id", "pad_token_id"}
    cases = {"model", "prompt", "mask", "tokenizer", "stop", "stream", "seed", "settings"}
    assert inspect.signature(labdl.generate).parameters.keys() == cases | REASONS.keys() - {"pad_token_id"}
