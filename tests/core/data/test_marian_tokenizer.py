"""MarianTokenizer: numbers and texts of the public library, files, and what is refused."""

import json
import pickle
import shutil
from pathlib import Path

import pytest

from labdl import models
from labdl.data.text import MarianTokenizer
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

FOLDER = Path(__file__).parents[2] / "oracles" / "hub" / "marian"


@pytest.fixture(scope="module")
def tokenizer():
    return MarianTokenizer.load(FOLDER)


def test_numbers_and_texts_are_those_of_the_public_library(tokenizer):
    for row in json.loads((FOLDER / "texts.json").read_text())["texts"]:
        ids = tokenizer.encode(row["text"])
        assert ids.tolist() == row["ids"]
        assert tokenizer.target.encode(row["text"]).tolist() == row["ids"]  # both models of the folder are the same
        assert tokenizer.decode(ids) == row["decoded"]
        assert tokenizer.decode([*ids, 240, 0, 1, 5], skip_special_tokens=False) == row["decoded_special"]
        assert list(tokenizer.tokens(row["text"], add_special_tokens=True))[-1] == "</s>"


def test_batches_and_limits(tokenizer):
    batch = tokenizer.encode_batch(["The river turned", "A boat"])
    assert batch.ids[1, batch.lengths[1] :].tolist() == [240] * (batch.ids.shape[1] - batch.lengths[1])
    long = tokenizer.encode("The river turned")
    assert tokenizer.encode("The river turned", max_length=3).tolist() == [*long[:2], 0]
    assert tokenizer.encode("The river turned", add_special_tokens=False).tolist() == long[:-1].tolist()
    assert tokenizer.vocab_size == 241
    assert tokenizer.token_of(tokenizer.id_of("<pad>")) == "<pad>"


def test_files_and_copies_give_the_same_numbers(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "saved")
    copies = [MarianTokenizer.load(tmp_path / "saved"), pickle.loads(pickle.dumps(tokenizer))]
    copies.append(MarianTokenizer.from_text(tokenizer.to_text()))
    for copy in copies:
        assert copy.encode("The river turned").tolist() == tokenizer.encode("The river turned").tolist()
        assert copy.decode([12, 6, 2, 160, 7]) == "The river"
    model = models.from_pretrained(FOLDER, backend="numpy")
    models.save_pretrained(model, tmp_path / "model")
    again = models.from_pretrained(tmp_path / "model", backend="numpy").pretrained.tokenizer
    assert again.encode("A boat").tolist() == tokenizer.encode("A boat").tolist()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.json", "[]", "wants a number for each token"),
        ("vocab.json", "{", r"vocab\.json cannot be read"),
        ("vocab.json", "[" * 1000, r"vocab\.json"),
        ("vocab.json", '{"</s>": 0, "<unk>": 1}', "no token '<pad>'"),
        ("vocab.json", '{"</s>": 0, "<unk>": -1, "<pad>": 2}', "wants a whole number from 0, received -1"),
        ("vocab.json", '{"</s>": 0, "<unk>": 1e9, "<pad>": 2}', "wants a whole number from 0"),
        ("source.spm", "nothing", r"source\.spm: not a model"),
        ("target.spm", "", r"target\.spm: not a model"),
        (
            "tokenizer_config.json",
            '{"separate_vocabs": true}',
            "separate_vocabs=true gives source and target two tables",
        ),
    ],
)
def test_broken_files_are_named(tmp_path, name, content, message):
    folder = shutil.copytree(FOLDER, tmp_path / "model")
    (folder / name).write_text(content)
    with pytest.raises((FileFormatError, ConfigError), match=message):
        models.from_pretrained(folder, backend="numpy")


def test_other_numbers_and_tokens_are_refused(tokenizer, tmp_path):
    for number in (-1, 241, 10**9):
        with pytest.raises(DataError, match="has the numbers 0 to 240"):
            tokenizer.decode([number])
        with pytest.raises(ConfigError, match="no token"):
            tokenizer.token_of(number)
    with pytest.raises(ConfigError, match="no token 'boat'"):
        tokenizer.id_of("boat")
    with pytest.raises(MissingFileError):
        MarianTokenizer.load(tmp_path)
    for text in ("", "{}", '{"source": 1}', "[]"):
        with pytest.raises(FileFormatError, match="not a MarianTokenizer"):
            MarianTokenizer.from_text(text)
