"""Post-processor of extractive question answering."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from labdl.data.text.tokenizer import Encoding
from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import PostProcessor, array_of, postprocessor, top_k_indices
from labdl.settings import INNER
from labdl.tasks.question_windows import best_spans


@dataclass(frozen=True, eq=False)
class AnswerSpans:
    """First and last token (k), (k) of the best answers, their probabilities (k), and their texts if known.

    ``characters`` (k, 2) are the first character of each answer in the text and the one behind its last. The prediction
    "no answer" has the tokens -1 and -1 and an empty text.
    """

    starts: np.ndarray
    ends: np.ndarray
    scores: np.ndarray
    texts: tuple[str, ...] | None = None
    characters: np.ndarray | None = None

    @property
    def text(self) -> str | None:
        """The best answer."""
        return self.texts[0] if self.texts else None


@dataclass(frozen=True, eq=False)
class WindowLogits:
    """The windows of a text, with the logits of starts (length) and of ends (length) of each."""

    text: str
    windows: tuple[Encoding, ...]
    logits: tuple[tuple[np.ndarray, np.ndarray], ...]


@postprocessor
class QuestionAnswering(PostProcessor):
    """Extractive question answering: the spans of tokens with the largest sums of start and end logits.

    Logits of starts (length) and of ends (length), or both as (length, 2). Spans have at most ``max_length`` tokens and lie
    in ``context``, the first token and the one after the last, by default all. With ``allow_no_answer`` token 0 is the
    prediction "no answer". The probability of an answer is the product of those of its start and its end among the
    allowed tokens.

    ``text`` and ``offsets`` (length, 2), the first character and the one after the last of each token, give the texts of
    answers; they are settings of single samples, set by pre-processing in a `PreparedSample`. Of a text in windows, as
    `Inference.of` reads it, the answers are the best of all windows, with the first and last token in their own.
    Source: Devlin et al., BERT, 2019, section 4.2.
    """

    top_k: Annotated[int, Ge(1)] = 1
    max_length: Annotated[int, Ge(1)] = 30
    context: tuple[int, int] | None = None
    allow_no_answer: bool = False
    text: str | None = None
    offsets: Any = dataclasses.field(default=None, metadata=INNER)

    def check(self) -> None:
        if (self.text is None) != (self.offsets is None):
            raise ConfigError("QuestionAnswering wants text and offsets together")

    def __call__(self, output) -> AnswerSpans:
        if isinstance(output, WindowLogits):
            return self._read_windows(output)
        parts = [array_of(part) for part in (output if isinstance(output, list | tuple) else (output,))]
        if [part.shape[1:] for part in parts] == [(2,)]:
            parts = list(parts[0].T)
        if len(parts) != 2 or parts[0].ndim != 1 or parts[0].shape != parts[1].shape:
            raise ModelError(
                "QuestionAnswering wants logits of starts (length) and of ends (length), or both as (length, 2)"
            )
        starts, ends = (part.astype("float64") for part in parts)
        low, high = self.context or (0, len(starts))
        low = max(low, 1) if self.allow_no_answer else low
        if not 0 <= low < high <= len(starts):
            raise ModelError(
                f"QuestionAnswering: context {(low, high)} is not a span of a text of {len(starts)} tokens"
            )
        found, scores = self._best(starts, ends, low, high)
        characters = None if self.text is None else self._characters(found)
        return AnswerSpans(found[:, 0], found[:, 1], scores, self._texts(characters), characters)

    def _best(self, starts: np.ndarray, ends: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the first and last tokens (k, 2) of the best answers, and their probabilities (k)."""
        allowed = np.r_[0:1, low:high] if self.allow_no_answer else np.arange(low, high)
        starts, ends = (logits - _log_sum(logits[allowed]) for logits in (starts, ends))
        # a row for each start, a column for each length
        last = np.arange(low, high)[:, None] + np.arange(min(self.max_length, high - low))
        sums = np.where(last < high, starts[low:high, None] + ends[np.minimum(last, high - 1)], -np.inf)
        order = top_k_indices(sums.ravel(), self.top_k)
        logs, found = sums.ravel()[order], np.stack([order // sums.shape[1] + low, last.ravel()[order]], 1)
        if self.allow_no_answer:
            none = starts[0] + ends[0]
            at = int(np.searchsorted(-logs, -none))
            logs, found = np.insert(logs, at, none), np.insert(found, at, (-1, -1), axis=0)
        some = np.isfinite(logs[: self.top_k])
        return found[: self.top_k][some], np.exp(logs[: self.top_k][some])

    def _read_windows(self, output: WindowLogits) -> AnswerSpans:
        """The best answers of all windows; probabilities are those among the allowed tokens of all of them."""
        spans = best_spans(
            output.text,
            output.windows,
            output.logits,
            top_k=self.top_k,
            max_length=self.max_length,
            allow_no_answer=self.allow_no_answer,
        )
        total = 0.0
        for side in (0, 1):
            allowed = [
                logits[side][np.r_[0:1, places] if self.allow_no_answer else places]
                for logits, places in zip(
                    output.logits, (np.flatnonzero(each.parts == 1) for each in output.windows), strict=True
                )
            ]
            total += _log_sum(np.concatenate(allowed).astype("float64"))
        tokens = np.array([span.tokens for span in spans], "int64").reshape(-1, 2)
        characters = np.array([span.characters for span in spans], "int64").reshape(-1, 2)
        scores = np.exp([span.score - total for span in spans])
        return AnswerSpans(tokens[:, 0], tokens[:, 1], scores, tuple(span.text for span in spans), characters)

    def _characters(self, spans: np.ndarray) -> np.ndarray:
        """The characters (k, 2) of answers; none of "no answer"."""
        offsets = np.asarray(self.offsets, "int64").reshape(-1, 2)
        rows = [(0, 0) if first < 0 else (offsets[first, 0], offsets[last, 1]) for first, last in spans]
        return np.array(rows, "int64").reshape(-1, 2)

    def _texts(self, characters: np.ndarray | None) -> tuple[str, ...] | None:
        if characters is None or self.text is None:
            return None
        return tuple(self.text[first:last] for first, last in characters.tolist())

    def for_metrics(self, results) -> list[Any]:
        """The best answers as texts, or lists of first and last token, for `ExactMatch`; "" or [-1, -1] for no answer."""
        return [_first(found) for found in results]


def _first(found: AnswerSpans) -> str | list[int]:
    if found.texts is not None:
        return found.text or ""
    return [int(found.starts[0]), int(found.ends[0])] if len(found.starts) else [-1, -1]


def _log_sum(logits: np.ndarray) -> float:
    """Logarithm of the sum of exponentials."""
    most = logits.max()
    return float(most + np.log(np.exp(logits - most).sum()))
