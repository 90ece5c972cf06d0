"""Transforms of texts: splitting, cleaning, numbers, sequences, perturbations, and time bounds."""

import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.data import text
from labdl.data import transforms as T
from labdl.data.parts import Text, TokenIds, Tokens
from labdl.errors import ConfigError, DataError

WORDS = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.mark.parametrize(
    "splitter",
    [
        T.WhitespaceTokenizer(with_offsets=True),
        T.RegexTokenizer(r"\s+", r"\s+", with_offsets=True),
        T.UnicodeScriptTokenizer(keep_whitespace=True, with_offsets=True),
        T.UnicodeCharTokenizer(with_offsets=True),
        T.BasicTokenizer(keep_whitespace=True, with_offsets=True),
    ],
    ids=repr,
)
@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_offsets_are_places_of_the_tokens(splitter, value):
    tokens = splitter(Text(value))
    assert isinstance(tokens, Tokens)
    if not isinstance(splitter, T.BasicTokenizer):  # its places are in the cleaned text
        assert [value[a:b] for a, b in tokens.offsets] == list(tokens)
    if isinstance(splitter, T.UnicodeScriptTokenizer | T.UnicodeCharTokenizer):
        assert "".join(tokens) == value


def test_chinese_words_are_those_of_jieba(capfd):
    import logging

    sentence = "我来到北京清华大学，小明硕士毕业于中国科学院计算所"
    words = T.JiebaTokenizer(with_offsets=True)(Text(sentence))
    assert "".join(words) == sentence
    assert {"北京", "清华大学", "中国科学院"} <= set(words)
    assert [sentence[a:b] for a, b in words.offsets] == words
    assert "科学院" in T.JiebaTokenizer(mode="search")(Text(sentence))
    assert "石墨烯电池" in T.JiebaTokenizer(words=(("石墨烯电池", None),))(Text("新的石墨烯电池很好"))
    assert capfd.readouterr().err == ""
    assert logging.getLogger("jieba").level == logging.ERROR


def test_subwords_of_a_pipeline_file_need_no_other_file(tmp_path):
    lines = ["the quick brown fox jumps over the lazy dog"] * 20
    tokenizer = text.Tokenizer.train(lines, "bpe", vocab_size=300)
    tokenizer.save(tmp_path / "t.json")
    transform = T.BPETokenizer(str(tmp_path / "t.json"), max_length=3)
    values = T.to_dict(transform)
    (tmp_path / "t.json").unlink()
    ids = T.from_dict(values)(Text("the fox jumps"))
    assert ids.tolist() == tokenizer.encode("the fox jumps", add_special_tokens=False).tolist()[:3]
    assert T.Detokenize(tokenizer)(transform(Text("the fox"))) == "the fox"
    with pytest.raises(ConfigError, match="kind unigram"):
        T.UnigramTokenizer(tokenizer)
    with pytest.raises(ConfigError, match="fit"):
        T.BPETokenizer()(Text("a"))
    pair = {"source": Text("the fox"), "target": Text("der Fuchs"), "label": 1}
    changed = T.Tokenize(tokenizer, key="source")(pair)
    assert isinstance(changed["source"], TokenIds)
    assert changed["target"] == "der Fuchs"


def test_unicode_decodes_with_offsets_and_encodes_back():
    value = "aß北🙂"
    sample = T.UnicodeDecode(key="text", offsets="at")({"text": Text(value)})
    assert sample["text"].tolist() == [ord(c) for c in value]
    assert sample["at"].tolist() == [0, 1, 3, 6]
    assert T.UnicodeEncode()(sample)["text"] == value
    broken = T.UnicodeDecode(key="text", offsets="at")({"text": b"a\xff\xe5\x8cb"})
    assert broken["text"].tolist() == [97, 0xFFFD, 0xFFFD, 98]
    assert broken["at"].tolist() == [0, 1, 2, 4]
    assert T.UnicodeTranscode("gb18030")("北京".encode("gb18030")) == "北京"
    assert T.UnicodeTranscode("utf-8", "utf-16-be")("é".encode()) == b"\x00\xe9"
    with pytest.raises(DataError, match="not utf-8"):
        T.UnicodeTranscode(errors="strict")(b"\xff")
    for name in ("idna", "hex", "nothing"):
        with pytest.raises(ConfigError, match="encoding"):
            T.UnicodeTranscode(name)


def test_cleaning():
    assert T.CaseFold()("Straße") == "strasse"
    assert T.NormalizeUTF8("NFKC")("ﬁ") == unicodedata.normalize("NFKC", "ﬁ") == "fi"
    assert T.Substr(-3, 2)("hello") == "ll"
    assert T.RegexReplace("l(.)", r"[\1]")("hello") == "he[l]o"
    assert T.RegexReplace("l", "x", replace_global=False)(Tokens(["hello"])) == ["hexlo"]
    assert T.RegexFullMatch(r"\d+", key="n", into="ok")({"n": Text("12")}) == {"n": "12", "ok": True}
    assert T.Length(into="n")({"text": Text("né")})["n"] == 2
    assert T.Length("BYTE")(Text("né")) == 3
    assert T.Format("{a}: {b}", into="c")({"a": Text("x"), "b": 3})["c"] == "x: 3"
    assert T.Format("{a.__class__}{0:>9}")({"a": 1, "0": 2})["text"] == "{a.__class__}{0:>9}"
    assert T.Join("-")(Tokens(["a", "b"])) == "a-b"
    wiki = "[[a|b]] {{t {{u}} }} [[Category:Hill]] [http://x.y z] A1 &lt;ref&gt;gone&lt;/ref&gt; '''bold'''"
    assert T.FilterWikipediaXML()(Text(wiki)) == "b hill z a one bold"
    with pytest.raises(ConfigError, match="groups"):
        T.RegexReplace("a", r"\7")
    with pytest.raises(DataError, match="position"):
        T.Substr(9, 1)(Text("ab"))


