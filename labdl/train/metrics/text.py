"""Metrics of texts and other sequences of symbols.

Texts are lists of strings (split into words at whitespace), lists of lists of tokens, or integers (N, length) padded with
``padding``; of scores (N, length, classes) the largest is used. Where a metric takes several references, each target is a list
of them: of strings or of lists of tokens, or an array (references, length), in which rows of padding alone do not count.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.settings import INNER
from labdl.train.metrics.metric import Metric, metric
from labdl.train.metrics.outputs import class_numbers, log_probabilities

__all__ = ["BLEU", "CharacterErrorRate", "EditDistance", "ExactMatch", "Perplexity", "WordErrorRate"]


def sequences(name: str, output, target, padding: int = -1, split: Callable = str.split) -> list[tuple[list, list]]:
    """Pairs of lists of symbols from texts. Raises ModelError where the numbers of texts and targets differ."""
    pairs = sequences_and_references(name, output, target, padding, split, one=True)
    return [(own, references[0]) for own, references in pairs]


def sequences_and_references(
    name: str, output, target, padding: int = -1, split: Callable = str.split, *, one: bool = False
) -> list[tuple[list, list[list]]]:
    """Lists of symbols, each with those of its references, a target being one reference or a list of several.

    With ``one`` several are an error. Raises ModelError, also where the numbers of texts and targets differ.
    """
    more = getattr(output, "ndim", 0) == getattr(target, "ndim", 0) + 1
    if isinstance(output, np.ndarray) and (more or (output.dtype.kind == "f" and output.ndim == 3)):
        output = output.argmax(-1)
    if isinstance(output, str) or isinstance(target, str) or len(output) != len(target):
        raise ModelError(
            f"{name} wants as many texts as targets, in two lists, received {len(output)} and {len(target)}"
        )
    pairs = []
    for text, given in zip(output, target, strict=True):
        several = _is_several(text, given)
        references = [_symbols(name, each, padding, split) for each in (given if several else [given])]
        if isinstance(given, np.ndarray) and several:
            references = [each for each in references if each] or references[:1]
        if not references:
            raise ModelError(f"{name} wants a reference for each text, received an empty list of them")
        if one and several:
            raise ModelError(f"{name} takes one reference for each text, received a list of {len(references)}")
        pairs.append((_symbols(name, text, padding, split), references))
    return pairs


def _is_several(text, given) -> bool:
    """True for a target that is a list of references, not one text or one list of tokens as ``text`` is."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2
    if isinstance(given, str):
        return False
    first = next(iter(given), None)
    return not isinstance(first, int | np.integer) and (isinstance(text, str) or isinstance(first, list | tuple))


def _symbols(name: str, one, padding: int, split: Callable) -> list:
    if isinstance(one, str):
        return list(split(one))
    if isinstance(one, np.ndarray):
        if one.ndim != 1 or one.dtype.kind not in "iu":
            raise ModelError(f"{name} wants integers (N, length) as symbols, received rows of {one.dtype} {one.shape}")
        return one[one != padding].tolist()
    return list(one)


def encode(first: list, second: list) -> tuple[np.ndarray, np.ndarray]:
    """Encode the symbols of both sequences as integers."""
    codes: dict = {}
    return tuple(np.array([codes.setdefault(s, len(codes)) for s in side], "int64") for side in (first, second))  # type: ignore[return-value]


def count_grams(symbols: Sequence, n: int) -> Counter:
    """How often each sequence of ``n`` symbols occurs."""
    return Counter(zip(*(symbols[i:] for i in range(n)), strict=False))


def edit_distance(first: list, second: list) -> int:
    """Minimal number of insertions, deletions and substitutions between two sequences (Levenshtein, 1966)."""
    one, other = encode(first, second)
    place = np.arange(len(other) + 1)
    row = place.copy()
    for symbol in one:
        step = np.minimum(row[1:] + 1, row[:-1] + (other != symbol))
        step = np.concatenate([row[:1] + 1, step])
        row = np.minimum.accumulate(step - place) + place  # insertions run along the row
    return int(row[-1])


def _errors(pairs) -> tuple[int, int]:
    return sum(edit_distance(a, b) for a, b in pairs), sum(len(b) for _, b in pairs)


def _rate(wrong, length) -> float:
    return float(wrong / length) if length else float("nan")


