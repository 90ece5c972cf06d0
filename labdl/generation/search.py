"""Searches for the most probable text: token by token, or by beams (Graves, 2012; Freitag & Al-Onaizan, 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labdl.generation.decoder import Decoder
from labdl.generation.scores import draw_tokens, log_softmax, process_scores
from labdl.generation.settings import GenerationSettings

# the input of an encoder, with the mask of its tokens if it reads tokens
Source = tuple[np.ndarray, np.ndarray | None] | None
NOTHING = -1e9  # the score of a beam that does not exist, as in the public library


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """Generated tokens, with the one that ends them if there is one, and the score of a beam."""

    tokens: np.ndarray
    score: float | None = None


def search_step_by_step(
    decoder: Decoder,
    prompts: Sequence[np.ndarray],
    source: Source,
    settings: GenerationSettings,
    steps: int,
    rng: np.random.Generator,
    is_finished: Callable[[int, list[int]], bool],
) -> Iterator[tuple[int, int]]:
    """Yield (row, token) of the rows that are not finished, step by step: the best token, or one that is drawn.

    ``is_finished(row, tokens)`` says whether a row ends for another reason than a token of ``settings.ends``.
    """
    texts = [list(prompt) for prompt in prompts]
    new: list[list[int]] = [[] for _ in prompts]
    open_rows = [True] * len(prompts)
    starts = 0 if source is None else len(prompts[0])
    logits = decoder.start(prompts, source)
    settings.check_vocabulary(logits.shape[1])
    for step in range(steps):
        scores = process_scores(logits, [np.array(text) for text in texts], settings, step, steps, starts)
        tokens = draw_tokens(scores, settings, rng) if settings.do_sample else scores.argmax(-1)
        for row in np.flatnonzero(open_rows).tolist():
            token = int(tokens[row])
            texts[row].append(token)
            new[row].append(token)
            yield row, token
            open_rows[row] = token not in settings.ends and not is_finished(row, new[row])
        if not any(open_rows) or step + 1 == steps:
            return
        logits = decoder.step(np.asarray(tokens, "int64"))


def search_beams(
    decoder: Decoder, prompts: Sequence[np.ndarray], source: Source, settings: GenerationSettings, steps: int
) -> list[list[Hypothesis]]:
    """The best texts of each prompt, best first, ``settings.num_return_sequences`` of them.

    Each step continues the ``num_beams`` best open texts. One that ends is kept with its sum of logarithms divided by its
    length to the power of ``length_penalty``; a prompt is finished when no open text can be better than those that are kept.
    """
    beams = settings.num_beams
    groups = [_Beams(beams, settings) for _ in prompts]
    repeated = [prompt for prompt in prompts for _ in range(beams)]
    starts = 0 if source is None else len(prompts[0])
    logits = decoder.start(repeated, repeat_source(source, beams))
    settings.check_vocabulary(logits.shape[1])
    for step in range(steps):
        texts = [
            np.concatenate([np.asarray(prompt, "int64"), np.asarray(text, "int64")])
            for prompt, group in zip(prompts, groups, strict=True)
            for text in group.texts
        ]
        scores = process_scores(log_softmax(logits), texts, settings, step, steps, starts)
        rows, tokens = [], []
        for at, group in enumerate(groups):
            beam_tokens, new = group.advance(scores[at * beams : (at + 1) * beams], last=step + 1 == steps)
            rows += [at * beams + row for row in beam_tokens]
            tokens += new
        if step + 1 == steps or all(group.finished for group in groups):
            break
        logits = decoder.step(np.array(tokens, "int64"), np.array(rows, "int64"))
    return [group.best(settings.num_return_sequences) for group in groups]


class _Beams:
    """Open and ended texts of one prompt."""

    def __init__(self, count: int, settings: GenerationSettings):
        self.count, self.settings = count, settings
        self.texts: list[list[int]] = [[] for _ in range(count)]
        self.sums = np.array([0.0] + [NOTHING] * (count - 1), "float32")
        self.ended: list[Hypothesis] = []
        self.finished = False

    def advance(self, scores: np.ndarray, *, last: bool) -> tuple[list[int], list[int]]:
        """Continue the open texts; returns the rows that are continued, and their tokens.

        ``scores`` (beams, vocabulary) are logarithms; texts that end, or all at the ``last`` step, are kept.
        """
        settings, size = self.settings, scores.shape[1]
        total = (scores + self.sums[:, None]).reshape(-1)
        count = min(max(2, 1 + len(settings.ends)) * self.count, total.size)
        best = np.argsort(-total, kind="stable")[:count] if total.size < 4096 else _largest(total, count)
        texts = [[*self.texts[at // size], int(at % size)] for at in best.tolist()]
        ends = np.array([last or text[-1] in settings.ends for text in texts])
        length = len(texts[0])
        if not self.finished:
            for at in np.flatnonzero(ends[: self.count]).tolist():
                score = float(total[best[at]] / np.float32(length**settings.length_penalty))
                self.ended.append(Hypothesis(np.array(texts[at], "int64"), score))
            self.ended = sorted(self.ended, key=lambda each: -(each.score or 0.0))[: self.count]
        order = np.argsort(-(total[best] + ends * np.float32(NOTHING)), kind="stable")[: self.count]
        self.texts = [texts[at] for at in order]
        self.sums = (total[best] + ends * np.float32(NOTHING))[order].astype("float32")
        self.finished = self.finished or not self._can_improve(length)
        return [int(best[at]) // size for at in order], [texts[at][-1] for at in order]

    def _can_improve(self, length: int) -> bool:
        """Whether an open text may become better than the worst of those that have ended."""
        full = len(self.ended) == self.count
        if not full:
            return True
        if self.settings.early_stopping is True:
            return False
        if self.settings.early_stopping == "never" and self.settings.length_penalty > 0:
            return True  # a longer text may have any score below 0
        return self.sums[0] / length**self.settings.length_penalty > (self.ended[-1].score or 0.0)

    def best(self, count: int) -> list[Hypothesis]:
        return self.ended[:count]


def repeat_source(source: Source, count: int) -> Source:
    """Each row of an encoder's input ``count`` times."""
    if source is None:
        return None
    rows, mask = source
    return rows.repeat(count, 0), None if mask is None else mask.repeat(count, 0)


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Indices of the largest values, largest first."""
    best = np.argpartition(-values, count - 1)[:count]
    return best[np.argsort(-values[best], kind="stable")]
