"""Texts as counts of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Text, TokenIds
from labdl.data.text.vocabulary import texts_of
from labdl.data.transforms.sample_parts import apply_at
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError
from labdl.settings import INNER

_PUNCTUATION = dict.fromkeys(map(ord, "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"))


@transform({"vocabulary": ("the", "fox", "dog")})
class TextVectorization(Transform):
    """Convert a text to counts of words, tf-idf, or numbers of words. Source: keras.layers.TextVectorization.

    ``fit(samples)`` finds the vocabulary of at most ``max_tokens``, the most frequent words first, and the weights of
    "tf_idf". Counts are float32 (words,) with the unknown words first; "int" gives TokenIds with 0 for padding and 1 for
    unknown words, cut or padded to ``output_sequence_length``.
    """

    max_tokens: Annotated[int, Ge(2)] | None = None
    standardize: Literal["lower_and_strip_punctuation", "lower", "strip_punctuation", "none"] = (
        "lower_and_strip_punctuation"
    )
    split: Literal["whitespace", "character", "none"] = "whitespace"
    ngrams: Annotated[int, Ge(1)] | None = None
    output_mode: Literal["int", "count", "tf_idf", "multi_hot"] = "count"
    output_sequence_length: Annotated[int, Ge(0)] | None = None
    pad_to_max_tokens: bool = False
    vocabulary: Any = field(default=(), metadata=INNER)
    idf_weights: tuple[float, ...] = ()
    key: str | None = None

    def check_settings(self) -> None:
        from labdl.data.transforms.text.bert import vocab_tokens

        self.vocabulary = vocab_tokens("TextVectorization", self.vocabulary)
        if self.pad_to_max_tokens and self.max_tokens is None:
            raise ConfigError("TextVectorization with pad_to_max_tokens wants max_tokens")
        if self.output_sequence_length is not None and self.output_mode != "int":
            raise ConfigError('TextVectorization has an output_sequence_length for output_mode="int" only')
        if self.output_mode == "tf_idf" and len(self.idf_weights) != len(self.vocabulary):
            raise ConfigError(
                f"TextVectorization wants idf_weights of {len(self.vocabulary)} words, received {len(self.idf_weights)}"
            )
        reserved = 2 if self.output_mode == "int" else 1
        if self.max_tokens is not None and len(self.vocabulary) + reserved > self.max_tokens:
            raise ConfigError(
                f"TextVectorization has {len(self.vocabulary)} words, more than max_tokens={self.max_tokens} allows"
            )
        self._prepare()

    def _prepare(self) -> None:
        first = 2 if self.output_mode == "int" else 1
        self._numbers = {word: at + first for at, word in enumerate(self.vocabulary)}
        if len(self._numbers) != len(self.vocabulary):
            raise ConfigError("TextVectorization wants each word of the vocabulary once")
        size = self.max_tokens if self.pad_to_max_tokens else len(self.vocabulary) + 1
        self._weights = np.zeros(size or 0, "float32")
        if self.idf_weights:
            # an unknown word weighs as much as the mean of the others
            self._weights[: len(self.idf_weights) + 1] = [
                sum(self.idf_weights) / len(self.idf_weights),
                *self.idf_weights,
            ]

    def fit(self, samples: Iterable[Any]) -> TextVectorization:
        """Find vocabulary and weights on samples with texts; at equal frequency the last of the alphabet comes first."""
        counts: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        number = 0
        for text in texts_of(samples, self.key):
            words = self._words(text)
            counts.update(words)
            documents.update(set(words))
            number += 1
        counts.pop("", None)
        counts.pop("[UNK]", None)
        order = sorted(counts, key=lambda word: (counts[word], word), reverse=True)
        if self.max_tokens is not None:
            order = order[: self.max_tokens - (2 if self.output_mode == "int" else 1)]
        self.vocabulary = tuple(order)
        if self.output_mode == "tf_idf":
            self.idf_weights = tuple(math.log(1 + number / (1 + documents[word])) for word in order)
        self._prepare()
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether there is a vocabulary, found or given."""
        return bool(self.vocabulary)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return apply_at(self, sample, self.key, rng)

    def apply_to_text(self, text: Text, params: Parameters) -> np.ndarray:
        if not self.vocabulary:
            raise ConfigError("TextVectorization has no vocabulary: fit it to the training part with fit(samples)")
        unknown = 1 if self.output_mode == "int" else 0
        numbers = [self._numbers.get(word, unknown) for word in self._words(text)]
        if self.output_mode == "int":
            length = self.output_sequence_length
            return TokenIds(numbers if length is None else numbers[:length] + [0] * (length - len(numbers)))
        counts = np.bincount(numbers, minlength=len(self._weights)).astype("float32")
        if self.output_mode == "multi_hot":
            return (counts > 0).astype("float32")
        return counts * self._weights if self.output_mode == "tf_idf" else counts

    def _words(self, text: str) -> list[str]:
        text = str(text)
        if self.standardize in ("lower_and_strip_punctuation", "lower"):
            text = text.lower()
        if self.standardize in ("lower_and_strip_punctuation", "strip_punctuation"):
            text = text.translate(_PUNCTUATION)
        words = text.split() if self.split == "whitespace" else list(text) if self.split == "character" else [text]
        if self.ngrams is None or self.ngrams == 1:
            return words
        return [" ".join(words[at : at + n]) for n in range(1, self.ngrams + 1) for at in range(len(words) - n + 1)]
