"""Metrics of tagged texts: entities that are right as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, metric

__all__ = ["EntityF1"]

_IGNORED = -100
_OUTSIDE = "O"


def find_entities(tags: Sequence[str]) -> set[tuple[str, int, int]]:
    """The entities of a text: kind, first word, last word. Tags are "B-kind", "I-kind", "E-kind", "S-kind" and "O".

    An entity begins where the kind changes, at B and S and behind E and S; so "I" may begin one. Source: get_entities of
    seqeval.
    """
    entities, begin = set(), 0
    before_mark, before_kind = _OUTSIDE, ""
    for at, tag in enumerate([*tags, _OUTSIDE]):
        mark, _, rest = tag.partition("-")
        kind = rest or "_"
        if mark not in ("B", "I", "E", "S", "O"):  # a tag without a mark is a kind
            mark, kind = "I", tag
        if before_mark != _OUTSIDE and (
            mark in (_OUTSIDE, "B", "S") or before_mark in ("E", "S") or kind != before_kind
        ):
            entities.add((before_kind, begin, at - 1))
            begin = at
        elif before_mark == _OUTSIDE:
            begin = at
        before_mark, before_kind = mark, kind
    return entities


@metric
class EntityF1(Metric):
    """F1 of entities, of which words and kind are right: the measure of named entity recognition (Tjong Kim Sang, 2003).

    Scores (N, words, classes), or class numbers (N, words); targets (N, words), of which ``ignore_index`` is ignored, by
    default that of the loss, or -100. ``names`` are those of the classes, such as "B-PER", "I-PER" and "O"; without them class
    0 is outside of any entity, and neighbors of one class are one. Micro average over all entities, 0 where there are none.
    Semantics: seqeval.metrics.f1_score.
    """

    task = "sequence"
    higher_is_better = True

    names: tuple[str, ...] = ()
    ignore_index: int | None = None

    def statistics(self, output, target):
        output, target = np.asarray(output), np.asarray(target)
        if output.ndim == target.ndim + 1:
            output = output.argmax(-1)
        if output.shape != target.shape or target.ndim != 2:
            raise ModelError(
                f"EntityF1 wants scores (N, words, classes) and class numbers (N, words), received {output.shape} and "
                f"{target.shape}"
            )
        counted = target != (_IGNORED if self.ignored_target is None else self.ignored_target)
        matches = predictions = references = 0
        for own, tags, here in zip(output, target, counted, strict=True):
            predicted, expected = (find_entities(self._tags(row[here])) for row in (own, tags))
            matches += len(predicted & expected)
            predictions += len(predicted)
            references += len(expected)
        return matches, predictions, references

    def _tags(self, numbers: np.ndarray) -> list[str]:
        if not self.names:
            return [f"I-{number}" if number else _OUTSIDE for number in numbers.tolist()]
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self.names):
            raise ModelError(f"EntityF1 has {len(self.names)} names, received the class {int(numbers.max())}")
        return [self.names[number] for number in numbers.tolist()]

    def value(self, matches, predictions, references):
        return 2 * matches / (predictions + references) if predictions + references else 0.0
