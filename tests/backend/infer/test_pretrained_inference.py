"""Texts, sounds and pictures to answers by the path of a folder: batches give what each text gives alone."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models
from labdl.infer import Inference
from labdl.infer.postprocess.base import softmax

HUB = Path(__file__).parents[2] / "oracles" / "hub"
TEXTS = ["A small boat kept writing about the northern wind", "The river", "Every wind turned"]


def expected(folder: str) -> dict[str, np.ndarray]:
    with np.load(HUB / folder / "expected.npz") as file:
        return {name: file[name] for name in file.files}


def of(folder: str, backend, **settings) -> Inference:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "not in the files, and drawn anew")
        return Inference.of(HUB / folder, backend=backend.name, **settings)


def scores(inference: Inference, text: str, pair: str | None = None) -> list[np.ndarray]:
    """The outputs for one text alone, without padding."""
    encoding = inference.model.pretrained.tokenizer.model.encode(text, pair)
    rows = [encoding.ids, encoding.attention_mask]
    types = [encoding.type_ids] if inference.model.pretrained.config["model_type"] == "bert" else []
    outputs = inference.model(*(np.array([row], "int64") for row in [*rows, *types]))
    return [labdl.to_numpy(part)[0] for part in (outputs if isinstance(outputs, tuple) else (outputs,))]


def test_classes_of_texts(backend):
    inference = of("bert_classifier", backend)
    samples = [*TEXTS, (TEXTS[1], TEXTS[2])]
    for sample, result in zip(samples, inference.infer(samples), strict=True):
        shares = softmax(scores(inference, *(sample if isinstance(sample, tuple) else (sample,)))[0])
        assert result.label == ("negative", "positive", "neutral")[shares.argmax()]
        np.testing.assert_allclose(result.probabilities, np.sort(shares)[::-1], rtol=1e-4)


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("folder", ["bert_old_names", "distilbert", "roberta_bin"])
def test_answers_to_questions_and_tags_of_tokens(folder, backend):
    name = {"bert_old_names": "Bert", "distilbert": "DistilBert", "roberta_bin": "Roberta"}[folder]
    reader = of(folder, backend, architecture=f"{name}ForQuestionAnswering", max_length=3)
    for text, result in zip(
        TEXTS, reader.infer([{"question": "What?", "context": text} for text in TEXTS]), strict=True
    ):
        starts, ends = scores(reader, "What?", text)
        encoding = reader.model.pretrained.tokenizer.encoding("What?", text)
        own = np.flatnonzero(encoding.parts == 1)
        spans = [(first, last) for first in own for last in own if 0 <= last - first < 3]
        first, last = max(spans, key=lambda span: starts[span[0]] + ends[span[1]])
        assert (result.starts[0], result.ends[0]) == (first, last)
        assert result.text == text[encoding.offsets[first][0] : encoding.offsets[last][1]]
    tagger = of(folder, backend, architecture=f"{name}ForTokenClassification", classes=3, names=["O", "B-X", "I-X"])
    for text, result in zip(TEXTS, tagger.infer(TEXTS), strict=True):
        shares = softmax(scores(tagger, text)[0])[1:-1]
        assert result.labels.tolist() == shares.argmax(-1).tolist()
        np.testing.assert_allclose(result.probabilities, shares.max(-1), rtol=1e-4)
        assert "".join(result.tokens) == text.replace(" ", "")


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize(("folder", "mask"), [("bert_old_names", "[MASK]"), ("roberta_bin", "<mask>")])
def test_words_in_the_place_of_masks(folder, mask, backend):
    inference = of(folder, backend, top_k=2)
    samples = [f"A {mask} boat", f"The river {mask} north and {mask} turned"]
    for text, result in zip(samples, inference.infer(samples), strict=True):
        tokenizer = inference.model.pretrained.tokenizer
        places = np.flatnonzero(np.array(tokenizer.encode(text)) == tokenizer.id_of(mask))
        shares = softmax(scores(inference, text)[0])[places]
        assert result.tokens.tolist() == np.argsort(-shares, axis=-1)[:, :2].tolist()
        assert result.texts[0][0] == tokenizer.decode([result.tokens[0, 0]])


@pytest.mark.sample(False)
@pytest.mark.parametrize("folder", ["gpt_neo", "marian", "t5", "bart_sharded", "mbart", "llama", "qwen2"])
def test_texts_are_those_of_the_public_library(folder, backend):
    values = expected(folder)
    settings = json.loads(str(values["generation"]))["greedy"]
    inference = of(folder, backend, batch_size=2, **settings)
    batch = zip(values["gen:x:input_ids"], values["gen:x:attention_mask"], strict=True)
    rows = [ids[mask == 1].tolist() for ids, mask in batch]
    prompts = json.loads(str(values["prompts"]))
    tokenizer = inference.model.pretrained.tokenizer
    prompts = [text if list(tokenizer.encode(text)) == row else row for text, row in zip(prompts, rows, strict=True)]
    assert isinstance(prompts[0], str)  # of a long one the file has the beginning alone
    results = inference.infer(prompts)
    ends = np.atleast_1d(inference.model.pretrained.generation["eos_token_id"])
    encoder = inference.model.pretrained.config.get("is_encoder_decoder")
    start = 1 if encoder else values["gen:x:input_ids"].shape[1]
    for row, result in zip(values["gen:greedy"][:, start:], results, strict=True):
        stop = next((at for at, token in enumerate(row) if token in ends), len(row))
        assert result.tokens.tolist() == row[: stop + 1].tolist()
    pairs = inference.infer(prompts, num_beams=2, num_return_sequences=2, max_new_tokens=3)
    assert [len(pair) for pair in pairs] == [2, 2, 2]


@pytest.mark.sample(False)
def test_transcripts_of_sounds_and_of_pictures(backend):
    values = expected("whisper")
    inference = of("whisper", backend, max_new_tokens=20, min_new_tokens=3, decoder_input_ids=[321, 322, 325, 329])
    sounds = [values[f"x:raw_audio{at}"] for at in range(3)]
    end = inference.model.pretrained.generation["eos_token_id"]
    for row, result in zip(values["gen:greedy"][:, 4:], inference.infer(sounds), strict=True):
        stop = next((at for at, token in enumerate(row) if token == end), len(row))
        assert result.tokens.tolist() == row[: stop + 1].tolist()
    values = expected("trocr")
    reader = of("trocr", backend, max_new_tokens=20, min_new_tokens=3)
    result, row = reader.infer_one(values["x:raw_image"]), values["gen:greedy"][0][1:]
    assert result.tokens.tolist() == row[: len(result.tokens)].tolist()


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("folder", ["vit", "deit"])
def test_classes_of_pictures(folder, backend):
    values = expected(folder)
    logits = [values[name][0] for name in ("y:logits", "y:cls_logits", "y:distillation_logits") if name in values]
    model = models.from_pretrained(HUB / folder, backend=backend.name)
    model.pretrained.processor["do_resize"] = False  # the oracle's input as a picture
    mean, std = (np.array(model.pretrained.processor[f"image_{name}"]) for name in ("mean", "std"))
    picture = np.rint((values["x:pixel_values"][0].transpose(1, 2, 0) * std + mean) * 255).astype("uint8")
    result = Inference.of(model).infer_one(picture)
    shares = softmax(np.mean(logits, 0))
    assert result.labels[0] == shares.argmax()
    np.testing.assert_allclose(result.probabilities, np.sort(shares)[::-1][:5], rtol=1e-4)
