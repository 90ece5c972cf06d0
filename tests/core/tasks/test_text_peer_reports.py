"""Bugs that were reported for other libraries' tasks on texts, tried here.

| source | subject | here |
|---|---|---|
| huggingface/tokenizers#944, huggingface/transformers#23847 | a stride that is too large panics | refused in a sentence |
| deepset-ai/FARM#536, huggingface/transformers#2548 | parts of the text are in no window | each character is in one |
| neuralmagic/deepsparse#889 | default stride is too large for windows of 128 tokens | a third of the window |
| huggingface/transformers#17241 | windows longer than the positions fail in the model | refused in a sentence |
| huggingface/transformers#22640 | training on questions gives no exact match and F1 | both |
| huggingface/transformers#10046, #22693, #24433, #27714 | -100 is decoded: overflow | targets are texts |
| huggingface/autotrain-advanced#830 | predictions are padded with -100 | they are texts |
| huggingface/transformers#4947 | evaluation of batches of different lengths fails | see test_text_task_losses.py |
| flairNLP/flair#152, tomaarsen/SpanMarkerNER#40 | an empty text fails without a reason | refused in a sentence |
| ThilinaRajapakse/simpletransformers#97 | more sub-words than the length: assertion | cut off, with their tags |
| ThilinaRajapakse/simpletransformers#1106 | a tag that is not in the list: KeyError in a worker | refused, with the tag |
| urchade/GLiNER#139, #111 | texts without entities fail | trained |
| huggingface/transformers#3292 | no entity found gives null | an empty tuple |
| PaddlePaddle/PaddleFormers#1487 | words and tags differ in number | refused, with the row |
| PaddlePaddle/PaddleNLP#6327 | length beyond the positions fails in the model | refused in a sentence |
| PaddlePaddle/PaddleNLP#8489 | KeyError token_type_ids of models without segments | no segments are made |
| keras-team/keras-hub#1963, #1394 | positions of masks and predictions do not fit | those of the text |
| huggingface/transformers#27707, #4573 | whole numbers as labels of a regression crash | float32 |
| chakki-works/seqeval#46 | tags B, I and O without a kind are refused | entities |
| chakki-works/seqeval#75, #74 | tags of parts of speech lose a letter | whole tags |
| kermitt2/delft#242 | words get the predictions of [CLS] and of other words | aligned by characters |
"""

import functools
import json
from pathlib import Path

import numpy as np
import pytest

from labdl import data, tasks
from labdl.data.text import Tokenizer
from labdl.errors import ConfigError, DataError
from labdl.infer import Inference
from labdl.models import from_pretrained
from labdl.tasks.masked_words import MaskedBlocks
from labdl.tasks.question_answering import evaluate_spans
from labdl.tasks.question_windows import QuestionWindows
from labdl.tasks.text_similarity import _pair
from labdl.tasks.token_classification import encode_tags, join_words
from labdl.train.metrics import EntityF1

pytestmark = pytest.mark.filterwarnings("ignore:not in the files")
HUB = Path(__file__).parents[2] / "oracles" / "hub"
LONG = "The wind turned the small boat. " * 30 + "Anna saw it."


@functools.cache
def tokenizer():
    return Tokenizer.load(HUB / "bert_classifier" / "tokenizer.json")


def windows(text, answer=None, *, length=48, stride=8, question="Who saw it?"):
    start = [] if answer is None else [text.index(answer)]
    answers = {"text": [] if answer is None else [answer], "answer_start": start}
    row = {"question": question, "context": text, "answers": answers}

    class Rows(data.Dataset):
        inputs, targets = ("question", "context"), ("answers",)

        def __len__(self):
            return 1

        def read(self, index, epoch=0):
            return row

    return QuestionWindows(Rows(), tokenizer(), length=length, stride=stride, entries=("tokens", "mask"))


# -- windows


@pytest.mark.parametrize("stride", [44, 47, 48, 500])
def test_a_stride_without_room_is_refused(stride):
    with pytest.raises(DataError, match=f"that has to be more than stride={stride}"):
        windows(LONG, stride=stride)


@pytest.mark.parametrize(("length", "stride"), [(48, 8), (48, 0), (20, 6), (400, 128)])
def test_each_character_is_in_a_window(length, stride):
    text = LONG
    own = windows(text, length=length, stride=stride, question="Who?")
    covered = np.zeros(len(text), bool)
    for window in own.windows:
        assert len(window.encoding.ids) <= length
        for first, last in window.encoding.offsets[window.encoding.parts == 1]:
            covered[first:last] = True
    assert all(covered[at] or text[at] == " " for at in range(len(text)))


