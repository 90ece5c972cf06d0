"""Metrics of answers to questions, as the evaluation of SQuAD has them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric

__all__ = ["SquadExactMatch", "SquadF1"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalize_answer(text: str) -> str:
    """The text in lower case, without punctuation, English articles and further spaces, as SQuAD's evaluation has it."""
    without = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without).split())


def squad_f1(answer: str, reference: str) -> float:
    """F1 of the words that an answer has in common with a reference; of no answer 1 if both are none, else 0."""
    own, true = normalize_answer(answer).split(), normalize_answer(reference).split()
    if not own or not true:
        return float(own == true)
    common = (Counter(own) & Counter(true)).total()
    return 2 * common / (len(own) + len(true))


def squad_exact_match(answer: str, reference: str) -> float:
    """1 if answer and reference are equal after `normalize_answer`, else 0."""
    return float(normalize_answer(answer) == normalize_answer(reference))


class _BestReference(Metric):
    """Mean over answers of the best ``score`` among their references."""

    task = "sequence"
    higher_is_better = True
    score: ClassVar[Callable[[str, str], float]]

    def statistics(self, output, target):
        name = type(self).__name__
        if isinstance(output, str) or isinstance(target, str) or len(output) != len(target):
            raise ModelError(f"{name} wants as many answers as targets, in two lists")
        total = 0.0
        for answer, expected in zip(output, target, strict=True):
            references: Sequence[str] = [expected] if isinstance(expected, str) else list(expected) or [""]
            if not isinstance(answer, str) or not all(isinstance(each, str) for each in references):
                raise ModelError(f"{name} wants texts, received {answer!r:.60} for {expected!r:.60}")
            total += max(type(self).score(answer, each) for each in references)
        return total, len(output)

    def value(self, total, n):
        return float(total / n) if n else float("nan")


@metric
class SquadF1(_BestReference):
    """Mean F1 of the words of answers and of the best of their references (Rajpurkar et al., 2016).

    Answers are texts, "" for no answer; a target is a text or a list of them, an empty one for no answer. Words are compared
    without case, punctuation and English articles. From 0 to 1; SQuAD's evaluation multiplies by 100.
    """

    score = staticmethod(squad_f1)


@metric
class SquadExactMatch(_BestReference):
    """Share of answers that equal one of their references, without case, punctuation and English articles.

    Answers and targets as those of `SquadF1` (Rajpurkar et al., 2016).
    """

    score = staticmethod(squad_exact_match)
