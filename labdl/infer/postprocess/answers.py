"""Answers to questions from the scores of where they begin and end in a text."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.processor import PostProcessor, array_of, best, postprocessor
from labdl.train.settings import INNER


@dataclass(frozen=True, eq=False)
class Answers:
    """First and last token (k), (k) of the best answers, their probabilities (k), and their texts where they are known.

    The answer that there is none has the tokens -1 and -1 and an empty text.
    """

    starts: np.ndarray
    ends: np.ndarray
    scores: np.ndarray
    texts: tuple[str, ...] | None = None

    @property
    def text(self) -> str | None:
        """The best answer."""
        return self.texts[0] if self.texts else None


@postprocessor
class QuestionAnswering(PostProcessor):
    """The stretches of a text that answer best: pairs of a first and a last token with the largest sum of logits.

    Logits of starts (length) and of ends (length), or both as (length, 2). The end is not before the start and the answer not
    longer than ``max_length`` tokens. ``context`` is the stretch of tokens in which it lies, the first and the one after the
    last, all by default. With ``may_be_none`` token 0 stands for "no answer". The probability of an answer is the product of
    those of its start and its end among the tokens that count.

    ``text`` and ``offsets`` (length, 2), first character and the one after the last of each token, make texts of them; they
    belong to single samples, and pre-processing gives them in a `Prepared`. Source: Devlin et al., BERT, 2019, section 4.2.
    """

    top_k: Annotated[int, Ge(1)] = 1
    max_length: Annotated[int, Ge(1)] = 30
    context: tuple[int, int] | None = None
    may_be_none: bool = False
    text: str | None = None
    offsets: Any = dataclasses.field(default=None, metadata=INNER)

    def check(self) -> None:
        if (self.text is None) != (self.offsets is None):
            raise ConfigError("QuestionAnswering wants text and offsets together")

    def __call__(self, output) -> Answers:
        parts = [array_of(part) for part in (output if isinstance(output, list | tuple) else (output,))]
        if [part.shape[1:] for part in parts] == [(2,)]:
            parts = list(parts[0].T)
        if len(parts) != 2 or parts[0].ndim != 1 or parts[0].shape != parts[1].shape:
            raise ModelError(
                "QuestionAnswering wants logits of starts (length) and of ends (length), or both as (length, 2)"
            )
        starts, ends = (part.astype("float64") for part in parts)
        low, high = self.context or (0, len(starts))
        low = max(low, 1) if self.may_be_none else low
        if not 0 <= low < high <= len(starts):
            raise ModelError(
                f"QuestionAnswering: context {(low, high)} is no stretch of a text of {len(starts)} tokens"
            )
        found, scores = self._best(starts, ends, low, high)
        return Answers(found[:, 0], found[:, 1], scores, self._texts(found))

    def _best(self, starts: np.ndarray, ends: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """First and last tokens (k, 2) of the best answers, and their probabilities (k)."""
        allowed = np.r_[0:1, low:high] if self.may_be_none else np.arange(low, high)
        starts, ends = (logits - _log_sum(logits[allowed]) for logits in (starts, ends))
        # a row for each start, a column for each length
        last = np.arange(low, high)[:, None] + np.arange(min(self.max_length, high - low))
        sums = np.where(last < high, starts[low:high, None] + ends[np.minimum(last, high - 1)], -np.inf)
        order = best(sums.ravel(), self.top_k)
        logs, found = sums.ravel()[order], np.stack([order // sums.shape[1] + low, last.ravel()[order]], 1)
        if self.may_be_none:
            none = starts[0] + ends[0]
            at = int(np.searchsorted(-logs, -none))
            logs, found = np.insert(logs, at, none), np.insert(found, at, (-1, -1), axis=0)
        some = np.isfinite(logs[: self.top_k])
        return found[: self.top_k][some], np.exp(logs[: self.top_k][some])

    def _texts(self, found: np.ndarray) -> tuple[str, ...] | None:
        if self.text is None:
            return None
        offsets = np.asarray(self.offsets)
        return tuple(
            "" if first < 0 else self.text[int(offsets[first, 0]) : int(offsets[last, 1])] for first, last in found
        )

    def for_metrics(self, results) -> list[Any]:
        """The best answers as texts, or lists of first and last token, for `ExactMatch`: "" or [-1, -1] where there is none."""
        return [_first(found) for found in results]


def _first(found: Answers) -> str | list[int]:
    if found.texts is not None:
        return found.text or ""
    return [int(found.starts[0]), int(found.ends[0])] if len(found.starts) else [-1, -1]


def _log_sum(logits: np.ndarray) -> float:
    """log of the sum of exp."""
    most = logits.max()
    return float(most + np.log(np.exp(logits - most).sum()))