def test_the_usual_stride_leaves_room():
    assert len(windows(LONG, length=128, stride=128 // 3).windows) > 1


def test_an_answer_is_where_it_was_and_the_metrics_of_questions_are_exact():
    own = windows(LONG, "Anna")
    assert sum(window.span != (0, 0) for window in own.windows) >= 1
    logits = []
    for window in own.windows:
        starts, ends = np.zeros(48), np.zeros(48)
        starts[window.span[0]] = ends[window.span[1]] = 9.0 if window.span != (0, 0) else 1.0
        logits.append((starts, ends))
    assert evaluate_spans(own, logits) == {"exact_match": 1.0, "f1": 1.0}
    assert evaluate_spans(own, logits[:-1]) == {}  # a validation that was cut short
    none = windows(LONG)
    assert {window.span for window in none.windows} == {(0, 0)}
    flat = [(np.eye(48)[0] * 9, np.eye(48)[0] * 9) for _ in none.windows]
    assert evaluate_spans(none, flat)["exact_match"] == 1.0


@pytest.fixture(scope="module")
def reader():
    return Inference.of(HUB / "distilbert", architecture="DistilBertForQuestionAnswering", backend="numpy")


def test_texts_longer_than_the_positions_are_read_in_windows(reader):
    result = reader.infer_one(("Who saw it?", LONG))
    assert result.text in LONG
    first, last = result.characters[0]
    assert LONG[first:last] == result.text
    several = reader.infer_one(("Who saw it?", LONG), top_k=4, doc_stride=4, max_seq_len=40)
    assert len({tuple(place) for place in several.characters.tolist()}) == 4
    assert (np.diff(several.scores) <= 0).all()
    nothing = reader.infer_one(("Who saw it?", LONG), allow_no_answer=True, top_k=100_000)
    assert "" in nothing.texts
    assert 0 < nothing.scores.sum() <= 1.0 + 1e-6


def test_windows_longer_than_the_positions_are_refused(reader):
    with pytest.raises(ConfigError, match="max_seq_len=384 is more than the 64 positions"):
        reader.infer_one(("Who?", LONG), max_seq_len=384)
    with pytest.raises(ConfigError, match=r"no setting 'doc_strid'.*did you mean 'doc_stride'"):
        reader.infer_one(("Who?", LONG), doc_strid=4)
    with pytest.raises(DataError, match="has to be more than stride"):
        reader.infer_one(("Who saw it and where " * 20, LONG))


# -- tags


def tagged(words, tags, length=32):
    sample = join_words({"tokens": words, "tags": tags}, words="tokens", tags="tags")
    return encode_tags(sample, tokenizer=tokenizer(), length=length, entries=("tokens", "mask"))


def test_words_have_their_tags_at_their_first_token():
    words = ["unbelievable", "boats", "of", "Anna's", "U.N."]
    (tokens, mask), tags = tagged(words, [5, 4, 3, 2, 1])
    encoding = tokenizer().encoding(" ".join(words))
    assert tags[0] == tags[len(encoding.ids) - 1] == -100
    assert tags[tags >= 0].tolist() == [5, 4, 3, 2, 1]
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    assert encoding.offsets[np.flatnonzero(tags >= 0), 0].tolist() == starts.tolist()
    assert mask.sum() == len(encoding.ids)
    assert (tags[~mask] == -100).all()
    assert (tokens[: len(encoding.ids)] == encoding.ids).all()


def test_more_sub_words_than_the_length_are_cut_off():
    (_, mask), tags = tagged(["unbelievable"] * 30, [1] * 30, length=16)
    assert mask.all()
    assert 0 < (tags == 1).sum() < 30


def test_texts_without_entities_and_empty_ones():
    assert (tagged(["it", "was"], [0, 0])[1] >= 0).sum() == 2
    for words in ([], [""], [" "]):
        with pytest.raises(DataError, match="the text is empty"):
            tagged(words, [0] * len(words))
    with pytest.raises(DataError, match="2 words and 1 tags"):
        tagged(["a", "b"], [0])


def test_byte_level_tokens_begin_with_the_space_before_their_word():
    sample = join_words({"tokens": ["A", "small", "boat"], "tags": [1, 2, 3]}, words="tokens", tags="tags")
    folder = from_pretrained(HUB / "roberta_bin", backend="numpy").pretrained
    _, tags = encode_tags(sample, tokenizer=folder.tokenizer, length=32, entries=("tokens", "mask"))
    assert tags[tags >= 0].tolist() == [1, 2, 3]


def test_tags_without_a_kind_and_parts_of_speech():
    assert EntityF1(names=("O", "B", "I"))(np.array([[0, 1, 2, 2]]), np.array([[0, 0, 1, 2]])) == 0
    assert EntityF1(names=("O", "B", "I"))(np.array([[0, 1, 2, 0]]), np.array([[0, 1, 2, 0]])) == 1
    assert EntityF1(names=("ADJ", "DJ", "O"))(np.array([[0, 1]]), np.array([[1, 0]])) == 0


def test_nothing_to_find_is_empty(tmp_path):
    tagger = Inference.of(HUB / "bert_old_names", architecture="BertForTokenClassification", backend="numpy", classes=2)
    result = tagger.infer_one("A small boat.")
    assert tuple(result.entities) == ()
    with pytest.raises(DataError, match="the text is empty"):
        tagger.infer_one(" ")


# -- other tasks


def test_whole_numbers_are_labels_of_a_regression():
    x, y = _pair({"tokens": np.arange(3), "label": 4}, inputs=("tokens",), target="label")
    assert y.dtype == "float32"
    assert y.shape == (1,)
    for label, part in (("high", "is no number"), (float("nan"), "no finite number"), (None, "no finite number")):
        with pytest.raises(DataError, match=part):
            _pair({"tokens": x, "label": label}, inputs=("tokens",), target="label")


def test_masked_tokens_are_the_targets_and_masks_change_with_the_epoch():
    ids = np.arange(1000) % 250 + 5
    blocks = MaskedBlocks(ids, 100, mask=4, special=[0, 1, 2, 3, 7], vocabulary=300, seed=3)
    tokens, targets = (np.stack(part) for part in zip(*(blocks.read(at, 0) for at in range(10)), strict=True))
    told = targets != -100
    assert (targets[told] == ids.reshape(10, 100)[told]).all()
    assert (tokens[~told] == ids.reshape(10, 100)[~told]).all()
    assert 0.1 < told.mean() < 0.2
    assert 0.7 < (tokens[told] == 4).mean() < 0.9
    assert not told[ids.reshape(10, 100) == 7].any()
    assert (blocks.read(0, 0)[1] == targets[0]).all()
    assert (blocks.read(0, 1)[1] != targets[0]).any()


def test_lengths_beyond_the_positions_are_refused_and_cut_off_when_asked_for():
    classifier = Inference.of(HUB / "bert_classifier", backend="numpy")
    with pytest.raises(DataError, match="shorten it, or give truncation=True"):
        classifier.infer_one(LONG)
    short = Inference.of(HUB / "bert_classifier", backend="numpy", truncation=True).infer_one(LONG)
    assert short.probabilities.sum() == pytest.approx(1)
    with pytest.raises(ConfigError, match="truncation wants True or False"):
        Inference.of(HUB / "bert_classifier", backend="numpy", truncation=3)


def test_models_without_segments_get_none(tmp_path):
    (tmp_path / "pairs.csv").write_text("one,two,label\n" + "\n".join(f"a boat,the sea,{at / 9}" for at in range(8)))
    pairs = data.TextDataset(tmp_path / "pairs.csv", text=("one", "two"))
    model = from_pretrained(HUB / "distilbert", backend="numpy")
    pipeline = tasks.TextSimilarity().pipeline_of(model, 16)
    assert pipeline.transforms[0].entries == ("tokens", "mask")
    segments = tasks.TextSimilarity().pipeline_of(from_pretrained(HUB / "bert_classifier", backend="numpy"), 16)
    assert segments.transforms[0].entries == ("tokens", "mask", "types")
    assert len(pairs) == 8


@pytest.mark.parametrize(
    ("task", "rows", "part"),
    [
        ("token classification", [{"text": "a"}], "a list of words and a list of tags"),
        ("question answering", [{"text": "a"}], "a question, a text and answers"),
        (
            "text similarity",
            [{"one": "a", "two": "b", "label": "x"}, {"one": "a", "two": "b", "label": "y"}],
            "wants numbers",
        ),
        ("masked words", [{"text": "a"}], "fewer than a block of 16"),
    ],
)
def test_data_that_do_not_fit_are_refused(task, rows, part, tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows * 4)))
    dataset = data.TextDataset(tmp_path / "rows.jsonl", text=("one", "two") if "one" in rows[0] else None)
    with pytest.raises(ConfigError, match=part):
        tasks.create_trainer(
            str(HUB / "bert_old_names"), dataset, task=task, size=16, backend="numpy", validation=dataset, classes=2
        )


def test_encoder_decoders_alone_write_texts_of_texts(tmp_path):
    (tmp_path / "pairs.csv").write_text("one,two\n" + "\n".join("a boat,the sea" for _ in range(4)))
    pairs = data.TextDataset(tmp_path / "pairs.csv", text=("one", "two"))
    for model, dataset, part in [
        ("bert_classifier", pairs, "wants an encoder-decoder of texts such as T5"),
        ("whisper", pairs, "wants an encoder-decoder of texts such as T5"),
        ("t5", data.TextDataset(tmp_path / "pairs.csv", text="one"), "wants samples with two texts"),
    ]:
        with pytest.raises(ConfigError, match=part):
            tasks.create_trainer(str(HUB / model), dataset, task="translation", backend="numpy")
    with pytest.raises(ConfigError, match="wants a model with its tokenizer"):
        tasks.create_trainer("t5_small", pairs, task="summarization")
    with pytest.raises(ConfigError, match=r"the task summarization has the settings prefix, received 'prefx'"):
        tasks.create_trainer(str(HUB / "t5"), pairs, task={"name": "summarization", "prefx": "a"})
