"""Post-processors of language models: texts and tokens."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, MinLen

from labdl.errors import ModelError
from labdl.infer.postprocess.base import (
    PostProcessor,
    postprocessor,
    probabilities,
    single_array,
    softmax,
    top_k_indices,
)
from labdl.infer.postprocess.vocabulary import Vocabulary, check_vocabulary, decode_tokens, texts_or_tokens
from labdl.settings import INNER


@dataclass(frozen=True, eq=False)
class Text:
    """Token numbers (k) up to the end of the text, and the decoded text, None without a vocabulary."""

    tokens: np.ndarray
    text: str | None


@postprocessor
class TextDecoding(PostProcessor):
    """Text decoding of token numbers, or of scores by greedy decoding.

    Token numbers (length), or scores (length, tokens). The text ends before the first ``end``; tokens in ``skipped``, such
    as padding, are omitted. ``vocabulary`` is a list of tokens, joined by ``joiner``, or a function token numbers -> text,
    such as a tokenizer's ``decode``.
    """

    vocabulary: Vocabulary = dataclasses.field(default=None, metadata=INNER)
    joiner: str = ""
    end: int | None = None
    skipped: tuple[int, ...] = ()

    def check(self) -> None:
        check_vocabulary(self, self.vocabulary)

    def __call__(self, output) -> Text:
        tokens = single_array(self, output, "token numbers (length) or scores (length, tokens)", 1, 2)
        if tokens.ndim == 2:
            tokens = tokens.argmax(1)
        elif tokens.dtype.kind not in "iu":
            raise ModelError(f"TextDecoding wants integers (length) as tokens, received {tokens.dtype}")
        if self.end is not None:
            tokens = tokens[: next(iter(np.flatnonzero(tokens == self.end)), len(tokens))]
        tokens = tokens[~np.isin(tokens, self.skipped)].astype("int64")
        return Text(tokens, decode_tokens(self, self.vocabulary, tokens, self.joiner))

    def for_metrics(self, results) -> list[Any]:
        """Texts, or lists of tokens without a vocabulary, for metrics such as `BLEU` and `ExactMatch`."""
        return texts_or_tokens(results)


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token numbers (positions, k) and their probabilities (positions, k), most probable first, and their texts."""

    tokens: np.ndarray
    probabilities: np.ndarray
    texts: tuple[tuple[str, ...], ...] | None = None


@postprocessor
class TokenPrediction(PostProcessor):
    """Most probable tokens at given positions: the next token, or masked ones.

    Logits (length, tokens), probabilities with ``from_logits=False``; ``positions`` are indices, -1 the last one, which in
    a causal language model predicts the next token. Scores (tokens) are those of one position.
    """

    top_k: Annotated[int, Ge(1)] = 5
    positions: Annotated[tuple[int, ...], MinLen(1)] = (-1,)
    vocabulary: Vocabulary = dataclasses.field(default=None, metadata=INNER)
    from_logits: bool | None = None

    def check(self) -> None:
        check_vocabulary(self, self.vocabulary)

    def __call__(self, output) -> Tokens:
        scores = single_array(self, output, "scores (length, tokens) or (tokens)", 1, 2)
        scores = scores[None] if scores.ndim == 1 else scores
        places = self.positions
        if not all(-len(scores) <= place < len(scores) for place in places):
            raise ModelError(f"TokenPrediction: positions {places} are not all in a text of {len(scores)} tokens")
        rows = probabilities(softmax, scores[list(places)], self.from_logits)
        tokens = np.stack([top_k_indices(row, self.top_k) for row in rows])
        texts = None
        if self.vocabulary is not None:
            texts = tuple(
                tuple(decode_tokens(self, self.vocabulary, np.array([t])) or "" for t in row) for row in tokens
            )
        return Tokens(tokens, np.take_along_axis(rows, tokens, 1), texts)
