"""Metrics of texts and other sequences of symbols.

Texts are lists of strings (split into words at whitespace), lists of lists of tokens, or integers (N, length) padded with
``padding``; of scores (N, length, classes) the largest is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric
from labdl.train.metrics.outputs import log_probabilities

__all__ = ["BLEU", "CharacterErrorRate", "EditDistance", "ExactMatch", "Perplexity", "RougeL", "WordErrorRate"]


def sequences(name: str, output, target, padding: int = -1, split: Callable = str.split) -> list[tuple[list, list]]:
    """Pairs of lists of symbols from texts. Raises ModelError where the numbers of texts and targets differ."""
    if isinstance(output, np.ndarray) and isinstance(target, np.ndarray) and output.ndim == target.ndim + 1:
        output = output.argmax(-1)
    sides = [[_symbols(name, one, padding, split) for one in side] for side in (output, target)]
    if len(sides[0]) != len(sides[1]) or isinstance(output, str) or isinstance(target, str):
        raise ModelError(
            f"{name} wants as many texts as targets, in two lists, received {len(sides[0])} and {len(sides[1])}"
        )
    return list(zip(*sides, strict=True))


def _symbols(name: str, one, padding: int, split: Callable) -> list:
    if isinstance(one, str):
        return list(split(one))
    if isinstance(one, np.ndarray):
        if one.ndim != 1 or one.dtype.kind not in "iu":
            raise ModelError(f"{name} wants integers (N, length) as symbols, received rows of {one.dtype} {one.shape}")
        return one[one != padding].tolist()
    return list(one)


def _encode(first: list, second: list) -> tuple[np.ndarray, np.ndarray]:
    """Encode the symbols of both sequences as integers."""
    codes: dict = {}
    return tuple(np.array([codes.setdefault(s, len(codes)) for s in side], "int64") for side in (first, second))  # type: ignore[return-value]


def edit_distance(first: list, second: list) -> int:
    """Minimal number of insertions, deletions and substitutions between two sequences (Levenshtein, 1966)."""
    one, other = _encode(first, second)
    place = np.arange(len(other) + 1)
    row = place.copy()
    for symbol in one:
        step = np.minimum(row[1:] + 1, row[:-1] + (other != symbol))
        step = np.concatenate([row[:1] + 1, step])
        row = np.minimum.accumulate(step - place) + place  # insertions run along the row
    return int(row[-1])


def common_length(first: list, second: list) -> int:
    """Length of the longest common subsequence."""
    one, other = _encode(first, second)
    row = np.zeros(len(other) + 1, "int64")
    for symbol in one:
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], row[:-1] + (other == symbol)))
    return int(row[-1])


def _errors(pairs) -> tuple[int, int]:
    return sum(edit_distance(a, b) for a, b in pairs), sum(len(b) for _, b in pairs)


def _rate(wrong, length) -> float:
    return float(wrong / length) if length else float("nan")


@metric
class WordErrorRate(Metric):
    """Insertions, deletions and substitutions of words, over the number of true words; may exceed 1."""

    task = "sequence"
    higher_is_better = False

    padding: int = -1

    def statistics(self, output, target):
        return _errors(sequences("WordErrorRate", output, target, self.padding))

    def value(self, wrong, length):
        return _rate(wrong, length)


@metric
class CharacterErrorRate(Metric):
    """Insertions, deletions and substitutions of characters, over the number of true characters."""

    task = "sequence"
    higher_is_better = False

    padding: int = -1

    def statistics(self, output, target):
        return _errors(sequences("CharacterErrorRate", output, target, self.padding, list))

    def value(self, wrong, length):
        return _rate(wrong, length)


@metric
class EditDistance(Metric):
    """Mean number of insertions, deletions and substitutions of characters or symbols (Levenshtein, 1966).

    ``normalized`` divides each by the length of the longer text.
    """

    task = "sequence"
    higher_is_better = False

    normalized: bool = False
    padding: int = -1

    def statistics(self, output, target):
        pairs = sequences("EditDistance", output, target, self.padding, list)
        distances = [edit_distance(a, b) / (max(len(a), len(b), 1) if self.normalized else 1) for a, b in pairs]
        return sum(distances), len(pairs)

    def value(self, total, n):
        return _rate(total, n)


@metric
class ExactMatch(Metric):
    """Fraction of texts that equal the target, ignoring whitespace between words."""

    task = "sequence"
    higher_is_better = True

    padding: int = -1

    def statistics(self, output, target):
        pairs = sequences("ExactMatch", output, target, self.padding)
        return sum(a == b for a, b in pairs), len(pairs)

    def value(self, right, n):
        return _rate(right, n)


@metric
class BLEU(Metric):
    """Precision of n-grams of up to ``n`` words, times a brevity penalty (Papineni et al., 2002).

    Over the whole corpus, with one reference each. ``smooth`` adds 1 to the counts of n-grams with n > 1 (Lin & Och, 2004),
    so that short texts are not 0.
    """

    task = "sequence"
    higher_is_better = True

    n: Annotated[int, Ge(1)] = 4
    smooth: bool = False
    padding: int = -1

    def statistics(self, output, target):
        pairs = sequences("BLEU", output, target, self.padding)
        right, made = np.zeros(self.n, "int64"), np.zeros(self.n, "int64")
        for size in range(1, self.n + 1):
            for one, other in pairs:
                ours, theirs = (Counter(zip(*(side[i:] for i in range(size)), strict=False)) for side in (one, other))
                right[size - 1] += (ours & theirs).total()
                made[size - 1] += ours.total()
        return right, made, np.array([sum(len(side) for side in sides) for sides in zip(*pairs, strict=True)] or [0, 0])

    def value(self, right, made, lengths):
        more = np.arange(self.n) > 0 if self.smooth else np.zeros(self.n)
        right, made = right + more, made + more
        if not right.all():
            return 0.0
        short = min(0.0, 1 - lengths[1] / lengths[0])
        return float(np.exp(short + np.log(right / made).mean()))


@metric
class RougeL(Metric):
    """F-score of the longest common subsequence of words, mean over texts (Lin, 2004)."""

    task = "sequence"
    higher_is_better = True

    padding: int = -1

    def statistics(self, output, target):
        pairs = sequences("RougeL", output, target, self.padding)
        return sum(2 * common_length(a, b) / max(len(a) + len(b), 1) for a, b in pairs), len(pairs)

    def value(self, total, n):
        return _rate(total, n)


@metric
class Perplexity(Metric):
    """Perplexity of a language model: exp of the mean negative log-probability of the true symbols.

    Logits (..., classes), probabilities with ``from_logits=False``; targets (...), of which ``ignore_index`` is ignored.
    """

    task = "sequence"
    higher_is_better = False

    ignore_index: int = -100
    from_logits: bool | None = None

    def statistics(self, output, target):
        output, target = np.asarray(output), np.asarray(target)
        if output.shape[:-1] != target.shape:
            raise ModelError(
                f"Perplexity wants (..., classes) and class numbers (...), received {output.shape} and {target.shape}"
            )
        counted = target != self.ignore_index
        logs = log_probabilities(output[counted], self.takes_logits)
        return -np.take_along_axis(logs, target[counted][:, None].astype("int64"), -1).sum(), np.count_nonzero(counted)

    def value(self, total, n):
        return float(np.exp(total / n)) if n else float("nan")
