"""Data sets of tagged texts and of questions: files of CoNLL, SQuAD, and rows as the Hub has them."""

import json

import pytest

from labdl import data
from labdl.errors import ConfigError, DataError, FileFormatError

CONLL = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
"""


def test_files_of_conll_have_words_and_tags(tmp_path):
    (tmp_path / "eng.train").write_text(CONLL)
    texts = data.TaggedTextDataset(tmp_path / "eng.train")
    assert texts.classes == ["B-ORG", "B-PER", "I-PER", "O"]
    assert texts[0] == {"tokens": ["EU", "rejects"], "tags": [0, 3]}
    assert texts[1] == {"tokens": ["Peter", "Blackburn"], "tags": [1, 2]}
    assert data.TaggedTextDataset(tmp_path / "eng.train", column=1).classes == ["NNP", "VBZ"]
    (tmp_path / "tab.conll").write_text("New York\tB-LOC\nis\tO\n", encoding="utf-8")
    assert data.open_dataset(tmp_path / "tab.conll")[0]["tokens"] == ["New York", "is"]


def test_rows_have_lists_of_words_and_tags(tmp_path):
    rows = [{"id": "0", "tokens": ["EU", "rejects"], "ner_tags": [1, 0]}]
    (tmp_path / "ner.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert data.TaggedTextDataset(tmp_path / "ner.jsonl", classes=["O", "B-ORG"])[0]["tags"] == [1, 0]
    (tmp_path / "named.json").write_text(json.dumps([{"words": ["a"], "labels": ["X"], "other": 1}]))
    assert data.open_dataset(tmp_path / "named.json").classes == ["X"]


def test_broken_files_of_tags_are_refused(tmp_path):
    for name, content, settings, error, part in [
        ("one.conll", "word\n", {}, DataError, "line 1 wants a word and its tag"),
        ("few.conll", "a B\n", {"column": 3}, DataError, "in column 3"),
        ("none.conll", "\n\n", {}, DataError, "has no texts"),
        ("odd.jsonl", '{"tokens": ["a"], "tags": ["x", "y"]}', {}, DataError, "1 words and 2 tags"),
        ("text.jsonl", '{"tokens": "a b", "tags": ["x"]}', {}, DataError, "a list of words and a list of tags"),
        ("bare.jsonl", '{"tokens": ["a"]}', {}, ConfigError, "say which one has the tags of words, by tags="),
        ("number.jsonl", '{"tokens": ["a"], "tags": [1]}', {}, ConfigError, "give their names, classes="),
        ("high.jsonl", '{"tokens": ["a"], "tags": [4]}', {"classes": ["O"]}, ConfigError, "has the tag 4"),
        ("new.conll", "a B-LOK\n", {"classes": ["O", "B-LOC"]}, ConfigError, "has the tag 'B-LOK', none of classes"),
    ]:
        (tmp_path / name).write_text(content)
        with pytest.raises(error, match=part):
            data.TaggedTextDataset(tmp_path / name, **settings)


def squad(questions, context="The wind turned the boat."):
    return json.dumps(
        {"version": "v2.0", "data": [{"title": "", "paragraphs": [{"context": context, "qas": questions}]}]}
    )


def test_files_of_squad_have_questions_and_answers(tmp_path):
    answer = {"text": "wind", "answer_start": 4}
    (tmp_path / "train.json").write_text(
        squad(
            [
                {"id": "a", "question": "Who?", "answers": [answer, answer]},
                {"id": "b", "question": "When?", "answers": [], "plausible_answers": [answer], "is_impossible": True},
            ]
        )
    )
    questions = data.open_dataset(tmp_path / "train.json")
    assert isinstance(questions, data.SquadDataset)
    assert questions[0]["question"] == "Who?"
    assert questions[0]["answers"] == {"text": ["wind", "wind"], "answer_start": [4, 4]}
    assert questions[1]["answers"] == {"text": [], "answer_start": []}
    row = {"question": "Who?", "context": "The wind.", "answers": {"text": ["wind"], "answer_start": [4]}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    assert data.SquadDataset(tmp_path / "rows.jsonl")[0]["answers"]["text"] == ["wind"]


def test_broken_files_of_squad_are_refused(tmp_path):
    wrong = {"id": "a", "question": "Who?", "answers": [{"text": "boat", "answer_start": 4}]}
    for name, content, error, part in [
        ("wrong.json", squad([wrong]), DataError, "'boat' of the question 'a' is not at the character 4"),
        ("empty.json", squad([]), DataError, "has no questions"),
        ("other.json", '{"rows": []}', FileFormatError, "no file of SQuAD"),
        ("half.json", "{", FileFormatError, "no file of SQuAD"),
        ("row.jsonl", '{"question": "Who?"}', DataError, "wants question and context"),
    ]:
        (tmp_path / name).write_text(content)
        with pytest.raises(error, match=part):
            data.SquadDataset(tmp_path / name)
