"""Metrics of the words, characters and n-grams that texts share with their references: ROUGE and chrF."""

from __future__ import annotations

import dataclasses
import re
import string
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric, ratio
from labdl.train.metrics.text import count_grams, encode, sequences_and_references

__all__ = ["CHRF", "Rouge1", "Rouge2", "RougeL"]

_WORD = re.compile("[a-z0-9]+")
_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "whitespace": str.split,
    "alphanumeric": lambda text: _WORD.findall(text.lower()),
}


def common_length(first: list, second: list) -> int:
    """Length of the longest common subsequence."""
    one, other = encode(first, second)
    row = np.zeros(len(other) + 1, "int64")
    for symbol in one:
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], row[:-1] + (other == symbol)))
    return int(row[-1])


def _measure(kind: str, shared: int, own: int, true: int) -> float:
    """Precision, recall or F1 from the numbers of shared, predicted and true parts."""
    below = {"precision": own, "recall": true, "f1": own + true}[kind]
    return (2 * shared if kind == "f1" else shared) / below if below else 0.0


@dataclasses.dataclass
class _Rouge(Metric):
    """Base class of ROUGE metrics, which differ in the parts that texts are compared by."""

    task = "sequence"
    higher_is_better = True

    padding: int = -1
    measure: Literal["f1", "precision", "recall"] = "f1"
    tokenizer: Literal["whitespace", "alphanumeric"] = "whitespace"

    def statistics(self, output, target):
        name, split = type(self).__name__, _TOKENIZERS[self.tokenizer]
        pairs = sequences_and_references(name, output, target, self.padding, split)
        return sum(self._best(own, references) for own, references in pairs), len(pairs)

    def _best(self, own: list, references: list[list]) -> float:
        """The measure for the reference with the best F1 score."""
        counts = max((self.count(own, each) for each in references), key=lambda counts: _measure("f1", *counts))
        return _measure(self.measure, *counts)

    def value(self, total, n):
        return float(total / n) if n else float("nan")

    def count(self, own: list, true: list) -> tuple[int, int, int]:
        """Count shared, predicted and true parts of two lists of symbols."""
        raise NotImplementedError(f"{type(self).__name__} has no count")


def _count_grams(n: int, own: list, true: list) -> tuple[int, int, int]:
    ours, theirs = count_grams(own, n), count_grams(true, n)
    return (ours & theirs).total(), ours.total(), theirs.total()


@metric
class Rouge1(_Rouge):
    """F1 score of shared words, mean over texts (Lin, 2004); ``measure`` chooses precision or recall.

    Words are separated by whitespace; with ``tokenizer="alphanumeric"`` they are runs of the letters a to z and digits
    in lower case, as rouge_score has them by default. A target may be a list of references, of which the one with the best F1
    score counts. Semantics: rouge_score's rouge1, without stemmer, with several references its ``score_multi``.
    """

    def count(self, own, true):
        return _count_grams(1, own, true)


@metric
class Rouge2(_Rouge):
    """F1 score of shared pairs of neighboring words, mean over texts (Lin, 2004); settings as in Rouge1."""

    def count(self, own, true):
        return _count_grams(2, own, true)


@metric
class RougeL(_Rouge):
    """F1 score of the longest common subsequence of words, mean over texts (Lin, 2004); settings as in Rouge1."""

    def count(self, own, true):
        return common_length(own, true), len(own), len(true)


def _separate_punctuation(text: str) -> list[str]:
    """Words, of which a punctuation mark at the end, or else at the beginning, is a word of its own."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in string.punctuation:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


@metric
class CHRF(Metric):
    """chrF: F score of shared n-grams of up to 6 characters over the whole corpus (Popović, 2015), from 0 to 1.

    ``word_order=2`` also counts n-grams of up to 2 words: chrF++ (Popović, 2017). Recall has ``beta`` times the weight of
    precision. Lists of strings; a target may also be a list of references, of which the best counts. Characters are counted
    without ``whitespace``. Semantics: corpus chrF of sacrebleu, which multiplies by 100.
    """

    task = "sequence"
    higher_is_better = True

    char_order: Annotated[int, Ge(1)] = 6
    word_order: Annotated[int, Ge(0)] = 0
    beta: Annotated[float, Gt(0)] = 2.0
    lowercase: bool = False
    whitespace: bool = False

    def statistics(self, output, target):
        in_lists = not isinstance(output, str) and not isinstance(target, str)
        references = [list(one) if isinstance(one, list | tuple) else [one] for one in target]
        texts = [*output, *(one for each in references for one in each)]
        if (
            not in_lists
            or len(output) != len(target)
            or not all(references)
            or {type(v) for v in texts} - {str, np.str_}
        ):
            raise ModelError(
                f"CHRF wants as many texts as targets, in two lists, a target as a string or a list of strings, received "
                f"{len(output)} and {len(target)}"
            )
        total = np.zeros((3, self.char_order + self.word_order), "int64")
        for text, each in zip(output, references, strict=True):
            own = self._count(text)
            total += max((self._compare(own, self._count(one)) for one in each), key=self._score)
        return (total,)

    def value(self, counts):
        return self._score(counts)

    def _count(self, text: str) -> list[Counter]:
        text = text.lower() if self.lowercase else text
        characters = text if self.whitespace else "".join(text.split())
        words = _separate_punctuation(text)
        return [
            *(count_grams(characters, n + 1) for n in range(self.char_order)),
            *(count_grams(words, n + 1) for n in range(self.word_order)),
        ]

    def _compare(self, own: list[Counter], true: list[Counter]) -> np.ndarray:
        """Shared, own and true n-grams of each order; own ones do not count where the reference is too short for any."""
        rows = [((a & b).total(), a.total() if b else 0, b.total()) for a, b in zip(own, true, strict=True)]
        return np.array(rows, "int64").T

    def _score(self, counts: np.ndarray) -> float:
        shared, own, true = counts
        counted = (own > 0) & (true > 0)
        if not counted.any():
            return 0.0
        precision, recall = (float(ratio(shared, total)[counted].mean()) for total in (own, true))
        return float(ratio((1 + self.beta**2) * precision * recall, self.beta**2 * precision + recall))
