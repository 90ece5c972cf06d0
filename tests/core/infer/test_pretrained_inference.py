"""Inference with pretrained models: names and settings, samples that are refused, tags as entities, and generated texts."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from labdl import models
from labdl.errors import ConfigError, DataError, LabDLError, MissingFileError
from labdl.generation import Generation
from labdl.infer import Evaluator, Inference, TokenClassification
from labdl.infer.postprocess.token_classification import Entity

HUB = Path(__file__).parents[2] / "oracles" / "hub"


@pytest.fixture(scope="module")
def loaded():
    """The inference of a folder and its settings, loaded once."""
    kept: dict[tuple, Inference] = {}

    def load(folder: str, **settings) -> Inference:
        key = folder, *sorted(settings.items())
        if key not in kept:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "not in the files, and drawn anew")
                kept[key] = Inference.of(HUB / folder, backend="numpy", **settings)
        return kept[key]

    return load


QUESTIONS = {"architecture": "DistilBertForQuestionAnswering"}


@pytest.mark.parametrize(
    ("folder", "settings", "sample", "message"),
    [
        ("bert_classifier", {}, "", "the text is empty"),
        ("bert_classifier", {}, " \n", "the text is empty"),
        ("bert_classifier", {}, ("The river", ""), "the text is empty"),
        ("bert_classifier", {}, "river " * 80, "the model has 64 positions: shorten it"),
        ("bert_classifier", {}, "☃☃", "knows no token of the text '☃☃'"),
        ("bert_classifier", {}, 5, "the model takes a text, received 5"),
        ("bert_classifier", {}, None, "the model takes a text, received None"),
        ("distilbert", {}, "The river", r"the text has no \[MASK\]"),
        ("distilbert", QUESTIONS, "Who?", r"wants a pair \(question, text\)"),
        ("distilbert", QUESTIONS, {"question": "Who?"}, r"wants a pair \(question, text\)"),
        ("distilbert", QUESTIONS, ("Who?", " "), "the text is empty"),
        ("gpt_neo", {}, "", "the text is empty"),
        ("gpt_neo", {}, [], "is empty|no prompt|empty list"),
        ("gpt_neo", {}, "river " * 80, "positions"),
        ("gpt_neo", {}, [5000], "rows for 0 to 319"),
        ("gpt_neo", {}, 1.5, "text or the numbers of tokens"),
        ("whisper", {}, np.zeros(400, "float32"), "the sound is silent: its 400 samples are all equal"),
        ("whisper", {}, np.ones(1, "float32"), "the sound has one sample alone"),
        ("whisper", {}, np.zeros(0, "float32"), "empty"),
        ("whisper", {}, "nowhere.wav", r"nowhere\.wav"),
        ("trocr", {}, np.zeros((4, 4, 9), "uint8"), "picture wants an array"),
    ],
)
def test_samples_that_do_not_fit_are_named(loaded, folder, settings, sample, message):
    with pytest.raises(LabDLError, match=message):
        loaded(folder, **settings).infer_one(sample)


def test_settings_and_names_that_do_not_fit_are_named(loaded, tmp_path):
    classifier, writer = loaded("bert_classifier"), loaded("gpt_neo")
    with pytest.raises(ConfigError, match="received 'temperature'"):
        classifier.infer_one("The river", temperature=2.0)
    with pytest.raises(ConfigError, match=r"no setting 'max_new_token'.*did you mean 'max_new_tokens'"):
        writer.infer_one("The river", max_new_token=2)
    with pytest.raises(ConfigError, match="temperature wants a number above 0"):
        writer.stream(["The river"], temperature=0.0)
    with pytest.raises(ConfigError, match="no setting 'threshold'"):
        Inference.of(HUB / "gpt_neo", backend="numpy", threshold=0.5)
    with pytest.raises(ConfigError, match="preprocess is for models of the zoo"):
        Inference.of(HUB / "gpt_neo", preprocess="here/V1")
    with pytest.raises(MissingFileError, match="no folder, and no name"):
        Inference.of(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="gpt2 is a model for text generation, whose weights and tokenizer are files"):
        Inference.of("gpt2")
    with pytest.raises(ConfigError, match="nothing"):
        Inference.of("nothing")
    folder = shutil.copytree(HUB / "bert_classifier", tmp_path / "bare")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match="has no tokenizer"):
        Inference.of(str(folder), backend="numpy")
    with pytest.raises(ConfigError, match="BertModel is a model for text encoding, for which"):
        Inference.of(HUB / "bert_old_names", backend="numpy", architecture="BertModel")


def test_texts_continue_a_prompt_and_go_on_to_further_steps(loaded):
    writer = loaded("gpt_neo")
    result = writer.infer_one("The river", max_new_tokens=4)
    assert isinstance(result, Generation)
    assert len(result.tokens) == 4
    assert writer.infer(iter(["A boat", "The river"]), max_new_tokens=4)[1].text == result.text
    assert writer.infer(np.array(["The river"]), max_new_tokens=4)[0].text == result.text
    model = models.from_pretrained(HUB / "gpt_neo", backend="numpy")
    words = Inference(model, postprocess=lambda text, sign="!": str(text) + sign, generate={"max_new_tokens": 4})
    assert words.infer_one("The river", sign="?") == result.text + "?"


def test_tokens_of_one_tag_are_one_entity():
    text = "Ada Lovelace met Bob in London"
    offsets = np.array([[0, 3], [4, 8], [8, 12], [13, 16], [17, 20], [21, 23], [24, 30]])
    names = ("O", "B-PER", "I-PER", "LOC")
    labels = [1, 2, 2, 0, 1, 0, 3]
    scores = np.full((9, 4), -1.0)
    scores[np.arange(1, 8), labels] = np.arange(1, 8)
    tags = TokenClassification(names=names, text=text, offsets=offsets, places=np.arange(1, 8))(scores)
    assert tags.tokens == ("Ada", "Love", "lace", "met", "Bob", "in", "London")
    assert [(each.tag, each.text) for each in tags.entities] == [
        ("PER", "Ada Lovelace"),
        ("PER", "Bob"),
        ("LOC", "London"),
    ]
    first = tags.entities[0]
    assert first == Entity("PER", text[0:12], 0, 12, float(tags.probabilities[:3].mean()))
    bare = TokenClassification()(scores)
    assert bare.labels[1:8].tolist() == labels
    assert bare.entities == ()
    assert TokenClassification().for_metrics([tags]) == [labels]
    with pytest.raises(ConfigError, match="text and offsets together"):
        TokenClassification(text=text)
    for settings, message in [
        ({"names": ("a",)}, "1 names, the output has 4"),
        ({"places": [9]}, "places"),
        ({"text": text, "offsets": offsets}, "7 offsets, the output has 9 tokens"),
    ]:
        with pytest.raises(LabDLError, match=message):
            TokenClassification(**settings)(scores)


def test_masks_that_the_tokenizer_does_not_know(tmp_path):
    folder = shutil.copytree(HUB / "distilbert", tmp_path / "model")
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace("[MASK]", "[GAP]"))
    with pytest.raises(LabDLError, match="no token for missing words"):
        Inference.of(folder, backend="numpy").infer_one("The river")


def test_one_number_is_no_class(tmp_path):
    with pytest.warns(UserWarning, match="drawn anew"):
        model = models.from_pretrained(HUB / "bert_classifier", backend="numpy", classes=1)
    model.pretrained.config["problem_type"] = "regression"
    assert Inference.of(model).infer_one(("The river", "A boat")).shape == (1,)
    with pytest.raises(DataError, match="empty"):
        Inference.of(model).infer_one("")


def test_generated_texts_are_evaluated(loaded):
    translator = loaded("marian", max_new_tokens=6)
    sources = ["The river turned", "A small boat"]
    own = [result.text for result in translator.infer(sources)]
    rows = list(zip(sources, own, strict=True))
    evaluator = Evaluator(translator, rows, metrics=["character_error_rate", "exact_match"])
    assert evaluator.evaluate() == {"character_error_rate": 0.0, "exact_match": 1.0}
    other = evaluator.evaluate([rows[0], (sources[1], "something else")])
    assert other["exact_match"] == 0.5
    assert other["character_error_rate"] > 0
    with pytest.raises(ConfigError, match="no setting 'threshold'"):
        evaluator.evaluate(threshold=0.5)
    with pytest.raises(ConfigError, match="1 input"):
        evaluator.evaluate([("The river",)])
    with pytest.raises(ConfigError, match="leave loss out"):
        Evaluator(translator, rows, loss="mse").evaluate()
