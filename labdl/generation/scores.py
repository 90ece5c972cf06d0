"""Changes of the scores of the next token: penalties, forbidden and forced tokens, and those of sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl.generation.settings import GenerationSettings


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities (rows, vocabulary)."""
    differences = logits - logits.max(-1, keepdims=True)
    return differences - np.log(np.exp(differences).sum(-1, keepdims=True))


def process_scores(
    scores: np.ndarray, texts: Sequence[np.ndarray], settings: GenerationSettings, step: int, steps: int, starts: int
) -> np.ndarray:
    """Scores (rows, vocabulary) after penalties, forbidden and forced tokens, in the public library's order.

    ``texts`` are the tokens so far of each row: with the prompt for a decoder alone, those of the decoder otherwise. ``step``
    counts the tokens that were generated, of at most ``steps``; ``starts`` is how many tokens a decoder started with, 0 for a
    decoder alone.
    """
    scores = scores.copy()
    for row, text in zip(scores, texts, strict=True):
        if settings.repetition_penalty != 1.0 and len(text):
            tokens = np.unique(text)
            row[tokens] = np.where(
                row[tokens] < 0, row[tokens] * settings.repetition_penalty, row[tokens] / settings.repetition_penalty
            )
        if settings.no_repeat_ngram_size:
            row[_repetitions(text, settings.no_repeat_ngram_size)] = -np.inf
        for words in settings.bad_words_ids:
            before = len(words) - 1
            if words and words not in [[end] for end in settings.ends] and _ends_with(text, words[:before]):
                row[words[before]] = -np.inf
    ends = list(settings.ends)
    if ends and step < settings.min_new_tokens:
        scores[:, ends] = -np.inf
    if settings.forced_bos_token_id is not None and starts == 1 and step == 0:
        scores = _only(scores, [settings.forced_bos_token_id])
    if settings.forced_ends and step == steps - 1:
        scores = _only(scores, settings.forced_ends)
    scores[:, list(settings.suppress_tokens)] = -np.inf
    # the first token after those that are given or forced
    first = 1 if starts == 1 and settings.forced_bos_token_id is not None else 0
    if step == first:
        scores[:, list(settings.begin_suppress_tokens)] = -np.inf
    return scores


def draw_tokens(scores: np.ndarray, settings: GenerationSettings, rng: np.random.Generator) -> np.ndarray:
    """Draw a token for each row of scores (rows, vocabulary), with temperature, then top_k, then top_p."""
    scores = scores.astype("float64") / settings.temperature
    if settings.top_k and settings.top_k < scores.shape[1]:
        least = np.partition(scores, -settings.top_k, axis=-1)[:, -settings.top_k, None]
        scores = np.where(scores < least, -np.inf, scores)
    probabilities = np.exp(log_softmax(scores))
    if settings.top_p < 1.0:
        order = np.argsort(-probabilities, axis=-1, kind="stable")
        ordered = np.take_along_axis(probabilities, order, -1)
        # a token counts while those before it have less than top_p together
        ordered = np.where(np.cumsum(ordered, -1) - ordered < settings.top_p, ordered, 0.0)
        np.put_along_axis(probabilities, order, ordered, -1)
    cumulative = np.cumsum(probabilities, -1)
    thresholds = rng.random((len(scores), 1)) * cumulative[:, -1:]
    return (cumulative <= thresholds).sum(-1).clip(max=scores.shape[1] - 1)


def _only(scores: np.ndarray, tokens: Sequence[int]) -> np.ndarray:
    result = np.full_like(scores, -np.inf)
    result[:, list(tokens)] = 0.0
    return result


def _repetitions(text: np.ndarray, size: int) -> list[int]:
    """The tokens that would complete a sequence of this many tokens that the text has already."""
    if len(text) < size:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(text, size)
    same = (windows[:, :-1] == text[len(text) - size + 1 :]).all(-1)
    return windows[same, -1].tolist()


def _ends_with(text: np.ndarray, words: Sequence[int]) -> bool:
    return len(text) >= len(words) and (not words or text[-len(words) :].tolist() == list(words))
