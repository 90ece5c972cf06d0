"""Transforms of texts and arrays against MindSpore, PaddlePaddle, TensorFlow and Keras."""

import warnings

import mindspore  # the order in which the frameworks can be imported into one process: this, then paddle, then tensorflow
import mindspore.dataset.text as ms_text
import mindspore.dataset.transforms as ms_transforms
import numpy as np
import pytest

from labdl.data import text
from labdl.data import transforms as T
from labdl.data.parts import Text, TokenIds, Tokens

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # paddle warns of a missing ccache
    import paddle
    import tensorflow as tf  # isort: skip
    import keras  # isort: skip

LINES = [
    "Hello,  World! 北京 abc123 привет мир ひらがなカタカナ漢字 café naïve.",
    "unwanted [CLS] My favorite [MASK]x $5.30 don't",
    "\tStraße ΑΣ ﬁ — “quotes”\n",
]
PIECES = ["[UNK]", "un", "##want", "##ed", "my", "fa", "##vor", "##ite", "hello", ",", "!", "[CLS]", "$", "5"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (T.WhitespaceTokenizer(), lambda: ms_text.WhitespaceTokenizer()),
        (T.UnicodeCharTokenizer(), lambda: ms_text.UnicodeCharTokenizer()),
        (T.UnicodeScriptTokenizer(), lambda: ms_text.UnicodeScriptTokenizer()),
        (T.UnicodeScriptTokenizer(keep_whitespace=True), lambda: ms_text.UnicodeScriptTokenizer(True)),
        (T.RegexTokenizer(r"[\s,]+", r","), lambda: ms_text.RegexTokenizer(r"[\s,]+", r",")),
        (T.BasicTokenizer(), lambda: ms_text.BasicTokenizer()),
        (T.BasicTokenizer(lower_case=True), lambda: ms_text.BasicTokenizer(True)),
        (T.BasicTokenizer(keep_whitespace=True), lambda: ms_text.BasicTokenizer(keep_whitespace=True)),
        (
            T.BasicTokenizer(normalization_form="NFKC", preserve_unused_token=False),
            lambda: ms_text.BasicTokenizer(False, False, ms_text.NormalizeForm.NFKC, False),
        ),
        (
            T.BertTokenizer(PIECES, lower_case=True),
            lambda: ms_text.BertTokenizer(ms_text.Vocab.from_list(PIECES), lower_case=True),
        ),
    ],
)
def test_splitting(ours, theirs, line):
    if getattr(ours, "lower_case", False):  # MindSpore repeats the text before a special token when it lowers the case
        line = line.replace("[CLS]", "").replace("[MASK]", "")
    assert list(ours(Text(line))) == theirs()(line).tolist()


def test_offsets_of_mindspore_are_in_bytes():
    tokens, starts, ends = ms_text.WhitespaceTokenizer(True)(LINES[0])
    ours = T.WhitespaceTokenizer(with_offsets=True)(Text(LINES[0]))
    assert [[len(LINES[0][:at].encode()) for at in pair] for pair in ours.offsets] == np.stack(
        [starts, ends], 1
    ).tolist()
    assert list(ours) == tokens.tolist()


def test_words_and_sequences():
    words = ["unwanted", "my", "favorite", "xyz"]
    vocab = ms_text.Vocab.from_list(PIECES)
    for unknown in ("[UNK]", ""):
        expected = ms_text.WordpieceTokenizer(vocab, unknown_token=unknown)(words).tolist()
        assert list(T.WordPieceTokenizer(PIECES, unknown_token=unknown)(Tokens(words))) == expected
    for n, left, right in ((2, ("", 0), ("", 0)), ([2, 3], ("_", 1), ("_", 2))):
        ours = T.Ngram(n, left, right, "|")(Tokens(words))
        assert list(ours) == ms_text.Ngram(n, left, right, "|")(words).tolist()
    assert T.SlidingWindow(2)(Tokens(words)) == ms_text.SlidingWindow(2, 0)(words).tolist()
    for most in range(9):
        first, second = T.TruncateSequencePair(most)((np.arange(5), np.arange(3)))
        theirs = ms_text.TruncateSequencePair(most)(np.arange(5), np.arange(3)) if most else None
        if theirs is not None:
            assert [first.tolist(), second.tolist()] == [one.tolist() for one in theirs]
    assert list(T.AddToken("X")(Tokens(words))) == ms_text.AddToken("X")(words).tolist()
    numbers = ms_text.Lookup(vocab, "[UNK]")(words)
    np.testing.assert_array_equal(T.Lookup(text.Vocab(PIECES, "[UNK]"))(Tokens(words)), numbers)


