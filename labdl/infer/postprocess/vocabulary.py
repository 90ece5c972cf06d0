"""Decoding of token numbers by a list of tokens or by a tokenizer's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import PostProcessor

Vocabulary = Sequence[str] | Callable[[list[int]], str] | None


def check_vocabulary(processor: PostProcessor, vocabulary: Vocabulary) -> None:
    """Raise ConfigError unless the vocabulary is a sequence of tokens or a function."""
    listed = hasattr(vocabulary, "__getitem__") and not isinstance(vocabulary, str | dict)
    if vocabulary is not None and not callable(vocabulary) and not listed:
        raise ConfigError(
            f"{type(processor).__name__}: vocabulary wants a list of tokens, or a function from a list of token "
            f"numbers to text, received {vocabulary!r:.60}"
        )


def decode_tokens(processor: PostProcessor, vocabulary: Vocabulary, tokens: np.ndarray, joiner: str = "") -> str | None:
    """Decode tokens to text; None without a vocabulary. Raises ModelError for a number that is not in it."""
    if vocabulary is None:
        return None
    numbers = [int(token) for token in tokens]
    if callable(vocabulary):
        return vocabulary(numbers)
    for number in numbers:
        if not 0 <= number < len(vocabulary):
            raise ModelError(
                f"{type(processor).__name__} has a vocabulary of {len(vocabulary)} tokens, received {number}"
            )
    return joiner.join(vocabulary[number] for number in numbers)


def texts_or_tokens(results: Iterable[Any]) -> list[Any]:
    """Texts of results, or lists of tokens without a vocabulary."""
    return [found.tokens.tolist() if found.text is None else found.text for found in results]
