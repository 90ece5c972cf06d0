"""Texts of token numbers, by a list of tokens or by a tokeniser's own function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.processor import PostProcessor

Vocabulary = Sequence[str] | Callable[[list[int]], str] | None


def check_vocabulary(asked: PostProcessor, vocabulary: Vocabulary) -> None:
    """Raises ConfigError for what is neither tokens nor a function."""
    listed = hasattr(vocabulary, "__getitem__") and not isinstance(vocabulary, str | dict)
    if vocabulary is not None and not callable(vocabulary) and not listed:
        raise ConfigError(f"{type(asked).__name__}: vocabulary wants a list of tokens, or a function that makes a text of a "
                          f"list of token numbers, received {vocabulary!r:.60}")  # fmt: skip


def spelt(asked: PostProcessor, vocabulary: Vocabulary, tokens: np.ndarray, joiner: str = "") -> str | None:
    """The text of tokens, None without a vocabulary. Raises ModelError for a number that is not in it."""
    if vocabulary is None:
        return None
    numbers = [int(token) for token in tokens]
    if callable(vocabulary):
        return vocabulary(numbers)
    for number in numbers:
        if not 0 <= number < len(vocabulary):
            raise ModelError(f"{type(asked).__name__} has a vocabulary of {len(vocabulary)} tokens, received {number}")
    return joiner.join(vocabulary[number] for number in numbers)


def texts_or_tokens(results: Iterable[Any]) -> list[Any]:
    """The texts of results, lists of their tokens where there is no vocabulary."""
    return [found.tokens.tolist() if found.text is None else found.text for found in results]