@pytest.mark.parametrize("line", LINES)
def test_cleaning(line):
    assert T.CaseFold()(line) == str(ms_text.CaseFold()(line))
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert T.NormalizeUTF8(form)(line) == str(ms_text.NormalizeUTF8(ms_text.NormalizeForm[form])(line))
    encoded = tf.constant(line)

    def plain(tensor):
        return tensor.numpy().decode()

    assert T.Strip()(line) == plain(tf.strings.strip(encoded))
    assert T.Lower()(line) == plain(tf.strings.lower(encoded, "utf-8"))
    assert T.Substr(2, 5)(line) == plain(tf.strings.substr(encoded, 2, 5, "UTF8_CHAR"))
    assert T.RegexReplace(r"(\w)(\w)", r"\2\1")("some words") == plain(
        tf.strings.regex_replace("some words", r"(\w)(\w)", r"\2\1")
    )
    for unit in ("BYTE", "UTF8_CHAR"):
        assert T.Length(unit)(Text(line)) == tf.strings.length(encoded, unit).numpy()
    sample = T.UnicodeDecode(key="t", offsets="at")({"t": line.encode()})
    points, starts = tf.strings.unicode_decode_with_offsets(encoded, "UTF-8")
    np.testing.assert_array_equal(sample["t"], points)
    np.testing.assert_array_equal(sample["at"], starts)
    assert T.UnicodeEncode("utf-16-be")(sample)["t"] == tf.strings.unicode_encode(points, "UTF-16-BE").numpy()


def test_broken_bytes_are_those_of_tensorflow():
    data = b"a\xffb\xe5\x8c\xf0\x9f\x99c\xc0\x80"
    points, starts = tf.strings.unicode_decode_with_offsets(data, "UTF-8", errors="replace")
    sample = T.UnicodeDecode(key="t", offsets="at")({"t": data})
    np.testing.assert_array_equal(sample["t"], points)
    np.testing.assert_array_equal(sample["at"], starts)


def test_hashes():
    words = [*"a bc the quick".split(), "", "x" * 20, "y" * 50, "z" * 200, "北京" * 30]  # noqa: SIM905
    bins = 1_000_003
    for ours, theirs in (
        (T.Hashing(bins), tf.strings.to_hash_bucket_fast(words, bins)),
        (T.Hashing(bins, strength="default"), tf.strings.to_hash_bucket(words, bins)),
        (T.Hashing(bins, strength="strong", salt=(7, 9)), tf.strings.to_hash_bucket_strong(words, bins, [7, 9])),
    ):
        np.testing.assert_array_equal(ours(Tokens(words)), theirs)


def test_numbers():
    values = np.array([1.5, -2.25, 1e10], "float64")
    for options in (
        {},
        {"precision": 2},
        {"scientific": True, "precision": 3},
        {"shortest": True},
        {"width": 12, "fill": "0"},
    ):
        expected = [one.decode() for one in tf.strings.as_string(values, **options).numpy()]
        assert list(T.AsString(**options)(values)) == expected
    assert list(T.AsString()(np.array([3, -4]))) == ["3", "-4"]
    np.testing.assert_array_equal(
        T.ToNumber("float32")(Tokens(["1.5", "1e3"])), ms_text.ToNumber(mindspore.float32)(["1.5", "1e3"])
    )
    layer = keras.layers.IntegerLookup(vocabulary=[12, 36, 1138], num_oov_indices=1)
    numbers = np.array([36, 12, 5, 1138, 36])
    np.testing.assert_array_equal(T.IntegerLookup((12, 36, 1138))(numbers), layer(numbers))


