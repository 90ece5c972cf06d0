"""Generated texts on one backend: the tokens of the public library, with a cache and without, streams and stop words."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models
from labdl.errors import LabDLError
from labdl.generation import decoder as decoders
from labdl.generation.decoder import Decoder
from labdl.models.text.gpt import GPT
from labdl.nn.decoding import current
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

HUB = Path(__file__).parents[2] / "oracles" / "hub"
FOLDERS = [
    "llama",
    "bart_sharded",
    "gpt_neo",
    "gpt2_float16",
    "openai_gpt",
    "gpt_neox",
    "gptj",
    "llama_bfloat16",
    "qwen2",
    "mbart",
    "t5",
    "t5_v1_1_untied",
    "marian",
]
CASES = ["greedy", "beam4", "beam4_long", "beam4_all", "greedy_penalty"]


def expected(folder: str) -> dict[str, np.ndarray]:
    with np.load(HUB / folder / "expected.npz") as file:
        return {name: file[name] for name in file.files}


def without_padding(row: np.ndarray, ends: tuple[int, ...]) -> list[int]:
    """Generated tokens up to the one that ends them."""
    stop = next((at for at, token in enumerate(row.tolist()) if token in ends), len(row))
    return row[: stop + 1].tolist()


@pytest.mark.sample(every=50)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_tokens_and_scores_are_those_of_the_public_library(folder, case, backend, full_breadth):
    model, values = models.from_pretrained(HUB / folder, backend=backend.name), expected(folder)
    settings = json.loads(str(values["generation"]))[case]
    ends = labdl.generation.GenerationSettings(eos_token_id=model.pretrained.generation["eos_token_id"]).ends
    prompts, mask = values["gen:x:input_ids"], values["gen:x:attention_mask"]
    start = 1 if model.pretrained.config.get("is_encoder_decoder") else prompts.shape[1]
    wanted = [without_padding(row[start:], ends) for row in values[f"gen:{case}"]]
    if not full_breadth and folder == "llama" and case == "greedy":  # the first tokens are the same for any number
        settings["max_new_tokens"] = 5
        wanted = [tokens[:5] for tokens in wanted]
    for cached in (True, False) if full_breadth else (True,):
        results = labdl.generate(model, prompts, mask=mask, use_cache=cached, **settings)
        assert [result.tokens.tolist() for result in results] == wanted
        if f"gen:{case}:scores" in values:
            np.testing.assert_allclose([r.score for r in results], values[f"gen:{case}:scores"], atol=1e-4)


@pytest.mark.sample(every=5, backends=1)
@pytest.mark.parametrize("folder", ["gpt_neo", "llama", "bart_sharded", "gptj", "openai_gpt", "t5", "marian"])
def test_a_step_with_a_cache_equals_the_whole_pass(folder, backend):
    """Logits of every step, for prompts of several lengths whose rows change places."""
    model = models.from_pretrained(HUB / folder, backend=backend.name)
    prompts = [np.array([5, 7, 9]), np.array([11]), np.array([13, 15])]
    source = None
    if model.pretrained.config.get("is_encoder_decoder"):
        source = np.array([[5, 6, 7], [8, 9, 1], [4, 1, 1]]), np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]])
    pair = [Decoder(model, 20, cached=cached) for cached in (True, False)]
    logits = [each.start(prompts, source) for each in pair]
    rng = np.random.default_rng(0)
    for step in range(6):
        np.testing.assert_allclose(*logits, atol=2e-5 * np.abs(logits[1]).max())
        tokens, rows = rng.integers(0, 200, 3), np.array([2, 0, 0])
        logits = [each.step(tokens, rows if step == 2 and source is None else None) for each in pair]
    assert current.get() is None


@pytest.mark.sample(backends=1)
def test_prompts_of_a_batch_do_not_change_each_other(backend):
    model = models.from_pretrained(HUB / "llama", backend=backend.name)
    texts = ["The river turned", "A small boat kept writing about the northern wind", "Every"]
    together = labdl.generate(model, texts, max_new_tokens=8)
    alone = [labdl.generate(model, text, max_new_tokens=8) for text in texts]
    assert [each.text for each in together] == [each.text for each in alone]


@pytest.mark.sample(backends=1)
def test_streams_stop_words_and_seeds(backend, capsys):
    model = models.from_pretrained(HUB / "gpt_neo", backend=backend.name)
    pieces = []
    result = labdl.generate(model, "The river turned", max_new_tokens=12, stream=pieces.append)
    assert [piece.token for piece in pieces] == result.tokens.tolist()
    assert result.text.startswith("".join(piece.text for piece in pieces))
    labdl.generate(model, "The river turned", max_new_tokens=12, stream=True)
    assert capsys.readouterr().out == "".join(piece.text for piece in pieces)
    word = next(piece.text for piece in pieces[2:] if piece.text.strip())
    cut = labdl.generate(model, "The river turned", max_new_tokens=12, stop=word)
    assert cut.text == result.text.partition(word)[0]
    assert len(cut.tokens) < len(result.tokens)
    sampled = [labdl.generate(model, "The", do_sample=True, seed=seed, top_k=50, top_p=0.9).text for seed in (1, 1, 2)]
    assert sampled[0] == sampled[1] != sampled[2]
    several = labdl.generate(model, "The", do_sample=True, seed=1, num_return_sequences=3)
    assert len({each.text for each in several}) == 3


@pytest.mark.sample(backends=1)
def test_models_without_a_folder_generate_numbers(backend):
    small = GPT(30, features=8, layers=1, heads=2, positions=40, rate=0.0)
    small.build(Spec((None, None), "int64"), backend=backend.name)
    assert len(labdl.generate(small, [1, 2, 3], max_new_tokens=5).tokens) == 5
    before = labdl.generate(small, [1, 2, 3], max_new_tokens=5, use_cache=False).tokens
    assert small.training
    small.load_state_dict({name: -value for name, value in small.state_dict().items()})
    after = labdl.generate(copy.deepcopy(small), [1, 2, 3], max_new_tokens=5).tokens
    assert np.array_equal(after, labdl.generate(small, [1, 2, 3], max_new_tokens=5, use_cache=False).tokens)
    assert len(before) == len(after)


@pytest.mark.sample(backends=1)
def test_a_program_is_made_once_for_each_size(backend):
    model = models.from_pretrained(HUB / "gpt_neo", backend=backend.name)
    labdl.generate(model, "The river", max_new_tokens=4)
    functions = dict(decoders.Programs.of(model).functions)
    labdl.generate(model, "Every letter found two", max_new_tokens=9)
    assert decoders.Programs.of(model).functions == functions
    assert len(functions) == 2  # the prompt and a step


@pytest.mark.sample(backends=1)
def test_prompts_and_settings_that_do_not_fit_are_named(backend):
    model = models.from_pretrained(HUB / "gpt_neo", backend=backend.name)
    bart = models.from_pretrained(HUB / "bart_sharded", backend=backend.name)
    for prompt, settings, words in [
        ("", {}, "prompt 0 is empty"),
        ([], {}, "empty list"),
        (5, {}, "received 5"),
        ([1.5], {}, "float64"),
        ([1, 5000], {}, "rows for 0 to 319"),
        ([-1], {}, "rows for 0 to 319"),
        (list(range(60)), {}, "64 positions, prompt and new tokens are 79"),
        ([1, 2], {"mask": [1, 1, 1]}, "a mask"),
        ("a", {"stop": [""]}, "stop wants words"),
        ("a", {"eos_token_id": "x"}, "eos_token_id wants numbers"),
        ("a", {"bad_words_ids": [[9999]]}, "bad_words_ids has the token 9999"),
        ("a", {"num_beams": 2, "stream": True}, "beams have no stream"),
        ("a", {"tokenizer": 5}, "tokenizer wants"),
        ("a", {"max_length": 1}, "max_length=1"),
    ]:
        with pytest.raises(LabDLError, match=words):
            labdl.generate(model, prompt, **settings)
    with pytest.raises(LabDLError, match="64 positions, a prompt has"):
        labdl.generate(bart, "x" * 300)
    with pytest.raises(LabDLError, match="decoder_start_token_id"):
        labdl.generate(bart, "x", decoder_start_token_id=None)
