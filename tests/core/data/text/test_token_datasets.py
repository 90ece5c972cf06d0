"""Texts as batches of tokens: blocks of a corpus, pairs for translation, padding with masks, buckets by length."""

import itertools
import pickle

import numpy as np
import pytest

from labdl import data
from labdl.data import samplers, text
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError, FileFormatError

LINES = ["The quick brown fox jumps over the lazy dog.", "A fox and a dog", "friends", "Über 北京 naïve foxes are"] * 25


@pytest.fixture(scope="module")
def tokenizer():
    return text.Tokenizer.train(LINES, "bpe", vocab_size=300)


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(LINES), "utf-8")
    return data.TextDataset(tmp_path / "corpus.txt")


def test_a_corpus_becomes_blocks_on_disk(corpus, tokenizer, tmp_path):
    end = tokenizer.id_of("</s>")
    joined = text.join_tokens(corpus, tokenizer, separator=end)
    expected = [i for line in LINES for i in [*tokenizer.model.encode(line, add_special_tokens=False).ids, end]]
    assert joined.tolist() == expected
    mapped = text.join_tokens(corpus, tokenizer, separator=end, file=tmp_path / "corpus.npy")
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, joined)
    for length, stride in itertools.product((1, 7, 16), (None, 1, 5)):
        blocks = text.TokenBlocks(tmp_path / "corpus.npy", length, stride=stride)
        step = stride or length
        windows = [expected[at : at + length + 1] for at in range(0, len(expected) - length, step)]
        assert len(blocks) == len(windows)
        x, y = blocks[np.arange(len(blocks))]
        np.testing.assert_array_equal(x, [w[:-1] for w in windows])
        np.testing.assert_array_equal(y, [w[1:] for w in windows])
    assert len(pickle.dumps(blocks)) < 1000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(blocks))[3][0], blocks[3][0])
    train, test = blocks.split(0.9)
    assert len(train) + len(test) == len(blocks)
    (tmp_path / "wrong.npy").write_bytes(b"no array")
    with pytest.raises(FileFormatError, match=r"wrong.npy is no .npy file"):
        text.TokenBlocks(tmp_path / "wrong.npy", 4)


def test_pairs_of_two_files_and_of_two_columns(tokenizer, tmp_path):
    (tmp_path / "a.en").write_text("a fox\nthe dog\n")
    (tmp_path / "a.de").write_text("ein Fuchs\nder Hund und der Fuchs\n")
    (tmp_path / "pairs.csv").write_text("en,de\na fox,ein Fuchs\nthe dog,der Hund und der Fuchs\n")
    aligned = data.ParallelTextDataset(tmp_path / "a.en", tmp_path / "a.de")
    columns = data.TextDataset(tmp_path / "pairs.csv", text=("en", "de"))
    pairs = text.TranslationPairs.from_dataset(aligned, tokenizer, max_length=8)
    others = text.TranslationPairs.from_dataset(columns, tokenizer, source="en", target="de", max_length=8)
    for at in range(2):
        assert {k: v.tolist() for k, v in pairs[at].items()} == {k: v.tolist() for k, v in others[at].items()}
    batch = next(iter(pairs.map(T.AttentionMask("source", into="source_mask")).loader(2, pad=tokenizer.padding)))
    sources = [tokenizer.encode(s, add_special_tokens=False) for s in ("a fox", "the dog")]
    assert batch["source"][0, : len(sources[0])].tolist() == sources[0].tolist()
    assert batch["source_mask"].sum(1).tolist() == list(map(len, sources))
    assert (batch["decoder_input"][:, 0] == tokenizer.id_of("<s>")).all()
    (x, decoder), y = pairs.as_supervised()[1]
    assert (x.tolist(), decoder[1:].tolist()) == (sources[1].tolist(), y[:-1].tolist())
    with pytest.raises(ConfigError, match=r"'source'"):
        text.TranslationPairs.from_dataset(columns, tokenizer)[0]


def test_padded_batches_have_an_attention_mask(corpus, tokenizer):
    assert tokenizer.padding != 0
    prepared = corpus.map([T.Tokenize(tokenizer, key="text"), T.AttentionMask()])
    for batch in prepared.loader(7, shuffle=True, pad=tokenizer.padding):
        ids, mask = batch["text"], batch["attention_mask"]
        assert (ids.dtype, mask.dtype, ids.shape) == (np.int64, np.bool_, mask.shape)
        assert (ids[~mask] == tokenizer.padding).all()
        for row, own in zip(ids, mask, strict=True):
            assert tokenizer.decode(row[own]) in LINES
    one = next(iter(prepared.map(T.AttentionMask(dtype="int64")).loader(4, pad=0)))
    np.testing.assert_array_equal(one["attention_mask"], one["text"] != 0)
    with pytest.raises(DataError, match="wants numbers of tokens"):
        T.AttentionMask()({"label": 1})


def test_buckets_by_length_pad_little(corpus, tokenizer):
    prepared = corpus.map([T.Tokenize(tokenizer, key="text"), T.AttentionMask()])
    lengths = text.sequence_lengths(prepared)
    assert lengths.tolist() == [len(tokenizer.encode(line, add_special_tokens=False)) for line in LINES]
    assert text.sequence_lengths(prepared, "text").tolist() == lengths.tolist()
    buckets = samplers.BucketSampler(lengths, 5, seed=1)
    padded = [batch["attention_mask"] for batch in prepared.loader(batch_sampler=buckets, pad=0)]
    shuffled = [batch["attention_mask"] for batch in prepared.loader(5, shuffle=True, pad=0)]
    assert sum(mask.sum() for mask in padded) == sum(mask.sum() for mask in shuffled) == lengths.sum()
    assert sum((~mask).sum() for mask in padded) == 0
    assert sum((~mask).sum() for mask in shuffled) > lengths.sum() / 4
    with pytest.raises(DataError, match="without tokens"):
        text.sequence_lengths(corpus)


def test_a_plain_text_under_a_name_is_tokenized_too(tokenizer):
    ids = tokenizer.encode(LINES[0], add_special_tokens=False).tolist()
    for sample in ({"a": LINES[0], "b": "other"}, {"a": data.Text(LINES[0]), "b": data.Text("other")}):
        result = T.Tokenize(tokenizer, key="a")(sample)
        assert (result["a"].tolist(), result["b"]) == (ids, "other")
    words = T.WhitespaceTokenizer()("a plain text")
    assert list(words) == ["a", "plain", "text"]
    lookup = T.Lookup(vocab=("<unk>", "fox"), unknown_token="<unk>", key="a")
    assert lookup({"a": data.Tokens(["a", "fox"])})["a"].tolist() == [0, 1]
