"""Transcripts, events, texts and answers against plain loops and published examples."""

import itertools

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ModelError
from labdl.infer import EventTagging, QuestionAnswering, SpeechRecognition, TextDecoding, TokenPrediction
from labdl.train.metrics import BLEU, CharacterErrorRate, ExactMatch, WordErrorRate

LETTERS = ["_", "a", "b", "t", "c"]


def frames(path, symbols):
    """Logits whose largest symbols are those of a path."""
    scores = np.random.default_rng(0).normal(size=(len(path), symbols))
    scores[np.arange(len(path)), path] = scores.max(1) + 1
    return scores


# -- speech


@given(st.integers(1, 5), st.integers(2, 3), st.integers(0, 2**20))
def test_beam_search_of_ctc_adds_up_alignments_and_aligns_the_best(steps, symbols, seed):
    """Against all paths: the best transcript by the sum of its paths, its times by the best of them."""
    scores = np.random.default_rng(seed).normal(size=(steps, symbols)) * 2
    logs = scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
    paths: dict[tuple, list[tuple[float, list[int]]]] = {}
    for path in itertools.product(range(symbols), repeat=steps):
        begins = [at for at, n in enumerate(path) if n and (at == 0 or n != path[at - 1])]
        score = float(logs[np.arange(steps), path].sum())
        paths.setdefault(tuple(path[at] for at in begins), []).append((score, begins))
    totals = {labels: scipy.special.logsumexp([score for score, _ in each]) for labels, each in paths.items()}
    best = max(totals, key=totals.__getitem__)
    transcript = SpeechRecognition(beam_size=1000, hop=0.5)(scores)
    assert tuple(transcript.tokens) == best
    assert transcript.score == pytest.approx(totals[best])
    assert transcript.times.tolist() == [0.5 * at for at in max(paths[best])[1]]


@pytest.mark.parametrize("count", [0, 4])
def test_beam_search_of_ctc_without_symbols(count):
    transcript = SpeechRecognition(beam_size=4, vocabulary=LETTERS)(np.tile([9.0, 0, 0, 0, 0], (count, 1)))
    assert (transcript.text, len(transcript.times)) == ("", 0)
    assert transcript.score <= 0


@pytest.mark.parametrize(
    ("path", "text"),
    [("a_ab_", "aab"), ("_aa__abb", "aab"), ("ccaat_", "cat"), ("_aab__bt", "abbt"), ("____", ""), ("aaaa", "a")],
)
def test_the_examples_of_the_paper(path, text):
    """Graves et al. 2006, section 3.1: a-ab- and -aa--abb both are aab."""
    numbers = [LETTERS.index(c) for c in path]
    found = SpeechRecognition(vocabulary=LETTERS)(frames(numbers, 5))
    assert found.text == text
    assert [LETTERS[t] for t in found.tokens] == list(text)


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_a_transcript_is_the_path_without_repeats_and_blanks(path, blank):
    found = SpeechRecognition(blank=blank, hop=0.5)(frames(path, 5) if path else np.zeros((0, 5)))
    groups = [(k, [i for i, _ in group]) for k, group in itertools.groupby(enumerate(path), key=lambda pair: pair[1])]
    assert found.tokens.tolist() == [k for k, _ in groups if k != blank]
    assert found.times.tolist() == [0.5 * places[0] for k, places in groups if k != blank]
    assert found.text is None


def test_the_score_is_the_log_probability_of_the_path():
    scores = frames([0, 1, 2, 2], 5)
    logs = torch.log_softmax(torch.tensor(scores), -1).numpy()
    assert SpeechRecognition()(scores).score == pytest.approx(logs.max(1).sum())
    assert SpeechRecognition()(logs).score == pytest.approx(logs.max(1).sum())
    assert SpeechRecognition(from_logits=False)(np.exp(logs)).score == pytest.approx(logs.max(1).sum())


def test_frames_beyond_the_length_do_not_count():
    scores = frames([1, 0, 2, 3], 5)
    assert SpeechRecognition()((scores, np.array(3))).tokens.tolist() == [1, 2]
    assert SpeechRecognition()((scores, np.array([3]))).score == pytest.approx(SpeechRecognition()(scores[:3]).score)


def test_words_are_divided_and_texts_made_by_a_function():
    symbols = ["_", "|", "h", "i", "u"]
    numbers = [1, 2, 3, 1, 1, 0, 1, 4, 1]
    assert SpeechRecognition(vocabulary=symbols, delimiter="|")(frames(numbers, 5)).text == "hi u"
    assert SpeechRecognition(vocabulary=lambda tokens: "-".join(map(str, tokens)))(frames([2, 0, 2], 5)).text == "2-2"
    with pytest.raises(ModelError, match="vocabulary of 2 tokens, received 4"):
        SpeechRecognition(vocabulary=["_", "a"])(frames([4], 5))
    with pytest.raises(ModelError, match="5 symbols, no blank 7"):
        SpeechRecognition(blank=7)(frames([4], 5))