@metric
class WordErrorRate(Metric):
    """Insertions, deletions and substitutions of words, over the number of true words; may exceed 1.

    Numbers are words, unless ``vocabulary`` names the symbol of each: the symbols of a row are then joined to a text.
    """

    task = "sequence"
    higher_is_better = False

    padding: int = -1
    vocabulary: tuple[str, ...] | None = dataclasses.field(default=None, metadata=INNER)

    def statistics(self, output, target):
        if self.vocabulary is not None:
            output, target = (self._texts(rows) for rows in (output, target))
        return _errors(sequences("WordErrorRate", output, target, self.padding))

    def _texts(self, rows) -> list:
        """Texts of rows of numbers; texts stay as they are."""
        symbols: tuple[str, ...] = self.vocabulary  # type: ignore[assignment]
        return [row if isinstance(row, str) else "".join(symbols[n] for n in row if n != self.padding) for row in rows]

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
    """Fraction of texts that equal the target, or one of several references, ignoring whitespace between words."""

    task = "sequence"
    higher_is_better = True

    padding: int = -1

    def statistics(self, output, target):
        pairs = sequences_and_references("ExactMatch", output, target, self.padding)
        return sum(own in references for own, references in pairs), len(pairs)

    def value(self, right, n):
        return _rate(right, n)


@metric
class BLEU(Metric):
    """Precision of n-grams of up to ``n`` words, times a brevity penalty (Papineni et al., 2002).

    Over the whole corpus. A target is a text or a list of several references: an n-gram then counts as often as in the
    reference that has it most often, and the length of the reference is the nearest one. ``smooth`` adds 1 to the counts
    of n-grams with n > 1 (Lin & Och, 2004), so that short texts are not 0.

    Example: ``BLEU()(["the cat sat"], [["a cat sat", "the cat sat down"]])``. Semantics: corpus BLEU of sacrebleu with
    ``tokenize="none"``, which multiplies by 100.
    """

    task = "sequence"
    higher_is_better = True

    n: Annotated[int, Ge(1)] = 4
    smooth: bool = False
    padding: int = -1

    def statistics(self, output, target):
        right, made, lengths = np.zeros(self.n, "int64"), np.zeros(self.n, "int64"), np.zeros(2, "int64")
        for own, references in sequences_and_references("BLEU", output, target, self.padding):
            for size in range(1, self.n + 1):
                ours, most = count_grams(own, size), Counter()
                for each in references:
                    most |= count_grams(each, size)
                right[size - 1] += (ours & most).total()
                made[size - 1] += ours.total()
            nearest = min((len(each) for each in references), key=lambda length: (abs(length - len(own)), length))
            lengths += len(own), nearest
        return right, made, lengths

    def value(self, right, made, lengths):
        more = np.arange(self.n) > 0 if self.smooth else np.zeros(self.n)
        right, made = right + more, made + more
        if not right.all():
            return 0.0
        short = min(0.0, 1 - lengths[1] / lengths[0])
        return float(np.exp(short + np.log(right / made).mean()))


_IGNORED = -100  # as in torch.nn.CrossEntropyLoss


@metric
class Perplexity(Metric):
    """Perplexity of a language model: exp of the mean negative log-probability of the true symbols.

    Logits (..., classes), probabilities with ``from_logits=False``; targets (...), of which ``ignore_index`` is ignored, by
    default that of the loss of the training, or -100. An output of floating-point numbers in the shape of the targets has
    the negative log-probabilities themselves.
    """

    task = "sequence"
    higher_is_better = False

    ignore_index: int | None = None
    from_logits: bool | None = None

    def statistics(self, output, target):
        output, target = np.asarray(output), np.asarray(target)
        counted = target != (_IGNORED if self.ignored_target is None else self.ignored_target)
        if output.shape == target.shape and output.dtype.kind == "f":
            return output[counted].sum(dtype="float64"), np.count_nonzero(counted)
        if output.shape[:-1] != target.shape:
            raise ModelError(
                f"Perplexity wants (..., classes) and class numbers (...), received {output.shape} and {target.shape}"
            )
        logs = log_probabilities(output[counted], self.takes_logits)
        numbers = class_numbers("Perplexity", target[counted], output.shape[-1])
        return -np.take_along_axis(logs, numbers[:, None], -1).sum(), np.count_nonzero(counted)

    def value(self, total, n):
        return float(np.exp(total / n)) if n else float("nan")
