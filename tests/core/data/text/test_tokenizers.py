"""Tokenizers, vocabularies, vectors and data sets of tokens against the libraries and files of their formats."""

import itertools
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.data import text
from labdl.data import transforms as T
from labdl.data.parts import Text
from labdl.data.text.patterns import compile_pattern, limit_time
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

HUB = Path(__file__).parents[3] / "oracles" / "hub"
LONG, SHORT = "a small boat on the river and some more words than fit", "two words"
LINES = [
    "The quick brown fox jumps over the lazy dog.",
    "A fox and a dog are friends, as foxes are.",
    "Über 北京 naïve",
] * 20


@pytest.fixture(scope="module", params=["bpe", "wordpiece", "unigram"])
def trained(request):
    return text.Tokenizer.train(LINES, request.param, vocab_size=320)


def test_saved_tokenizer_reads_as_the_library_reads_it(trained, tmp_path):
    trained.save(tmp_path / "tokenizer.json")
    loaded = text.load_tokenizer(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for line in LINES[:3]:
        assert loaded.encode(line).tolist() == theirs.encode(line).ids == trained.encode(line).tolist()
        assert loaded.decode(loaded.encode(line)) == theirs.decode(theirs.encode(line).ids)
    assert pickle.loads(pickle.dumps(trained)).encode(LINES[0]).tolist() == trained.encode(LINES[0]).tolist()


def test_batches_have_masks_and_special_tokens(trained):
    batch = trained.encode_batch(LINES[:3], multiple_of=8)
    assert batch.ids.shape == batch.mask.shape
    assert batch.ids.shape[1] % 8 == 0
    for row, mask, length, line in zip(*batch, LINES, strict=False):
        ids = trained.encode(line)
        assert ids.tolist() == row[mask].tolist() == row[:length].tolist()
        assert set(row[~mask]) <= {trained.padding}
        assert trained.token_of(ids[0]) in ("<s>", "[CLS]")
    left = trained.encode_batch(LINES[:3], side="left", length=5)
    assert left.ids.shape == (3, 5)
    assert left.mask.all()


byte_pairs = text.Tokenizer.train(LINES, "bpe", vocab_size=300)


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(codec="utf-8")))
def test_byte_pairs_restore_any_text(value):
    assert byte_pairs.decode(byte_pairs.encode(value, add_special_tokens=False), skip_special_tokens=False) == value