def test_transcripts_are_what_metrics_take():
    asked = SpeechRecognition(vocabulary=["_", " ", *"abcd"])
    results = [asked(frames([2, 3, 1, 4], 6)), asked(frames([5], 6))]
    assert asked.for_metrics(results) == ["ab c", "d"]
    assert WordErrorRate()(asked.for_metrics(results), ["ab d", "d"]) == pytest.approx(1 / 3)
    plain = SpeechRecognition()
    tokens = plain.for_metrics([plain(frames([2, 3], 6))])
    assert CharacterErrorRate()(tokens, [[2, 3]]) == 0.0


# -- events


def stretches(active, hop, longest_gap, shortest):
    """Events of one class, frame by frame."""
    found, begin, last = [], None, None
    for i, on in enumerate([*active, False]):
        if on and begin is None:
            begin = i
        if on:
            last = i
        gap = (i - last) * hop if last is not None else 0
        if begin is not None and not on and (i == len(active) or gap > longest_gap + 1e-9):
            ahead = next((j for j in range(i, len(active)) if active[j]), None)
            if ahead is None or (ahead - last - 1) * hop > longest_gap + 1e-9:
                if (last + 1 - begin) * hop >= shortest - 1e-9:
                    found.append((begin, last + 1))
                begin = None
    return found


@given(
    st.integers(0, 25),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([0.0, 0.2, 0.3]),
    st.integers(0, 2**31),
)
@settings(max_examples=150, deadline=None)
def test_events_are_stretches_above_the_threshold(length, classes, longest_gap, shortest, seed):
    shares = np.random.default_rng(seed).random((length, classes))
    asked = EventTagging(hop=0.1, longest_gap=longest_gap, shortest=shortest, from_logits=False, threshold=0.5)
    found = asked(shares)
    expected = sorted(
        (begin, end, k)
        for k in range(classes)
        for begin, end in stretches(shares[:, k] > 0.5, 0.1, longest_gap, shortest)
    )
    assert found.labels.tolist() == [k for _, _, k in expected]
    np.testing.assert_allclose(found.starts, [0.1 * begin for begin, _, _ in expected])
    np.testing.assert_allclose(found.ends, [0.1 * end for _, end, _ in expected])
    np.testing.assert_allclose(found.scores, [shares[begin:end, k].mean() for begin, end, k in expected])


def test_logits_and_names_of_events():
    logits = np.array([[-3.0, 4.0], [2.0, 4.0], [2.0, -1.0]])
    found = EventTagging(hop=0.02, names=("dog", "car"))(logits)
    assert found.names == ("car", "dog")
    np.testing.assert_allclose(found.starts, [0.0, 0.02])
    np.testing.assert_allclose(found.ends, [0.04, 0.06])
    np.testing.assert_allclose(found.scores, scipy.special.expit([4.0, 2.0]))
    assert len(EventTagging(threshold=1.0)(logits)) == 0


# -- texts

WORDS = ["<pad>", "<end>", "the", "cat", "sat"]


def test_a_text_ends_before_its_end_and_leaves_padding_out():
    asked = TextDecoding(vocabulary=WORDS, joiner=" ", end=1, skipped=(0,))
    assert asked(np.array([0, 2, 3, 0, 4, 1, 2, 2])).text == "the cat sat"
    assert asked(np.array([0, 2, 3, 4])).text == "the cat sat"
    assert asked(frames([2, 3, 4, 1, 3], 5)).tokens.tolist() == [2, 3, 4]
    assert asked(np.array([1, 2])).text == ""
    plain = TextDecoding()(np.array([1, 2], "int32"))
    assert plain.text is None
    assert plain.tokens.tolist() == [1, 2]


def test_a_tokenizers_own_function_makes_the_text():
    received = []

    def decode(tokens):
        received.append(tokens)
        return "".join(chr(96 + t) for t in tokens)

    assert TextDecoding(vocabulary=decode, end=0)(np.array([3, 1, 20, 0])).text == "cat"
    assert received == [[3, 1, 20]]
    assert all(type(t) is int for t in received[0])


def test_texts_are_what_metrics_take_and_tokens_must_be_whole():
    asked = TextDecoding(vocabulary=WORDS, joiner=" ")
    texts = asked.for_metrics([asked(np.array([2, 3, 4])), asked(np.array([2, 3]))])
    assert ExactMatch()(texts, ["the cat sat", "the sat"]) == 0.5
    assert BLEU(n=2)(texts[:1], ["the cat sat"]) == pytest.approx(1.0)
    assert TextDecoding().for_metrics([TextDecoding()(np.array([2, 3]))]) == [[2, 3]]
    with pytest.raises(ModelError, match="wants integers"):
        TextDecoding()(np.array([0.5, 1.0]))
    with pytest.raises(ModelError, match="vocabulary of 5 tokens, received -1"):
        asked(np.array([-1]))