@pytest.mark.parametrize("mode", ["int", "count", "multi_hot", "tf_idf"])
@pytest.mark.parametrize("ngrams", [None, 2])
def test_vectorization_is_that_of_keras(mode, ngrams):
    texts = ["The quick brown fox, the fox!", "A dog; a lazy dog.", "fox and dog and fox"]
    theirs = keras.layers.TextVectorization(max_tokens=8, output_mode=mode, ngrams=ngrams)
    theirs.adapt(texts)
    ours = T.TextVectorization(max_tokens=8, output_mode=mode, ngrams=ngrams).fit(texts)
    for value in [*texts, "An unknown fox"]:
        np.testing.assert_allclose(np.asarray(ours(Text(value))), np.asarray(theirs([value]))[0], rtol=1e-5)


def test_best_paths_are_those_of_paddle():
    rng = np.random.default_rng(0)
    scores, moves = rng.normal(size=(2, 6, 5)).astype("float32"), rng.normal(size=(5, 5)).astype("float32")
    for borders in (True, False):
        best, paths = paddle.text.viterbi_decode(
            paddle.to_tensor(scores), paddle.to_tensor(moves), paddle.to_tensor([6, 6]), borders
        )
        for at in range(2):
            score, path = text.viterbi_decode(scores[at], moves, include_bos_eos_tag=borders)
            assert score == pytest.approx(float(best[at]), rel=1e-5)
            assert path.tolist() == paths[at].tolist()


def test_arrays():
    x = np.array([3, 1, 3, 2, 1])
    pairs = [
        (T.Fill(7), ms_transforms.Fill(7)),
        (T.Mask("GT", 2), ms_transforms.Mask(ms_transforms.Relational.GT, 2)),
        (T.Mask("EQ", 3, "int32"), ms_transforms.Mask(ms_transforms.Relational.EQ, 3, mindspore.int32)),
        (T.PadEnd((8,), -1), ms_transforms.PadEnd([8], -1)),
        (T.PadEnd((3,), -1), ms_transforms.PadEnd([3], -1)),
        (T.Slice(((1, 3, None),)), ms_transforms.Slice(slice(1, 3))),
        (T.Slice((2,)), ms_transforms.Slice(2)),
        (T.Slice((None,)), ms_transforms.Slice(None)),
        (T.TypeCast("float32"), ms_transforms.TypeCast(mindspore.float32)),
        (T.Concatenate(prepend=(9,), append=(8,)), ms_transforms.Concatenate(0, np.array([9]), np.array([8]))),
    ]
    for ours, theirs in pairs:
        result, expected = ours(x), theirs(x)
        np.testing.assert_array_equal(result, expected, err_msg=repr(ours))
        assert result.dtype == expected.dtype
    # TensorFlow keeps the order of the first places, here as in NumPy the elements are sorted
    sample = T.Unique(key="x", counts="n", index="at")({"x": x})
    values, _, counts = tf.unique_with_counts(x)
    order = np.argsort(values)
    np.testing.assert_array_equal(sample["x"], values.numpy()[order])
    np.testing.assert_array_equal(sample["n"], counts.numpy()[order])
    np.testing.assert_array_equal(sample["x"][sample["at"]], x)
    ragged = tf.ragged.constant([[1, 2, 3], [4]]).to_tensor(default_value=-1)
    np.testing.assert_array_equal(T.RaggedToPadded(value=-1, key="x")({"x": [[1, 2, 3], [4]]})["x"], ragged)
    assert T.ByteTokenizer()(Text("né")).tolist() == tf.io.decode_raw("né", tf.uint8).numpy().tolist()
    assert isinstance(T.ByteTokenizer()(Text("é")), TokenIds)


def test_vectors(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("ok 0.1 0.2\nthe 0.3 0.4\n")
    theirs = ms_text.ToVectors(ms_text.Vectors.from_file(str(path)), [7.0, 8.0], True)
    words = ["ok", "x", "The"]
    np.testing.assert_allclose(
        T.ToVectors(str(path), unk_init=(7.0, 8.0), lower_case_backup=True)(Tokens(words)), theirs(words)
    )