def test_sentencepiece_is_that_of_the_library(tmp_path):
    trained = text.SentencePiece.train(LINES, vocab_size=80)
    trained.save(tmp_path / "pieces.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "pieces.model"))
    loaded = text.load_tokenizer(tmp_path / "pieces.model")
    for line in LINES[:2]:
        assert loaded.encode(line).tolist() == theirs.encode(line)
        assert list(loaded.tokens(line)) == theirs.encode(line, out_type=str)
        assert loaded.decode(loaded.encode(line)) == theirs.decode(theirs.encode(line)) == line
        pieces = loaded.tokens(line, with_offsets=True)
        assert all(
            line[a:b].replace(" ", "▁") in ("▁" + piece, piece, piece[1:])
            for piece, (a, b) in zip(pieces, pieces.offsets, strict=True)
        )
    again = text.SentencePiece.from_text(pickle.loads(pickle.dumps(trained)).to_text())
    assert again.encode(LINES[0]).tolist() == loaded.encode(LINES[0]).tolist()
    batch = loaded.encode_batch(LINES[:2])
    assert batch.ids[1][batch.mask[1]].tolist() == theirs.encode(LINES[1])


def test_foreign_files_are_errors_in_a_sentence(tmp_path):
    (tmp_path / "a.json").write_text("{}" * 3)
    (tmp_path / "a.model").write_bytes(b"nothing of it" * 10)
    for name in ("a.json", "a.model"):
        with pytest.raises(FileFormatError, match=name):
            text.load_tokenizer(tmp_path / name)
    (tmp_path / "deep.json").write_text('{"a":' * 5000)
    with pytest.raises(FileFormatError):
        text.load_tokenizer(tmp_path / "deep.json")
    with pytest.raises(MissingFileError):
        text.load_tokenizer(tmp_path / "b.json")
    with pytest.raises(ConfigError, match="vocab_size"):
        text.Tokenizer.train(LINES, "bpe", vocab_size=10)
    with pytest.raises(DataError, match="none"):
        text.Tokenizer.train([], "bpe")
    with pytest.raises(ConfigError, match=r"\[text\]"):
        text.Tokenizer.train("one text", "bpe")


def test_patterns_of_users_and_files_end_in_time(monkeypatch):
    monkeypatch.setattr("labdl.data.text.patterns.SECONDS", 0.2)
    with pytest.raises(DataError, match="was stopped"):
        limit_time("X", compile_pattern("X", r"(?:(?:a+)+)+$").search, "a" * 3000 + "b")
    for pattern in ("(", "(" * 3000, "a" * 20_000, "[z-a]"):
        with pytest.raises(ConfigError):
            compile_pattern("X", pattern)


def test_vocabulary_trains_saves_and_loads(tmp_path):
    vocab = text.Vocab.train(LINES, size=8)
    assert vocab.tokens[:2] == ("<pad>", "<unk>")
    assert len(vocab) == 8
    assert vocab.encode(["fox", "zebra"]).tolist() == [vocab["fox"], 1]
    for name in ("v.txt", "v.json"):
        vocab.save(tmp_path / name)
        assert text.Vocab.load(tmp_path / name, unknown="<unk>").tokens == vocab.tokens
    assert list(vocab.decode([0, 1])) == ["<pad>", "<unk>"]
    with pytest.raises(DataError, match="zebra"):
        text.Vocab(["a"]).encode(["a", "zebra"])
    with pytest.raises(ConfigError, match="several times"):
        text.Vocab(["a", "b", "a"])


def test_word_vectors_of_each_format(tmp_path):
    words, values = ["ok", ". .", "the"], np.array([[0.5, -1], [2, 3], [4, 0.25]], "float32")
    lines = "".join(f"{w} {a:g} {b:g}\n" for w, (a, b) in zip(words, values, strict=True))
    (tmp_path / "fast.vec").write_text("3 2\n" + lines)
    (tmp_path / "w2v.bin").write_bytes(
        b"2 2\n"
        + b"".join(
            w.encode() + b" " + struct.pack("<2f", *v) + b"\n"
            for w, v in zip(["ok", "the"], values[[0, 2]], strict=True)
        )
    )
    (tmp_path / "glove.txt").write_text("ok 0.5 -1\nthe 4 0.25\n")
    loaded = text.WordVectors.load(tmp_path / "fast.vec")
    assert loaded.words == tuple(words)
    np.testing.assert_array_equal(loaded.values, values)
    for name in ("w2v.bin", "glove.txt"):
        np.testing.assert_array_equal(
            text.WordVectors.load(tmp_path / name).look_up(["the", "ok", "x"]), [[4, 0.25], [0.5, -1], [0, 0]]
        )
    assert len(text.WordVectors.load(tmp_path / "fast.vec", limit=1)) == 1
    (tmp_path / "bad.txt").write_text("ok 0.5 1\nthe 4\n")
    with pytest.raises(FileFormatError, match="line 2"):
        text.WordVectors.load(tmp_path / "bad.txt")
    (tmp_path / "cut.bin").write_bytes(b"999999999 300\nok ")
    with pytest.raises(FileFormatError, match="cut off"):
        text.WordVectors.load(tmp_path / "cut.bin")


def test_blocks_and_pairs():
    ids = text.join_tokens([[1, 2, 3], [4, 5]], separator=0)
    assert ids.tolist() == [1, 2, 3, 0, 4, 5, 0]
    blocks = text.TokenBlocks(ids, length=3)
    assert len(blocks) == 2
    assert [part.tolist() for part in blocks[1]] == [[0, 4, 5], [4, 5, 0]]
    assert len(text.TokenBlocks(ids, length=7)) == 0
    with pytest.raises(IndexError):
        blocks[2]
    tokenizer = text.Tokenizer.train(LINES, "bpe", vocab_size=300)
    pairs = text.TranslationPairs(["a fox"], ["the dog and the fox"], tokenizer, max_length=5)
    sample = pairs[0]
    assert sample["decoder_input"][1:].tolist() == sample["target"][:-1].tolist()
    assert len(sample["target"]) == 5
    assert tokenizer.token_of(sample["target"][-1]) == "</s>"


def test_viterbi_finds_the_best_of_all_paths():
    rng = np.random.default_rng(0)
    scores, moves = rng.normal(size=(5, 4)), rng.normal(size=(4, 4))
    best, path = text.viterbi_decode(scores, moves, include_bos_eos_tag=False)

    def total(p):
        return scores[range(5), p].sum() + sum(moves[a, b] for a, b in itertools.pairwise(p))

    every = np.stack(np.meshgrid(*[range(4)] * 5), -1).reshape(-1, 5)
    assert best == pytest.approx(max(map(total, every.tolist())))
    assert total(path.tolist()) == pytest.approx(best)


def test_special_tokens_stay_behind_texts_that_are_cut():
    """The longer text of a pair is cut first, as transformers' truncation "longest_first" does."""
    tokenizer = text.Tokenizer.load(HUB / "bert_classifier" / "tokenizer.json")
    first, last = tokenizer.id_of("[CLS]"), tokenizer.id_of("[SEP]")
    long, short = (tokenizer.encode(text, add_special_tokens=False).array.tolist() for text in (LONG, SHORT))
    assert len(long) > 12 > len(short) > 2
    cut = tokenizer.encode(LONG, max_length=6).array.tolist()
    assert cut == [first, *long[:4], last]
    room = len(short) + 4
    ids, segments = tokenizer.encode_segments(LONG, SHORT, max_length=room + 3)
    assert ids == [first, *long[:4], last, *short, last]
    assert segments == [0] * 6 + [1] * (len(short) + 1)
    ids, _ = tokenizer.encode_segments(LONG, LONG, max_length=11)
    assert ids == [first, *long[:4], last, *long[:4], last]
    assert tokenizer.encode(LONG, max_length=1).array.tolist() == [first]
    assert tokenizer.encode(LONG, max_length=4, add_special_tokens=False).array.tolist() == long[:4]


def test_inputs_of_a_model_are_padded_and_masked():
    tokenizer = text.Tokenizer.load(HUB / "bert_classifier" / "tokenizer.json")
    ids = tokenizer.encode(SHORT).array
    encode = T.EncodeText(tokenizer, length=len(ids) + 2, entries=("tokens", "mask", "types"))
    for sample in (SHORT, {"text": Text(SHORT), "label": 1}):
        result = encode(sample)
        np.testing.assert_array_equal(result["tokens"], [*ids, 0, 0])
        np.testing.assert_array_equal(result["mask"], [True] * len(ids) + [False] * 2)
        assert not result["types"].any()
    pairs = T.EncodeText(tokenizer, length=40, entries=("tokens", "types"), key="one", pair="two")
    result = pairs({"one": LONG, "two": SHORT})
    assert set(result) == {"one", "two", "tokens", "types"}
    assert result["types"].sum() == len(ids) - 1
    for sample, part in [
        (3, "received int"),
        ({"label": 1}, "wants a Text"),
        ({"text": Text("x")}, "wants the part 'one'"),
    ]:
        with pytest.raises(DataError, match=part):
            (pairs if part.endswith("'one'") else encode)(sample)
    with pytest.raises(ConfigError, match="each of entries once"):
        T.EncodeText(tokenizer, entries=("mask", "mask"))
