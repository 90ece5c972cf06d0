"""Texts for pictures and sounds on one backend: the tokens of the public library, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models
from labdl.data import Audio
from labdl.errors import LabDLError
from labdl.models.sound.whisper import Whisper
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

HUB = Path(__file__).parents[2] / "oracles" / "hub"
CASES = ["greedy", "beam4", "beam4_long", "beam4_all", "greedy_penalty"]


def expected(folder: str) -> dict[str, np.ndarray]:
    with np.load(HUB / folder / "expected.npz") as file:
        return {name: file[name] for name in file.files}


def until_end(row: np.ndarray, end: int) -> list[int]:
    """Generated tokens up to the one that ends them."""
    stop = next((at for at, token in enumerate(row.tolist()) if token == end), len(row))
    return row[: stop + 1].tolist()


def first_tokens(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"decoder_input_ids": values["gen:x:decoder_input_ids"]} if "gen:x:decoder_input_ids" in values else {}


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("folder", "name"), [("whisper", "input_features"), ("trocr", "pixel_values")])
def test_tokens_and_scores_are_those_of_the_public_library(folder, name, case, backend, full_breadth):
    model, values = models.from_pretrained(HUB / folder, backend=backend.name), expected(folder)
    settings, start = json.loads(str(values["generation"]))[case], first_tokens(values)
    end = model.pretrained.generation["eos_token_id"]
    skipped = start["decoder_input_ids"].shape[1] if start else 1
    wanted = [until_end(row[skipped:], end) for row in values[f"gen:{case}"]]
    for cached in (True, False) if full_breadth else (True,):
        results = labdl.generate(model, values[f"x:{name}"], use_cache=cached, **start, **settings)
        assert [result.tokens.tolist() for result in results] == wanted
        if f"gen:{case}:scores" in values:
            np.testing.assert_allclose([r.score for r in results], values[f"gen:{case}:scores"], atol=1e-4)


@pytest.mark.sample(backends=1)
def test_a_sound_becomes_the_text_of_the_public_library(backend, tmp_path):
    from labdl.data.codecs.audio import encode_audio

    model, values = models.from_pretrained(HUB / "whisper", backend=backend.name), expected("whisper")
    sounds = [values[f"x:raw_audio{at}"] for at in range(3)]
    start, end = {"decoder_input_ids": [321, 322, 325, 329]}, model.pretrained.generation["eos_token_id"]
    results = labdl.generate(model, sounds, max_new_tokens=20, min_new_tokens=3, **start)
    assert [each.tokens.tolist() for each in results] == [until_end(row[4:], end) for row in values["gen:greedy"]]
    (tmp_path / "a.wav").write_bytes(encode_audio(Audio(sounds[1], sample_rate=16000), "wav"))
    pair = np.stack([sounds[1], sounds[1]])
    for same in (str(tmp_path / "a.wav"), Audio(sounds[1], sample_rate=16000), pair):
        alone = labdl.generate(model, same, max_new_tokens=20, min_new_tokens=3, **start)
        assert alone.tokens.tolist() == results[1].tokens.tolist()
    assert alone.text == model.pretrained.tokenizer.decode([t for t in alone.tokens if t != end])


@pytest.mark.sample(backends=1)
def test_a_picture_becomes_the_text_of_the_public_library(backend):
    model, values = models.from_pretrained(HUB / "trocr", backend=backend.name), expected("trocr")
    picture, end = values["x:raw_image"], model.pretrained.generation["eos_token_id"]
    result = labdl.generate(model, picture, max_new_tokens=20, min_new_tokens=3)
    assert result.tokens.tolist() == until_end(values["gen:greedy"][0][1:], end)
    turned = labdl.generate(model, [picture, picture[::-1, ::-1]], max_new_tokens=20, min_new_tokens=3)[1]
    assert turned.tokens.tolist() == until_end(values["gen:greedy"][1][1:], end)


@pytest.mark.sample(backends=1)
def test_languages_and_tasks_are_first_tokens(backend):
    model, values = models.from_pretrained(HUB / "whisper", backend=backend.name), expected("whisper")
    languages, tasks = {"<|en|>": 322, "<|de|>": 323}, {"translate": 324, "transcribe": 325}
    more = {"lang_to_id": languages, "task_to_id": tasks, "no_timestamps_token_id": 329, "is_multilingual": True}
    model.pretrained.generation.update(more)
    features = values["x:input_features"]
    for language, number in (("en", 322), ("de", 323)):
        named = labdl.generate(model, features, language=language, task="translate", max_new_tokens=6)
        given = labdl.generate(model, features, decoder_input_ids=[321, number, 324, 329], max_new_tokens=6)
        assert [each.tokens.tolist() for each in named] == [each.tokens.tolist() for each in given]
    heard = labdl.to_numpy(model(backend.tensor(features), backend.tensor(np.full((3, 1), 321))))[:, 0, [322, 323]]
    for row, best in enumerate(heard.argmax(-1)):
        named = labdl.generate(model, features[row : row + 1], language=["en", "de"][best], max_new_tokens=6)
        assert labdl.generate(model, features, max_new_tokens=6)[row].tokens.tolist() == named[0].tokens.tolist()
    with pytest.raises(LabDLError, match="language wants one of the model's"):
        labdl.generate(model, features, language="xx")


@pytest.mark.sample(backends=1)
def test_sounds_and_settings_that_do_not_fit_are_named(backend):
    model = models.from_pretrained(HUB / "whisper", backend=backend.name)
    trocr = models.from_pretrained(HUB / "trocr", backend=backend.name)
    gpt = models.from_pretrained(HUB / "gpt_neo", backend=backend.name)
    second = np.zeros(16000, "float32")
    for reader, prompt, settings, words in [
        (model, np.zeros(0, "float32"), {}, "empty"),
        (model, np.full(9, np.nan, "float32"), {}, "NaN"),
        (model, np.zeros(16001, "float32"), {}, "takes 1 at once"),
        (model, [], {}, "empty list"),
        (model, np.zeros((1, 9, 100), "float32"), {}, "shape"),
        (model, np.full((1, 16, 100), np.inf, "float32"), {}, "NaN"),
        (model, "no such file.wav", {}, "no such file"),
        (model, second, {"decoder_input_ids": [5000]}, "rows for 0 to 329"),
        (model, second, {"decoder_input_ids": [1.5]}, "decoder_input_ids wants"),
        (model, second, {"language": "en"}, "no tokens of languages"),
        (model, second, {"mask": [1]}, "mask is for prompts of tokens"),
        (trocr, np.zeros((4, 4, 9), "uint8"), {}, "picture wants an array"),
        (trocr, {"a": 1}, {}, "picture|array"),
        (gpt, "a", {"task": "translate"}, "are for models that read"),
    ]:
        with pytest.raises(LabDLError, match=words):
            labdl.generate(reader, prompt, **settings)
    assert len(labdl.generate(model, second[:1], max_new_tokens=3).tokens)  # one sample of silence
    small = Whisper(20, features=8, layers=1, heads=2, feed_forward=12, bins=5, positions=8)
    small.build(Spec((None, 5, None)), Spec((None, None), "int64"), backend=backend.name)
    with pytest.raises(LabDLError, match=r"no preprocessor_config\.json"):
        labdl.generate(small, second, decoder_input_ids=[1])
    features = np.zeros((1, 5, 12), "float32")
    assert len(labdl.generate(small, features, decoder_input_ids=[1], max_new_tokens=3)[0].tokens) == 3
