"""Beams against all texts there are, changes of scores, and settings, without a model."""

import itertools

import numpy as np
import pytest

from labdl.errors import ConfigError
from labdl.generation.scores import draw_tokens, log_softmax, process_scores
from labdl.generation.search import search_beams, search_step_by_step
from labdl.generation.settings import GenerationSettings, merge_settings

SIZE, END = 4, 3


class Table:
    """A decoder whose logits are drawn for each text."""

    def __init__(self):
        self.texts: list[tuple[int, ...]] = []

    def logits(self, text):
        return np.random.default_rng(list(text)).normal(size=SIZE).astype("float32") * 2

    def start(self, prompts, source=None):
        self.texts = [tuple(prompt.tolist()) for prompt in prompts]
        return np.stack([self.logits(text) for text in self.texts])

    def step(self, tokens, rows=None):
        before = self.texts if rows is None else [self.texts[row] for row in rows]
        self.texts = [(*text, int(token)) for text, token in zip(before, tokens, strict=True)]
        return np.stack([self.logits(text) for text in self.texts])


def best_of_all(prompt, steps, penalty) -> tuple[list[int], float]:
    """The best of all texts of at most so many tokens, by trying each."""
    table, best = Table(), ([], -np.inf)
    for length in range(1, steps + 1):
        for text in itertools.product(range(SIZE), repeat=length):
            if END in text[:-1] or (length < steps and text[-1] != END):
                continue
            rows = [log_softmax(table.logits((*prompt, *text[:at]))[None])[0] for at in range(length)]
            score = sum(float(row[token]) for row, token in zip(rows, text, strict=True)) / length**penalty
            best = max(best, (list(text), score), key=lambda each: each[1])
    return best


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_enough_beams_find_the_best_text_of_all(penalty):
    settings = GenerationSettings(num_beams=SIZE**3, length_penalty=penalty, eos_token_id=END, early_stopping="never")
    for prompt in ([0], [1, 2], [2, 0]):
        (found,) = search_beams(Table(), [np.array(prompt)], None, settings, 3)
        text, score = best_of_all(prompt, 3, penalty)
        assert found[0].tokens.tolist() == text
        assert found[0].score == pytest.approx(score, abs=1e-4)


def test_beams_of_several_prompts_are_those_of_each_alone():
    settings = GenerationSettings(num_beams=3, num_return_sequences=2, eos_token_id=END)
    prompts = [np.array([0]), np.array([1, 2]), np.array([2, 2, 1])]
    together = search_beams(Table(), prompts, None, settings, 6)
    alone = [search_beams(Table(), [prompt], None, settings, 6)[0] for prompt in prompts]
    for one, other in zip(together, alone, strict=True):
        assert [each.tokens.tolist() for each in one] == [each.tokens.tolist() for each in other]


def test_greedy_rows_end_by_themselves():
    settings = GenerationSettings(eos_token_id=END)
    table, prompt = Table(), np.array([1])
    rng = np.random.default_rng(0)
    found = [
        token for _, token in search_step_by_step(table, [prompt], None, settings, 20, rng, lambda row, tokens: False)
    ]
    text = (1,)
    for token in found:
        assert token == table.logits(text).argmax()
        text = (*text, token)
    assert END not in found[:-1]


def test_penalties_and_forbidden_tokens():
    scores = np.array([[1.0, -1.0, 2.0, 0.5]], "float32")
    texts = [np.array([0, 1, 0])]

    def change(step=5, starts=0, **settings):
        return process_scores(scores, texts, GenerationSettings(**settings), step, 10, starts)[0].tolist()

    assert change(repetition_penalty=2.0) == [0.5, -2.0, 2.0, 0.5]
    assert change(no_repeat_ngram_size=2) == [1.0, -np.inf, 2.0, 0.5]
    assert change(bad_words_ids=[[1, 0, 2], [3]]) == [1.0, -1.0, -np.inf, -np.inf]
    assert change(bad_words_ids=[[3]], eos_token_id=3) == [1.0, -1.0, 2.0, 0.5]
    assert change(step=1, min_new_tokens=3, eos_token_id=[2, 3]) == [1.0, -1.0, -np.inf, -np.inf]
    assert change(step=0, starts=1, forced_bos_token_id=2) == [-np.inf, -np.inf, 0.0, -np.inf]
    assert change(step=9, forced_eos_token_id=3) == [-np.inf, -np.inf, -np.inf, 0.0]
    assert change(suppress_tokens=[0]) == [-np.inf, -1.0, 2.0, 0.5]
    assert change(step=0, begin_suppress_tokens=[2]) == [1.0, -1.0, -np.inf, 0.5]
    assert scores[0].tolist() == [1.0, -1.0, 2.0, 0.5]


def test_draws_follow_the_probabilities():
    probabilities = np.array([0.5, 0.25, 0.15, 0.1])
    scores = np.log(probabilities)[None].repeat(20_000, 0)

    def shares(**settings):
        tokens = draw_tokens(scores, GenerationSettings(do_sample=True, **settings), np.random.default_rng(0))
        return np.bincount(tokens, minlength=4) / len(scores)

    np.testing.assert_allclose(shares(), probabilities, atol=0.015)
    np.testing.assert_allclose(shares(top_k=2), [2 / 3, 1 / 3, 0, 0], atol=0.015)
    np.testing.assert_allclose(shares(top_p=0.8), np.array([0.5, 0.25, 0.15, 0]) / 0.9, atol=0.015)
    sharp = probabilities**2 / (probabilities**2).sum()
    np.testing.assert_allclose(shares(temperature=0.5), sharp, atol=0.015)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens wants an integer at least 1, received 0"),
        ({"num_beams": True}, "num_beams wants an integer"),
        ({"temperature": 0.0}, "temperature wants a number above 0"),
        ({"temperature": float("nan")}, "temperature wants a number"),
        ({"top_p": 1.5}, "at most 1"),
        ({"early_stopping": "soon"}, "early_stopping"),
        ({"num_beams": 2, "do_sample": True}, "beams are not sampled"),
        ({"num_beams": 2, "num_return_sequences": 3}, "num_beams of at least as many"),
        ({"num_return_sequences": 2}, "wants do_sample=True"),
        ({"num_beam": 2}, "did you mean 'num_beams'"),
    ],
)
def test_settings_that_do_not_fit_are_named(settings, words):
    with pytest.raises(ConfigError, match=words):
        merge_settings({}, settings)


def test_settings_of_a_call_go_before_those_of_the_folder():
    saved = {"max_length": 30, "num_beams": 4, "typical_p": 1.0, "use_cache": True}
    merged = merge_settings(saved, {"num_beams": 1, "max_new_tokens": 5})
    assert (merged.num_beams, merged.max_new_tokens, merged.max_length) == (1, 5, None)
    with pytest.raises(ConfigError, match=r"num_beam_groups=2, which LabDL does not compute"):
        merge_settings({"num_beam_groups": 2}, {})