@pytest.mark.parametrize("piece", ["<", "[[", "{{", "&", "[[category:", "[[image:", "<ref", "[http:", "|9", "[[a:"])
def test_markup_of_an_adversary_takes_little_time(piece):
    start = time.process_time()
    T.FilterWikipediaXML()(Text(piece * (400_000 // len(piece))))
    assert time.process_time() - start < 5


def test_numbers():
    assert T.IntegerLookup((12, 36), mask_token=0, num_oov_indices=2)(np.array([12, 36, 0, 7, 8])).tolist() == [
        3,
        4,
        0,
        2,
        1,
    ]
    assert T.ToNumber("int32")(Tokens(["1", "-5"])).tolist() == [1, -5]
    for wrong, dtype in (("x", "int8"), ("300", "int8"), ("1e9999999999", "float32"), ("1_0", "int32")):
        with pytest.raises(DataError, match="ToNumber"):
            T.ToNumber(dtype)(Text(wrong))
    lookup = T.Lookup(text.Vocab(["<unk>", "fox"], "<unk>"))
    assert lookup(Tokens(["fox", "cat"])).tolist() == [1, 0]
    assert T.from_dict(T.to_dict(lookup))(Tokens(["fox", "cat"])).tolist() == [1, 0]
    assert T.Lookup().fit([Tokens(["a", "b", "a"])])(Tokens(["a", "c"])).tolist() == [2, 1]
    assert T.Hashing(10, strength="strong", salt=(1, 2))(Text("a")) != T.Hashing(10**6, strength="strong", salt=(1, 3))(
        Text("a")
    )
    vectors = T.ToVectors({"The": (1.0, 2.0), "fox": (3.0, 4.0)}, unk_init=(9.0, 9.0))
    assert vectors(Tokens(["fox", "x"])).tolist() == [[3, 4], [9, 9]]


def test_sequences():
    assert T.AddToken("<s>")(Tokens(["a"])) == ["<s>", "a"]
    assert T.AddToken(2, begin=False)(TokenIds([5])).tolist() == [5, 2]
    assert T.Truncate(1)(TokenIds([5, 6])).tolist() == [5]
    assert [p.tolist() for p in T.TruncateSequencePair(4)((np.arange(5), np.arange(3)))] == [[0, 1], [0, 1]]
    padded = T.PadEnd((4,), pad_value=9, key="x", mask="m")({"x": TokenIds([1, 2])})
    assert padded["x"].tolist() == [1, 2, 9, 9]
    assert isinstance(padded["x"], TokenIds)
    assert padded["m"].tolist() == [True, True, False, False]
    ragged = T.RaggedToPadded(key="x", mask="m")({"x": [[1, 2, 3], [4]]})
    assert ragged["x"].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert ragged["m"].sum() == 4
    assert T.SlidingWindow(2)(Tokens(["a", "b", "c"])) == [["a", "b"], ["b", "c"]]
    assert T.Ngram((2, 3), ("_", 1), ("_", 2), "|")(Tokens(["a", "b", "c"]))[:4] == ["_|a", "a|b", "b|c", "c|_"]
    with pytest.raises(ConfigError, match="at most"):
        T.PadEnd((1 << 20, 1 << 20))


@settings(max_examples=60, deadline=None)
@given(WORDS, st.integers(0, 1000))
def test_perturbations_keep_what_they_do_not_change(value, seed):
    for name in (
        "SwapCharacters",
        "DropCharacters",
        "InsertCharacters",
        "ReplaceCharacters",
        "SwapWords",
        "DropWords",
        "InsertWords",
    ):
        assert getattr(T, name)(0.0)(Text(value), rng=seed) == value
    swapped = T.SwapCharacters(0.5)(Text(value), rng=seed)
    assert sorted(swapped) == sorted(value)
    assert len(T.DropCharacters(0.5)(Text(value), rng=seed)) <= len(value)
    assert len(T.ReplaceCharacters(0.5)(Text(value), rng=seed)) == len(value)


def test_grammar_follows_its_tables():
    past, plural, singular = T.ChangeTense("past"), T.ChangeNumber("plural"), T.ChangeNumber("singular")
    assert past(Text("The fox jumps. She goes to eat and studies.")) == "The fox jumped. She went to eat and studied."
    assert T.ChangeTense("future")(Text("He walks home.")) == "He will walk home."
    assert T.ChangeTense("present")(Text("They wrote a song, he wrote two.")) == "They write a song, he writes two."
    assert plural(Text("A child plays with this toy.")) == "Some children play with these toys."
    assert singular(Text("These men are old.")) == "This man is old."
    assert T.ChangeNumber("plural", nouns=(("gnu", "gnus"),))(Text("a gnu")) == "some gnus"
    table = T.ReplaceSynonyms(synonyms={"quick": ("fast",)}, rate=1.0)
    assert table(Text("The Quick fox")) == "The Fast fox"
    assert T.BackTranslate(str.upper)(Text("a")) == "A"


def test_settings_that_cannot_be_are_errors():
    for wrong in (
        lambda: T.RegexTokenizer("("),
        lambda: T.PythonTokenizer("split"),
        lambda: T.Ngram(0),
        lambda: T.ReplaceSynonyms(synonyms=3),
        lambda: T.Lookup(("a", "a")),
        lambda: T.TextVectorization(max_tokens=2, vocabulary=("a", "b")),
        lambda: T.ViterbiDecode(((1.0, 2.0),)),
        lambda: T.AsString(precision=10**6),
        lambda: T.Slice(((0, 1, 0),)),
    ):
        with pytest.raises(ConfigError):
            wrong()