def test_the_next_token_is_predicted_at_the_last_place():
    scores = np.random.default_rng(0).normal(size=(6, 50)).astype("float32")
    found = TokenPrediction(top_k=3)(scores)
    expected = torch.softmax(torch.tensor(scores[-1], dtype=torch.float64), 0).topk(3)
    np.testing.assert_array_equal(found.tokens, expected.indices.numpy()[None])
    np.testing.assert_allclose(found.probabilities, expected.values.numpy()[None])
    np.testing.assert_array_equal(TokenPrediction(top_k=3)(scores[-1]).tokens, found.tokens)


def test_masks_are_filled_at_their_places():
    scores = np.random.default_rng(1).normal(size=(6, 5))
    found = TokenPrediction(top_k=2, positions=(1, 4), vocabulary=WORDS)(scores)
    order = np.argsort(-scores[[1, 4]], 1)[:, :2]
    np.testing.assert_array_equal(found.tokens, order)
    assert found.texts == tuple(tuple(WORDS[t] for t in row) for row in order)
    with pytest.raises(ModelError, match=r"positions \(6,\) are not all in a text of 6 tokens"):
        TokenPrediction(positions=(6,))(scores)


# -- answers


def spans(starts, ends, low, high, longest):
    """All answers that are allowed, best first."""
    pairs = [(starts[i] + ends[j], i, j) for i in range(low, high) for j in range(i, min(i + longest, high))]
    return sorted(pairs, key=lambda row: -row[0])


@given(st.integers(2, 12), st.integers(1, 15), st.integers(1, 4), st.data())
@settings(max_examples=100, deadline=None)
def test_answers_are_the_best_of_all_pairs(length, longest, k, data):
    low = data.draw(st.integers(0, length - 1))
    high = data.draw(st.integers(low + 1, length))
    draws = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    starts, ends = draws.normal(size=(2, length)) * 3
    found = QuestionAnswering(top_k=k, max_length=longest, context=(low, high))((starts, ends))
    expected = spans(starts, ends, low, high, longest)[:k]
    assert list(zip(found.starts, found.ends, strict=True)) == [(i, j) for _, i, j in expected]
    first, last = scipy.special.softmax(starts[low:high]), scipy.special.softmax(ends[low:high])
    np.testing.assert_allclose(found.scores, [first[i - low] * last[j - low] for _, i, j in expected], atol=1e-12)
    both = QuestionAnswering(top_k=k, max_length=longest, context=(low, high))(np.stack([starts, ends], 1))
    np.testing.assert_array_equal(both.starts, found.starts)


@pytest.mark.parametrize(("none", "place"), [(9.0, 0), (4.5, 1), (-9.0, None)])
def test_no_answer_stands_where_its_score_puts_it(none, place):
    starts, ends = np.array([none, 2.0, 0, 1]), np.array([0.0, 0, 3, 0])
    found = QuestionAnswering(top_k=3, allow_no_answer=True)((starts, ends))
    answers = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    without = [pair for pair in answers if pair != (-1, -1)]
    expected = [(i, j) for _, i, j in spans(starts, ends, 1, 4, 30)]
    assert without == expected[: len(without)]
    assert ((-1, -1) in answers and answers.index((-1, -1))) == (False if place is None else place)
    assert len(answers) == 3
    first, last = scipy.special.softmax(starts), scipy.special.softmax(ends)
    np.testing.assert_allclose(found.scores, [first[max(i, 0)] * last[max(j, 0)] for i, j in answers])


def test_answers_are_texts_where_the_offsets_are_known():
    text = "Paris is in France."
    offsets = [(0, 0), (0, 5), (6, 8), (9, 11), (12, 18), (18, 19)]
    starts, ends = np.zeros(6), np.zeros(6)
    starts[3], ends[4] = 5.0, 5.0
    asked = QuestionAnswering(text=text, offsets=offsets, context=(1, 6), top_k=2, allow_no_answer=True)
    found = asked((starts, ends))
    assert found.text == "in France"
    assert asked.for_metrics([found]) == ["in France"]
    starts[0] = ends[0] = 9.0
    assert asked((starts, ends)).text == ""
    assert QuestionAnswering().for_metrics([QuestionAnswering()((starts, ends))]) == [[0, 0]]
    nothing = np.full(3, np.nan)
    for texts, none in (({}, [-1, -1]), ({"text": "a b c", "offsets": [(0, 1), (2, 3), (4, 5)]}, "")):
        asked = QuestionAnswering(**texts)
        assert asked.for_metrics([asked((nothing, nothing))]) == [none]


def test_invalid_spans_raise():
    with pytest.raises(ModelError, match="logits of starts"):
        QuestionAnswering()((np.zeros(3), np.zeros(4)))
    with pytest.raises(ModelError, match=r"context \(4, 9\) is not a span of a text of 5 tokens"):
        QuestionAnswering(context=(4, 9))((np.zeros(5), np.zeros(5)))
